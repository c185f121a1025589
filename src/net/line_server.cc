#include "net/line_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/sync.h"
#include "net/local_socket.h"

namespace frazil::net {
namespace {

constexpr int kQueue = 128;

// True when nobody listens behind the file any more.
bool is_left_over(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
  const auto probe = local_socket();
  return probe.ok() && connect(probe->number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno == ECONNREFUSED;
}

// Nobody can connect before listen(), so the mode is set in time.
base::Result<Descriptor> listen_at(const std::string& path) {
  TRY_ASSIGN(const sockaddr_un address, local_address(path));
  TRY_ASSIGN(Descriptor listener, local_socket());
  const auto* bare = reinterpret_cast<const sockaddr*>(&address);
  int bound = bind(listener.number(), bare, sizeof address);
  if (bound != 0 && errno == EADDRINUSE) {
    if (!is_left_over(path, address)) {
      return base::Error(base::Code::kExists, "cannot listen on " + path + ": another process does, or the file is no socket");
    }
    unlink(path.c_str());
    bound = bind(listener.number(), bare, sizeof address);
  }
  if (bound != 0 || chmod(path.c_str(), 0600) != 0 || listen(listener.number(), kQueue) != 0) {
    return base::unavailable("cannot listen on " + path + ": " + std::strerror(errno));
  }
  return listener;
}

}  // namespace

class LineServer::Impl {
 public:
  explicit Impl(LineServerConfig config) : config_(std::move(config)) {}

  base::Status start() {
    TRY_ASSIGN(listener_, listen_at(config_.path));
    struct stat made {};
    if (lstat(config_.path.c_str(), &made) == 0) inode_ = made.st_ino;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return base::unavailable(std::string("no pipe: ") + std::strerror(errno));
    wake_ = Descriptor(ends[0]);
    stop_ = Descriptor(ends[1]);
    lane_ = base::Lane("control socket", [this] { serve(); });
    return {};
  }

  const std::string& path() const { return config_.path; }

  ~Impl() {
    if (lane_.joinable()) {
      [[maybe_unused]] const auto written = write(stop_.number(), "e", 1);
      lane_.join();
    }
    struct stat now {};
    if (inode_ && lstat(config_.path.c_str(), &now) == 0 && now.st_ino == *inode_) unlink(config_.path.c_str());
  }

 private:
  struct Client {
    Descriptor socket;
    uint32_t user = 0;
    base::MonoMicros deadline = 0;
    std::string request;
    std::string answer;  // with its new line; empty while the request is read
    size_t sent = 0;
    bool is_done = false;
  };

  void serve() {
    while (true) {
      std::vector<pollfd> polled{{wake_.number(), POLLIN, 0}, {listener_.number(), POLLIN, 0}};
      for (const Client& client : clients_) {
        polled.push_back({client.socket.number(), static_cast<short>(client.answer.empty() ? POLLIN : POLLOUT), 0});
      }
      poll(polled.data(), polled.size(), wait_ms());
      if (polled[0].revents != 0) return;
      for (size_t i = 0; i < clients_.size(); ++i) {
        if (polled[i + 2].revents != 0) go_on(clients_[i]);
      }
      const base::MonoMicros now = base::mono_micros();
      std::erase_if(clients_, [now](const Client& client) { return client.is_done || now >= client.deadline; });
      if (polled[1].revents != 0) take_in();
    }
  }

  int wait_ms() const {
    base::MonoMicros next = base::kForever;
    for (const Client& client : clients_) next = std::min(next, client.deadline);
    if (next == base::kForever) return -1;
    return static_cast<int>(std::clamp<int64_t>((next - base::mono_micros()) / 1000 + 1, 0, INT_MAX));
  }

  void take_in() {
    Client client;
    client.socket = Descriptor(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.socket.is_open()) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(client.socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
    if (peer.uid != geteuid() && peer.uid != 0) {
      base::log_warn("control_refused", {{"uid", static_cast<int64_t>(peer.uid)}, {"socket", config_.path}});
      return;
    }
    client.user = peer.uid;
    client.deadline = base::deadline_after(config_.client_ms_at_most * 1000);
    if (clients_.size() >= config_.clients_at_most) clients_.erase(clients_.begin());  // the oldest: a crowd that says nothing shuts nobody out
    clients_.push_back(std::move(client));
  }

  void go_on(Client& client) {
    if (client.answer.empty()) {
      read_more(client);
    } else {
      write_more(client);
    }
  }

  void read_more(Client& client) {
    char bytes[4096];
    const ssize_t got = read(client.socket.number(), bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      client.is_done = true;
      return;
    }
    client.request.append(bytes, static_cast<size_t>(got));
    const size_t end = client.request.find('\n');
    if (std::min(end, client.request.size()) > config_.request_bytes_at_most) {
      client.is_done = true;
    } else if (end != std::string::npos) {
      client.answer = config_.answer(std::string_view(client.request).substr(0, end), client.user) + "\n";
      client.deadline = base::deadline_after(config_.client_ms_at_most * 1000);
      write_more(client);
    }
  }

  void write_more(Client& client) {
    const ssize_t sent =
        send(client.socket.number(), client.answer.data() + client.sent, client.answer.size() - client.sent, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent > 0) client.sent += static_cast<size_t>(sent);
    client.is_done = sent <= 0 || client.sent == client.answer.size();
  }

  const LineServerConfig config_;
  Descriptor listener_;
  Descriptor wake_;
  Descriptor stop_;
  std::optional<ino_t> inode_;
  std::vector<Client> clients_;  // the lane's alone
  base::Lane lane_;
};

base::Result<std::unique_ptr<LineServer>> LineServer::start(LineServerConfig config) {
  auto impl = std::make_unique<Impl>(std::move(config));
  TRY(impl->start());
  return std::unique_ptr<LineServer>(new LineServer(std::move(impl)));
}

LineServer::LineServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LineServer::~LineServer() = default;
const std::string& LineServer::path() const { return impl_->path(); }

base::Result<std::string> ask_line(const std::string& path, std::string_view line, int64_t timeout_ms) {
  TRY_ASSIGN(const sockaddr_un address, local_address(path));
  TRY_ASSIGN(const Descriptor socket, local_socket());
  const base::MonoMicros deadline = base::deadline_after(timeout_ms * 1000);
  const auto failed = [&path] { return base::unavailable(path + ": " + std::strerror(errno)); };
  if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return base::Error(base::Code::kNotFound, "nobody listens on " + path);
    return failed();
  }
  const std::string request = std::string(line) + "\n";
  for (size_t sent = 0; sent < request.size();) {
    if (!wait_for_events(socket.number(), POLLOUT, deadline)) return base::unavailable(path + " takes no request in time");
    const ssize_t more = send(socket.number(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (more < 0 && errno != EAGAIN && errno != EINTR) return failed();
    if (more > 0) sent += static_cast<size_t>(more);
  }
  std::string answer;
  while (answer.find('\n') == std::string::npos) {
    if (!wait_for_events(socket.number(), POLLIN, deadline)) return base::unavailable(path + " does not answer");
    char bytes[4096];
    const ssize_t got = read(socket.number(), bytes, sizeof bytes);
    if (got == 0) return base::unavailable(path + " ended the connection without an answer: it serves its own user and root alone");
    if (got < 0 && errno != EAGAIN && errno != EINTR) return failed();
    if (got > 0) answer.append(bytes, static_cast<size_t>(got));
  }
  return answer.substr(0, answer.find('\n'));
}

}  // namespace frazil::net
