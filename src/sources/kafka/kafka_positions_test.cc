#include "sources/kafka/kafka_positions.h"

#include <gtest/gtest.h>

namespace frazil::sources {

using engine::Range;
using engine::Relation;
using engine::SourcePositions;

static const SourcePositions& example() {
  static const SourcePositions positions{
      .kind = "kafka",
      .identity = {{"cluster", "c1"}, {"topic/orders", "t1"}, {"topic/visits", ""}},
      .next = {{"orders/0", "120@5"}, {"orders/1", "98@5"}, {"visits/2", "7@-1"}}};
  return positions;
}

TEST(KafkaPositions, AreWrittenInTheDocumentedForm) {
  EXPECT_EQ(kafka_position_format().encode(example()),
            R"({"v":1,"kind":"kafka","cluster":"c1","topics":{"orders":{"id":"t1","next":[120,98],"leader_epoch":[5,5]},)"
            R"("visits":{"id":null,"next":[null,null,7],"leader_epoch":[null,null,null]}}})");
}

TEST(KafkaPositions, ComeBackAsTheyWere) {
  const auto decoded = kafka_position_format().decode(kafka_position_format().encode(example()));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(decoded.value(), example());
}

TEST(KafkaPositions, SortPartitionsByNumber) {
  SourcePositions positions{.kind = "kafka", .identity = {}, .next = {}};
  for (int partition = 0; partition < 12; ++partition) {
    positions.next[split_id({"t", partition})] = position_text({partition * 10, 1});
  }
  EXPECT_EQ(kafka_position_format().encode(positions),
            R"({"v":1,"kind":"kafka","cluster":null,"topics":{"t":{"id":null,)"
            R"("next":[0,10,20,30,40,50,60,70,80,90,100,110],"leader_epoch":[1,1,1,1,1,1,1,1,1,1,1,1]}}})");
}

TEST(KafkaPositions, ReadNullAsNotSeen) {
  const auto decoded = kafka_position_format().decode(
      R"({"v":1,"kind":"kafka","cluster":"c","topics":{"orders":{"id":"i","next":[120,null],"leader_epoch":[5,null]}}})");
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->next, (std::map<std::string, std::string>{{"orders/0", "120@5"}}));
}

TEST(KafkaPositions, RefuseANewerVersion) {
  const auto decoded = kafka_position_format().decode(R"({"v":2,"kind":"kafka"})");
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().code(), base::Code::kUnsupported);
}

TEST(KafkaPositions, CallNonsenseCorrupt) {
  for (const char* text : {"", "[]", "{", R"({"v":1,"kind":"mysql","topics":{}})", R"({"v":"1","kind":"kafka","topics":{}})",
                           R"({"v":1,"kind":"kafka"})", R"({"v":1,"kind":"kafka","topics":{"t":7}})",
                           R"({"v":1,"kind":"kafka","topics":{"t":{"id":7,"next":[]}}})",
                           R"({"v":1,"kind":"kafka","topics":{"t":{"id":null,"next":[-4]}}})",
                           R"({"v":1,"kind":"kafka","topics":{"t":{"id":null,"next":["x"]}}})",
                           R"({"v":1,"kind":"kafka","topics":{"t":{"id":null,"next":[1],"leader_epoch":[]}}})",
                           R"({"v":1,"kind":"kafka","topics":{"":{"id":null,"next":[1]}}})",
                           R"({"v":1,"kind":"kafka","topics":{"t":{"id":null,"next":[18446744073709551615]}}})",
                           R"({"v":1,"kind":"kafka","topics":{"t":{"id":null,"next":[1],"leader_epoch":[4294967301]}}})"}) {
    const auto decoded = kafka_position_format().decode(text);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_EQ(decoded.error().code(), base::Code::kCorrupt) << text;
  }
}

TEST(KafkaPositions, WriteAndReadRanges) {
  const std::vector<Range> ranges = {{.split = "orders/10", .begin = "5@-1", .end = "6@-1"},
                                     {.split = "orders/2", .begin = "100@4", .end = "120@5"}};
  const std::string json = kafka_position_format().encode_ranges(ranges);
  EXPECT_EQ(json, R"({"orders":{"2":[100,120],"10":[5,6]}})");
  const auto decoded = kafka_position_format().decode_ranges(json);
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->size(), 2u);
  const std::vector<Range> expected = {{.split = "orders/10", .begin = "5@-1", .end = "6@-1"},
                                       {.split = "orders/2", .begin = "100@-1", .end = "120@-1"}};
  EXPECT_EQ(decoded.value(), expected);
  for (const char* text : {"7", R"({"t":[]})", R"({"t":{"x":[1,2]}})", R"({"t":{"0":[1]}})", R"({"":{"0":[1,2]}})", R"({"t":{"0":[-1,2]}})",
                           R"({"t":{"1000000":[1,2]}})"}) {
    EXPECT_FALSE(kafka_position_format().decode_ranges(text).ok()) << text;
  }
}

TEST(KafkaPositions, CompareOffsetsAndNotEpochs) {
  const auto& format = kafka_position_format();
  EXPECT_EQ(format.relate("120@5", "120@-1"), Relation::kAt);
  EXPECT_EQ(format.relate("119@9", "120@5"), Relation::kBehind);
  EXPECT_EQ(format.relate("1000@5", "120@5"), Relation::kBeyond);
  EXPECT_EQ(format.relate("x", "120@5"), Relation::kIncomparable);
}

TEST(KafkaPositions, AreOffsetsInWords) {
  EXPECT_EQ(kafka_position_format().in_words("120@5"), "120");
  EXPECT_EQ(kafka_position_format().in_words("x"), "x");
}

TEST(KafkaPositions, ParseSplitsWhoseTopicHasDotsAndDashes) {
  EXPECT_EQ(parse_split("a.b-c_d/12"), (clients::TopicPartition{"a.b-c_d", 12}));
  for (const char* text : {"orders", "/1", "orders/", "orders/-1", "orders/x"}) EXPECT_FALSE(parse_split(text)) << text;
}

}  // namespace frazil::sources
