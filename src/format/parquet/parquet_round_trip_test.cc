// Properties over random schemas and rows: what is written is read back, and the metrics are those that a plain recount of
// the rows gives.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>
#include <rapidcheck/gtest.h>

#include "format/parquet/parquet_file.h"
#include "format/parquet/parquet_writer.h"
#include "format/parquet/random_batch.h"

namespace frazil::format {
namespace {

using columnar::Batch;
using columnar::Column;
using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;

struct Recount {
  Type type = Type::primitive(TypeId::kBoolean);
  bool in_list = false;
  int64_t values = 0;
  int64_t nulls = 0;
  int64_t nans = 0;
  std::vector<std::pair<const Column*, int64_t>> present;  // neither null nor NaN
};

void recount_absent(const Field& field, bool in_list, std::map<int32_t, Recount>& leaves) {
  const bool is_list = field.type.id() == TypeId::kList || field.type.id() == TypeId::kMap;
  if (field.type.is_nested()) {
    for (const Field& child : field.type.fields()) recount_absent(child, in_list || is_list, leaves);
    return;
  }
  Recount& leaf = leaves[field.id];
  leaf.type = field.type;
  leaf.in_list = in_list;
  ++leaf.values;
  ++leaf.nulls;
}

void recount(const Field& field, const Column& column, int64_t row, bool in_list, std::map<int32_t, Recount>& leaves) {
  if (column.is_null(row)) return recount_absent(field, in_list, leaves);
  if (field.type.id() == TypeId::kStruct) {
    for (size_t i = 0; i < column.child_count(); ++i) {
      recount(field.type.fields()[i], column.child(i), row, in_list, leaves);
    }
    return;
  }
  if (field.type.is_nested()) {
    for (size_t i = 0; i < column.child_count(); ++i) {
      const Field& child = field.type.fields()[i];
      if (column.list_begin(row) == column.list_end(row)) recount_absent(child, true, leaves);
      for (int64_t at = column.list_begin(row); at < column.list_end(row); ++at) {
        recount(child, column.child(i), at, true, leaves);
      }
    }
    return;
  }
  Recount& leaf = leaves[field.id];
  leaf.type = field.type;
  leaf.in_list = in_list;
  ++leaf.values;
  const bool is_nan = (field.type.id() == TypeId::kFloat && std::isnan(column.float_at(row))) ||
                      (field.type.id() == TypeId::kDouble && std::isnan(column.double_at(row)));
  if (is_nan) {
    ++leaf.nans;
  } else {
    leaf.present.emplace_back(&column, row);
  }
}

bool float_less(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

bool value_less(const std::pair<const Column*, int64_t>& a, const std::pair<const Column*, int64_t>& b) {
  const auto& [x, i] = a;
  const auto& [y, j] = b;
  switch (x->type().id()) {
    case TypeId::kBoolean:
      return x->boolean_at(i) < y->boolean_at(j);
    case TypeId::kInt:
    case TypeId::kDate:
      return x->int_at(i) < y->int_at(j);
    case TypeId::kFloat:
      return float_less(x->float_at(i), y->float_at(j));
    case TypeId::kDouble:
      return float_less(x->double_at(i), y->double_at(j));
    case TypeId::kDecimal:
      return x->decimal_at(i) < y->decimal_at(j);
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return x->bytes_at(i) < y->bytes_at(j);
    default:
      return x->long_at(i) < y->long_at(j);
  }
}

template <typename T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

std::string big_endian_shortest(__int128 value) {
  std::string bytes;
  do {
    bytes.insert(bytes.begin(), static_cast<char>(value & 0xFF));
    value >>= 8;
  } while (!((value == 0 && !(bytes[0] & 0x80)) || (value == -1 && (bytes[0] & 0x80))));
  return bytes;
}

std::string single_value(const Column& column, int64_t row) {
  switch (column.type().id()) {
    case TypeId::kBoolean:
      return std::string(1, column.boolean_at(row) ? '\1' : '\0');
    case TypeId::kInt:
    case TypeId::kDate:
    case TypeId::kFloat:
      return raw(column.int_at(row));
    case TypeId::kDecimal:
      return big_endian_shortest(column.decimal_at(row));
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return std::string(column.bytes_at(row));
    default:
      return raw(column.long_at(row));
  }
}

size_t code_points(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

size_t units(const std::string& value, TypeId id) { return id == TypeId::kString ? code_points(value) : value.size(); }

bool is_valid_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](size_t k) { return i + k < text.size() ? static_cast<uint8_t>(text[i + k]) : 0; };
    const size_t more = at(0) < 0x80 ? 0 : at(0) >= 0xF0 ? 3 : at(0) >= 0xE0 ? 2 : 1;
    if (at(0) >= 0xF8 || (at(0) >= 0x80 && at(0) < 0xC2)) return false;
    if (at(0) == 0xED && at(1) >= 0xA0) return false;  // a surrogate
    for (size_t k = 1; k <= more; ++k) {
      if ((at(k) & 0xC0) != 0x80) return false;
    }
    i += more;
  }
  return true;
}

void check_cut_bounds(const std::string& low, const std::string& high, const std::optional<std::string>& lower,
                      const std::optional<std::string>& upper, int length, TypeId id) {
  const auto limit = static_cast<size_t>(length);
  RC_ASSERT(lower.has_value());
  RC_ASSERT(low.compare(0, lower->size(), *lower) == 0);
  RC_ASSERT(units(*lower, id) == std::min(limit, units(low, id)));
  if (units(high, id) <= limit) {
    RC_ASSERT(upper == high);
    return;
  }
  const std::string highest = id == TypeId::kString ? "\xF4\x8F\xBF\xBF" : "\xFF";
  std::string top;
  for (size_t i = 0; i < limit; ++i) top += highest;
  if (!upper) {
    RC_ASSERT(high.compare(0, top.size(), top) == 0);
    return;
  }
  RC_ASSERT(*upper > high);
  RC_ASSERT(units(*upper, id) <= limit);
  if (id == TypeId::kString) RC_ASSERT(is_valid_utf8(*upper));
}

std::optional<std::string> find(const std::map<int32_t, std::string>& map, int32_t id) {
  const auto found = map.find(id);
  return found == map.end() ? std::nullopt : std::optional<std::string>(found->second);
}

void check_bounds(const ParquetFileMetrics& metrics, int32_t id, const Recount& leaf, const MetricsMode& mode) {
  const auto lower = find(metrics.lower_bounds, id);
  const auto upper = find(metrics.upper_bounds, id);
  const bool has_bounds = mode.kind == MetricsMode::Kind::kTruncate || mode.kind == MetricsMode::Kind::kFull;
  if (leaf.in_list || leaf.present.empty() || !has_bounds) {
    RC_ASSERT(!lower.has_value());
    RC_ASSERT(!upper.has_value());
    return;
  }
  const auto [low, high] = std::minmax_element(leaf.present.begin(), leaf.present.end(), value_less);
  const std::string low_value = single_value(*low->first, low->second);
  const std::string high_value = single_value(*high->first, high->second);
  const bool is_cut = leaf.type.id() == TypeId::kString || leaf.type.id() == TypeId::kBinary;
  if (is_cut && mode.kind == MetricsMode::Kind::kTruncate) {
    return check_cut_bounds(low_value, high_value, lower, upper, mode.truncate_length, leaf.type.id());
  }
  RC_ASSERT(lower == low_value);
  RC_ASSERT(upper == high_value);
}

void check_footer(const std::string& file, const ParquetFileMetrics& metrics, const std::map<int32_t, Recount>& leaves) {
  const auto reader = parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(file)));
  const auto footer = reader->metadata();
  RC_ASSERT(footer->num_rows() == metrics.rows);
  RC_ASSERT(static_cast<size_t>(footer->num_row_groups()) == metrics.split_offsets.size());
  std::map<int32_t, std::array<int64_t, 3>> sums;
  for (int group = 0; group < footer->num_row_groups(); ++group) {
    const auto row_group = footer->RowGroup(group);
    for (int i = 0; i < footer->num_columns(); ++i) {
      const auto chunk = row_group->ColumnChunk(i);
      auto& sum = sums[footer->schema()->Column(i)->schema_node()->field_id()];
      sum[0] += chunk->num_values();
      RC_ASSERT(chunk->statistics() != nullptr);
      sum[1] += chunk->statistics()->null_count();
      sum[2] += chunk->total_compressed_size();
    }
  }
  RC_ASSERT(static_cast<size_t>(footer->num_columns()) == leaves.size());
  for (const auto& [id, leaf] : leaves) {
    RC_ASSERT(sums[id][0] == leaf.values);
    RC_ASSERT(sums[id][1] == leaf.nulls);
    RC_ASSERT(sums[id][2] == metrics.column_sizes.at(id));
  }
}

ParquetWriterOptions random_options(Dice& dice) {
  constexpr ParquetCodec kCodecs[] = {ParquetCodec::kUncompressed, ParquetCodec::kSnappy, ParquetCodec::kGzip,
                                      ParquetCodec::kZstd,         ParquetCodec::kLz4,    ParquetCodec::kBrotli};
  ParquetWriterOptions options;
  options.codec = kCodecs[dice.below(std::size(kCodecs))];
  options.page_bytes = dice.one_in(2) ? 64 : 1 << 20;
  options.page_rows = dice.one_in(2) ? 7 : 20000;
  options.dictionary_bytes = dice.one_in(2) ? 100 : 1 << 20;
  options.has_page_index = dice.one_in(2);
  options.uses_delta_encodings = dice.one_in(2);
  options.default_metrics.kind = static_cast<MetricsMode::Kind>(dice.below(4));
  options.default_metrics.truncate_length = 1 + static_cast<int>(dice.below(20));
  return options;
}

void check_round_trip(MakeParquetWriter make, uint64_t seed) {
  Dice dice(seed);
  const auto schema = random_schema(dice);
  const ParquetWriterOptions options = random_options(dice);
  std::string file;
  auto made = make(schema, options, [&](std::string_view bytes) {
    file.append(bytes);
    return base::Status();
  });
  RC_ASSERT(made.ok());
  std::vector<Batch> written;
  std::map<int32_t, Recount> leaves;
  const uint64_t batches = dice.below(4);
  int64_t rows = 0;
  for (uint64_t b = 0; b < batches; ++b) {
    Batch batch(schema);
    const uint64_t count = dice.below(dice.one_in(4) ? 400 : 20);
    for (uint64_t i = 0; i < count; ++i) append_random_row(dice, batch);
    rows += batch.rows();
    const base::Status status = made.value()->write(batch);
    RC_ASSERT(status.ok());
    written.push_back(std::move(batch));
  }
  for (const Batch& batch : written) {
    for (int64_t row = 0; row < batch.rows(); ++row) {
      for (size_t i = 0; i < schema->fields.size(); ++i) recount(schema->fields[i], batch.columns[i], row, false, leaves);
    }
  }
  auto sealed = made.value()->seal();
  RC_ASSERT(sealed.ok());
  const ParquetFileMetrics& metrics = *sealed;
  RC_ASSERT(metrics.rows == rows);
  RC_ASSERT(metrics.file_bytes == static_cast<int64_t>(file.size()));

  auto read = read_parquet(file, schema);
  RC_ASSERT(read.ok());
  RC_ASSERT(first_difference(written, *read) == -1);
  if (rows == 0) return;
  check_footer(file, metrics, leaves);
  for (const auto& [id, leaf] : leaves) {
    check_bounds(metrics, id, leaf, options.default_metrics);
    if (options.default_metrics.kind == MetricsMode::Kind::kNone) {
      RC_ASSERT(metrics.value_counts.empty());
      continue;
    }
    RC_ASSERT(metrics.value_counts.at(id) == leaf.values);
    RC_ASSERT(metrics.null_value_counts.at(id) == leaf.nulls);
    const bool is_float = leaf.type.id() == TypeId::kFloat || leaf.type.id() == TypeId::kDouble;
    RC_ASSERT(metrics.nan_value_counts.count(id) == (is_float ? 1U : 0U));
    if (is_float) RC_ASSERT(metrics.nan_value_counts.at(id) == leaf.nans);
  }
}

RC_GTEST_PROP(ParquetRoundTrip, KeepsEveryValueAndCountsExactly, (uint64_t seed)) {
  check_round_trip(&make_parquet_writer, seed);
}

RC_GTEST_PROP(ParquetRoundTrip, KeepsEveryValueAndCountsExactlyThroughArrow, (uint64_t seed)) {
  check_round_trip(&make_arrow_parquet_writer, seed);
}

}  // namespace
}  // namespace frazil::format
