#include "app/terminal.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

TEST(Terminal, ShowsControlCharactersInsteadOfSendingThem) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f\xc2\x9b" "c\r\n\td\xff"), "a\\x1b[2Jb\\x7f\\x9bc\\x0d\\n\\td\xef\xbf\xbd");
  EXPECT_EQ(printable("a\n\tb\x1b", true), "a\n\tb\\x1b");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \xc2\xa7"), "gr\xc3\xbc\xc3\x9f \xc2\xa7");
}

TEST(Terminal, EscapesInJsonWhatJsonWouldLetThrough) {
  EXPECT_EQ(printable_json("{\"a\": \"x\x7f\xc2\x9by\xc2\xa7\"}"), "{\"a\": \"x\\u007f\\u009by\xc2\xa7\"}");
}

}  // namespace
}  // namespace frazil::app
