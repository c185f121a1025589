#include "net/host_rules.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace frazil::net {

namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

constexpr uint32_t ipv4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

bool is_guarded_ipv4(uint32_t address) {
  const uint32_t first = address >> 24;
  return first == 127 || first == 0 || address >> 16 == ipv4(0, 0, 169, 254) ||
         address == ipv4(100, 100, 100, 200) ||  // Alibaba Cloud's metadata
         address == ipv4(168, 63, 129, 16) ||    // Azure's
         address == ipv4(192, 0, 0, 192);        // Oracle Cloud's
}

bool is_guarded_ipv6(const in6_addr& address) {
  static constexpr uint8_t kAwsMetadata[] = {0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54};
  static constexpr uint8_t kNat64[] = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};
  const bool holds_ipv4 = IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_V4COMPAT(&address) ||
                          std::memcmp(address.s6_addr, kNat64, sizeof kNat64) == 0;
  if (holds_ipv4) {
    uint32_t inner = 0;
    std::memcpy(&inner, address.s6_addr + 12, sizeof inner);
    return is_guarded_ipv4(ntohl(inner));
  }
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) || IN6_IS_ADDR_LINKLOCAL(&address) ||
         std::memcmp(address.s6_addr, kAwsMetadata, sizeof kAwsMetadata) == 0;
}

}  // namespace

HostRules::HostRules(std::vector<std::string> allowed_hosts) {
  for (std::string& host : allowed_hosts) listed_.push_back(lower(std::move(host)));
}

bool HostRules::is_listed(const std::string& host, int port) const {
  const std::string name = lower(host);
  const std::string bracketed = name.find(':') != name.npos ? "[" + name + "]" : name;
  return std::any_of(listed_.begin(), listed_.end(), [&](const std::string& listed) {
    return listed == name || listed == bracketed || listed == bracketed + ":" + std::to_string(port);
  });
}

bool is_guarded_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    return is_guarded_ipv4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    return is_guarded_ipv6(v6.sin6_addr);
  }
  return true;
}

}  // namespace frazil::net
