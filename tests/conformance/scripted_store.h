// ScriptedStore: what the stores in memory share that speak HTTP as an HttpClient: each request meets the fate that a test scripts. Any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "net/http_client.h"

namespace frazil::conformance {

// What becomes of one request.
struct Fate {
  enum class Kind {
    kServed,
    kNeverSent,     // no connection: kUnavailable
    kCut,           // the connection ended before the store acted: kUnknownOutcome
    kAnswerLost,    // the store acted, the answer did not come: kUnknownOutcome
    kRefused,       // `status` and `code` instead of acting
    kActedRefused,  // acted, then `status` and `code`: what a gateway in between can do
    kDoubled,       // acted twice, and the second answer came
  } kind = Kind::kServed;
  int status = 503;
  std::string code = "SlowDown";
  net::HttpHeaders headers = {};
};

class ScriptedStore : public net::HttpClient {
 public:
  // Asked for every request, in order, with its line ("PUT /bucket/key?query") and how many came before.
  std::function<Fate(const std::string& line, const net::HttpRequest& request, int number)> script;
  bool reports_checksums = true;
  size_t short_read_bytes = 0;        // answers of ranges are cut to this, as if they were all; 0: never
  bool stores_one_byte_less = false;
  int64_t latency_micros = 0;         // of every request; in a simulation that is virtual time

  base::Result<net::HttpResponse> send(const net::HttpRequest& request) override {
    pass_time(latency_micros);
    base::Lock lock(mutex_);
    const std::string line = request.method + " " + request.url.substr(request.url.find('/', 8));
    const int number = static_cast<int>(lines_.size());
    lines_.push_back(line);
    const Fate fate = script ? script(line, request, number) : Fate{};
    switch (fate.kind) {
      case Fate::Kind::kNeverSent: return base::unavailable("no connection");
      case Fate::Kind::kCut: return base::Error(base::Code::kUnknownOutcome, "the connection was reset");
      case Fate::Kind::kRefused: return refusal(fate.status, fate.code, fate.headers);
      case Fate::Kind::kAnswerLost: serve(request); return base::Error(base::Code::kUnknownOutcome, "no answer came");
      case Fate::Kind::kActedRefused: serve(request); return refusal(fate.status, fate.code, fate.headers);
      case Fate::Kind::kDoubled: serve(request); return serve(request);
      case Fate::Kind::kServed: break;
    }
    return serve(request);
  }

  std::vector<std::string> lines() {
    base::Lock lock(mutex_);
    return lines_;
  }
  // Requests whose line begins so.
  int count(const std::string& beginning) {
    base::Lock lock(mutex_);
    int n = 0;
    for (const std::string& line : lines_) n += line.starts_with(beginning) ? 1 : 0;
    return n;
  }

 protected:
  using Response = net::HttpResponse;

  // Both with the lock.
  virtual Response serve(const net::HttpRequest& request) = 0;
  virtual Response refusal(int status, const std::string& code, net::HttpHeaders headers) const = 0;

  static std::string header(const net::HttpRequest& request, const std::string& name) {
    for (const auto& [key, value] : request.headers) {
      if (key == name) return value;
    }
    return "";
  }
  static std::string decode(std::string_view text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%') {
        plain += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
      } else {
        plain += text[i];
      }
    }
    return plain;
  }
  // "bucket/key" → bytes, of any map of objects.
  template <typename Objects>
  std::map<std::string, std::string> bytes_of(const Objects& objects) {
    base::Lock lock(mutex_);
    std::map<std::string, std::string> bytes;
    for (const auto& [name, object] : objects) bytes[name] = object.bytes;
    return bytes;
  }

  base::Mutex mutex_;

 private:
  static void pass_time(int64_t micros) {
    base::io_point();
    if (micros == 0) return;
    base::Mutex mutex;
    base::CondVar never;
    base::Lock lock(mutex);
    const base::MonoMicros end = base::deadline_after(micros);
    while (base::mono_micros() < end) never.wait_until(lock, end);
  }

  std::vector<std::string> lines_;
};

}  // namespace frazil::conformance
