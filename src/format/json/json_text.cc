#include "format/json/json_text.h"

namespace frazil::format {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_escaped_byte(unsigned char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += "\\u00";
  out += kHexDigits[c >> 4];
  out += kHexDigits[c & 15];
}

bool is_continuation(unsigned char c) {
  return (c & 0xc0) == 0x80;
}

// Lowest and highest second byte that Unicode allows behind a lead byte (table 3-7 of the standard).
bool fits_second_byte(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xe0:
      return second >= 0xa0 && second <= 0xbf;
    case 0xed:
      return second >= 0x80 && second <= 0x9f;
    case 0xf0:
      return second >= 0x90 && second <= 0xbf;
    case 0xf4:
      return second >= 0x80 && second <= 0x8f;
    default:
      return is_continuation(second);
  }
}

size_t sequence_size(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return lead < 0x80 ? 1 : 0;
}

}  // namespace

size_t utf8_character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t size = sequence_size(lead);
  if (size <= 1) return size;
  if (text.size() < size || !fits_second_byte(lead, static_cast<unsigned char>(text[1]))) return 0;
  for (size_t i = 2; i < size; ++i) {
    if (!is_continuation(static_cast<unsigned char>(text[i]))) return 0;
  }
  return size;
}

void append_json_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t size = utf8_character_size(text.substr(at));
    if (size == 0) {
      out += "\xef\xbf\xbd";
    } else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
      append_escaped_byte(c, out);
    } else {
      out.append(text, at, size);
    }
    at += size == 0 ? 1 : size;
  }
  out += '"';
}

std::string json_quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_quoted(text, out);
  return out;
}

}  // namespace frazil::format
