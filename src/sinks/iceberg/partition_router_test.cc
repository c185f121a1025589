#include "sinks/iceberg/partition_router.h"

#include <gtest/gtest.h>

#include <set>

namespace frazil::sinks {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;

std::shared_ptr<const columnar::Schema> schema() {
  columnar::Schema s;
  s.fields = {{1, "id", false, Type::primitive(TypeId::kLong), ""},
              {2, "name", false, Type::primitive(TypeId::kString), ""},
              {3, "at", false, Type::structure({{4, "day", false, Type::primitive(TypeId::kDate), ""}}), ""},
              {5, "ok", false, Type::primitive(TypeId::kBoolean), ""}};
  return std::make_shared<columnar::Schema>(s);
}

columnar::Batch batch_of(int64_t rows) {
  columnar::Batch batch(schema());
  for (int64_t i = 0; i < rows; ++i) {
    batch.columns[0].append_long(i);
    i % 5 == 4 ? batch.columns[1].append_null() : batch.columns[1].append_bytes("n" + std::to_string(i % 3));
    batch.columns[2].child(0).append_int(static_cast<int32_t>(i % 2));
    batch.columns[2].append_struct_end();
    batch.columns[3].append_boolean(i % 2 == 0);
  }
  return batch;
}

std::unique_ptr<PartitionRouter> router(const std::vector<std::string>& spec, bool by_hash, int lanes, int reader = 0) {
  const auto parsed = iceberg::parse_partition_spec(spec, *schema());
  EXPECT_TRUE(parsed.ok()) << parsed.error().message();
  auto made = PartitionRouter::make(schema(), *parsed, by_hash, reader, lanes);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

TEST(PartitionRouter, PutsEveryRowIntoExactlyOnePartition) {
  const auto routed = router({"bucket(64, id)"}, true, 4)->route(batch_of(1000));
  ASSERT_TRUE(routed.ok());
  std::set<int32_t> seen;
  for (const auto& group : *routed) {
    for (const int32_t row : group.rows) EXPECT_TRUE(seen.insert(row).second);
  }
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(routed->size(), 64U);
}

TEST(PartitionRouter, GivesAPartitionOneOwnerWhateverTheReader) {
  const auto a = router({"bucket(8, id)"}, true, 3, 0)->route(batch_of(500));
  const auto b = router({"bucket(8, id)"}, true, 3, 1)->route(batch_of(300));
  std::map<std::string, int> lane_of;
  for (const auto& group : *a) lane_of[group.bucket] = group.lane;
  for (const auto& group : *b) EXPECT_EQ(lane_of.at(group.bucket), group.lane);
}

TEST(PartitionRouter, WithoutDistributionAReaderKeepsItsLane) {
  for (const auto& group : *router({"bucket(8, id)"}, false, 3, 4)->route(batch_of(100))) EXPECT_EQ(group.lane, 1);
}

TEST(PartitionRouter, AnUnpartitionedTableHasOneBucket) {
  const auto routed = router({}, true, 2)->route(batch_of(10));
  ASSERT_EQ(routed->size(), 1U);
  EXPECT_EQ((*routed)[0].rows.size(), 10U);
  EXPECT_TRUE((*routed)[0].bucket.empty());
}

TEST(PartitionRouter, CombinesFieldsOfEveryKindAndKeepsNullsApart) {
  // name: n0, n1, n2 or null (4) × day of the struct (2) × ok (equal to the day's parity: no further split)
  const auto routed = router({"name", "at.day", "ok"}, true, 1)->route(batch_of(600));
  ASSERT_TRUE(routed.ok()) << routed.error().message();
  EXPECT_EQ(routed->size(), 8U);
  const auto types = *iceberg::partition_types(*iceberg::parse_partition_spec({"name", "at.day", "ok"}, *schema()), *schema());
  for (const auto& group : *routed) {
    const auto key = decode_key(types, group.bucket);
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(encode_key(types, *key), group.bucket);
    const int32_t row = group.rows[0];
    EXPECT_EQ((*key)[0].is_null(), row % 5 == 4);
    EXPECT_EQ(std::get<int32_t>((*key)[1].value), row % 2);
  }
}

}  // namespace
}  // namespace frazil::sinks
