#include "format/parquet/bounds.h"

#include <limits>

#include <gtest/gtest.h>

namespace frazil::format {
namespace {

const std::string kHighest = "\U0010FFFF";

TEST(DecimalBound, UsesTheFewestBytesThatKeepTheSign) {
  EXPECT_EQ(decimal_bound(0), std::string(1, '\0'));
  EXPECT_EQ(decimal_bound(127), "\x7F");
  EXPECT_EQ(decimal_bound(128), std::string("\0\x80", 2));
  EXPECT_EQ(decimal_bound(-1), "\xFF");
  EXPECT_EQ(decimal_bound(-128), "\x80");
  EXPECT_EQ(decimal_bound(-129), "\xFF\x7F");
  EXPECT_EQ(decimal_bound(1420), "\x05\x8C");  // 14.20 as decimal(4, 2)
  const __int128 highest = ~(__int128{1} << 127);
  EXPECT_EQ(decimal_bound(highest), "\x7F" + std::string(15, '\xFF'));
  EXPECT_EQ(decimal_bound(~highest), "\x80" + std::string(15, '\0'));
}

TEST(TruncateText, CutsBetweenCodePoints) {
  EXPECT_EQ(truncate_text("iceberg", 3), "ice");
  EXPECT_EQ(truncate_text("ice", 16), "ice");
  EXPECT_EQ(truncate_text("\U0001F600\U0001F601x", 2), "\U0001F600\U0001F601");
  EXPECT_EQ(truncate_text("aéz", 2), "aé");
  EXPECT_EQ(truncate_text("", 2), "");
}

TEST(RoundUpText, KeepsTextThatIsShortEnough) {
  EXPECT_EQ(round_up_text("ice", 3), "ice");
  EXPECT_EQ(round_up_text("", 1), "");
  EXPECT_EQ(round_up_text(kHighest, 1), kHighest);
}

TEST(RoundUpText, RaisesTheLastCodePoint) {
  EXPECT_EQ(round_up_text("iceberg", 3), "icf");
  EXPECT_EQ(round_up_text("a\U0001F600b", 2), "a\U0001F601");
  EXPECT_EQ(round_up_text("\x7F" "b", 1), "\xC2\x80");
  EXPECT_EQ(round_up_text("\u07FFb", 1), "\u0800");
  EXPECT_EQ(round_up_text("\uFFFFb", 1), "\U00010000");
}

TEST(RoundUpText, JumpsOverTheSurrogates) { EXPECT_EQ(round_up_text("a\uD7FFb", 2), "a\uE000"); }

TEST(RoundUpText, CarriesOverTheHighestCodePoint) {
  EXPECT_EQ(round_up_text("a" + kHighest + "x", 2), "b");
  EXPECT_EQ(round_up_text("\uD7FF" + kHighest + kHighest + "x", 3), "\uE000");
  EXPECT_EQ(round_up_text(kHighest + kHighest + "x", 2), std::nullopt);
  EXPECT_EQ(round_up_text(kHighest + "x", 1), std::nullopt);
}

TEST(RoundUpText, NeverRaisesAStrayByte) {
  EXPECT_EQ(round_up_text("a\xFF\xFFz", 3), "b");
  EXPECT_EQ(round_up_text("\xFFz", 1), std::nullopt);
}

TEST(RoundUpBytes, RaisesTheLastByteThatIsNotTheHighest) {
  EXPECT_EQ(round_up_bytes("abc", 3), "abc");
  EXPECT_EQ(round_up_bytes("abcd", 3), "abd");
  EXPECT_EQ(round_up_bytes("a\xFF\xFFz", 3), "b");
  EXPECT_EQ(round_up_bytes("\x7F\xFFz", 2), "\x80");
  EXPECT_EQ(round_up_bytes("\xFF\xFFz", 2), std::nullopt);
}

}  // namespace
}  // namespace frazil::format
