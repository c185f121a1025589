#include "iceberg/table_metadata_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "iceberg/json_view.h"
#include "iceberg/schema_json.h"

namespace frazil::iceberg {
namespace {

using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;

// As other writers leave it: members in their own order, statistics, unknown members, numbers that no double can hold.
constexpr std::string_view kForeign = R"json({
  "format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "s3://bucket/test/location/",
  "last-sequence-number": 34, "last-updated-ms": 1602638573590, "last-column-id": 3, "current-schema-id": 1,
  "schemas": [
    {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]},
    {"type": "struct", "schema-id": 1, "identifier-field-ids": [1, 2], "fields": [
      {"id": 1, "name": "x", "required": true, "type": "long"},
      {"id": 2, "name": "y", "required": true, "type": "decimal(9,2)", "doc": "a \"comment\""},
      {"id": 3, "name": "z", "required": false, "type": {"type": "map", "key-id": 4, "key": "string", "value-id": 5,
        "value": {"type": "list", "element-id": 6, "element": "fixed[4]", "element-required": true}, "value-required": false}}]}],
  "default-spec-id": 0,
  "partition-specs": [{"spec-id": 0, "fields": [{"name": "x", "transform": "identity", "source-id": 1, "field-id": 1000}]}],
  "last-partition-id": 1000, "default-sort-order-id": 3,
  "sort-orders": [{"order-id": 3, "fields": [
    {"transform": "identity", "source-id": 2, "direction": "asc", "null-order": "nulls-first"},
    {"transform": "bucket[4]", "source-id": 3, "direction": "desc", "null-order": "nulls-last"}]}],
  "properties": {"read.split.target.size": "134217728", "ключ": "значение \u0001"},
  "current-snapshot-id": 3055729675574597004,
  "snapshots": [
    {"snapshot-id": 3051729675574597004, "timestamp-ms": 1515100955770, "sequence-number": 0,
     "summary": {"operation": "append"}, "manifest-list": "s3://a/b/1.avro", "key-id": "k1"},
    {"snapshot-id": 3055729675574597004, "parent-snapshot-id": 3051729675574597004, "timestamp-ms": 1555100955770,
     "sequence-number": 1, "summary": {"operation": "append"}, "manifest-list": "s3://a/b/2.avro", "schema-id": 1}],
  "snapshot-log": [{"snapshot-id": 3051729675574597004, "timestamp-ms": 1515100955770},
                   {"snapshot-id": 3055729675574597004, "timestamp-ms": 1555100955770}],
  "metadata-log": [{"metadata-file": "s3://bucket/.../v1.json", "timestamp-ms": 1515100}],
  "refs": {"test": {"snapshot-id": 3051729675574597004, "type": "tag", "max-ref-age-ms": 9223372036854775807}},
  "statistics": [{"snapshot-id": 3055729675574597004, "statistics-path": "s3://a/stats.puffin", "file-size-in-bytes": 413}],
  "future-member": {"deep": [1, 2.5, null, "ä"]}
})json";

TEST(TableMetadataJson, ReadsWhatOthersWrite) {
  const auto metadata = table_metadata_from_json(kForeign);
  ASSERT_TRUE(metadata.ok()) << metadata.error().message();
  EXPECT_EQ(metadata->location, "s3://bucket/test/location");
  EXPECT_EQ(metadata->current_snapshot_id, 3055729675574597004);
  EXPECT_EQ(metadata->current_schema()->fields[1].type, Type::decimal(9, 2));
  EXPECT_EQ(metadata->current_schema()->fields[1].doc, "a \"comment\"");
  EXPECT_EQ(metadata->current_schema()->identifier_field_ids, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(metadata->refs.at("test").max_ref_age_ms, INT64_MAX);
  EXPECT_FALSE(metadata->refs.at("test").is_branch);
  EXPECT_EQ(metadata->refs.at("main").snapshot_id, 3055729675574597004);
  EXPECT_TRUE(metadata->is_ancestor(3051729675574597004, 3055729675574597004));
  EXPECT_FALSE(metadata->is_ancestor(3055729675574597004, 3051729675574597004));
}

// 3051729675574597004 and its neighbours are the same double.
TEST(TableMetadataJson, WritesEveryMemberBackWithAllDigits) {
  const auto metadata = table_metadata_from_json(kForeign).value();
  const std::string once = table_metadata_to_json(metadata).value();
  EXPECT_NE(once.find("3051729675574597004"), std::string::npos);
  EXPECT_NE(once.find("9223372036854775807"), std::string::npos);
  EXPECT_NE(once.find(R"("future-member":{"deep":[1,2.5,null,"ä"]})"), std::string::npos);
  EXPECT_NE(once.find(R"("statistics-path":"s3://a/stats.puffin")"), std::string::npos);
  EXPECT_NE(once.find(R"("key-id":"k1")"), std::string::npos);
  EXPECT_NE(once.find(R"("значение \u0001")"), std::string::npos);
  EXPECT_EQ(table_metadata_to_json(table_metadata_from_json(once).value()).value(), once);
}

TEST(TableMetadataJson, ReadsVersionOneAndRefusesToWriteIt) {
  constexpr std::string_view kVersionOne = R"({
    "format-version": 1, "table-uuid": "d20125c8-7284-442c-9aea-15fee620737c", "location": "s3://bucket/test/location",
    "last-updated-ms": 1602638573874, "last-column-id": 3,
    "schema": {"type": "struct", "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]},
    "partition-spec": [{"name": "x", "transform": "identity", "source-id": 1, "field-id": 1000}],
    "properties": {}, "current-snapshot-id": -1, "snapshots": []})";
  const auto metadata = table_metadata_from_json(kVersionOne);
  ASSERT_TRUE(metadata.ok()) << metadata.error().message();
  EXPECT_EQ(metadata->current_schema()->fields.size(), 1U);
  EXPECT_EQ(metadata->default_spec().fields[0].name, "x");
  EXPECT_EQ(metadata->last_partition_id, 1000);
  EXPECT_FALSE(metadata->current_snapshot_id.has_value());
  EXPECT_EQ(table_metadata_to_json(*metadata).error().code(), base::Code::kUnsupported);
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TableMetadataJson, NamesTheVersionThatItLacks) {
  const auto metadata = table_metadata_from_json(with(std::string(kForeign), R"("format-version": 2)", R"("format-version": 3)"));
  EXPECT_EQ(metadata.error().code(), base::Code::kUnsupported);
  EXPECT_NE(metadata.error().message().find("format version 3"), std::string::npos);
}

TEST(TableMetadataJson, NamesTheMemberThatIsWrong) {
  const std::string good(kForeign);
  const std::pair<const char*, const char*> cases[] = {
      {R"("last-updated-ms": 1602638573590)", R"("last-updated-ms": "soon")"},
      {R"("last-updated-ms": 1602638573590)", R"("last-updated-ms": 18446744073709551615)"},
      {R"("last-column-id": 3)", R"("last-column-id": 99999999999)"},
      {R"("table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1")", R"("table-uuid": 7)"},
      {R"("table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1")", R"("table-uuid": "")"},
      {R"("current-schema-id": 1)", R"("current-schema-id": 9)"},
      {R"("default-sort-order-id": 3)", R"("default-sort-order-id": 9)"},
      {R"("last-sequence-number": 34)", R"("last-sequence-number": 0)"},
      {R"("last-sequence-number": 34)", R"("last-sequence-number": -1)"},
      {R"("last-sequence-number": 34)", R"("last-sequence-number": 9223372036854775807)"},
      {R"("parent-snapshot-id": 3051729675574597004)", R"("parent-snapshot-id": 3055729675574597004)"},  // itself
      {R"(3051729675574597004, "timestamp-ms": 1515100955770, "sequence-number": 0)",                    // its child
       R"(3051729675574597004, "parent-snapshot-id": 3055729675574597004, "timestamp-ms": 1515100955770, "sequence-number": 0)"},
      {R"("default-spec-id": 0)", R"("default-spec-id": 9)"},
      {R"("current-snapshot-id": 3055729675574597004)", R"("current-snapshot-id": 5)"},
      {R"("type": "tag")", R"("type": "label")"},
      {R"("schemas": [)", R"("schemata": [)"},
  };
  for (const auto& [from, to] : cases) {
    const auto metadata = table_metadata_from_json(with(good, from, to));
    ASSERT_FALSE(metadata.ok()) << to;
    EXPECT_EQ(metadata.error().code(), base::Code::kCorrupt) << to;
  }
  EXPECT_EQ(table_metadata_from_json("[]").error().code(), base::Code::kCorrupt);
  EXPECT_EQ(table_metadata_from_json("").error().code(), base::Code::kCorrupt);
}

TEST(TableMetadataJson, RefusesUnknownMembersOfAnyDepth) {
  const std::string deep = R"({"future": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + ", ";
  EXPECT_EQ(table_metadata_from_json(deep + std::string(kForeign.substr(1))).error().code(), base::Code::kCorrupt);
}

TEST(TableMetadataJson, StaysValidWhateverAPropertyHolds) {
  TableMetadata metadata = table_metadata_from_json(kForeign).value();
  metadata.properties["bytes"] = "a\xff\xc3";
  const auto back = table_metadata_from_json(table_metadata_to_json(metadata).value());
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(back->properties.at("bytes"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TableMetadataJson, RefusesEveryTruncation) {
  for (size_t length = 0; length < kForeign.size(); ++length) {
    EXPECT_FALSE(table_metadata_from_json(kForeign.substr(0, length)).ok());
  }
}

TEST(SchemaJson, RefusesWhatIsNoneOfVersionTwo) {
  const auto read = [](const std::string& type) {
    return schema_from_json(R"({"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":)" + type + "}]}");
  };
  EXPECT_EQ(read(R"("timestamp_ns")").error().code(), base::Code::kUnsupported);
  EXPECT_EQ(read(R"("variant")").error().code(), base::Code::kUnsupported);
  EXPECT_FALSE(read("\"decimal(39, 2)\"").ok());
  EXPECT_FALSE(read("\"decimal(9, 12)\"").ok());
  EXPECT_FALSE(read(R"("fixed[0]")").ok());
  EXPECT_FALSE(read(R"({"type":"list","element":"int","element-required":true})").ok());
  EXPECT_FALSE(read(R"({"type":"list","element-id":1,"element":"int","element-required":true})").ok());  // id twice
  EXPECT_TRUE(read("\"decimal(38,38)\"").ok());
  std::string deep = "\"int\"";
  for (int i = 0; i < 200; ++i) {
    deep = R"({"type":"list","element-id":)" + std::to_string(i + 2) + R"(,"element-required":true,"element":)" + deep + "}";
  }
  EXPECT_EQ(read(deep).error().code(), base::Code::kCorrupt);
}

Type arbitrary_type(int depth, int32_t& next_id) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 16 : 13);
  const auto field = [&](const char* name, bool required) {
    const int32_t id = next_id++;
    return Field{id, name, required, arbitrary_type(depth - 1, next_id), ""};
  };
  switch (kind) {
    case 0: return Type::decimal(*rc::gen::inRange(10, 39), *rc::gen::inRange(0, 10));
    case 1: return Type::fixed(*rc::gen::inRange(1, 100));
    case 13: return Type::list(field("element", *rc::gen::arbitrary<bool>()));
    case 14: {
      Field key = field("key", true);
      return Type::map(std::move(key), field("value", *rc::gen::arbitrary<bool>()));
    }
    case 15: {
      std::vector<Field> fields;
      const int count = *rc::gen::inRange(0, 4);
      for (int i = 0; i < count; ++i) fields.push_back(field(("f" + std::to_string(i)).c_str(), *rc::gen::arbitrary<bool>()));
      return Type::structure(std::move(fields));
    }
    default: {
      constexpr TypeId kPlain[] = {TypeId::kBoolean, TypeId::kInt, TypeId::kLong, TypeId::kFloat, TypeId::kDouble, TypeId::kDate,
                                   TypeId::kTime, TypeId::kTimestamp, TypeId::kTimestamptz, TypeId::kString, TypeId::kUuid};
      return Type::primitive(kPlain[kind - 2]);
    }
  }
}

RC_GTEST_PROP(SchemaJson, ReadsBackEverySchema, ()) {
  Schema schema;
  schema.schema_id = *rc::gen::inRange(0, 1000);
  int32_t next_id = 1;
  const int count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    const int32_t id = next_id++;
    const auto text = *rc::gen::arbitrary<std::string>();
    std::string ascii;
    for (const char c : text) ascii.push_back(static_cast<char>(c & 0x7F));
    schema.fields.push_back({id, "ä" + ascii, *rc::gen::arbitrary<bool>(), arbitrary_type(3, next_id), ascii});
    if (*rc::gen::arbitrary<bool>()) schema.identifier_field_ids.push_back(id);
  }
  RC_ASSERT(schema_from_json(schema_to_json(schema)).value() == schema);
}

RC_GTEST_PROP(TableMetadataJson, KeepsEverySnapshotId, (int64_t id, int64_t timestamp, int64_t sequence)) {
  RC_PRE(id >= 0);
  TableMetadata metadata = table_metadata_from_json(kForeign).value();
  RC_PRE(metadata.snapshot(id) == nullptr);
  Snapshot snapshot;
  snapshot.snapshot_id = id;
  snapshot.timestamp_ms = timestamp;
  snapshot.sequence_number = sequence / 256;
  snapshot.manifest_list = "x";
  metadata.snapshots.push_back(snapshot);
  metadata.last_sequence_number = std::max(metadata.last_sequence_number, snapshot.sequence_number);
  metadata.refs["other"] = {id, true, 3, 5, 7};
  const auto back = table_metadata_from_json(table_metadata_to_json(metadata).value()).value();
  RC_ASSERT(back.snapshots.back().snapshot_id == id);
  RC_ASSERT(back.snapshots.back().timestamp_ms == timestamp);
  RC_ASSERT(back.snapshots.back().sequence_number == snapshot.sequence_number);
  RC_ASSERT(back.refs == metadata.refs);
}

}  // namespace
}  // namespace frazil::iceberg
