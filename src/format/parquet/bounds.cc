#include "format/parquet/bounds.h"

#include <algorithm>
#include <array>

namespace frazil::format {
namespace {

constexpr uint32_t kHighestCodePoint = 0x10FFFF;
constexpr uint32_t kFirstSurrogate = 0xD800;
constexpr uint32_t kAfterSurrogates = 0xE000;

bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// Bytes of the code point at the front; 1 for a byte that starts none.
size_t code_point_bytes(std::string_view text) {
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  const size_t expected = lead < 0x80 ? 1 : lead >= 0xF0 && lead < 0xF8 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xC0 && lead < 0xE0 ? 2 : 1;
  if (expected > text.size()) return 1;
  for (size_t i = 1; i < expected; ++i) {
    if (!is_continuation(text[i])) return 1;
  }
  return expected;
}

// The code point of `text`, which is exactly one; nothing for a stray byte.
std::optional<uint32_t> decode(std::string_view text) {
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  if (text.size() == 1) return lead < 0x80 ? std::optional<uint32_t>(lead) : std::nullopt;
  uint32_t value = lead & (0xFF >> (text.size() + 1));
  for (size_t i = 1; i < text.size(); ++i) value = (value << 6) | (static_cast<uint8_t>(text[i]) & 0x3F);
  return value;
}

void encode(uint32_t value, std::string& out) {
  if (value < 0x80) {
    out.push_back(static_cast<char>(value));
    return;
  }
  const int more = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  constexpr std::array<uint8_t, 4> kLead = {0, 0xC0, 0xE0, 0xF0};
  out.push_back(static_cast<char>(kLead[static_cast<size_t>(more)] | (value >> (6 * more))));
  for (int i = more - 1; i >= 0; --i) out.push_back(static_cast<char>(0x80 | ((value >> (6 * i)) & 0x3F)));
}

std::optional<uint32_t> next_code_point(uint32_t value) {
  if (value >= kHighestCodePoint) return std::nullopt;
  return value + 1 == kFirstSurrogate ? kAfterSurrogates : value + 1;
}

size_t last_code_point_start(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && is_continuation(text[at])) --at;
  return code_point_bytes(text.substr(at)) == text.size() - at ? at : text.size() - 1;
}

}  // namespace

std::string decimal_bound(__int128 unscaled) {
  std::string bytes;
  for (int shift = 120; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(unscaled >> shift));
  size_t skip = 0;
  while (skip + 1 < bytes.size()) {
    const bool negative = static_cast<int8_t>(bytes[skip + 1]) < 0;
    if (bytes[skip] != (negative ? '\xFF' : '\0')) break;
    ++skip;
  }
  return bytes.substr(skip);
}

std::string_view truncate_text(std::string_view text, int code_points) {
  size_t at = 0;
  for (int i = 0; i < code_points && at < text.size(); ++i) at += code_point_bytes(text.substr(at));
  return text.substr(0, at);
}

std::optional<std::string> round_up_text(std::string_view text, int code_points) {
  std::string_view prefix = truncate_text(text, code_points);
  if (prefix.size() == text.size()) return std::string(text);
  while (!prefix.empty()) {
    const size_t at = last_code_point_start(prefix);
    const std::optional<uint32_t> last = decode(prefix.substr(at));
    const std::optional<uint32_t> next = last ? next_code_point(*last) : std::nullopt;
    prefix = prefix.substr(0, at);
    if (!next) continue;
    std::string raised(prefix);
    encode(*next, raised);
    return raised;
  }
  return std::nullopt;
}

std::optional<std::string> round_up_bytes(std::string_view bytes, int length) {
  if (bytes.size() <= static_cast<size_t>(length)) return std::string(bytes);
  std::string prefix(bytes.substr(0, static_cast<size_t>(length)));
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

}  // namespace frazil::format
