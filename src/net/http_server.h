// HttpServer: a small server for status pages and metrics, and for what workers of one pipeline tell each other. Answers are made
// whole, no state between requests.
//
// A request has seconds to arrive whole and its answer seconds to be taken, however they trickle; when connections outnumber the lanes,
// the one that is waited for longest is ended, so that a liveness probe always gets through.
// It runs on a lane of its own plus some that answer, from start() to stop(); replies are made on those, so a Responder
// must be safe on any thread. One that waits (a Receiver may) holds one of the lanes meanwhile. Without TLS it is for loopback and trusted
// networks; with it, callers show a certificate of `client_ca_file`. Whether an authorization is good is for a Receiver to say. Files of TLS are read at start().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace frazil::net {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::map<std::string, std::string> headers = {};  // further ones
};

struct HttpPost {
  std::string authorization;  // that header's value, empty when there is none
  std::string body;
};

using Responder = std::function<HttpReply()>;
// Answers a POST.
using Receiver = std::function<HttpReply(const HttpPost& post)>;

// PEM files. Callers without a certificate that `client_ca_file` signed are refused.
struct ServerTls {
  std::string certificate_file;
  std::string key_file;
  std::string client_ca_file;
};

struct HttpServerConfig {
  std::string host = "127.0.0.1";
  int port = 0;                             // 0: one that the system picks
  bool moves_if_busy = false;               // takes a free port when `port` is taken
  std::map<std::string, Responder> routes;  // exact path → answer to GET
  std::map<std::string, Receiver> receivers;  // exact path → answer to POST
  int64_t max_body_bytes = 64 << 10;          // larger ones get 413
  std::optional<ServerTls> tls;
};

class HttpServer {
 public:
  // Listens when it returns. kUnavailable when the address cannot be listened on, kInvalid when the files of TLS cannot be used.
  static base::Result<std::unique_ptr<HttpServer>> start(HttpServerConfig config);
  ~HttpServer();

  int port() const;
  // Where it listens, as "127.0.0.1:9464".
  std::string address() const;
  bool has_moved() const;
  // Ends open connections at once and joins the lanes: only a Receiver that is at work is waited for. Called twice is harmless; the destructor calls it.
  void stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::net
