// Bytes written as text: UUIDs and base64.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace frazil::format {

// 8-4-4-4-12 hexadecimal digits of either case into 16 bytes, the first digit highest. False: not that.
bool parse_uuid(std::string_view text, char (&bytes)[16]);

// RFC 4648, sections 4 and 5: both alphabets, padding optional but right where it stands. False: another character, an
// impossible length, or bits behind the last byte that are not zero. `bytes` is overwritten.
bool decode_base64(std::string_view text, std::string& bytes);

}  // namespace frazil::format
