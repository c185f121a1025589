#include "io/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace frazil::io {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // reflected
constexpr size_t kSlices = 8;

// tables[s][b]: what byte b does to the checksum, s bytes further on.
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t value = tables[slice - 1][byte];
      tables[slice][byte] = (value >> 8) ^ tables[0][value & 0xFF];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

uint64_t load_little_endian(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

uint32_t extend_by_table(uint32_t state, const char* from, size_t count) {
  for (; count >= 8; from += 8, count -= 8) {
    const uint64_t word = load_little_endian(from) ^ state;
    state = 0;
    for (size_t byte = 0; byte < 8; ++byte) state ^= kTables[7 - byte][(word >> (8 * byte)) & 0xFF];
  }
  for (; count > 0; ++from, --count) state = (state >> 8) ^ kTables[0][(state ^ static_cast<uint8_t>(*from)) & 0xFF];
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t extend_by_instruction(uint32_t state, const char* from, size_t count) {
  uint64_t wide = state;
  for (; count >= 8; from += 8, count -= 8) wide = _mm_crc32_u64(wide, load_little_endian(from));
  state = static_cast<uint32_t>(wide);
  for (; count > 0; ++from, --count) state = _mm_crc32_u8(state, static_cast<uint8_t>(*from));
  return state;
}
bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }
#else
uint32_t extend_by_instruction(uint32_t state, const char* from, size_t count) { return extend_by_table(state, from, count); }
bool has_instruction() { return false; }
#endif

std::string big_endian(uint32_t value) {
  std::string bytes(4, '\0');
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (24 - 8 * i));
  return bytes;
}

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
  static const auto extend = has_instruction() ? extend_by_instruction : extend_by_table;
  return ~extend(~before, bytes.data(), bytes.size());
}

uint32_t crc32c_by_table(std::string_view bytes, uint32_t before) {
  return ~extend_by_table(~before, bytes.data(), bytes.size());
}

std::string crc32c_base64(uint32_t checksum) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  // 32 bits are five digits of six bits and a sixth with two.
  std::string text;
  for (int shift = 26; shift >= 2; shift -= 6) text += kDigits[(checksum >> shift) & 63];
  return text + kDigits[(checksum & 3) << 4] + "==";
}

void Crc32cOfParts::add(uint32_t checksum) {
  checksum_ = crc32c(big_endian(checksum), checksum_);
  ++parts_;
}

std::string Crc32cOfParts::text() const { return crc32c_base64(checksum_) + "-" + std::to_string(parts_); }

}  // namespace frazil::io
