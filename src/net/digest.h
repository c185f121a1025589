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
// In a time that tells nothing of where they differ; only their lengths show.
bool is_same_secret(std::string_view one, std::string_view other);
// URL alphabet, without padding (RFC 7515 section 2).
std::string base64_url(std::string_view bytes);

}  // namespace frazil::net
