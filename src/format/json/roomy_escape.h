// Escapes of strings as most texts write them, for texts with room behind (JsonIndex): every escape but surrogate pairs. What these
// functions refuse is for JsonCursor and append_unescaped to judge. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace frazil::format {

// Reads and writes up to 31 bytes more.
inline void copy_pieces(char* to, const char* from, size_t size) {
  for (size_t i = 0; i < size; i += 32) std::memcpy(to + i, from + i, 32);
}

constexpr std::array<char, 256> simple_escapes() {
  std::array<char, 256> table{};
  for (const char c : {'"', '\\', '/'}) table[static_cast<unsigned char>(c)] = c;
  table['b'] = '\b';
  table['f'] = '\f';
  table['n'] = '\n';
  table['r'] = '\r';
  table['t'] = '\t';
  return table;
}
inline constexpr std::array<char, 256> kSimpleEscapes = simple_escapes();

constexpr std::array<int8_t, 256> hex_digit_values() {
  std::array<int8_t, 256> table{};
  table.fill(-1);
  for (int i = 0; i < 10; ++i) table[static_cast<size_t>('0' + i)] = static_cast<int8_t>(i);
  for (int i = 0; i < 6; ++i) table[static_cast<size_t>('a' + i)] = table[static_cast<size_t>('A' + i)] = static_cast<int8_t>(10 + i);
  return table;
}
inline constexpr std::array<int8_t, 256> kHexDigitValues = hex_digit_values();

// The character of \uXXXX below U+D800, in UTF-8; 0 for others.
inline size_t unescape_unit(const char* at, char* text) {
  int32_t c = 0;
  for (int i = 2; i < 6; ++i) c = c << 4 | kHexDigitValues[static_cast<unsigned char>(at[i])];
  if (c < 0 || c >= 0xd800) return 0;
  if (c < 0x80) {
    text[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    text[0] = static_cast<char>(0xc0 | c >> 6);
    text[1] = static_cast<char>(0x80 | (c & 0x3f));
    return 2;
  }
  text[0] = static_cast<char>(0xe0 | c >> 12);
  text[1] = static_cast<char>(0x80 | (c >> 6 & 0x3f));
  text[2] = static_cast<char>(0x80 | (c & 0x3f));
  return 3;
}

// Writes what the escape at `at` stands for behind `size` bytes of `text`. Returns its bytes; 0 for surrogates and what is none.
inline size_t unescape(const char* at, char* text, size_t* size) {
  const char simple = kSimpleEscapes[static_cast<unsigned char>(at[1])];
  if (simple != 0) {
    text[(*size)++] = simple;
    return 2;
  }
  const size_t written = at[1] == 'u' ? unescape_unit(at, text + *size) : 0;
  *size += written;
  return written == 0 ? 0 : 6;
}

}  // namespace frazil::format
