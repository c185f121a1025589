// RawServer: a server of a test that decides byte by byte what comes back, and counts what came. On 127.0.0.1, with or
// without TLS.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/sync.h"
#include "tests/net/test_authority.h"

namespace frazil::net {

// One accepted connection, in the hands of the test's script.
class RawConnection {
 public:
  RawConnection(int socket, SSL_CTX* tls, std::atomic<int>& requests) : socket_(socket), requests_(requests) {
    if (tls == nullptr) return;
    ssl_ = SSL_new(tls);
    SSL_set_fd(ssl_, socket);
    is_open_ = SSL_accept(ssl_) == 1;
    if (!is_open_) let_alert_arrive();
  }
  ~RawConnection() {
    if (ssl_ != nullptr && is_open_) SSL_shutdown(ssl_);
    SSL_free(ssl_);
  }

  // Head and body of the next request; nothing at the connection's end. Counted once its head is whole.
  std::optional<std::string> read_request() {
    if (!read_head()) return std::nullopt;
    const size_t head = buffer_.find("\r\n\r\n") + 4;
    ++requests_;
    const size_t body = body_bytes(buffer_.substr(0, head));
    while (buffer_.size() < head + body) {
      if (!read_more()) return std::nullopt;
    }
    std::string request = buffer_.substr(0, head + body);
    buffer_.erase(0, head + body);
    return request;
  }
  // The head alone; the body stays where it is.
  bool read_head() {
    while (buffer_.find("\r\n\r\n") == buffer_.npos) {
      if (!read_more()) return false;
    }
    return true;
  }
  bool send(const std::string& bytes) {
    if (ssl_ != nullptr) return is_open_ && SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  void answer(const std::string& body, const std::string& status = "200 OK") {
    send("HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  // The connection will end with RST instead of FIN.
  void reset() {
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    is_open_ = false;
  }
  // Ends without TLS's goodbye.
  void cut() { is_open_ = false; }
  // Waits until the other side has ended the connection.
  void wait_for_end() {
    while (read_more()) buffer_.clear();
  }

 private:
  // A socket closed with unread bytes resets the connection, and the other side would never read why it was refused.
  void let_alert_arrive() {
    char ignored[1024];
    shutdown(socket_, SHUT_WR);
    while (recv(socket_, ignored, sizeof ignored, 0) > 0) continue;
  }
  static size_t body_bytes(const std::string& head) {
    const size_t at = head.find("Content-Length: ");
    return at == head.npos ? 0 : std::strtoul(head.c_str() + at + 16, nullptr, 10);
  }
  bool read_more() {
    char piece[16'384];
    const ssize_t bytes =
        ssl_ != nullptr ? (is_open_ ? SSL_read(ssl_, piece, sizeof piece) : 0) : recv(socket_, piece, sizeof piece, 0);
    if (bytes <= 0) return false;
    buffer_.append(piece, static_cast<size_t>(bytes));
    return true;
  }

  const int socket_;
  std::atomic<int>& requests_;
  SSL* ssl_ = nullptr;
  bool is_open_ = true;
  std::string buffer_;
};

class RawServer {
 public:
  using Script = std::function<void(RawConnection&)>;  // called for each connection, on a lane of its own

  explicit RawServer(Script script, const CertificateFiles* certificate = nullptr, const std::string& client_ca = "",
                     int tls_version = 0)
      : script_(std::move(script)) {
    signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to connections that the client has ended
    if (certificate != nullptr) make_tls(*certificate, client_ca, tls_version);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0 && listen(listener_, 64) == 0);
    CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = base::Lane("acceptor", [this] { accept_all(); });
  }
  ~RawServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      base::Lock lock(mutex_);
      for (const int socket : open_) shutdown(socket, SHUT_RDWR);
    }
    for (base::Lane& lane : lanes_) lane.join();
    close(listener_);
    SSL_CTX_free(tls_);
  }

  int port() const { return port_; }
  std::string url(const std::string& path, const std::string& host = "127.0.0.1") const {
    return std::string(tls_ != nullptr ? "https://" : "http://") + host + ":" + std::to_string(port_) + path;
  }
  int connections() const { return connections_; }
  int requests() const { return requests_; }

 private:
  void make_tls(const CertificateFiles& files, const std::string& client_ca, int version) {
    tls_ = SSL_CTX_new(TLS_server_method());
    if (version != 0) {
      SSL_CTX_set_min_proto_version(tls_, version);
      SSL_CTX_set_max_proto_version(tls_, version);
      SSL_CTX_set_cipher_list(tls_, "DEFAULT:@SECLEVEL=0");
    }
    CHECK(SSL_CTX_use_certificate_file(tls_, files.certificate.c_str(), SSL_FILETYPE_PEM) == 1);
    CHECK(SSL_CTX_use_PrivateKey_file(tls_, files.key.c_str(), SSL_FILETYPE_PEM) == 1);
    if (client_ca.empty()) return;
    CHECK(SSL_CTX_load_verify_locations(tls_, client_ca.c_str(), nullptr) == 1);
    SSL_CTX_set_verify(tls_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }

  void accept_all() {
    while (true) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      ++connections_;
      base::Lock lock(mutex_);
      open_.push_back(socket);
      lanes_.emplace_back("connection", [this, socket] { serve(socket); });
    }
  }

  void serve(int socket) {
    {
      RawConnection connection(socket, tls_, requests_);
      script_(connection);
    }
    base::Lock lock(mutex_);
    std::erase(open_, socket);
    close(socket);
  }

  const Script script_;
  SSL_CTX* tls_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<int> requests_{0};
  base::Mutex mutex_;
  std::vector<int> open_;
  std::vector<base::Lane> lanes_;
  base::Lane acceptor_;
};

}  // namespace frazil::net
