#include "net/http_server.h"

#include <httplib.h>

#include <atomic>

#include "base/clock.h"
#include "base/sync.h"

namespace frazil::net {

namespace {

// The library takes paths for regular expressions.
std::string exactly(const std::string& path) {
  std::string pattern;
  for (const char c : path)
    pattern += std::isalnum(static_cast<unsigned char>(c)) || c == '/' ? std::string(1, c) : "\\" + std::string(1, c);
  return pattern;
}

void put(const HttpReply& reply, httplib::Response& response) {
  response.status = reply.status;
  response.set_content(reply.body, reply.content_type);
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
}

base::Result<std::unique_ptr<httplib::Server>> make_server(const std::optional<ServerTls>& tls) {
  if (!tls) return std::make_unique<httplib::Server>();
  auto server = std::make_unique<httplib::SSLServer>(tls->certificate_file.c_str(), tls->key_file.c_str(), tls->client_ca_file.c_str());
  if (!server->is_valid()) {
    return base::invalid("cannot serve TLS with certificate " + tls->certificate_file + ", key " + tls->key_file + " and authority " +
                         tls->client_ca_file + ": one of them cannot be read, or key and certificate do not belong together");
  }
  return std::unique_ptr<httplib::Server>(std::move(server));
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpServerConfig config, std::unique_ptr<httplib::Server> server) : config_(std::move(config)), server_(std::move(server)) {
    // An idle connection holds a thread until it times out, so many threads and short times: a crowd of them must not
    // keep a liveness probe waiting.
    server_->new_task_queue = [] { return new httplib::ThreadPool(32); };
    server_->set_keep_alive_max_count(100);
    server_->set_keep_alive_timeout(1);
    server_->set_read_timeout(1);
    server_->set_write_timeout(5);
    server_->set_payload_max_length(static_cast<size_t>(config_.max_body_bytes));
    // The library's default lets two processes share a port; a busy port must be noticed.
    server_->set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    });
    for (const auto& [path, responder] : config_.routes) {
      server_->Get(exactly(path), [responder](const httplib::Request&, httplib::Response& response) { put(responder(), response); });
    }
    for (const auto& [path, receiver] : config_.receivers) {
      server_->Post(exactly(path), [receiver](const httplib::Request& request, httplib::Response& response) {
        put(receiver(request.body), response);
      });
    }
  }

  base::Status bind() {
    if (config_.port != 0 && server_->bind_to_port(config_.host, config_.port)) {
      port_ = config_.port;
      return {};
    }
    if (config_.port == 0 || config_.moves_if_busy) {
      port_ = server_->bind_to_any_port(config_.host);
      has_moved_ = config_.port != 0;
      if (port_ > 0) return {};
    }
    return base::unavailable("cannot listen on " + config_.host + ":" + std::to_string(config_.port) +
                             ": the port is busy or the address is not of this machine");
  }

  void listen() {
    lane_ = base::Lane("http", [this] {
      server_->listen_after_bind();
      has_ended_ = true;
    });
    // The library ignores a stop() that comes before its loop runs, and tells of the loop only by this flag.
    base::Mutex mutex;
    base::CondVar tick;
    base::Lock lock(mutex);
    while (!server_->is_running() && !has_ended_) tick.wait_until(lock, base::deadline_after(1000));
  }

  void stop() {
    server_->stop();
    if (lane_.joinable()) lane_.join();
  }

  int port() const { return port_; }
  bool has_moved() const { return has_moved_; }
  std::string address() const {
    const bool is_v6 = config_.host.find(':') != std::string::npos;
    return (is_v6 ? "[" + config_.host + "]" : config_.host) + ":" + std::to_string(port_);
  }

 private:
  HttpServerConfig config_;
  std::unique_ptr<httplib::Server> server_;
  base::Lane lane_;
  std::atomic<bool> has_ended_{false};
  int port_ = 0;
  bool has_moved_ = false;
};

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerConfig config) {
  TRY_ASSIGN(auto server, make_server(config.tls));
  auto impl = std::make_unique<Impl>(std::move(config), std::move(server));
  TRY(impl->bind());
  impl->listen();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() {
  stop();
}
int HttpServer::port() const {
  return impl_->port();
}
std::string HttpServer::address() const {
  return impl_->address();
}
bool HttpServer::has_moved() const {
  return impl_->has_moved();
}
void HttpServer::stop() {
  impl_->stop();
}

}  // namespace frazil::net
