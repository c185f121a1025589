// Reading files that other writers made: projection by field id, other shapes of lists, promotions, damage.
#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include "format/parquet/parquet_file.h"
#include "format/parquet/parquet_writer.h"
#include "format/parquet/random_batch.h"

namespace frazil::format {
namespace {

using columnar::Batch;
using columnar::Type;
using columnar::TypeId;
using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;

Type primitive(TypeId id) { return Type::primitive(id); }

// A file of one int32 column below `column`, with the levels given: shapes that today's writers do not make.
std::string int_file(const NodePtr& column, const std::vector<int16_t>& definition, const std::vector<int16_t>& repetition,
                     const std::vector<int32_t>& values) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto root = std::static_pointer_cast<GroupNode>(GroupNode::Make("root", Repetition::REQUIRED, {column}));
  auto file = parquet::ParquetFileWriter::Open(sink, root);
  auto* writer = static_cast<parquet::Int32Writer*>(file->AppendRowGroup()->NextColumn());
  writer->WriteBatch(static_cast<int64_t>(definition.size()), definition.data(), repetition.data(), values.data());
  writer->Close();
  file->Close();
  return sink->Finish().ValueOrDie()->ToString();
}

// What another Arrow wrote: with its own schema in the footer, and field ids where the fields carry them.
std::string arrow_file(const std::vector<std::shared_ptr<arrow::Field>>& fields,
                       const std::vector<std::shared_ptr<arrow::Array>>& arrays) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  const auto status = parquet::arrow::WriteTable(*arrow::Table::Make(arrow::schema(fields), arrays),
                                                 arrow::system_memory_pool(), sink, 1024,
                                                 parquet::default_writer_properties(), properties);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return sink->Finish().ValueOrDie()->ToString();
}

std::shared_ptr<arrow::Field> with_id(const std::string& name, std::shared_ptr<arrow::DataType> type, int id) {
  return arrow::field(name, std::move(type), true, arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(id)}));
}

template <typename Builder, typename Value>
std::shared_ptr<arrow::Array> array_of(Builder&& builder, const std::vector<Value>& values) {
  for (const Value& value : values) EXPECT_TRUE(builder.Append(value).ok());
  EXPECT_TRUE(builder.AppendNull().ok());
  return builder.Finish().ValueOrDie();
}

Batch read_one(const std::string& file, std::shared_ptr<const columnar::Schema> schema) {
  auto read = read_parquet(file, schema);
  EXPECT_TRUE(read.ok()) << read.error().message();
  if (!read.ok()) return Batch(schema);
  EXPECT_EQ(read->size(), 1U);
  return std::move((*read)[0]);
}

base::Code refusal(const std::string& file, std::shared_ptr<const columnar::Schema> schema) {
  const auto read = read_parquet(file, std::move(schema));
  return read.ok() ? base::Code::kBug : read.error().code();
}

std::shared_ptr<const columnar::Schema> list_schema() {
  return schema_of({field_of(1, "l", Type::list(field_of(2, "element", primitive(TypeId::kInt))))});
}

TEST(ParquetReader, TakesListsOfThreeLevelsUnderAnyName) {
  const NodePtr element = PrimitiveNode::Make("array_element", Repetition::OPTIONAL, parquet::Type::INT32,
                                              parquet::ConvertedType::NONE, -1, -1, -1, 2);
  const NodePtr bag = GroupNode::Make("bag", Repetition::REPEATED, {element});
  const NodePtr list = GroupNode::Make("l", Repetition::OPTIONAL, {bag}, parquet::LogicalType::List(), 1);
  const Batch batch = read_one(int_file(list, {3, 2, 0, 1}, {0, 1, 0, 0}, {7}), list_schema());
  ASSERT_EQ(batch.rows(), 3);
  const auto& column = batch.columns[0];
  EXPECT_EQ(column.list_end(0), 2);
  EXPECT_EQ(column.child(0).int_at(0), 7);
  EXPECT_TRUE(column.child(0).is_null(1));
  EXPECT_TRUE(column.is_null(1));
  EXPECT_EQ(column.list_begin(2), column.list_end(2));
}

TEST(ParquetReader, TakesListsOfTwoLevels) {
  const NodePtr element = PrimitiveNode::Make("array", Repetition::REPEATED, parquet::Type::INT32,
                                              parquet::ConvertedType::NONE, -1, -1, -1, 2);
  const NodePtr list = GroupNode::Make("l", Repetition::OPTIONAL, {element}, parquet::LogicalType::List(), 1);
  const Batch batch = read_one(int_file(list, {2, 2, 0, 1}, {0, 1, 0, 0}, {7, 8}), list_schema());
  ASSERT_EQ(batch.rows(), 3);
  const auto& column = batch.columns[0];
  EXPECT_EQ(column.list_end(0), 2);
  EXPECT_EQ(column.child(0).int_at(1), 8);
  EXPECT_TRUE(column.is_null(1));
  EXPECT_EQ(column.list_begin(2), column.list_end(2));
}

TEST(ParquetReader, FollowsIdsThroughRenamesAndReordersOfNestedMembers) {
  const auto old_schema = schema_of(
      {field_of(1, "a", primitive(TypeId::kInt)),
       field_of(7, "s", Type::structure({field_of(8, "x", primitive(TypeId::kInt)), field_of(10, "gone", primitive(TypeId::kInt))}))});
  Batch batch(old_schema);
  batch.columns[0].append_int(1);
  batch.columns[1].child(0).append_int(2);
  batch.columns[1].child(1).append_int(3);
  batch.columns[1].append_struct_end();
  const auto new_schema = schema_of(
      {field_of(7, "renamed", Type::structure({field_of(9, "y", primitive(TypeId::kString)), field_of(8, "x2", primitive(TypeId::kLong))})),
       field_of(20, "added", primitive(TypeId::kDouble)), field_of(1, "b", primitive(TypeId::kLong))});
  const Batch read = read_one(write_file(batch).bytes, new_schema);
  ASSERT_EQ(read.rows(), 1);
  EXPECT_TRUE(read.columns[0].child(0).is_null(0));
  EXPECT_EQ(read.columns[0].child(1).long_at(0), 2);
  EXPECT_TRUE(read.columns[1].is_null(0));
  EXPECT_EQ(read.columns[2].long_at(0), 1);
}

TEST(ParquetReader, GivesNullsForAFileWithNoneOfTheColumns) {
  Batch batch(schema_of({field_of(1, "a", primitive(TypeId::kInt))}));
  for (int i = 0; i < 20'000; ++i) batch.columns[0].append_int(i);
  const ParquetFile file = write_file(batch);
  const auto read = read_parquet(file.bytes, schema_of({field_of(2, "b", primitive(TypeId::kString))}));
  ASSERT_TRUE(read.ok());
  int64_t nulls = 0;
  for (const Batch& part : *read) nulls += part.columns[0].null_count();
  EXPECT_EQ(nulls, 20'000);
  EXPECT_EQ(refusal(file.bytes, schema_of({field_of(2, "b", primitive(TypeId::kString), true)})), base::Code::kCorrupt);
}

TEST(ParquetReader, RefusesAFileWithoutFieldIdsInsteadOfGivingNulls) {
  const auto fields = {arrow::field("a", arrow::int32())};
  const std::string file = arrow_file(fields, {array_of(arrow::Int32Builder(), std::vector<int32_t>{1})});
  EXPECT_EQ(refusal(file, schema_of({field_of(1, "a", primitive(TypeId::kInt))})), base::Code::kUnsupported);
}

TEST(ParquetReader, PromotesAsIcebergAllows) {
  const std::string file = arrow_file(
      {with_id("i", arrow::int32(), 1), with_id("f", arrow::float32(), 2), with_id("d", arrow::decimal128(9, 2), 3),
       with_id("ms", arrow::timestamp(arrow::TimeUnit::MILLI, "UTC"), 4), with_id("t", arrow::large_utf8(), 5)},
      {array_of(arrow::Int32Builder(), std::vector<int32_t>{-5}), array_of(arrow::FloatBuilder(), std::vector<float>{0.5F}),
       array_of(arrow::Decimal128Builder(arrow::decimal128(9, 2)), std::vector<arrow::Decimal128>{arrow::Decimal128(-150)}),
       array_of(arrow::TimestampBuilder(arrow::timestamp(arrow::TimeUnit::MILLI, "UTC"), arrow::system_memory_pool()),
                std::vector<int64_t>{-1}),
       array_of(arrow::LargeStringBuilder(), std::vector<std::string>{"text"})});
  const Batch batch = read_one(file, schema_of({field_of(1, "i", primitive(TypeId::kLong)),
                                                field_of(2, "f", primitive(TypeId::kDouble)),
                                                field_of(3, "d", Type::decimal(20, 2)),
                                                field_of(4, "ms", primitive(TypeId::kTimestamptz)),
                                                field_of(5, "t", primitive(TypeId::kString))}));
  ASSERT_EQ(batch.rows(), 2);
  EXPECT_EQ(batch.columns[0].long_at(0), -5);
  EXPECT_EQ(batch.columns[1].double_at(0), 0.5);
  EXPECT_EQ(static_cast<int64_t>(batch.columns[2].decimal_at(0)), -150);
  EXPECT_EQ(batch.columns[3].long_at(0), -1000);
  EXPECT_EQ(batch.columns[4].bytes_at(0), "text");
  for (const auto& column : batch.columns) EXPECT_TRUE(column.is_null(1));
}

TEST(ParquetReader, RefusesTypesThatDoNotFit) {
  const std::string file = arrow_file(
      {with_id("i", arrow::int64(), 1), with_id("d", arrow::decimal128(9, 2), 2),
       with_id("ns", arrow::timestamp(arrow::TimeUnit::NANO, "UTC"), 3)},
      {array_of(arrow::Int64Builder(), std::vector<int64_t>{1}),
       array_of(arrow::Decimal128Builder(arrow::decimal128(9, 2)), std::vector<arrow::Decimal128>{arrow::Decimal128(1)}),
       array_of(arrow::TimestampBuilder(arrow::timestamp(arrow::TimeUnit::NANO, "UTC"), arrow::system_memory_pool()),
                std::vector<int64_t>{1})});
  EXPECT_EQ(refusal(file, schema_of({field_of(1, "i", primitive(TypeId::kInt))})), base::Code::kInvalid);
  EXPECT_EQ(refusal(file, schema_of({field_of(1, "i", primitive(TypeId::kString))})), base::Code::kInvalid);
  EXPECT_EQ(refusal(file, schema_of({field_of(2, "d", Type::decimal(9, 3))})), base::Code::kInvalid);
  EXPECT_EQ(refusal(file, schema_of({field_of(2, "d", Type::decimal(8, 2))})), base::Code::kInvalid);
  EXPECT_EQ(refusal(file, schema_of({field_of(3, "ns", primitive(TypeId::kTimestamptz))})), base::Code::kUnsupported);
}

TEST(ParquetReader, SurvivesEveryCutAndManyFlippedBytes) {
  Dice dice(17);
  const auto schema = random_schema(dice);
  Batch batch(schema);
  for (int i = 0; i < 50; ++i) append_random_row(dice, batch);
  const std::string file = write_file(batch).bytes;
  int refused = 0;
  for (size_t length = 0; length < file.size(); length += 1 + file.size() / 200) {
    EXPECT_EQ(refusal(file.substr(0, length), schema), base::Code::kCorrupt) << length;
    ++refused;
  }
  EXPECT_GT(refused, 100);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = file;
    damaged[dice.below(damaged.size())] ^= static_cast<char>(1 << dice.below(8));
    const auto read = read_parquet(damaged, schema);  // any answer but a crash
    if (!read.ok()) {
      EXPECT_NE(read.error().code(), base::Code::kBug);
    }
  }
}

}  // namespace
}  // namespace frazil::format
