#include "format/json/json_cursor.h"

#include "format/json/number_text.h"

namespace frazil::format {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighs = 0x8080808080808080;

uint64_t bytes_below(uint64_t word, uint64_t limit) {
  return (word - kOnes * limit) & ~word & kHighs;
}

// Where the next quote, backslash or control character stands. Of the bytes that a word's test marks, the lowest is
// right.
const char* find_special(const char* at, const char* end) {
  while (end - at >= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    const uint64_t hits =
        bytes_below(word, 0x20) | bytes_below(word ^ kOnes * '"', 1) | bytes_below(word ^ kOnes * '\\', 1);
    if (hits != 0) return at + (std::countr_zero(hits) >> 3);
    at += 8;
  }
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_high_surrogate(uint32_t unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}
bool is_low_surrogate(uint32_t unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

uint32_t checked_hex(const char* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 4 | static_cast<uint32_t>(hex_value(at[i]));
  return value;
}

void append_utf8(uint32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

}  // namespace

void append_unescaped(std::string_view raw, std::string& out) {
  const char* at = raw.data();
  const char* const end = at + raw.size();
  while (at != end) {
    const auto* escape = static_cast<const char*>(std::memchr(at, '\\', static_cast<size_t>(end - at)));
    if (escape == nullptr) escape = end;
    out.append(at, escape);
    at = escape;
    if (at == end) return;
    if (at[1] != 'u') {
      out += simple_escape(at[1]);
      at += 2;
      continue;
    }
    uint32_t c = checked_hex(at + 2);
    at += 6;
    if (is_high_surrogate(c)) {
      c = 0x10000 + ((c - 0xd800) << 10) + (checked_hex(at + 2) - 0xdc00);
      at += 6;
    }
    append_utf8(c, out);
  }
}

bool JsonCursor::scan_string(RawString* string) {
  const char* const first = ++at_;
  string->has_escapes = false;
  while (true) {
    at_ = has_index() ? find_stop(at_) : find_special(at_, end_);
    if (at_ == end_) return fail(Fault::kNotJson, "a string has no end");
    if (*at_ == '"') break;
    if (*at_ != '\\') return fail(Fault::kNotJson, "a string holds a control character");
    string->has_escapes = true;
    if (!scan_escape()) return false;
  }
  string->text = {first, static_cast<size_t>(at_ - first)};
  ++at_;
  return true;
}

bool JsonCursor::scan_escape() {
  if (end_ - at_ < 2) return fail(Fault::kNotJson, "a string has no end");
  if (at_[1] != 'u') {
    if (std::string_view("\"\\/bfnrt").find(at_[1]) == std::string_view::npos) {
      return fail(Fault::kNotJson, "unknown escape in a string");
    }
    at_ += 2;
    return true;
  }
  uint32_t unit = 0;
  if (!scan_hex(&unit)) return false;
  if (is_low_surrogate(unit)) return fail(Fault::kNotJson, "half of a surrogate pair in a string");
  if (!is_high_surrogate(unit)) return true;
  uint32_t low = 0;
  if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u')
    return fail(Fault::kNotJson, "half of a surrogate pair in a string");
  if (!scan_hex(&low)) return false;
  return is_low_surrogate(low) || fail(Fault::kNotJson, "half of a surrogate pair in a string");
}

bool JsonCursor::scan_hex(uint32_t* unit) {
  if (end_ - at_ < 6) return fail(Fault::kNotJson, "a string has no end");
  for (int i = 2; i < 6; ++i) {
    const int digit = hex_value(at_[i]);
    if (digit < 0) return fail(Fault::kNotJson, "\\u needs four hexadecimal digits");
    *unit = *unit << 4 | static_cast<uint32_t>(digit);
  }
  at_ += 6;
  return true;
}

bool JsonCursor::scan_number(std::string_view* token) {
  const int64_t size = json_number_size(at_, end_);
  if (size == 0) return fail(Fault::kNotJson, "malformed number");
  *token = {at_, static_cast<size_t>(size)};
  at_ += size;
  return true;
}

bool JsonCursor::scan_literal(std::string_view word) {
  if (static_cast<size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0)
    return fail_value();
  at_ += word.size();
  return true;
}

bool JsonCursor::skip_value() {
  RawString string;
  std::string_view number;
  switch (peek()) {
    case '"':
      return scan_string(&string);
    case '{':
      return skip_object();
    case '[':
      return skip_array();
    case 't':
      return scan_literal("true");
    case 'f':
      return scan_literal("false");
    case 'n':
      return scan_literal("null");
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return scan_number(&number);
    default:
      return fail_value();
  }
}

bool JsonCursor::skip_object() {
  if (!enter()) return false;
  RawString name;
  if (peek() != '}') {
    do {
      if (!expect_name() || !scan_string(&name) || !take_colon() || !skip_value()) return false;
    } while (take(','));
  }
  return leave('}');
}

bool JsonCursor::skip_array() {
  if (!enter()) return false;
  if (peek() != ']') {
    do {
      if (!skip_value()) return false;
    } while (take(','));
  }
  return leave(']');
}

std::string JsonCursor::describe_fault() const {
  std::string text = std::string(fault_text_) + " at byte " + std::to_string(at_ - begin_);
  if (fault_ == Fault::kTooDeep) text += ", more than " + std::to_string(max_depth_) + " levels";
  return text;
}

}  // namespace frazil::format
