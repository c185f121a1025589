// Statistics in the footer and the page index, each against the rows that were written.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
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

#include "format/parquet/parquet_file.h"
#include "format/parquet/random_batch.h"

namespace frazil::format {
namespace {

using columnar::Batch;
using columnar::Type;
using columnar::TypeId;

class ParquetStatistics : public EachParquetWriter {};
class PageIndex : public EachParquetWriter {};
INSTANTIATE_TEST_SUITE_P(Writer, ParquetStatistics, both_writers(), writer_name);
INSTANTIATE_TEST_SUITE_P(Writer, PageIndex, both_writers(), writer_name);

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string raw(double value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }
std::string raw(int64_t value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

Batch doubles(const std::vector<double>& values) {
  Batch batch(schema_of({field_of(1, "x", Type::primitive(TypeId::kDouble))}));
  for (const double value : values) batch.columns[0].append_double(value);
  return batch;
}

// The first column's statistics in the first row group.
std::shared_ptr<parquet::EncodedStatistics> footer_statistics(const ParquetFile& file) {
  const auto footer = file.open()->metadata();
  return footer->RowGroup(0)->ColumnChunk(0)->encoded_statistics();
}

TEST_P(ParquetStatistics, GiveBothZerosTheirWidestSigns) {
  struct Case {
    std::vector<double> values;
    double footer_min, footer_max, lower, upper;
  };
  const std::vector<Case> cases = {{{0.0}, -0.0, 0.0, 0.0, 0.0},
                                   {{-0.0}, -0.0, 0.0, -0.0, -0.0},
                                   {{-0.0, 0.0}, -0.0, 0.0, -0.0, 0.0},
                                   {{0.0, -0.0}, -0.0, 0.0, -0.0, 0.0},
                                   {{-0.0, 1.0}, -0.0, 1.0, -0.0, 1.0},
                                   {{-1.0, 0.0}, -1.0, 0.0, -1.0, 0.0}};
  for (const Case& test : cases) {
    const ParquetFile file = write_file(doubles(test.values));
    const auto statistics = footer_statistics(file);
    EXPECT_EQ(statistics->min(), raw(test.footer_min));
    EXPECT_EQ(statistics->max(), raw(test.footer_max));
    EXPECT_EQ(file.metrics.lower_bounds.at(1), raw(test.lower));
    EXPECT_EQ(file.metrics.upper_bounds.at(1), raw(test.upper));
    const auto read = read_parquet(file.bytes, doubles({}).schema);
    ASSERT_TRUE(read.ok());
    for (size_t i = 0; i < test.values.size(); ++i) {
      EXPECT_EQ(std::signbit((*read)[0].columns[0].double_at(static_cast<int64_t>(i))), std::signbit(test.values[i]));
    }
  }
}

TEST_P(ParquetStatistics, KeepNanOutOfEveryBound) {
  const ParquetFile mixed = write_file(doubles({kNan, 2.0, kNan, -3.0}));
  EXPECT_EQ(mixed.metrics.lower_bounds.at(1), raw(-3.0));
  EXPECT_EQ(mixed.metrics.upper_bounds.at(1), raw(2.0));
  EXPECT_EQ(mixed.metrics.nan_value_counts.at(1), 2);
  const ParquetFile only = write_file(doubles({kNan, kNan}));
  EXPECT_FALSE(only.metrics.lower_bounds.contains(1));
  EXPECT_FALSE(only.metrics.upper_bounds.contains(1));
  EXPECT_EQ(only.metrics.value_counts.at(1), 2);
  const auto statistics = footer_statistics(only);
  EXPECT_FALSE(statistics->has_min);
}

TEST_P(ParquetStatistics, SpanRowGroupsThatHaveNoBoundsOfTheirOwn) {
  ParquetWriterOptions options;
  options.row_group_bytes = 1;
  std::vector<Batch> batches;
  batches.push_back(doubles(std::vector<double>(20'000, 5.0)));
  batches.push_back(doubles(std::vector<double>(20'000, kNan)));
  Batch nulls = doubles({});
  for (int i = 0; i < 20'000; ++i) nulls.columns[0].append_null();
  batches.push_back(std::move(nulls));
  batches.push_back(doubles(std::vector<double>(20'000, 7.0)));
  const ParquetFile file = write_file(batches, options);
  ASSERT_EQ(file.metrics.split_offsets.size(), 4U);
  EXPECT_EQ(file.metrics.lower_bounds.at(1), raw(5.0));
  EXPECT_EQ(file.metrics.upper_bounds.at(1), raw(7.0));
  EXPECT_EQ(file.metrics.null_value_counts.at(1), 20'000);
  EXPECT_EQ(file.metrics.nan_value_counts.at(1), 20'000);
  EXPECT_EQ(file.metrics.value_counts.at(1), 80'000);
}

TEST_P(ParquetStatistics, HoldTimestampsToTheMicrosecond) {
  Batch batch(schema_of({field_of(1, "ts", Type::primitive(TypeId::kTimestamptz))}));
  for (const int64_t micros : {int64_t{1773173093080758}, int64_t{-1}, int64_t{-62135596800000001}}) {
    batch.columns[0].append_long(micros);
  }
  const ParquetFile file = write_file(batch);
  EXPECT_EQ(file.metrics.lower_bounds.at(1), raw(int64_t{-62135596800000001}));
  EXPECT_EQ(file.metrics.upper_bounds.at(1), raw(int64_t{1773173093080758}));
  const auto statistics = footer_statistics(file);
  EXPECT_EQ(statistics->min(), raw(int64_t{-62135596800000001}));
  EXPECT_EQ(statistics->max(), raw(int64_t{1773173093080758}));
}

TEST_P(ParquetStatistics, CompareDecimalsBySign) {
  for (const int precision : {9, 18, 38}) {
    Batch batch(schema_of({field_of(1, "d", Type::decimal(precision, 2))}));
    for (const int value : {-129, 5, -1, 127}) batch.columns[0].append_decimal(value);
    const ParquetFile file = write_file(batch);
    EXPECT_EQ(file.metrics.lower_bounds.at(1), "\xFF\x7F");
    EXPECT_EQ(file.metrics.upper_bounds.at(1), "\x7F");
    const auto reader = file.open();
    const auto* column = reader->metadata()->schema()->Column(0);
    EXPECT_EQ(column->sort_order(), parquet::SortOrder::SIGNED);
    const auto statistics = footer_statistics(file);
    ASSERT_TRUE(statistics->has_min);
    if (precision == 38) {
      EXPECT_EQ(statistics->min(), std::string(14, '\xFF') + "\xFF\x7F");
      EXPECT_EQ(statistics->max(), std::string(15, '\0') + "\x7F");
    }
  }
}

TEST_P(ParquetStatistics, DeclareTheOrderOfEveryColumn) {
  Dice dice(11);
  for (int i = 0; i < 20; ++i) {
    Batch batch(random_schema(dice));
    append_random_row(dice, batch);
    const auto footer = write_file(batch).open()->metadata();
    for (int column = 0; column < footer->num_columns(); ++column) {
      EXPECT_EQ(footer->schema()->Column(column)->column_order().get_order(), parquet::ColumnOrder::TYPE_DEFINED_ORDER);
    }
  }
}

TEST_P(ParquetStatistics, ObeyTheMetricsModeOfEachColumn) {
  Batch batch(schema_of({field_of(1, "none", Type::primitive(TypeId::kString)),
                         field_of(2, "counts", Type::primitive(TypeId::kString)),
                         field_of(3, "cut", Type::primitive(TypeId::kString)),
                         field_of(4, "full", Type::primitive(TypeId::kString))}));
  for (auto& column : batch.columns) column.append_bytes("icebergs melt");
  ParquetWriterOptions options;
  options.metrics_by_field_id = {{1, {MetricsMode::Kind::kNone, 0}},
                                 {2, {MetricsMode::Kind::kCounts, 0}},
                                 {3, {MetricsMode::Kind::kTruncate, 3}},
                                 {4, {MetricsMode::Kind::kFull, 0}}};
  const ParquetFileMetrics metrics = write_file(batch, options).metrics;
  EXPECT_EQ(metrics.value_counts, (std::map<int32_t, int64_t>{{2, 1}, {3, 1}, {4, 1}}));
  EXPECT_EQ(metrics.lower_bounds, (std::map<int32_t, std::string>{{3, "ice"}, {4, "icebergs melt"}}));
  EXPECT_EQ(metrics.upper_bounds, (std::map<int32_t, std::string>{{3, "icf"}, {4, "icebergs melt"}}));
}

TEST_P(ParquetStatistics, CountAnEmptyListAsOneNullOfItsElements) {
  Batch batch(schema_of({field_of(1, "l", Type::list(field_of(2, "element", Type::primitive(TypeId::kLong))))}));
  auto& list = batch.columns[0];
  list.append_null();
  list.append_list_end();
  list.child(0).append_long(1);
  list.child(0).append_null();
  list.append_list_end();
  const ParquetFileMetrics metrics = write_file(batch).metrics;
  EXPECT_EQ(metrics.value_counts, (std::map<int32_t, int64_t>{{2, 4}}));
  EXPECT_EQ(metrics.null_value_counts, (std::map<int32_t, int64_t>{{2, 3}}));
  EXPECT_TRUE(metrics.lower_bounds.empty());
}

// One page of a column of optional longs, as the index tells it.
struct IndexedPage {
  int64_t first_row;
  bool is_null_page;
  int64_t null_count;
  std::string min, max;
};

std::vector<IndexedPage> indexed_pages(const ParquetFile& file, int column, parquet::BoundaryOrder::type& order) {
  const auto reader = file.open();
  const auto index = reader->GetPageIndexReader()->RowGroup(0);
  const auto offsets = index->GetOffsetIndex(column);
  const auto values = index->GetColumnIndex(column);
  std::vector<IndexedPage> pages;
  if (values == nullptr || offsets == nullptr) return pages;
  order = values->boundary_order();
  for (size_t i = 0; i < offsets->page_locations().size(); ++i) {
    pages.push_back({offsets->page_locations()[i].first_row_index, values->null_pages()[i], values->null_counts()[i],
                     values->encoded_min_values()[i], values->encoded_max_values()[i]});
  }
  return pages;
}

Batch optional_longs(const std::vector<std::optional<int64_t>>& values) {
  Batch batch(schema_of({field_of(1, "x", Type::primitive(TypeId::kLong))}));
  for (const auto& value : values) {
    if (value) {
      batch.columns[0].append_long(*value);
    } else {
      batch.columns[0].append_null();
    }
  }
  return batch;
}

void expect_true_index(const std::vector<std::optional<int64_t>>& values, parquet::BoundaryOrder::type expected_order) {
  ParquetWriterOptions options;
  options.page_rows = 10;
  const ParquetFile file = write_file(optional_longs(values), options);
  parquet::BoundaryOrder::type order = parquet::BoundaryOrder::Unordered;
  const std::vector<IndexedPage> pages = indexed_pages(file, 0, order);
  ASSERT_GE(pages.size(), 3U);
  EXPECT_EQ(order, expected_order);
  EXPECT_EQ(pages[0].first_row, 0);
  for (size_t i = 0; i < pages.size(); ++i) {
    const auto end = i + 1 < pages.size() ? static_cast<size_t>(pages[i + 1].first_row) : values.size();
    std::optional<int64_t> low, high;
    int64_t nulls = 0;
    ASSERT_LT(static_cast<size_t>(pages[i].first_row), end);
    for (auto row = static_cast<size_t>(pages[i].first_row); row < end; ++row) {
      nulls += values[row] ? 0 : 1;
      if (values[row] && (!low || *values[row] < *low)) low = values[row];
      if (values[row] && (!high || *values[row] > *high)) high = values[row];
    }
    EXPECT_EQ(pages[i].null_count, nulls);
    EXPECT_EQ(pages[i].is_null_page, !low.has_value());
    if (low) {
      EXPECT_EQ(pages[i].min, raw(*low));
      EXPECT_EQ(pages[i].max, raw(*high));
    }
  }
}

TEST_P(PageIndex, TellsOrderBoundsAndNullPagesTruly) {
  std::vector<std::optional<int64_t>> rising, falling, mixed, with_null_page;
  for (int64_t i = 0; i < 100; ++i) {
    rising.emplace_back(i);
    falling.emplace_back(1000 - i);
    mixed.emplace_back(i % 3 == 0 ? std::nullopt : std::optional<int64_t>(i * 7919 % 101 - 50));
    with_null_page.push_back(i >= 20 && i < 60 ? std::nullopt : std::optional<int64_t>(i));
  }
  expect_true_index(rising, parquet::BoundaryOrder::Ascending);
  expect_true_index(falling, parquet::BoundaryOrder::Descending);
  expect_true_index(mixed, parquet::BoundaryOrder::Unordered);
  expect_true_index(with_null_page, parquet::BoundaryOrder::Ascending);
}

TEST_P(PageIndex, IsTrueForRandomColumns) {
  Dice dice(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::optional<int64_t>> values;
    for (int i = 0; i < 200; ++i) {
      values.push_back(dice.one_in(2) ? std::nullopt : std::optional<int64_t>(static_cast<int64_t>(dice.next())));
    }
    expect_true_index(values, parquet::BoundaryOrder::Unordered);
  }
}

TEST_P(PageIndex, IsLeftOutForAColumnWithAPageOfNan) {
  ParquetWriterOptions options;
  options.page_rows = 10;
  std::vector<double> values(20, 1.0);
  values.resize(40, kNan);
  parquet::BoundaryOrder::type order = parquet::BoundaryOrder::Unordered;
  EXPECT_TRUE(indexed_pages(write_file(doubles(values), options), 0, order).empty());
}

TEST_P(PageIndex, CanBeTurnedOff) {
  ParquetWriterOptions options;
  options.has_page_index = false;
  const auto footer = write_file(optional_longs({1, 2}), options).open()->metadata();
  const auto chunk = footer->RowGroup(0)->ColumnChunk(0);
  EXPECT_FALSE(chunk->GetColumnIndexLocation().has_value());
  EXPECT_FALSE(chunk->GetOffsetIndexLocation().has_value());
}

}  // namespace
}  // namespace frazil::format
