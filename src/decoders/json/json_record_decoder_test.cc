#include "decoders/json/json_record_decoder.h"

#include <gtest/gtest.h>

#include "decoders/column_mapping.h"

namespace frazil::decoders {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;

Field field(const std::string& name, Type type, bool required = false) {
  Field made;
  made.name = name;
  made.type = std::move(type);
  made.required = required;
  return made;
}

columnar::Schema documents() {
  columnar::Schema schema;
  schema.fields = {field("id", Type::primitive(TypeId::kLong), true), field("name", Type::primitive(TypeId::kString)),
                   field("score", Type::primitive(TypeId::kDouble))};
  return schema;
}

// A topic partition with records of the given values; nullptr is a tombstone.
engine::RawBatch batch_of(const std::vector<const char*>& values) {
  engine::RawBatch raw;
  raw.stream = "orders";
  raw.partition = 3;
  for (const char* value : values) {
    engine::RawRecord record;
    record.offset = 100 + static_cast<int64_t>(raw.records.size());
    record.timestamp_micros = 5'000'000;
    record.has_value = value != nullptr;
    if (value != nullptr) record.value = value;
    raw.records.push_back(record);
  }
  return raw;
}

struct Decoded {
  base::Status status;
  size_t next = 0;  // the first record that was not looked at
  std::shared_ptr<const columnar::Schema> schema;
  std::unique_ptr<columnar::Batch> rows;
  std::vector<engine::Rejected> rejects;
  engine::DecodeCounts counts;
  std::vector<size_t> records;  // of the rows
};

Decoded decode(const JsonDecoderConfig& config, const columnar::Schema& rows, const engine::RawBatch& raw) {
  Decoded decoded;
  decoded.schema = std::make_shared<columnar::Schema>(rows);
  decoded.rows = std::make_unique<columnar::Batch>(decoded.schema);
  auto decoder = make_json_decoder(config, decoded.schema);
  EXPECT_TRUE(decoder.ok()) << (decoder.ok() ? "" : decoder.error().message());
  if (!decoder.ok()) return decoded;
  decoder.value()->note_records(decoded.records);
  const auto next = decoder.value()->decode(raw, 0, raw.records.size(), *decoded.rows, decoded.rejects, decoded.counts);
  decoded.status = next.status();
  if (next.ok()) decoded.next = *next;
  return decoded;
}

columnar::Schema rows_of(const ColumnsConfig& columns) {
  auto rows = row_schema(documents(), columns);
  EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message());
  return std::move(rows).value();
}

TEST(JsonRecordDecoder, KeepsGoodRecordsAndRejectsBadOnesByIndex) {
  const auto decoded =
      decode({}, rows_of({}), batch_of({R"({"id":1})", "nonsense", R"({"name":"x"})", R"({"id":2,"name":"b"})", ""}));
  ASSERT_TRUE(decoded.status.ok());
  EXPECT_EQ(decoded.rows->rows(), 2);
  EXPECT_EQ(decoded.rows->columns[0].long_at(1), 2);
  ASSERT_EQ(decoded.rejects.size(), 3u);
  EXPECT_EQ(decoded.rejects[0].record, 1u);
  EXPECT_EQ(decoded.rejects[1].record, 2u);
  EXPECT_EQ(decoded.rejects[1].code, "MISSING_FIELD");
  EXPECT_EQ(decoded.rejects[1].field, "id");
  EXPECT_EQ(decoded.rejects[2].code, "EMPTY");
}

TEST(JsonRecordDecoder, RejectsAnArrayWithOneBadElementAsAWhole) {
  const auto decoded = decode({}, rows_of({}), batch_of({R"([{"id":1},{"id":"x"}])", R"([{"id":3},{"id":4}])", "[]"}));
  EXPECT_EQ(decoded.rows->rows(), 2);
  EXPECT_EQ(decoded.rows->columns[0].long_at(0), 3);
  EXPECT_EQ(decoded.rejects.size(), 1u);
  EXPECT_EQ(decoded.records, (std::vector<size_t>{1, 1}));
}

TEST(JsonRecordDecoder, CountsEmptyArraysUnderEveryPolicy) {
  for (const RejectPolicy policy : {RejectPolicy::kDeadLetter, RejectPolicy::kHalt, RejectPolicy::kSkip}) {
    JsonDecoderConfig config;
    config.on_reject = policy;
    const auto decoded = decode(config, rows_of({}), batch_of({"[]", R"({"id":1})", " [ ] "}));
    ASSERT_TRUE(decoded.status.ok());
    EXPECT_EQ(decoded.counts.empty_arrays, 2);
    EXPECT_EQ(decoded.counts.skipped, 0);
    EXPECT_EQ(decoded.rows->rows(), 1);
    EXPECT_TRUE(decoded.rejects.empty());
  }
}

TEST(JsonRecordDecoder, EndsEarlyWhereFewBytesStandForManyRows) {
  columnar::Schema wide;
  for (int i = 0; i < 200; ++i) wide.fields.push_back(field("f" + std::to_string(i), Type::primitive(TypeId::kLong)));
  std::string many = "[{}";
  for (int i = 1; i < 1000; ++i) many += ",{}";
  many += "]";
  const auto decoded = decode({}, wide, batch_of(std::vector<const char*>(20, many.c_str())));
  ASSERT_TRUE(decoded.status.ok());
  EXPECT_EQ(decoded.next, 3u);  // 1.6 MB each
  EXPECT_EQ(decoded.rows->rows(), 3000);
  EXPECT_EQ(decode({}, wide, batch_of(std::vector<const char*>(20, "{}"))).next, 20u);
}

TEST(JsonRecordDecoder, FollowsThePolicyForTombstones) {
  JsonDecoderConfig config;
  auto decoded = decode(config, rows_of({}), batch_of({nullptr, R"({"id":1})"}));
  EXPECT_EQ(decoded.counts.tombstones, 1);
  EXPECT_EQ(decoded.rows->rows(), 1);
  EXPECT_TRUE(decoded.rejects.empty());
  config.tombstone = RejectPolicy::kDeadLetter;
  decoded = decode(config, rows_of({}), batch_of({nullptr}));
  ASSERT_EQ(decoded.rejects.size(), 1u);
  EXPECT_EQ(decoded.rejects[0].code, "TOMBSTONE");
  EXPECT_EQ(decoded.counts.tombstones, 0);
  config.tombstone = RejectPolicy::kHalt;
  decoded = decode(config, rows_of({}), batch_of({nullptr}));
  ASSERT_FALSE(decoded.status.ok());
  ASSERT_NE(decoded.status.error().halt(), nullptr);
  EXPECT_EQ(decoded.status.error().halt()->range, "orders/3[100,101)");
}

TEST(JsonRecordDecoder, FollowsThePolicyForRejects) {
  JsonDecoderConfig config;
  config.on_reject = RejectPolicy::kSkip;
  auto decoded = decode(config, rows_of({}), batch_of({"x", R"({"id":1})", "null"}));
  EXPECT_EQ(decoded.counts.skipped, 2);
  EXPECT_EQ(decoded.counts.tombstones, 0);
  EXPECT_EQ(decoded.rows->rows(), 1);
  EXPECT_TRUE(decoded.rejects.empty());
  config.on_reject = RejectPolicy::kHalt;
  decoded = decode(config, rows_of({}), batch_of({R"({"id":1})", "x"}));
  ASSERT_FALSE(decoded.status.ok());
  ASSERT_NE(decoded.status.error().halt(), nullptr);
  EXPECT_EQ(decoded.status.error().halt()->code, "RECORD_REJECTED");
  EXPECT_NE(decoded.status.error().message().find("orders/3 offset 101"), std::string::npos);
}

TEST(JsonRecordDecoder, CountsUnknownFieldsAndDuplicates) {
  const auto decoded = decode({}, rows_of({}), batch_of({R"({"id":1,"more":2,"name":"a","name":"b"})"}));
  EXPECT_EQ(decoded.counts.unknown_fields, 1);
  EXPECT_EQ(decoded.counts.duplicate_keys, 1);
  EXPECT_EQ(decoded.rows->columns[1].bytes_at(0), "b");
}

TEST(JsonRecordDecoder, FillsKafkaMetadataForEveryRowOfARecord) {
  JsonDecoderConfig config;
  config.columns.kafka_metadata = true;
  engine::RawBatch raw = batch_of({"bad", R"([{"id":1},{"id":2}])", R"({"id":3})"});
  raw.records[1].has_key = true;
  raw.records[1].key = "k";
  raw.records[1].headers = {{"h1", "v", true}, {"h2", "", false}};
  raw.records[2].timestamp_micros = -1;
  const auto decoded = decode(config, rows_of(config.columns), raw);
  ASSERT_TRUE(decoded.status.ok());
  ASSERT_EQ(decoded.rows->rows(), 3);
  for (const auto& column : decoded.rows->columns) EXPECT_EQ(column.length(), 3);
  const auto& columns = decoded.rows->columns;
  EXPECT_EQ(columns[3].bytes_at(0), "orders");
  EXPECT_EQ(columns[4].int_at(0), 3);
  EXPECT_EQ(columns[5].long_at(0), 101);
  EXPECT_EQ(columns[5].long_at(2), 102);
  EXPECT_EQ(columns[6].int_at(0), 0);
  EXPECT_EQ(columns[6].int_at(1), 1);
  EXPECT_EQ(columns[6].int_at(2), 0);
  EXPECT_EQ(columns[7].long_at(0), 5'000'000);
  EXPECT_TRUE(columns[7].is_null(2));
  EXPECT_EQ(columns[8].bytes_at(1), "k");
  EXPECT_TRUE(columns[8].is_null(2));
  EXPECT_EQ(columns[9].list_end(0) - columns[9].list_begin(0), 2);
  EXPECT_EQ(columns[9].child(0).child(0).bytes_at(1), "h2");
  EXPECT_TRUE(columns[9].child(0).child(1).is_null(1));
  EXPECT_EQ(columns[9].list_end(2) - columns[9].list_begin(2), 0);
}

TEST(JsonRecordDecoder, RenamesAndDropsColumns) {
  JsonDecoderConfig config;
  config.columns.rename = {{"id", "key"}, {"name", "id"}};
  config.columns.drop = {"score"};
  const auto rows = rows_of(config.columns);
  ASSERT_EQ(rows.fields.size(), 2u);
  EXPECT_EQ(rows.fields[0].name, "key");
  const auto decoded = decode(config, rows, batch_of({R"({"id":7,"name":"n","score":1})"}));
  ASSERT_TRUE(decoded.status.ok());
  EXPECT_EQ(decoded.rows->columns[0].long_at(0), 7);
  EXPECT_EQ(decoded.rows->columns[1].bytes_at(0), "n");
}

TEST(JsonRecordDecoder, LeavesDroppedColumnsOfATableNull) {
  JsonDecoderConfig config;
  config.columns.keep = {"id"};
  const auto decoded = decode(config, documents(), batch_of({R"({"id":7,"name":"n","score":1})"}));
  ASSERT_TRUE(decoded.status.ok());
  EXPECT_TRUE(decoded.rows->columns[1].is_null(0));
  EXPECT_TRUE(decoded.rows->columns[2].is_null(0));
}

TEST(ColumnMapping, RefusesWhatCannotBe) {
  EXPECT_FALSE(row_schema(documents(), {.keep = {"nope"}}).ok());
  EXPECT_FALSE(row_schema(documents(), {.drop = {"id", "name", "score"}}).ok());
  EXPECT_FALSE(row_schema(documents(), {.rename = {{"id", "name"}}}).ok());
  EXPECT_FALSE(row_schema(documents(), {.rename = {{"nope", "x"}}}).ok());
  const auto required = column_origins(documents(), {.drop = {"id"}});
  ASSERT_FALSE(required.ok());
  EXPECT_EQ(required.error().message(), "column id is required, but no field fills it");
  columnar::Schema wrong = documents();
  wrong.fields.push_back(field("_kafka_offset", Type::primitive(TypeId::kString)));
  EXPECT_FALSE(column_origins(wrong, {.kafka_metadata = true}).ok());
  EXPECT_TRUE(column_origins(wrong, {}).ok());
}

}  // namespace
}  // namespace frazil::decoders
