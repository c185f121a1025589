#include "format/json/binary_text.h"

#include <array>
#include <cstdint>

namespace frazil::format {
namespace {

constexpr int8_t kNone = -1;

constexpr std::array<int8_t, 256> hex_digits() {
  std::array<int8_t, 256> table{};
  table.fill(kNone);
  for (int i = 0; i < 10; ++i) table['0' + i] = static_cast<int8_t>(i);
  for (int i = 0; i < 6; ++i) table['a' + i] = table['A' + i] = static_cast<int8_t>(10 + i);
  return table;
}

constexpr std::array<int8_t, 256> base64_digits() {
  std::array<int8_t, 256> table{};
  table.fill(kNone);
  for (int i = 0; i < 26; ++i) {
    table['A' + i] = static_cast<int8_t>(i);
    table['a' + i] = static_cast<int8_t>(26 + i);
  }
  for (int i = 0; i < 10; ++i) table['0' + i] = static_cast<int8_t>(52 + i);
  table['+'] = table['-'] = 62;
  table['/'] = table['_'] = 63;
  return table;
}

constexpr auto kHex = hex_digits();
constexpr auto kBase64 = base64_digits();

int digit(const std::array<int8_t, 256>& table, char c) {
  return table[static_cast<unsigned char>(c)];
}

// Drops the padding; false when it does not fill the last group of four.
bool drop_padding(std::string_view& text) {
  if (text.empty() || text.back() != '=') return true;
  if (text.size() % 4 != 0) return false;
  text.remove_suffix(1);
  if (text.back() == '=') text.remove_suffix(1);
  return true;
}

}  // namespace

bool parse_uuid(std::string_view text, char (&bytes)[16]) {
  static constexpr size_t kPlaces[] = {0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34};
  if (text.size() != 36) return false;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return false;
  int faults = 0;  // negative once a digit was none
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    const int high = digit(kHex, text[kPlaces[i]]);
    const int low = digit(kHex, text[kPlaces[i] + 1]);
    faults |= high | low;
    bytes[i] = static_cast<char>(static_cast<unsigned>(high) << 4 | static_cast<unsigned>(low));
  }
  return faults >= 0;
}

bool decode_base64(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (!drop_padding(text) || text.size() % 4 == 1) return false;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = digit(kBase64, c);
    if (value < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count);
      bits &= (1U << count) - 1;
    }
  }
  return bits == 0;
}

}  // namespace frazil::format
