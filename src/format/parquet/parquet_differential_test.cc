// Our encoder against Arrow's writer: the same rows give files that read alike and metrics that are alike, whatever the
// codec, the limits and the cuts between batches.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>
#include <rapidcheck/gtest.h>

#include "format/parquet/parquet_file.h"
#include "format/parquet/random_batch.h"

namespace frazil::format {
namespace {

using columnar::Batch;
using columnar::Column;
using columnar::Type;
using columnar::TypeId;

constexpr ParquetCodec kCodecs[] = {ParquetCodec::kUncompressed, ParquetCodec::kSnappy, ParquetCodec::kGzip,
                                    ParquetCodec::kZstd,         ParquetCodec::kLz4,    ParquetCodec::kBrotli};

ParquetFile written_by(MakeParquetWriter make, const std::vector<Batch>& batches, const ParquetWriterOptions& options) {
  writer_under_test() = make;
  ParquetFile file = write_file(batches, options);
  writer_under_test() = &make_parquet_writer;
  return file;
}

void expect_same_metrics(const ParquetFileMetrics& ours, const ParquetFileMetrics& arrows) {
  EXPECT_EQ(ours.rows, arrows.rows);
  EXPECT_EQ(ours.value_counts, arrows.value_counts);
  EXPECT_EQ(ours.null_value_counts, arrows.null_value_counts);
  EXPECT_EQ(ours.nan_value_counts, arrows.nan_value_counts);
  EXPECT_EQ(ours.lower_bounds, arrows.lower_bounds);
  EXPECT_EQ(ours.upper_bounds, arrows.upper_bounds);
  ASSERT_EQ(ours.column_sizes.size(), arrows.column_sizes.size());
}

void expect_same_statistics(const parquet::ColumnChunkMetaData& ours, const parquet::ColumnChunkMetaData& arrows) {
  const auto a = ours.encoded_statistics();
  const auto b = arrows.encoded_statistics();
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_EQ(a->has_min, b->has_min);
  EXPECT_EQ(a->has_max, b->has_max);
  EXPECT_EQ(a->min(), b->min());
  EXPECT_EQ(a->max(), b->max());
  EXPECT_EQ(a->null_count, b->null_count);
  EXPECT_EQ(a->is_min_value_exact, b->is_min_value_exact);
  EXPECT_EQ(a->is_max_value_exact, b->is_max_value_exact);
  EXPECT_EQ(ours.num_values(), arrows.num_values());
  EXPECT_EQ(ours.compression(), arrows.compression());
  EXPECT_EQ(ours.path_in_schema()->ToDotVector(), arrows.path_in_schema()->ToDotVector());
}

// Where the row groups are the same, so is everything that the footer says of them but sizes and places.
void expect_same_footers(const ParquetFile& ours, const ParquetFile& arrows) {
  const auto a = ours.open()->metadata();
  const auto b = arrows.open()->metadata();
  EXPECT_EQ(a->num_rows(), b->num_rows());
  EXPECT_EQ(a->created_by(), b->created_by());
  EXPECT_EQ(a->version(), b->version());
  EXPECT_TRUE(a->schema()->Equals(*b->schema()));
  EXPECT_EQ(a->schema()->ToString(), b->schema()->ToString());
  if (a->num_row_groups() != 1 || b->num_row_groups() != 1) return;
  for (int i = 0; i < a->num_columns(); ++i) {
    EXPECT_EQ(a->schema()->Column(i)->converted_type(), b->schema()->Column(i)->converted_type());
    EXPECT_EQ(a->schema()->Column(i)->schema_node()->field_id(), b->schema()->Column(i)->schema_node()->field_id());
    expect_same_statistics(*a->RowGroup(0)->ColumnChunk(i), *b->RowGroup(0)->ColumnChunk(i));
  }
}

void expect_alike(const std::vector<Batch>& batches, const ParquetWriterOptions& options) {
  const ParquetFile ours = written_by(&make_parquet_writer, batches, options);
  const ParquetFile arrows = written_by(&make_arrow_parquet_writer, batches, options);
  expect_same_metrics(ours.metrics, arrows.metrics);
  expect_same_footers(ours, arrows);
  for (const ParquetFile* file : {&ours, &arrows}) {
    const auto read = read_parquet(file->bytes, batches[0].schema);
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(first_difference(batches, *read), -1);
  }
}

// The pages of a column, each with its rows, against both indexes.
void expect_true_page_index(const ParquetFile& file, int column, int64_t max_rows) {
  const auto reader = file.open();
  const auto index = reader->GetPageIndexReader()->RowGroup(0);
  const auto offsets = index->GetOffsetIndex(column);
  ASSERT_TRUE(offsets != nullptr);
  const auto pages = reader->RowGroup(0)->GetColumnPageReader(column);
  size_t at = 0;
  while (const auto page = pages->NextPage()) {
    if (page->type() != parquet::PageType::DATA_PAGE) continue;
    ASSERT_LT(at, offsets->page_locations().size());
    const auto& locations = offsets->page_locations();
    const int64_t end = at + 1 < locations.size() ? locations[at + 1].first_row_index : file.metrics.rows;
    EXPECT_LE(end - locations[at].first_row_index, max_rows);
    EXPECT_GT(end, locations[at].first_row_index);
    EXPECT_GE(static_cast<const parquet::DataPage&>(*page).num_values(), end - locations[at].first_row_index);
    ++at;
  }
  EXPECT_EQ(at, offsets->page_locations().size());
}

ParquetWriterOptions random_options(Dice& dice) {
  ParquetWriterOptions options;
  options.codec = kCodecs[dice.below(std::size(kCodecs))];
  options.page_bytes = dice.one_in(2) ? 1 + static_cast<int64_t>(dice.below(300)) : 1 << 20;
  options.page_rows = dice.one_in(2) ? 1 + static_cast<int64_t>(dice.below(50)) : 20000;
  options.dictionary_bytes = dice.one_in(2) ? static_cast<int64_t>(dice.below(6000)) : 1 << 20;
  options.has_page_index = !dice.one_in(4);
  options.uses_delta_encodings = dice.one_in(2);
  options.default_metrics.kind = static_cast<MetricsMode::Kind>(dice.below(4));
  options.default_metrics.truncate_length = 1 + static_cast<int>(dice.below(20));
  if (dice.one_in(2)) options.key_value_metadata = {{"a", "1"}, {"b", ""}};
  return options;
}

RC_GTEST_PROP(ParquetDifference, IsNoneBetweenOursAndArrows, (uint64_t seed)) {
  Dice dice(seed);
  const auto schema = random_schema(dice);
  std::vector<Batch> batches;
  const uint64_t count = 1 + dice.below(6);
  for (uint64_t b = 0; b < count; ++b) {
    Batch& batch = batches.emplace_back(schema);
    const uint64_t rows = dice.below(dice.one_in(5) ? 700 : 40);
    for (uint64_t i = 0; i < rows; ++i) append_random_row(dice, batch);
  }
  expect_alike(batches, random_options(dice));
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(ParquetDifference, IsNoneForAnyCodec) {
  Dice dice(7);
  std::vector<Batch> batches;
  batches.emplace_back(random_schema(dice));
  for (int i = 0; i < 2000; ++i) append_random_row(dice, batches[0]);
  for (const ParquetCodec codec : kCodecs) {
    for (const auto level : {std::optional<int>(), std::optional<int>(4)}) {
      ParquetWriterOptions options;
      options.codec = codec;
      options.level = level;
      expect_alike(batches, options);
    }
  }
}

TEST(ParquetDifference, IsNoneInManyRowGroups) {
  ParquetWriterOptions options;
  options.row_group_bytes = 1;
  options.page_rows = 3000;
  Dice dice(8);
  std::vector<Batch> batches;
  const auto schema =
      schema_of({field_of(1, "s", Type::primitive(TypeId::kString)),
                 field_of(2, "l", Type::list(field_of(3, "element", Type::primitive(TypeId::kInt)))),
                 field_of(4, "d", Type::decimal(25, 3)), field_of(5, "b", Type::primitive(TypeId::kBoolean))});
  for (int b = 0; b < 20; ++b) {
    Batch& batch = batches.emplace_back(schema);
    for (int i = 0; i < 5000; ++i) append_random_row(dice, batch);
  }
  EXPECT_EQ(written_by(&make_parquet_writer, batches, options).metrics.split_offsets.size(), 5U);
  expect_alike(batches, options);
}

TEST(ParquetDifference, IsNoneForEmptyBatchesAndColumnsOfNulls) {
  Dice dice(9);
  for (int round = 0; round < 20; ++round) {
    const auto schema = random_schema(dice);
    std::vector<Batch> batches;
    batches.emplace_back(schema);
    expect_alike(batches, {});
    auto all_null = std::make_shared<columnar::Schema>(*schema);
    for (columnar::Field& field : all_null->fields) field.required = false;
    batches.clear();
    batches.emplace_back(all_null);
    for (int i = 0; i < 100; ++i) {
      for (Column& column : batches[0].columns) column.append_null();
    }
    batches.emplace_back(all_null);
    ParquetWriterOptions options;
    options.page_rows = 30;
    expect_alike(batches, options);
  }
}

TEST(ParquetDifference, IsNoneForFloatsThatCompareOddly) {
  std::vector<Batch> batches;
  Batch& batch = batches.emplace_back(schema_of(
      {field_of(1, "f", Type::primitive(TypeId::kFloat)), field_of(2, "d", Type::primitive(TypeId::kDouble))}));
  const double values[] = {std::numeric_limits<double>::quiet_NaN(),
                           -0.0,
                           0.0,
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::quiet_NaN()};
  for (int i = 0; i < 600; ++i) {
    batch.columns[0].append_float(static_cast<float>(values[i % 6]));
    batch.columns[1].append_double(i < 300 ? values[i % 3] : values[(i % 2) * 5]);
  }
  ParquetWriterOptions options;
  options.page_rows = 50;
  expect_alike(batches, options);
}

TEST(ParquetDifference, IsNoneForTextsOfNoBytesAndOfMany) {
  std::vector<Batch> batches;
  Batch& batch = batches.emplace_back(schema_of(
      {field_of(1, "s", Type::primitive(TypeId::kString)), field_of(2, "b", Type::primitive(TypeId::kBinary), true)}));
  for (int i = 0; i < 300; ++i) {
    batch.columns[0].append_bytes(i % 2 == 0 ? std::string()
                                             : std::string(static_cast<size_t>(i) * 200, 'x') + std::to_string(i));
    batch.columns[1].append_bytes(std::string(static_cast<size_t>(i % 40), static_cast<char>(i)));
  }
  for (const bool uses_delta : {false, true}) {
    ParquetWriterOptions options;
    options.page_bytes = 10'000;
    options.uses_delta_encodings = uses_delta;
    expect_alike(batches, options);
  }
}

TEST(ParquetDifference, IsNoneForListsAcrossPages) {
  const Type inner = Type::list(field_of(3, "element", Type::primitive(TypeId::kLong)));
  std::vector<Batch> batches;
  Batch& batch = batches.emplace_back(schema_of({field_of(1, "l", Type::list(field_of(2, "element", inner)))}));
  Column& outer = batch.columns[0];
  for (int i = 0; i < 1000; ++i) {
    if (i % 7 == 0) {
      outer.append_null();
      continue;
    }
    for (int k = 0; k < i % 5; ++k) {
      if (k == 3) {
        outer.child(0).append_null();
        continue;
      }
      for (int e = 0; e < i % 4; ++e) outer.child(0).child(0).append_long(i * e);
      outer.child(0).append_list_end();
    }
    outer.append_list_end();
  }
  for (const int64_t page_rows : {1, 2, 3, 64}) {
    ParquetWriterOptions options;
    options.page_rows = page_rows;
    expect_alike(batches, options);
    expect_true_page_index(written_by(&make_parquet_writer, batches, options), 0, page_rows);
  }
}

std::vector<int> data_pages_by_encoding(const ParquetFile& file) {
  std::vector<int> pages(2);  // ids, others
  const auto chunk = file.open()->metadata()->RowGroup(0)->ColumnChunk(0);
  for (const auto& count : chunk->encoding_stats()) {
    if (count.page_type != parquet::PageType::DATA_PAGE) continue;
    pages[count.encoding == parquet::Encoding::RLE_DICTIONARY ? 0 : 1] += count.count;
  }
  return pages;
}

TEST(ParquetEncoding, LeavesAFullDictionaryInTheMiddleOfAColumn) {
  std::vector<Batch> batches;
  for (int b = 0; b < 4; ++b) {
    Batch& batch = batches.emplace_back(schema_of({field_of(1, "s", Type::primitive(TypeId::kString))}));
    for (int i = 0; i < 2000; ++i) {
      batch.columns[0].append_bytes("value " + std::to_string(b == 0 ? i % 100 : b * 2000 + i));
      if (i % 10 == 0) batch.columns[0].append_null();
    }
  }
  for (const bool uses_delta : {false, true}) {
    ParquetWriterOptions options;
    options.dictionary_bytes = 20'000;
    options.page_rows = 500;
    options.uses_delta_encodings = uses_delta;
    const auto pages = data_pages_by_encoding(written_by(&make_parquet_writer, batches, options));
    EXPECT_GT(pages[0], 1);
    EXPECT_GT(pages[1], 1);
    expect_alike(batches, options);
  }
}

TEST(ParquetEncoding, HasNoDictionaryForValuesThatDoNotRepeat) {
  for (const int rows : {100, 600, 5000}) {
    std::vector<Batch> batches;
    Batch& batch = batches.emplace_back(schema_of({field_of(1, "s", Type::primitive(TypeId::kString), true)}));
    for (int i = 0; i < rows; ++i) batch.columns[0].append_bytes(std::to_string(i * 7919));
    const ParquetFile file = written_by(&make_parquet_writer, batches, {});
    EXPECT_EQ(data_pages_by_encoding(file), (std::vector<int>{0, 1}));
    EXPECT_FALSE(file.open()->metadata()->RowGroup(0)->ColumnChunk(0)->has_dictionary_page());
    expect_alike(batches, {});
  }
}

}  // namespace
}  // namespace frazil::format
