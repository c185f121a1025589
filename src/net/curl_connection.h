// CurlConnection: one libcurl handle with at most one kept connection, and the account of what a request did on it.
//
// libcurl by itself sends a request again when a kept connection turns out dead, a POST too. Here it cannot: the handle
// keeps a single connection, so sending again needs a new socket, and none is given once a byte of the request has
// left. Used by one thread at a time; owned by the pool of curl_http_client.cc.
#pragma once

#include <memory>

#include "base/result.h"
#include "net/http_client.h"
#include "net/url.h"

namespace frazil::net {

// What the pool knows about a request beyond its text.
struct SendRules {
  bool takes_kept_connection = true;  // false: a new one
  bool guards_addresses = false;      // host_rules.h
};

class CurlConnection {
 public:
  // `config` must outlive it.
  explicit CurlConnection(const HttpClientConfig& config);
  ~CurlConnection();
  // Errors as in http_client.h. `url` is the request's, taken apart.
  base::Result<HttpResponse> send(const HttpRequest& request, const Url& url, const SendRules& rules);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::net
