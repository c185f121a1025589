// UTF-8: validity, and text made of bytes that others sent. Pure.
#pragma once

#include <string>
#include <string_view>

namespace frazil::base {

// Length of the valid UTF-8 sequence that `text` begins with (1 to 4), or 0: overlong forms, surrogates and code points
// above U+10FFFF are invalid (RFC 3629).
int utf8_sequence_length(std::string_view text);
bool is_valid_utf8(std::string_view text);
// The text with every byte that is no part of a valid sequence replaced by U+FFFD.
std::string valid_utf8_of(std::string_view bytes);

}  // namespace frazil::base
