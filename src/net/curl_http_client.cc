#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "net/curl_connection.h"
#include "net/host_rules.h"
#include "net/http_client.h"
#include "net/url.h"

namespace frazil::net {

namespace {

using base::Result;
using base::Status;

constexpr size_t kMaxIdleConnections = 64;
constexpr int64_t kMaxIdleMicros = 15'000'000;
// A server may close an idle connection at any time. A request that changes something and meets that moment has an
// unknown outcome, so it takes a connection only while that is unlikely.
constexpr int64_t kMaxIdleMicrosOfChanges = 2'000'000;

class CurlHttpClient : public HttpClient {
 public:
  explicit CurlHttpClient(HttpClientConfig config) : config_(std::move(config)), rules_(config_.allowed_hosts) {}

  Result<HttpResponse> send(const HttpRequest& asked) override {
    TRY_ASSIGN(const Url url, parse_url(asked.url));
    TRY(admit(asked, url));
    base::io_point();
    const std::string origin = url.origin();
    HttpRequest request = asked;
    TRY(limit_time(request).in(origin));
    Idle taken = take(origin);
    SendRules rules;
    rules.guards_addresses = !rules_.is_listed(url.host, url.port);
    rules.takes_kept_connection = may_reuse(request.method, taken.since);
    auto answer = taken.connection->send(request, url, rules);
    taken.since = base::mono_micros();
    keep(std::move(taken));
    return answer;
  }
  base::Interrupt* given_up() override { return config_.given_up.get(); }

 private:
  struct Idle {
    std::string origin;
    base::MonoMicros since = 0;
    std::unique_ptr<CurlConnection> connection;
  };

  Status admit(const HttpRequest& request, const Url& url) const {
    if (url.scheme == "http" && !config_.allow_plaintext && !is_loopback_host(url.host)) {
      return base::invalid(url.origin() +
                           ": plaintext is allowed to this machine only; use https:// or set allow_plaintext: true");
    }
    for (const char c : request.method) {
      if (c < 'A' || c > 'Z') return base::invalid("a request's method must be of capital letters");
    }
    return request.method.empty() ? base::invalid("a request without a method") : Status();
  }

  // Who is no longer waited for does not begin; what is left over then is cleaned up within one limit for all.
  Status limit_time(HttpRequest& request) {
    if (request.interrupt != nullptr && request.interrupt->raised()) return base::cancelled("given up before it was sent");
    if (config_.given_up == nullptr || !config_.given_up->raised()) return {};
    if (!request.is_clean_up) return base::cancelled("given up before it was sent");
    base::MonoMicros unset = 0;
    clean_up_until_.compare_exchange_strong(unset, base::deadline_after(config_.clean_up_ms * 1000));
    const int64_t left_ms = (clean_up_until_.load() - base::mono_micros()) / 1000;
    if (left_ms <= 0) return base::cancelled("given up: the time to clean up is over");
    request.timeout_ms = request.timeout_ms == 0 ? left_ms : std::min(request.timeout_ms, left_ms);
    return {};
  }

  static bool may_reuse(const std::string& method, base::MonoMicros idle_since) {
    const bool changes = method != "GET" && method != "HEAD";
    return base::mono_micros() - idle_since <= (changes ? kMaxIdleMicrosOfChanges : kMaxIdleMicros);
  }

  // The connection to `origin` that was used last, or a new one.
  Idle take(const std::string& origin) {
    std::vector<Idle> old;  // closed after the lock
    const base::MonoMicros now = base::mono_micros();
    base::Lock lock(mutex_);
    std::erase_if(idle_, [&](Idle& idle) {
      if (now - idle.since <= kMaxIdleMicros) return false;
      old.push_back(std::move(idle));
      return true;
    });
    for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
      if (it->origin != origin) continue;
      Idle found = std::move(*it);
      idle_.erase(std::next(it).base());
      return found;
    }
    return {origin, now, std::make_unique<CurlConnection>(config_)};
  }

  void keep(Idle idle) {
    Idle oldest;
    base::Lock lock(mutex_);
    if (idle_.size() >= kMaxIdleConnections) {
      oldest = std::move(idle_.front());
      idle_.erase(idle_.begin());
    }
    idle_.push_back(std::move(idle));
  }

  const HttpClientConfig config_;
  const HostRules rules_;
  base::Mutex mutex_;
  std::vector<Idle> idle_;  // by time, oldest first
  std::atomic<base::MonoMicros> clean_up_until_{0};  // set by the first that cleans up after given_up
};

Status check_file(const std::string& name, const std::string& path) {
  if (path.empty() || std::ifstream(path).good()) return {};
  return base::invalid(name + ": cannot read " + path);
}

}  // namespace

Result<std::shared_ptr<HttpClient>> make_http_client(HttpClientConfig config) {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialized != CURLE_OK) return base::Error(base::Code::kBug, "libcurl cannot be initialised");
  TRY(check_file("ca_file", config.tls.ca_file));
  TRY(check_file("certificate_file", config.tls.certificate_file));
  TRY(check_file("key_file", config.tls.key_file));
  if (!config.tls.key_file.empty() && config.tls.certificate_file.empty()) {
    return base::invalid("key_file needs certificate_file beside it");
  }
  return std::shared_ptr<HttpClient>(std::make_shared<CurlHttpClient>(std::move(config)));
}

}  // namespace frazil::net
