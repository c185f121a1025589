#include "base/pattern.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace frazil::base {
namespace {

bool matches(const std::string& expression, std::string_view text) {
  const auto pattern = Pattern::compile(expression);
  EXPECT_TRUE(pattern.ok()) << pattern.error().message();
  return pattern.ok() && pattern->matches(text);
}

TEST(Pattern, MatchesTheWholeTextOrNothing) {
  EXPECT_TRUE(matches("de|at|ch", "at"));
  EXPECT_FALSE(matches("de|at|ch", "atx"));
  EXPECT_FALSE(matches("de|at|ch", "xde"));
  EXPECT_TRUE(matches("orders[._-]\\d+", "orders_17"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Pattern, ADotTakesOneCharacterNotOneByte) {
  EXPECT_TRUE(matches("caf.", "caf\u00e9"));
  EXPECT_TRUE(matches("[\u00e4\u00f6\u00fc]", "\u00f6"));
  EXPECT_FALSE(matches("..", "\u00e9"));
}

// Matchers that search back take 2^60 steps for these.
TEST(Pattern, NestedRepetitionsTakeNoLongerThanOthers) {
  const std::string text(100'000, 'a');
  const MonoMicros before = mono_micros();
  for (const char* expression : {"(\\w+\\s?)*!", "(a+)+b", "(a|a)*b", "(a*)*c", "(.*a){9}z"}) EXPECT_FALSE(matches(expression, text)) << expression;
  EXPECT_LT(mono_micros() - before, 30'000'000);
}

TEST(Pattern, SaysWhatIsWrong) {
  for (const char* expression : {"(", "[b-a]", "*a", "(?=a)b", "(a)\\1", "a{100000}"}) {
    const auto pattern = Pattern::compile(expression);
    ASSERT_FALSE(pattern.ok()) << expression;
    EXPECT_NE(pattern.error().message().find(std::string("\"") + expression + "\" is not a regular expression: "), std::string::npos);
  }
}

}  // namespace
}  // namespace frazil::base
