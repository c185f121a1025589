// What the bytes of a written file are: sizes, offsets, row groups, nodes and ids, encodings, failures.
#include <map>
#include <set>
#include <string>

#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include "format/parquet/parquet_file.h"
#include "format/parquet/random_batch.h"

namespace frazil::format {
namespace {

using columnar::Batch;
using columnar::Field;
using columnar::Type;
using columnar::TypeId;

class ParquetWriterTest : public EachParquetWriter {};
INSTANTIATE_TEST_SUITE_P(Writer, ParquetWriterTest, both_writers(), writer_name);

Type primitive(TypeId id) { return Type::primitive(id); }

Batch longs(int64_t rows, int64_t first = 0) {
  Batch batch(schema_of({field_of(1, "id", primitive(TypeId::kLong), true)}));
  for (int64_t i = 0; i < rows; ++i) batch.columns[0].append_long(first + i);
  return batch;
}

void expect_whole(const ParquetFile& file) {
  ASSERT_GE(file.bytes.size(), 12U);
  EXPECT_EQ(file.bytes.substr(0, 4), "PAR1");
  EXPECT_EQ(file.bytes.substr(file.bytes.size() - 4), "PAR1");
  EXPECT_EQ(file.metrics.file_bytes, static_cast<int64_t>(file.bytes.size()));
}

TEST_P(ParquetWriterTest, CountsFileBytesExactlyForEveryShapeOfFile) {
  expect_whole(write_file(longs(0)));
  expect_whole(write_file(longs(1)));
  ParquetWriterOptions options;
  options.row_group_bytes = 1;
  std::vector<Batch> batches;
  for (int i = 0; i < 12; ++i) batches.push_back(longs(8192));
  expect_whole(write_file(batches, options));
  batches.push_back(longs(0));  // nothing after the last row group
  expect_whole(write_file(batches, options));
}

TEST_P(ParquetWriterTest, TellsWhereEachRowGroupStarts) {
  ParquetWriterOptions options;
  options.row_group_bytes = 200'000;
  std::vector<Batch> batches;
  for (int i = 0; i < 10; ++i) batches.push_back(longs(10'000, i * 10'000));
  const ParquetFile file = write_file(batches, options);
  const auto footer = file.open()->metadata();
  ASSERT_EQ(footer->num_row_groups(), 4);  // 30,000 rows reach 200,000 bytes
  ASSERT_EQ(file.metrics.split_offsets.size(), 4U);
  EXPECT_EQ(file.metrics.split_offsets[0], 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(file.metrics.split_offsets[static_cast<size_t>(i)], footer->RowGroup(i)->file_offset());
    EXPECT_LT(file.metrics.split_offsets[static_cast<size_t>(i)], file.metrics.file_bytes);
    if (i > 0) {
      EXPECT_GT(file.metrics.split_offsets[static_cast<size_t>(i)], file.metrics.split_offsets[static_cast<size_t>(i - 1)]);
    }
  }
}

TEST_P(ParquetWriterTest, KeepsAtLeastSixteenThousandRowsInARowGroup) {
  ParquetWriterOptions options;
  options.row_group_bytes = 1;
  std::vector<Batch> batches;
  for (int i = 0; i < 40; ++i) batches.push_back(longs(1000));
  const auto footer = write_file(batches, options).open()->metadata();
  ASSERT_GE(footer->num_row_groups(), 2);
  for (int i = 0; i + 1 < footer->num_row_groups(); ++i) EXPECT_GE(footer->RowGroup(i)->num_rows(), 16384);
  EXPECT_EQ(footer->num_rows(), 40'000);
}

TEST_P(ParquetWriterTest, KeepsWritersOfOneProcessApart) {
  std::vector<std::string> files(20);
  std::vector<std::unique_ptr<ParquetWriter>> writers;
  for (std::string& file : files) {
    writers.push_back(writer_under_test()(longs(0).schema, {}, [&file](std::string_view bytes) {
                        file.append(bytes);
                        return base::Status();
                      }).value());
  }
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < writers.size(); ++i) ASSERT_TRUE(writers[i]->write(longs(static_cast<int64_t>(i) + 1)).ok());
  }
  for (size_t i = 0; i < writers.size(); ++i) {
    const auto metrics = writers[i]->seal();
    ASSERT_TRUE(metrics.ok());
    EXPECT_EQ(metrics->rows, 3 * (static_cast<int64_t>(i) + 1));
    EXPECT_EQ(metrics->file_bytes, static_cast<int64_t>(files[i].size()));
  }
}

std::shared_ptr<const columnar::Schema> nested_schema() {
  const Type inner = Type::structure({field_of(8, "x", primitive(TypeId::kInt), true)});
  return schema_of({field_of(1, "a", primitive(TypeId::kInt)),
                    field_of(2, "l", Type::list(field_of(3, "element", primitive(TypeId::kString)))),
                    field_of(4, "m", Type::map(field_of(5, "key", primitive(TypeId::kString), true),
                                               field_of(6, "value", primitive(TypeId::kDouble)))),
                    field_of(7, "s", inner)});
}

TEST_P(ParquetWriterTest, PutsFieldIdsOnTheNodesThatIcebergNames) {
  const auto reader = write_file(Batch(nested_schema())).open();
  const auto* root = reader->metadata()->schema()->group_node();
  const auto group = [](const parquet::schema::NodePtr& node) {
    return std::static_pointer_cast<parquet::schema::GroupNode>(node);
  };
  EXPECT_EQ(root->field(0)->field_id(), 1);
  const auto list = group(root->field(1));
  EXPECT_EQ(list->field_id(), 2);
  EXPECT_TRUE(list->logical_type()->is_list());
  EXPECT_EQ(list->field(0)->name(), "list");
  EXPECT_TRUE(list->field(0)->is_repeated());
  EXPECT_EQ(list->field(0)->field_id(), -1);
  EXPECT_EQ(group(list->field(0))->field(0)->name(), "element");
  EXPECT_EQ(group(list->field(0))->field(0)->field_id(), 3);
  const auto map = group(root->field(2));
  EXPECT_EQ(map->field_id(), 4);
  EXPECT_TRUE(map->logical_type()->is_map());
  const auto entries = group(map->field(0));
  EXPECT_EQ(entries->name(), "key_value");
  EXPECT_EQ(entries->field_id(), -1);
  EXPECT_EQ(entries->field(0)->field_id(), 5);
  EXPECT_TRUE(entries->field(0)->is_required());
  EXPECT_EQ(entries->field(1)->field_id(), 6);
  EXPECT_TRUE(entries->field(1)->is_optional());
  EXPECT_EQ(root->field(3)->field_id(), 7);
  EXPECT_EQ(group(root->field(3))->field(0)->field_id(), 8);
}

TEST_P(ParquetWriterTest, AnnotatesTypesAsIcebergDoes) {
  const auto schema = schema_of(
      {field_of(1, "d9", Type::decimal(9, 2)), field_of(2, "d18", Type::decimal(18, 2)),
       field_of(3, "d19", Type::decimal(19, 2)), field_of(4, "d38", Type::decimal(38, 2)),
       field_of(5, "time", primitive(TypeId::kTime)), field_of(6, "ts", primitive(TypeId::kTimestamp)),
       field_of(7, "tz", primitive(TypeId::kTimestamptz)), field_of(8, "uuid", primitive(TypeId::kUuid)),
       field_of(9, "fixed", Type::fixed(5)), field_of(10, "text", primitive(TypeId::kString)),
       field_of(11, "date", primitive(TypeId::kDate)), field_of(12, "binary", primitive(TypeId::kBinary))});
  const auto reader = write_file(Batch(schema)).open();
  const auto* descriptor = reader->metadata()->schema();
  const auto physical = [&](int i) { return descriptor->Column(i)->physical_type(); };
  const auto logical = [&](int i) { return descriptor->Column(i)->logical_type(); };
  EXPECT_EQ(physical(0), parquet::Type::INT32);
  EXPECT_EQ(physical(1), parquet::Type::INT64);
  EXPECT_EQ(descriptor->Column(2)->type_length(), 9);
  EXPECT_EQ(descriptor->Column(3)->type_length(), 16);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(logical(i)->is_decimal());
  EXPECT_TRUE(logical(4)->Equals(*parquet::LogicalType::Time(false, parquet::LogicalType::TimeUnit::MICROS)));
  EXPECT_TRUE(logical(5)->Equals(*parquet::LogicalType::Timestamp(false, parquet::LogicalType::TimeUnit::MICROS)));
  EXPECT_TRUE(logical(6)->Equals(*parquet::LogicalType::Timestamp(true, parquet::LogicalType::TimeUnit::MICROS)));
  EXPECT_TRUE(logical(7)->is_UUID());
  EXPECT_EQ(descriptor->Column(7)->type_length(), 16);
  EXPECT_EQ(descriptor->Column(8)->type_length(), 5);
  EXPECT_TRUE(logical(9)->is_string());
  EXPECT_TRUE(logical(10)->is_date());
  EXPECT_EQ(physical(11), parquet::Type::BYTE_ARRAY);
}

TEST_P(ParquetWriterTest, WritesPagesThatEveryReaderKnows) {
  Batch batch(schema_of({field_of(1, "i", primitive(TypeId::kInt)), field_of(2, "s", primitive(TypeId::kString)),
                         field_of(3, "d", primitive(TypeId::kDouble)), field_of(4, "b", primitive(TypeId::kBoolean))}));
  Dice dice(3);
  for (int i = 0; i < 5000; ++i) append_random_row(dice, batch);
  const std::set<parquet::Encoding::type> allowed = {parquet::Encoding::PLAIN, parquet::Encoding::RLE,
                                                     parquet::Encoding::RLE_DICTIONARY};
  const auto footer = write_file(batch).open()->metadata();
  for (int i = 0; i < footer->num_columns(); ++i) {
    const auto chunk = footer->RowGroup(0)->ColumnChunk(i);
    for (const auto encoding : chunk->encodings()) {
      EXPECT_TRUE(allowed.contains(encoding)) << parquet::EncodingToString(encoding);
    }
    EXPECT_EQ(chunk->compression(), parquet::Compression::ZSTD);
  }
  const auto reader = write_file(batch).open();
  const auto pages = reader->RowGroup(0)->GetColumnPageReader(0);
  int data_pages = 0;
  while (const auto page = pages->NextPage()) {
    EXPECT_NE(page->type(), parquet::PageType::DATA_PAGE_V2);
    data_pages += page->type() == parquet::PageType::DATA_PAGE ? 1 : 0;
  }
  EXPECT_GE(data_pages, 1);
}

TEST_P(ParquetWriterTest, CutsPagesOfLongTextsNearTheirLimit) {
  Batch batch(schema_of({field_of(1, "s", primitive(TypeId::kString))}));
  for (int i = 0; i < 256; ++i) batch.columns[0].append_bytes(std::string(100'000, static_cast<char>('a' + i % 26)) + std::to_string(i));
  const auto reader = write_file(batch).open();
  const auto pages = reader->RowGroup(0)->GetColumnPageReader(0);
  int data_pages = 0;
  while (const auto page = pages->NextPage()) {
    if (page->type() == parquet::PageType::DATA_PAGE) {
      ++data_pages;
      EXPECT_LE(page->size(), 3 << 20);
    }
  }
  EXPECT_GE(data_pages, 10);
}

TEST_P(ParquetWriterTest, NamesItselfAndKeepsKeyValues) {
  ParquetWriterOptions options;
  options.created_by = "frazil version 1.2.3 (build 42)";
  options.key_value_metadata = {{"iceberg.schema", "{}"}, {"other", "x"}};
  const auto footer = write_file(longs(3), options).open()->metadata();
  EXPECT_EQ(footer->created_by(), "frazil version 1.2.3 (build 42)");
  EXPECT_EQ(footer->writer_version().version.minor, 2);
  EXPECT_EQ(footer->key_value_metadata()->Get("iceberg.schema").ValueOrDie(), "{}");
  EXPECT_FALSE(footer->key_value_metadata()->Contains("ARROW:schema"));
}

TEST_P(ParquetWriterTest, GivesBackTheErrorOfItsSink) {
  int writes_left = 1;
  auto writer = writer_under_test()(longs(0).schema, {}, [&](std::string_view) {
                  return writes_left-- > 0 ? base::Status() : base::Status(base::unavailable("disk is away"));
                }).value();
  ASSERT_TRUE(writer->write(longs(5000)).ok());
  const auto sealed = writer->seal();
  ASSERT_FALSE(sealed.ok());
  EXPECT_EQ(sealed.error().code(), base::Code::kUnavailable);
  EXPECT_EQ(sealed.error().message(), "disk is away");
}

TEST_P(ParquetWriterTest, GivesTheErrorOfItsSinkAgainOnEveryLaterCall) {
  ParquetWriterOptions options;
  options.row_group_bytes = 1;
  bool is_away = false;
  auto writer = writer_under_test()(longs(0).schema, options, [&](std::string_view) {
                  return is_away ? base::Status(base::unavailable("disk is away")) : base::Status();
                }).value();
  ASSERT_TRUE(writer->write(longs(5000)).ok());
  is_away = true;
  base::Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = writer->write(longs(5000));
  ASSERT_FALSE(status.ok());
  is_away = false;
  for (const base::Status& later : {status, writer->write(longs(1)), writer->seal().status()}) {
    ASSERT_FALSE(later.ok());
    EXPECT_EQ(later.error().code(), base::Code::kUnavailable);
    EXPECT_EQ(later.error().message(), "disk is away");
  }
}

TEST_P(ParquetWriterTest, WritesNothingMoreWhenItIsDropped) {
  size_t bytes = 0;
  auto writer = writer_under_test()(longs(0).schema, {}, [&](std::string_view part) {
                  bytes += part.size();
                  return base::Status();
                }).value();
  ASSERT_TRUE(writer->write(longs(5000)).ok());
  const size_t before = bytes;
  writer.reset();
  EXPECT_EQ(bytes, before);
}

TEST_P(ParquetWriterTest, RefusesANullWhereTheSchemaRequiresAValue) {
  auto writer = writer_under_test()(longs(0).schema, {}, [](std::string_view) { return base::Status(); }).value();
  Batch batch = longs(1);
  batch.columns[0].append_null();
  (void)writer->write(batch).ok();  // Arrow's waits for its portion to fill
  const auto sealed = writer->seal();
  ASSERT_FALSE(sealed.ok());
  EXPECT_EQ(sealed.error().code(), base::Code::kInvalid);
  EXPECT_NE(sealed.error().message().find("'id'"), std::string::npos);
}

TEST_P(ParquetWriterTest, RefusesSchemasAndSettingsThatParquetCannotHold) {
  const auto sink = [](std::string_view) { return base::Status(); };
  const auto code_of = [&](std::shared_ptr<const columnar::Schema> schema, const ParquetWriterOptions& options) {
    const auto made = writer_under_test()(std::move(schema), options, sink);
    return made.ok() ? base::Code::kBug : made.error().code();
  };
  EXPECT_EQ(code_of(schema_of({}), {}), base::Code::kInvalid);
  EXPECT_EQ(code_of(schema_of({field_of(1, "s", Type::structure({}))}), {}), base::Code::kInvalid);
  ParquetWriterOptions options;
  options.level = 99;
  EXPECT_EQ(code_of(longs(0).schema, options), base::Code::kInvalid);
}

TEST_P(ParquetWriterTest, EstimatesMemoryAndFileSizeWhileRowsArrive) {
  size_t bytes = 0;
  auto writer = writer_under_test()(longs(0).schema, {}, [&](std::string_view part) {
                  bytes += part.size();
                  return base::Status();
                }).value();
  EXPECT_EQ(writer->buffered_bytes(), 0);
  ASSERT_TRUE(writer->write(longs(1000)).ok());
  EXPECT_GE(writer->buffered_bytes(), 8000);
  ASSERT_TRUE(writer->write(longs(100'000)).ok());
  EXPECT_GE(writer->buffered_bytes(), 100'000);
  const int64_t estimate = writer->estimated_file_bytes();
  ASSERT_TRUE(writer->seal().ok());
  EXPECT_GT(estimate, static_cast<int64_t>(bytes) / 4);
  EXPECT_LT(estimate, static_cast<int64_t>(bytes) * 4);
}

}  // namespace
}  // namespace frazil::format
