#include "format/json/json_text.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace frazil::format {
namespace {

TEST(JsonText, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(json_quote("a\"b\\c\n\t\x01\x7f/é"), R"("a\"b\\c\n\t\u0001\u007f/é")");
  EXPECT_EQ(json_quote(""), "\"\"");
  EXPECT_EQ(json_quote(std::string_view("a\0b", 3)), R"("a\u0000b")");
}

TEST(JsonText, ReplacesBytesThatAreNoText) {
  EXPECT_EQ(json_quote("a\xff"
                       "b"),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(json_quote("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json_quote("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(JsonText, AgreesWithSimdjsonOnWhatUtf8Is) {
  int characters = 0;
  for (uint32_t bytes = 0; bytes < 1U << 24; bytes += 7) {
    const char text[3] = {static_cast<char>(bytes >> 16), static_cast<char>(bytes >> 8), static_cast<char>(bytes)};
    size_t at = 0;
    while (at < 3) {
      const size_t size = utf8_character_size({text + at, 3 - at});
      if (size == 0) break;
      at += size;
    }
    ASSERT_EQ(at == 3, simdjson::validate_utf8(text, 3)) << bytes;
    characters += at == 3;
  }
  EXPECT_GT(characters, 300'000);
}

}  // namespace
}  // namespace frazil::format
