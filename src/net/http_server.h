// HttpServer: a small server for status pages and metrics. GET only, answers made whole, no state between requests.
//
// It runs on a lane of its own plus two that answer, from start() to stop(); replies are made on those, so a Responder
// must be safe on any thread and must not block long. It is for loopback and trusted networks: no TLS, no passwords.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace frazil::net {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

using Responder = std::function<HttpReply()>;

struct HttpServerConfig {
  std::string host = "127.0.0.1";
  int port = 0;                             // 0: one that the system picks
  bool moves_if_busy = false;               // takes a free port when `port` is taken
  std::map<std::string, Responder> routes;  // exact path → answer
};

class HttpServer {
 public:
  // Listens when it returns. kUnavailable when the address cannot be listened on.
  static base::Result<std::unique_ptr<HttpServer>> start(HttpServerConfig config);
  ~HttpServer();

  int port() const;
  // Where it listens, as "127.0.0.1:9464".
  std::string address() const;
  bool has_moved() const;
  // Ends open connections and joins the lanes. Called twice is harmless; the destructor calls it.
  void stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::net
