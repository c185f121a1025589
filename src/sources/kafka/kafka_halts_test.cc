#include "sources/kafka/kafka_halts.h"

#include <gtest/gtest.h>

namespace frazil::sources {

using engine::SourcePositions;

static SourcePositions positions() {
  return {.kind = "kafka",
          .identity = {{"cluster", "c"}, {"topic/orders", "t"}, {"topic/visits", "v"}},
          .next = {{"orders/0", "100@5"}, {"orders/1", "50@5"}, {"visits/0", "9@1"}}};
}

TEST(KafkaHalts, NameSpansInAFormThatCanBeReadBack) {
  const std::vector<OffsetSpan> spans = {{{"orders", 10}, 7, 9}, {{"orders", 2}, 100, 150}};
  EXPECT_EQ(spans_text(spans), "orders/2[100,150) orders/10[7,9)");
  EXPECT_EQ(parse_spans("orders/2[100,150) orders/10[7,9)"), (std::vector<OffsetSpan>{spans[1], spans[0]}));
  for (const char* text : {"", "orders", "orders/1", "orders/1[1,2", "orders/1[1,2)x", "orders/1[a,2)"}) {
    EXPECT_FALSE(parse_spans(text).has_value()) << text;
  }
}

TEST(KafkaHalts, NameTheExactRangeInTheirText) {
  const base::Halt halt = source_gap({{{"orders", 0}, 100, 150}});
  EXPECT_EQ(halt.code, "SOURCE_GAP");
  EXPECT_EQ(halt.range, "orders/0[100,150)");
  EXPECT_NE(halt.text.find("orders/0[100,150), up to 50 offsets"), std::string::npos) << halt.text;
  EXPECT_TRUE(halt.token.empty());
}

TEST(KafkaHalts, SkipMovesToTheLogStartAndNothingElse) {
  const auto moved = move_positions(source_gap({{{"orders", 0}, 100, 150}}), "skip", positions());
  ASSERT_TRUE(moved.ok());
  SourcePositions expected = positions();
  expected.next["orders/0"] = "150@-1";
  EXPECT_EQ(moved.value(), expected);
}

TEST(KafkaHalts, ContinueMovesBackToWhereTheLogEnds) {
  for (const base::Halt& halt :
       {source_behind({{{"orders", 0}, 80, 100}}), source_truncated({{"orders", 0}, 80, 100}, "leader epochs diverge")}) {
    const auto moved = move_positions(halt, "continue", positions());
    ASSERT_TRUE(moved.ok());
    EXPECT_EQ(moved->next.at("orders/0"), "80@-1");
    EXPECT_EQ(moved->next.at("orders/1"), "50@5");
  }
}

TEST(KafkaHalts, ForgetDropsOneTopic) {
  const auto moved = move_positions(source_gone("orders"), "forget", positions());
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->next, (std::map<std::string, std::string>{{"visits/0", "9@1"}}));
  EXPECT_FALSE(moved->identity.contains("topic/orders"));
}

TEST(KafkaHalts, RefuseAChoiceThatTheyDoNotHave) {
  const auto moved = move_positions(source_gap({{{"orders", 0}, 100, 150}}), "continue", positions());
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code(), base::Code::kInvalid);
  EXPECT_NE(moved.error().message().find("skip"), std::string::npos);
}

TEST(KafkaHalts, AllHaveACodeARangeAndChoices) {
  for (const base::Halt& halt :
       {source_gap({{{"t", 0}, 1, 2}}), source_behind({{{"t", 0}, 1, 2}}), source_truncated({{"t", 0}, 1, 2}, "e"),
        source_recreated("t", "a", "b"), source_cluster_changed("a", "b"), source_gone("t")}) {
    EXPECT_EQ(halt.code.rfind("SOURCE_", 0), 0u);
    EXPECT_FALSE(halt.range.empty()) << halt.code;
    EXPECT_FALSE(halt.text.empty()) << halt.code;
    EXPECT_FALSE(halt.choices.empty()) << halt.code;
  }
}

}  // namespace frazil::sources
