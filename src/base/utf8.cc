#include "base/utf8.h"

#include <cstdint>

namespace frazil::base {
namespace {

bool is_continuation(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

int utf8_sequence_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return 1;
  const int length = first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  for (int i = 1; i < length; ++i) {
    if (!is_continuation(text, static_cast<size_t>(i))) return 0;
  }
  if (length < 3) return length;
  const auto second = static_cast<uint8_t>(text[1]);
  const bool is_bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return is_bad ? 0 : length;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const int length = utf8_sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(static_cast<size_t>(length));
  }
  return true;
}

std::string valid_utf8_of(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const int length = utf8_sequence_length(bytes);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      bytes.remove_prefix(1);
      continue;
    }
    out += bytes.substr(0, static_cast<size_t>(length));
    bytes.remove_prefix(static_cast<size_t>(length));
  }
  return out;
}

}  // namespace frazil::base
