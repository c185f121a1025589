#include "io/crc32c.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil::io {
namespace {

TEST(Crc32c, GivesTheSamplesOfRfc3720) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  std::string ascending, descending;
  for (char i = 0; i < 32; ++i) ascending += i, descending.insert(0, 1, i);
  EXPECT_EQ(crc32c(ascending), 0x46DD794Eu);
  EXPECT_EQ(crc32c(descending), 0x113FDB5Cu);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

RC_GTEST_PROP(Crc32c, IsTheSameByInstructionAndByTableAtEveryAlignment, (const std::string& bytes, uint8_t skip)) {
  const std::string_view text = std::string_view(bytes).substr(std::min<size_t>(skip % 9, bytes.size()));
  RC_ASSERT(crc32c(text) == crc32c_by_table(text));
}

RC_GTEST_PROP(Crc32c, GoesOnFromWhatCameBefore, (const std::string& first, const std::string& second)) {
  RC_ASSERT(crc32c(second, crc32c(first)) == crc32c(first + second));
  RC_ASSERT(crc32c_by_table(second, crc32c_by_table(first)) == crc32c(first + second));
}

TEST(Crc32c, IsWrittenAsStoresWriteIt) {
  EXPECT_EQ(crc32c_base64(0), "AAAAAA==");
  EXPECT_EQ(crc32c_base64(0xFFFFFFFF), "/////w==");
  EXPECT_EQ(crc32c_base64(crc32c("hello")), "mnG7TA==");
  EXPECT_EQ(crc32c_base64(0x00000001), "AAAAAQ==");
}

TEST(Crc32c, OfPartsIsThatOfTheirChecksums) {
  Crc32cOfParts parts;
  parts.add(0xE3069283u);
  parts.add(0x00000000u);
  EXPECT_EQ(parts.text(), crc32c_base64(crc32c(std::string("\xE3\x06\x92\x83\0\0\0\0", 8))) + "-2");
}

}  // namespace
}  // namespace frazil::io
