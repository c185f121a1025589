#include "net/http_server.h"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "net/http_guests.h"

namespace frazil::net {

namespace {

constexpr int kLanes = 32;
constexpr size_t kWaitingAtMost = 256;  // connections without a lane; further ones are closed
constexpr int kQueue = 1024;            // connections that are not accepted yet
constexpr int kRequestsAtMost = 100;    // on one connection
constexpr int64_t kRequestMicros = 5'000'000;  // until a request is there whole, and that a connection may be idle before it
constexpr int64_t kAnswerMicros = 5'000'000;   // until its answer is taken
constexpr int64_t kHeadBytes = 64 << 10;

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
  for (const auto& [name, value] : reply.headers) response.set_header(name.c_str(), value);
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
}

// Where the library puts one connection after the other. One lane each, so that one that waits keeps nobody waiting but itself.
class Lanes : public httplib::TaskQueue {
 public:
  explicit Lanes(HttpGuests& guests) : guests_(guests) {
    for (int i = 0; i < kLanes; ++i) lanes_.emplace_back("http", [this] { run(); });
  }

  void enqueue(std::function<void()> visit) override {
    bool is_full = false;
    {
      base::Lock lock(mutex_);
      is_full = waiting_.size() >= kWaitingAtMost;
      if (!is_full) waiting_.push_back(std::move(visit));
      make_room();
      changed_.notify_all();
    }
    if (is_full) turn_away(visit);
  }
  void shutdown() override {
    {
      base::Lock lock(mutex_);
      is_closed_ = true;
      changed_.notify_all();
    }
    for (base::Lane& lane : lanes_) lane.join();
  }

  // Whether the visit that this thread makes has no lane: its connection is closed.
  static bool turns_away() { return turns_away_; }

 private:
  static void turn_away(const std::function<void()>& visit) {
    turns_away_ = true;
    visit();
    turns_away_ = false;
  }

  void run() {
    while (const std::function<void()> visit = next()) visit();
  }

  // Nothing at the end.
  std::function<void()> next() {
    base::Lock lock(mutex_);
    ++idle_;
    while (waiting_.empty() && !is_closed_) changed_.wait(lock);
    --idle_;
    if (waiting_.empty()) return nullptr;
    std::function<void()> visit = std::move(waiting_.front());
    waiting_.pop_front();
    make_room();
    return visit;
  }

  void make_room() { guests_.make_room_for(waiting_.size() - std::min(idle_, waiting_.size())); }

  static thread_local bool turns_away_;
  HttpGuests& guests_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> waiting_;
  size_t idle_ = 0;
  bool is_closed_ = false;
  std::vector<base::Lane> lanes_;
};

thread_local bool Lanes::turns_away_ = false;

// A guest as the library sees it. An answer has a time of its own, since making it may have taken long.
class GuestStream : public httplib::Stream {
 public:
  explicit GuestStream(Guest& guest) : guest_(guest) {}
  void await_request(int64_t bytes) {
    guest_.take_at_most(bytes);
    guest_.begin(kRequestMicros);
  }

  // No further request comes, or none in time.
  bool is_over() const { return is_over_; }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override {
    is_answering_ = false;
    const ssize_t got = guest_.read(bytes, size);
    is_over_ = is_over_ || got <= 0;
    return got;
  }
  ssize_t write(const char* bytes, size_t size) override {
    if (!std::exchange(is_answering_, true)) guest_.begin(kAnswerMicros);
    return guest_.write(bytes, size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return guest_.socket(); }

 private:
  Guest& guest_;
  bool is_answering_ = false;
  bool is_over_ = false;
};

// The library's server with connections of ours: each request has one deadline, however slowly it comes.
class BoundedServer : public httplib::Server {
 public:
  // `tls` null: plain. `guests` outlives it.
  BoundedServer(std::unique_ptr<httplib::SSLServer> tls, HttpGuests& guests, int64_t max_body_bytes)
      : tls_(std::move(tls)), guests_(guests), max_request_bytes_(max_body_bytes + kHeadBytes) {}

  // The library lets 5 connections wait for their acceptance; the client of a sixth tries again a second later.
  void let_more_wait() { ::listen(svr_sock_, kQueue); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    Guest guest(socket, tls_ ? tls_->ssl_context() : nullptr, guests_);
    if (Lanes::turns_away()) return false;
    GuestStream stream(guest);
    stream.await_request(max_request_bytes_);
    if (!guest.shake_hands()) return false;
    for (int left = kRequestsAtMost; left > 0; --left) {
      bool is_closed = false;
      if (!process_request(stream, left == 1, is_closed, nullptr) || is_closed || stream.is_over()) break;
      stream.await_request(max_request_bytes_);
    }
    return true;
  }

  const std::unique_ptr<httplib::SSLServer> tls_;  // for its context alone
  HttpGuests& guests_;
  const int64_t max_request_bytes_;
};

base::Result<std::unique_ptr<httplib::SSLServer>> make_tls(const std::optional<ServerTls>& tls) {
  if (!tls) return std::unique_ptr<httplib::SSLServer>();
  auto server = std::make_unique<httplib::SSLServer>(tls->certificate_file.c_str(), tls->key_file.c_str(), tls->client_ca_file.c_str());
  if (!server->is_valid()) {
    return base::invalid("cannot serve TLS with certificate " + tls->certificate_file + ", key " + tls->key_file + " and authority " +
                         tls->client_ca_file + ": one of them cannot be read, or key and certificate do not belong together");
  }
  return server;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpServerConfig config, std::unique_ptr<httplib::SSLServer> tls)
      : config_(std::move(config)), server_(std::make_unique<BoundedServer>(std::move(tls), guests_, config_.max_body_bytes)) {
    server_->new_task_queue = [this] { return new Lanes(guests_); };
    server_->set_payload_max_length(static_cast<size_t>(config_.max_body_bytes));
    // The library's default lets two processes share a port; a busy port must be noticed.
    server_->set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    });
    for (const auto& [path, responder] : config_.routes) {
      server_->Get(exactly(path), [responder = responder](const httplib::Request&, httplib::Response& response) { put(responder(), response); });
    }
    for (const auto& [path, receiver] : config_.receivers) {
      server_->Post(exactly(path), [receiver = receiver](const httplib::Request& request, httplib::Response& response) {
        put(receiver({request.get_header_value("Authorization"), request.body}), response);
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
    server_->let_more_wait();
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
    guests_.end_all();
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
  HttpGuests guests_;
  std::unique_ptr<BoundedServer> server_;
  base::Lane lane_;
  std::atomic<bool> has_ended_{false};
  int port_ = 0;
  bool has_moved_ = false;
};

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerConfig config) {
  TRY_ASSIGN(auto tls, make_tls(config.tls));
  auto impl = std::make_unique<Impl>(std::move(config), std::move(tls));
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
