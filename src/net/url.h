// URLs: taken apart, and their parts encoded (RFC 3986). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::net {

struct Url {
  std::string scheme;          // lower case
  std::string host;            // lower case, an IPv6 address without brackets
  int port = 0;                // the scheme's default when none is written
  std::string path;            // encoded, begins with '/'
  std::string query;           // encoded, without '?'
  std::string origin() const;  // "https://host:port"; the default port left out
};

// kInvalid: not http(s), user names or passwords in it, control characters, no host.
base::Result<Url> parse_url(std::string_view text);
// True for localhost, 127.0.0.0/8 and ::1.
bool is_loopback_host(std::string_view host);

// Everything but unreserved characters (A-Z a-z 0-9 - . _ ~) becomes %XX of its UTF-8 bytes, upper case.
std::string percent_encode(std::string_view text);
// The same, but '/' stays: object keys and paths.
std::string percent_encode_path(std::string_view text);

}  // namespace frazil::net
