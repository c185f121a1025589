// HostRules: whom an HTTP client may speak to (HttpClientConfig::allowed_hosts). Pure values; any thread.
#pragma once

#include <string>
#include <vector>

struct sockaddr;

namespace frazil::net {

class HostRules {
 public:
  // "host" or "host:port"; an IPv6 address with a port stands in brackets. Upper and lower case are the same.
  explicit HostRules(std::vector<std::string> allowed_hosts);
  bool is_listed(const std::string& host, int port) const;

 private:
  std::vector<std::string> listed_;
};

// True for addresses at which a name that is not listed may not be reached: loopback (and the unspecified address,
// which leads there), link-local, and where clouds serve their instances' credentials. IPv4 addresses in IPv6 clothes
// count as what they are.
bool is_guarded_address(const sockaddr& address);

}  // namespace frazil::net
