#include "clients/kafka/plaintext_guard.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace frazil::clients {

bool is_loopback_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  if (address.sa_family != AF_INET6) return false;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string address_text(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  const void* bytes = address.sa_family == AF_INET ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
                                                   : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  inet_ntop(address.sa_family, bytes, text, sizeof text);
  return text;
}

std::optional<std::string> outside_address(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return std::nullopt;
  std::optional<std::string> outside;
  for (const addrinfo* entry = found; entry != nullptr && !outside; entry = entry->ai_next) {
    if (!is_loopback_address(*entry->ai_addr)) outside = address_text(*entry->ai_addr);
  }
  freeaddrinfo(found);
  return outside;
}

int begin_connect(int socket, const sockaddr& address, int length) {
  if (connect(socket, &address, static_cast<socklen_t>(length)) == 0 || errno == EINPROGRESS) return 0;
  return errno;
}

}  // namespace frazil::clients
