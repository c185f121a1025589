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
  std::string authority() const;  // "host:port", always with its port
};

// kInvalid: not http(s), user names or passwords in it, control characters, no host.
base::Result<Url> parse_url(std::string_view text);
// True for localhost, 127.0.0.0/8 and ::1.
bool is_loopback_host(std::string_view host);

// True when the text is an address with a user part, or with a parameter that is called like a secret ("?access_token=…"). Of any scheme; the text
// need not be valid.
bool may_hold_secret(std::string_view url);

// Everything but unreserved characters (A-Z a-z 0-9 - . _ ~) becomes %XX of its UTF-8 bytes, upper case.
std::string percent_encode(std::string_view text);
// The same, but '/' stays: object keys and paths.
std::string percent_encode_path(std::string_view text);

}  // namespace frazil::net
