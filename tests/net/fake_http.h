// FakeHttp: an HttpClient that a test answers for, request by request, on the clock of the test (virtual in a
// Simulation).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/sync.h"
#include "net/http_client.h"

namespace frazil::net {

class FakeHttp : public HttpClient {
 public:
  // What was asked, with a copy of the body.
  struct Seen {
    std::string method;
    std::string url;
    HttpHeaders headers;
    std::string body;
    std::string header(const std::string& name) const {
      for (const auto& [key, value] : headers) {
        if (key == name) return value;
      }
      return "";
    }
  };
  using Answer = std::function<base::Result<HttpResponse>(const Seen&)>;

  explicit FakeHttp(Answer answer) : answer_(std::move(answer)) {}

  base::Result<HttpResponse> send(const HttpRequest& request) override {
    const Seen seen{request.method, request.url, request.headers, std::string(request.body)};
    if (delay_micros > 0) base::Interrupt().wait_until(base::deadline_after(delay_micros));
    base::Lock lock(mutex_);
    requests.push_back(seen);
    return answer_(seen);
  }

  int64_t delay_micros = 0;
  std::vector<Seen> requests;

 private:
  base::Mutex mutex_;
  const Answer answer_;
};

inline HttpResponse http_answer(int status, std::string body) {
  HttpResponse answer;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

}  // namespace frazil::net
