// Keeps a client without TLS on this machine. The addresses in bootstrap.servers are checked with the configuration
// (connection_rules.h); those that a broker advertises, and what names resolve to, are only known when it connects.
//
// Any thread.
#pragma once

#include <optional>
#include <string>

struct sockaddr;

namespace frazil::clients {

// True for 127.0.0.0/8 and ::1, also as an IPv4 address in IPv6 clothes.
bool is_loopback_address(const sockaddr& address);
// "192.0.2.1" for messages.
std::string address_text(const sockaddr& address);
// The first address outside of this machine that a host name resolves to. Asks the system's resolver, which may take its time;
// a name that does not resolve is nobody's address.
std::optional<std::string> outside_address(const std::string& host);
// Begins to connect a socket that does not block. 0, or the errno.
int begin_connect(int socket, const sockaddr& address, int length);

}  // namespace frazil::clients
