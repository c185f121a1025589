// HttpClient: one request, one answer, and the truth about what became of it.
//
// A request leaves the machine at most once for each send(): nothing is retried, redirected or sent again on another
// connection, and no proxy is taken from the environment. Connections are kept and reused; a request that a server may
// have seen is never repeated because a kept connection turned out dead. Any thread; send() blocks the calling one.
//
// Errors say whether the server can have acted:
//   kUnavailable     it cannot: no name, no connection, no TLS (wrong certificate, host or authority), cut before a
//                    byte of the request left
//   kUnknownOutcome  it may: sent, at least in part, and no whole answer came back (reset, time-out, truncated body,
//                    an interrupt)
//   kExhausted       the answer is larger than max_response_bytes
//   kInvalid         the URL is none, its scheme or host is not allowed
//   kCancelled       it cannot: the interrupt was raised before a byte of the request left
//
// An answer with any status, 500 too, is a value: what it means is for the caller to say. Messages name the endpoint,
// never query, headers or body.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "net/tls_options.h"

namespace frazil::net {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string url;              // absolute; path and query are encoded already and go out as they are
  HttpHeaders headers;          // Host and Content-Length are set from url and body
  std::string_view body;        // must live until send() returns
  int64_t timeout_ms = 30'000;  // for everything; 0: none, then only low speed ends it
  int64_t max_response_bytes = 256LL << 20;
  base::Interrupt* interrupt = nullptr;  // raised: the request is given up; may be null
  base::Failpoint* sent_point = nullptr;  // passed when the whole request has left and no answer has come; may be null
  // Takes back what nobody will ask for: goes out in spite of HttpClientConfig::given_up, for a while.
  bool is_clean_up = false;
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;  // names in lower case
  std::string body;
  // The first header of that (lower-case) name, or nullptr.
  const std::string* header(std::string_view name) const;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual base::Result<HttpResponse> send(const HttpRequest& request) = 0;
  // Raised when nobody waits for answers any more, so waits between tries end with it too. May be null.
  virtual base::Interrupt* given_up() { return nullptr; }
};

struct HttpClientConfig {
  TlsOptions tls;
  bool allow_plaintext = false;  // http:// to hosts outside of loopback
  // Hosts that may be spoken to, as "host" or "host:port"; empty: any that is not refused. A server may name further
  // endpoints (token endpoints, stores): those not listed are refused when they resolve to loopback, link-local
  // (169.254.0.0/16, fe80::/10), or the metadata addresses of clouds, so that a catalog cannot aim Frazil at its own
  // network.
  std::vector<std::string> allowed_hosts;
  int64_t connect_timeout_ms = 10'000;
  int64_t low_speed_bytes_per_second = 1'000;  // slower than this ...
  int64_t low_speed_ms = 30'000;               // ... for so long: given up
  // Once raised, requests that wait end soon and others are not begun. May be null.
  std::shared_ptr<base::Interrupt> given_up;
  int64_t clean_up_ms = 5'000;  // after that, for all requests that clean up together
};

// Over libcurl.
base::Result<std::shared_ptr<HttpClient>> make_http_client(HttpClientConfig config);

}  // namespace frazil::net
