#include "format/json/number_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace frazil::format {
namespace {

std::string integer(std::string_view token) {
  int64_t value = 0;
  switch (number_to_integer(token, INT64_MIN, INT64_MAX, &value)) {
    case NumberFault::kNone:
      return std::to_string(value);
    case NumberFault::kNotIntegral:
      return "not integral";
    default:
      return "out of range";
  }
}

TEST(NumberText, KnowsTheGrammarOfNumbers) {
  for (const char* text : {"0", "-0", "10", "1.5", "1e5", "1E+5", "1.25e-10", "0.0"})
    EXPECT_TRUE(is_json_number(text)) << text;
  for (const char* text :
       {"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1 ", " 1", "NaN", "Infinity", "1.5.5", "--1"}) {
    EXPECT_FALSE(is_json_number(text)) << text;
  }
}

TEST(NumberText, ReadsIntegersExactly) {
  EXPECT_EQ(integer("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(integer("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(integer("9223372036854775808"), "out of range");
  EXPECT_EQ(integer("922337203685477580.7e1"), "9223372036854775807");
  EXPECT_EQ(integer("92233720368547758070e-1"), "9223372036854775807");
  EXPECT_EQ(integer("92233720368547758071e-1"), "not integral");
  EXPECT_EQ(integer("0.000000e-99999999999999999999"), "0");
  EXPECT_EQ(integer("1e99999999999999999999"), "out of range");
  EXPECT_EQ(integer("1e-99999999999999999999"), "not integral");
  EXPECT_EQ(integer("1" + std::string(100'000, '0') + "e-100000"), "1");
  EXPECT_EQ(integer("0." + std::string(100'000, '0') + "7e100001"), "7");
}

TEST(NumberText, RoundsDecimalsAtEveryPlaceLikeLongDivision) {
  EXPECT_TRUE(rc::check("half to even", [] {
    const auto whole = *rc::gen::inRange<int64_t>(-1'000'000, 1'000'000);
    const int drop = *rc::gen::inRange(0, 7);
    int64_t power = 1;
    for (int i = 0; i < drop; ++i) power *= 10;
    int64_t rounded = whole / power;
    const int64_t rest = std::abs(whole % power) * 2;
    if (rest > power || (rest == power && (rounded & 1) != 0)) rounded += whole < 0 ? -1 : 1;
    __int128 value = 0;
    const std::string token = std::to_string(whole) + "e-" + std::to_string(drop);
    RC_ASSERT(number_to_decimal(token, 38, 0, true, &value) == NumberFault::kNone);
    RC_ASSERT(static_cast<int64_t>(value) == rounded);
    const bool is_exact = whole % power == 0;
    RC_ASSERT((number_to_decimal(token, 38, 0, false, &value) == NumberFault::kNone) == is_exact);
  }));
}

TEST(NumberText, FloorsScaledNumbers) {
  const auto floored = [](std::string_view token, int power) {
    int64_t value = 0;
    return number_to_scaled_floor(token, power, &value) == NumberFault::kNone ? value : INT64_MIN;
  };
  EXPECT_EQ(floored("1.9999999", 6), 1999999);
  EXPECT_EQ(floored("-1.0000001", 6), -1000001);
  EXPECT_EQ(floored("-1.000000", 6), -1000000);
  EXPECT_EQ(floored("-1", -3), -1);
  EXPECT_EQ(floored("999", -3), 0);
  EXPECT_EQ(floored("1e30", 6), INT64_MIN);
}

TEST(NumberText, ReadsTheDoubleThatIsNearest) {
  EXPECT_TRUE(rc::check("as strtod", [] {
    std::string token = std::to_string(*rc::gen::inRange<int64_t>(-100'000'000'000'000'000, 100'000'000'000'000'000));
    token.resize(static_cast<size_t>(*rc::gen::inRange<int>(2, 18)), '7');
    if (token.size() > 3 && *rc::gen::arbitrary<bool>())
      token.insert(static_cast<size_t>(*rc::gen::inRange<int>(2, static_cast<int>(token.size()))), ".");
    if (*rc::gen::inRange(0, 3) == 0) token += "e" + std::to_string(*rc::gen::inRange(-330, 310));
    if (!is_json_number(token)) return;
    double value = 0;
    const double expected = std::strtod(token.c_str(), nullptr);
    RC_LOG(token);
    const NumberFault fault = number_to_double(token, &value);
    RC_ASSERT((fault == NumberFault::kNone) == std::isfinite(expected));
    if (fault == NumberFault::kNone) RC_ASSERT(value == expected);
  }));
}

TEST(NumberText, KeepsTheSignOfZero) {
  double value = 1;
  ASSERT_EQ(number_to_double("-0", &value), NumberFault::kNone);
  EXPECT_TRUE(std::signbit(value));
  ASSERT_EQ(number_to_double("-1e-999999", &value), NumberFault::kNone);
  EXPECT_TRUE(std::signbit(value));
  EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace frazil::format
