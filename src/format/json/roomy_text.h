// Numbers and times that nearly all documents write, read in whole words of eight bytes.
//
// Each take_ function takes one form and leaves every other to the exact conversions (number_text.h, temporal_text.h): nullptr says
// nothing about the text. Else it returns where the value ends, which is the one that those conversions give. The 64 bytes
// from `at` on must be readable, whatever the value's size (JsonIndex). Pure; any thread.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace frazil::format {

inline constexpr uint64_t kPowersOfTen[] = {1,
                                            10,
                                            100,
                                            1'000,
                                            10'000,
                                            100'000,
                                            1'000'000,
                                            10'000'000,
                                            100'000'000,
                                            1'000'000'000,
                                            10'000'000'000,
                                            100'000'000'000,
                                            1'000'000'000'000,
                                            10'000'000'000'000,
                                            100'000'000'000'000,
                                            1'000'000'000'000'000};

inline uint64_t load_word(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, 8);
  return word;
}

// How many of the eight characters are digits before the first that is none; `digits` takes their values, first character lowest.
inline int leading_digits(const char* at, uint64_t* digits) {
  *digits = load_word(at) ^ 0x3030303030303030;
  // A byte above 9 gets its high bit; what carries into the next one does not matter behind it.
  const uint64_t others = ((*digits + 0x7676767676767676) | *digits) & 0x8080808080808080;
  return others == 0 ? 8 : std::countr_zero(others) >> 3;
}

// The number that the first `count` digits make, 1 to 8.
inline uint64_t number_of_digits(uint64_t digits, int count) {
  digits <<= 64 - 8 * count;
  digits = digits * 10 + (digits >> 8);
  return ((digits & 0x000000ff000000ff) * 0x000f424000000064 + ((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32;
}

// Up to 15 digits, and how many there were: 0 when there are none or more.
inline int read_digits(const char* at, uint64_t* value) {
  uint64_t digits;
  const int first = leading_digits(at, &digits);
  if (first == 0) return 0;
  *value = number_of_digits(digits, first);
  if (first < 8) return first;
  const int second = leading_digits(at + 8, &digits);
  if (second == 8) return 0;
  if (second != 0) *value = *value * kPowersOfTen[second] + number_of_digits(digits, second);
  return 8 + second;
}

inline bool is_number_part(char c) { return c == '.' || c == 'e' || c == 'E'; }

// An integer of up to 15 digits without point and exponent.
inline const char* take_integer(const char* at, int64_t* value) {
  const int64_t sign = *at == '-' ? -1 : 0;
  at -= sign;
  uint64_t magnitude = 0;
  const int count = read_digits(at, &magnitude);
  if (count == 0 || (*at == '0' && count != 1) || is_number_part(at[count])) return nullptr;
  *value = (static_cast<int64_t>(magnitude) ^ sign) - sign;
  return at + count;
}

// Powers of ten are exact as doubles up to 10^22.
inline constexpr double kPowersOfTenAsDoubles[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// A number of up to 15 digits without exponent. Digits and power are exact as doubles, and IEEE 754 rounds their quotient once, so the
// result is the nearest double.
inline const char* take_number(const char* at, double* value) {
  const uint64_t sign = *at == '-' ? 1 : 0;
  at += sign;
  uint64_t digits = 0;
  const int whole = read_digits(at, &digits);
  if (whole == 0 || (*at == '0' && whole != 1)) return nullptr;
  at += whole;
  double magnitude = 0;
  if (*at == '.') {
    uint64_t fraction_digits = 0;
    const int fraction = read_digits(at + 1, &fraction_digits);
    if (fraction == 0 || whole + fraction > 15) return nullptr;
    digits = digits * kPowersOfTen[fraction] + fraction_digits;
    magnitude = static_cast<double>(static_cast<int64_t>(digits)) / kPowersOfTenAsDoubles[fraction];
    at += 1 + fraction;
  } else {
    magnitude = static_cast<double>(static_cast<int64_t>(digits));
  }
  if (is_number_part(*at)) return nullptr;
  *value = std::bit_cast<double>(std::bit_cast<uint64_t>(magnitude) | sign << 63);
  return at;
}

// HH:MM:SS and up to six digits of fraction, in microseconds since midnight.
inline const char* take_clock(const char* at, int64_t* micros) {
  const uint64_t word = load_word(at) ^ 0x30303a30303a3030;
  // Digits up to 9 and colons at their places.
  if ((((word + 0x76767f76767f7676) | word) & 0x8080808080808080) != 0) return nullptr;
  const auto two = [word](int i) { return static_cast<int64_t>((word >> 8 * i & 0xff) * 10 + (word >> (8 * i + 8) & 0xff)); };
  const int64_t hour = two(0);
  const int64_t minute = two(3);
  const int64_t second = two(6);
  if (hour > 23 || minute > 59 || second > 59) return nullptr;
  at += 8;
  uint64_t fraction = 0;
  if (*at == '.') {
    uint64_t digits;
    const int count = leading_digits(at + 1, &digits);
    if (count == 0 || count > 6) return nullptr;
    fraction = number_of_digits(digits, count) * kPowersOfTen[6 - count];
    at += 1 + count;
  }
  *micros = (hour * 3600 + minute * 60 + second) * 1'000'000 + static_cast<int64_t>(fraction);
  return at;
}

}  // namespace frazil::format
