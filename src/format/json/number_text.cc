#include "format/json/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace frazil::format {
namespace {

using Magnitude = unsigned __int128;

constexpr int64_t kMaxDigits = 38;
constexpr int64_t kHugeExponent = int64_t{1} << 40;  // beyond any number of digits that a document holds

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char* skip_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

// A number as digits * 10^exponent, where the digits neither begin nor end with a zero. They lie in the token, which
// may have its point among them. No digits: zero.
struct Digits {
  bool is_negative = false;
  const char* first = nullptr;
  int64_t count = 0;
  int64_t exponent = 0;
};

int64_t read_exponent(const char* at, const char* end) {
  const bool is_negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  int64_t value = 0;
  for (; at != end && value < kHugeExponent; ++at) value = value * 10 + (*at - '0');
  return is_negative ? -value : value;
}

Digits read_digits(std::string_view token) {
  Digits digits;
  const char* at = token.data();
  const char* const end = at + token.size();
  if (*at == '-') {
    digits.is_negative = true;
    ++at;
  }
  int64_t trailing_zeros = 0;
  int64_t fraction_digits = 0;
  bool is_fraction = false;
  for (; at != end && (is_digit(*at) || *at == '.'); ++at) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    fraction_digits += is_fraction;
    if (*at == '0') {
      ++trailing_zeros;
      continue;
    }
    if (digits.first == nullptr) {
      digits.first = at;
      trailing_zeros = 0;
    }
    digits.count += trailing_zeros + 1;
    trailing_zeros = 0;
  }
  if (at != end) digits.exponent = read_exponent(at + 1, end);
  digits.exponent += trailing_zeros - fraction_digits;
  return digits;
}

enum class Rest { kNone, kBelowHalf, kHalf, kAboveHalf };

// |number| * 10^power: the whole part, and what is left of it.
struct Scaled {
  bool is_out_of_range = false;
  bool is_negative = false;
  Magnitude whole = 0;
  Rest rest = Rest::kNone;
};

// What the digits from `at` on weigh, seen as a fraction. The last digit is never a zero.
Rest rest_of(const char* at, int64_t count) {
  if (*at == '.') ++at;
  if (*at != '5') return *at < '5' ? Rest::kBelowHalf : Rest::kAboveHalf;
  return count == 1 ? Rest::kHalf : Rest::kAboveHalf;
}

Scaled scale_number(std::string_view token, int power) {
  const Digits digits = read_digits(token);
  Scaled scaled{.is_negative = digits.is_negative};
  if (digits.count == 0) return scaled;
  const int64_t whole_digits = digits.count + digits.exponent + power;
  if (whole_digits > kMaxDigits) {
    scaled.is_out_of_range = true;
    return scaled;
  }
  if (whole_digits < 0) {
    scaled.rest = Rest::kBelowHalf;
    return scaled;
  }
  const char* at = digits.first;
  const int64_t taken = std::min(whole_digits, digits.count);
  for (int64_t i = 0; i < taken; ++i, ++at) {
    if (*at == '.') ++at;
    scaled.whole = scaled.whole * 10 + static_cast<unsigned>(*at - '0');
  }
  for (int64_t i = taken; i < whole_digits; ++i) scaled.whole *= 10;
  if (taken < digits.count) scaled.rest = rest_of(at, digits.count - taken);
  return scaled;
}

Magnitude power_of_ten(int exponent) {
  Magnitude value = 1;
  for (int i = 0; i < exponent; ++i) value *= 10;
  return value;
}

NumberFault within(bool is_negative, Magnitude whole, int64_t lowest, int64_t highest, int64_t* value) {
  if (whole > Magnitude{1} << 64) return NumberFault::kOutOfRange;
  const auto number = is_negative ? -static_cast<__int128>(whole) : static_cast<__int128>(whole);
  if (number < lowest || number > highest) return NumberFault::kOutOfRange;
  *value = static_cast<int64_t>(number);
  return NumberFault::kNone;
}

// Tokens of up to 18 digits and nothing else, which are nearly all.
bool read_plain_integer(std::string_view token, int64_t* value) {
  const bool is_negative = token[0] == '-';
  if (token.size() > 18) return false;
  int64_t sum = 0;
  for (size_t i = is_negative; i < token.size(); ++i) {
    if (!is_digit(token[i])) return false;
    sum = sum * 10 + (token[i] - '0');
  }
  *value = is_negative ? -sum : sum;
  return true;
}

// Powers of ten that a double holds exactly.
constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Numbers of up to 15 digits without an exponent, which are nearly all. Digits and power are exact as doubles, and IEEE
// 754 rounds their quotient once, so the result is the nearest double.
bool read_plain_double(std::string_view token, double* value) {
  if (token.size() > 17) return false;
  int64_t digits = 0;
  size_t count = 0;
  size_t fraction = 0;
  bool is_fraction = false;
  for (size_t i = token[0] == '-'; i < token.size(); ++i) {
    if (token[i] == '.') {
      is_fraction = true;
      continue;
    }
    if (!is_digit(token[i])) return false;
    digits = digits * 10 + (token[i] - '0');
    ++count;
    fraction += is_fraction;
  }
  if (count > 15) return false;
  const double magnitude = static_cast<double>(digits) / kExactPowers[fraction];
  *value = token[0] == '-' ? -magnitude : magnitude;
  return true;
}

template <typename Float>
NumberFault to_floating(std::string_view token, Float* value) {
  const auto [end, failure] = std::from_chars(token.data(), token.data() + token.size(), *value);
  if (failure == std::errc() && std::isfinite(*value)) return NumberFault::kNone;
  const Digits digits = read_digits(token);
  if (digits.count + digits.exponent > 0) return NumberFault::kOutOfRange;
  *value = digits.is_negative ? -Float{0} : Float{0};
  return NumberFault::kNone;
}

}  // namespace

int64_t json_number_size(const char* begin, const char* end) {
  const char* at = begin;
  if (at != end && *at == '-') ++at;
  if (at == end || !is_digit(*at)) return 0;
  at = *at == '0' ? at + 1 : skip_digits(at, end);
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    at = skip_digits(at, end);
    if (at == fraction) return 0;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    const char* const exponent = at;
    at = skip_digits(at, end);
    if (at == exponent) return 0;
  }
  return at - begin;
}

NumberFault number_to_integer(std::string_view token, int64_t lowest, int64_t highest, int64_t* value) {
  int64_t plain = 0;
  if (read_plain_integer(token, &plain)) {
    if (plain < lowest || plain > highest) return NumberFault::kOutOfRange;
    *value = plain;
    return NumberFault::kNone;
  }
  const Scaled scaled = scale_number(token, 0);
  if (scaled.is_out_of_range) return NumberFault::kOutOfRange;
  if (scaled.rest != Rest::kNone) return NumberFault::kNotIntegral;
  return within(scaled.is_negative, scaled.whole, lowest, highest, value);
}

NumberFault number_to_decimal(std::string_view token, int precision, int scale, bool round, __int128* unscaled) {
  Scaled scaled = scale_number(token, scale);
  if (scaled.is_out_of_range) return NumberFault::kOutOfRange;
  if (scaled.rest != Rest::kNone) {
    if (!round) return NumberFault::kExcessScale;
    const bool is_odd = (scaled.whole & 1) != 0;
    if (scaled.rest == Rest::kAboveHalf || (scaled.rest == Rest::kHalf && is_odd)) ++scaled.whole;
  }
  if (scaled.whole >= power_of_ten(precision)) return NumberFault::kOutOfRange;
  const auto magnitude = static_cast<__int128>(scaled.whole);
  *unscaled = scaled.is_negative ? -magnitude : magnitude;
  return NumberFault::kNone;
}

NumberFault number_to_double(std::string_view token, double* value) {
  return read_plain_double(token, value) ? NumberFault::kNone : to_floating(token, value);
}

NumberFault number_to_float(std::string_view token, float* value) {
  return to_floating(token, value);
}

NumberFault number_to_scaled_floor(std::string_view token, int power, int64_t* value) {
  Scaled scaled = scale_number(token, power);
  if (scaled.is_out_of_range) return NumberFault::kOutOfRange;
  if (scaled.is_negative && scaled.rest != Rest::kNone) ++scaled.whole;
  return within(scaled.is_negative, scaled.whole, std::numeric_limits<int64_t>::min(),
                std::numeric_limits<int64_t>::max(), value);
}

}  // namespace frazil::format
