// SHA-256 and HMAC-SHA-256 over OpenSSL, and the hex and base64 that protocols write them in. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace frazil::net {

// 32 bytes.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);
// Lower case.
std::string hex(std::string_view bytes);
// URL alphabet, without padding (RFC 7515 section 2).
std::string base64_url(std::string_view bytes);

}  // namespace frazil::net
