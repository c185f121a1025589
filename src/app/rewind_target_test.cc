#include "app/rewind_target.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

TEST(RewindTarget, ReadsItsThreeForms) {
  EXPECT_EQ(std::get<sinks::ToSnapshot>(*parse_rewind_target("snapshot:4711")).id, 4711);
  EXPECT_EQ(std::get<sinks::ToTime>(*parse_rewind_target("time:1970-01-01T00:01:00Z")).ms, 60'000);
  const auto offsets = parse_rewind_target("offsets:orders/0=42,a=b/1=7");
  ASSERT_TRUE(offsets.ok());
  EXPECT_EQ(std::get<sinks::ToPositions>(*offsets).next, (std::map<std::string, std::string>{{"orders/0", "42"}, {"a=b/1", "7"}}));
}

TEST(RewindTarget, RefusesOtherForms) {
  for (const char* text : {"", "snapshot", "snapshot:", "snapshot:x", "time:yesterday", "offsets:", "offsets:orders/0", "offsets:orders/0=-1",
                           "offsets:=3", "offsets:orders/0=1,orders/0=2", "42"}) {
    const auto target = parse_rewind_target(text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_EQ(target.error().code(), base::Code::kInvalid);
  }
}

}  // namespace
}  // namespace frazil::app
