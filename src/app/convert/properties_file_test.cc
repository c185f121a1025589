#include "app/convert/properties_file.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

std::vector<std::pair<std::string, std::string>> read(std::string_view text) {
  Problems problems("x.properties");
  const Node map = parse_properties(text, problems);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Entry& entry : map.entries) pairs.emplace_back(entry.key, entry.value.scalar);
  return pairs;
}
using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(PropertiesFile, ReadsTheThreeWaysToWriteAPair) {
  EXPECT_EQ(read("a=1\nb: 2\nc 3\n d = 4 \r\n"), (Pairs{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4 "}}));
}

TEST(PropertiesFile, LeavesCommentsAndEmptyLinesOut) { EXPECT_EQ(read("# a=1\n! b=2\n\n  \nc=3"), (Pairs{{"c", "3"}})); }

TEST(PropertiesFile, GoesOnAfterABackslash) {
  EXPECT_EQ(read("a=one,\\\n   two\nb=x\\\\\nc=y"), (Pairs{{"a", "one,two"}, {"b", "x\\"}, {"c", "y"}}));
}

TEST(PropertiesFile, ReadsEscapedSigns) {
  EXPECT_EQ(read("a\\:b\\=c=d\\u00e9\\t\\q"), (Pairs{{"a:b=c", "d\u00e9\tq"}}));
  EXPECT_EQ(read("a=\\u12"), (Pairs{{"a", "u12"}}));
  EXPECT_EQ(read("a=b=c:d"), (Pairs{{"a", "b=c:d"}}));
}

TEST(PropertiesFile, KeepsKeysWithoutValues) { EXPECT_EQ(read("a\nb="), (Pairs{{"a", ""}, {"b", ""}})); }

TEST(PropertiesFile, NamesAKeyThatIsSetTwice) {
  Problems problems("x.properties");
  const Node map = parse_properties("a=1\n\na=2\n", problems);
  EXPECT_EQ(problems.render(), "x.properties:3:1: \"a\" is set a second time\n");
  EXPECT_EQ(map.find("a")->scalar, "2");
}

}  // namespace
}  // namespace frazil::app
