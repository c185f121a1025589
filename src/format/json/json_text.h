// Text as JSON: the escaping that logs, status pages and raw JSON values share.
//
// Pure; any thread; cannot fail.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace frazil::format {

// `text` as a JSON string, quotes included. Escapes the quote, the backslash and control characters. Bytes that are not
// valid UTF-8 become U+FFFD each, so the result is always valid JSON.
std::string json_quote(std::string_view text);

// Appends json_quote(text) to `out`.
void append_json_quoted(std::string_view text, std::string& out);

// Bytes of the UTF-8 character at the start of `text`, which is not empty; 0 when there is none.
size_t utf8_character_size(std::string_view text);

}  // namespace frazil::format
