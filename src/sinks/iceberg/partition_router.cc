#include "sinks/iceberg/partition_router.h"

#include <cstring>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"

namespace frazil::sinks {
namespace {

using columnar::Column;
using columnar::TypeId;

bool find_path(const std::vector<columnar::Field>& fields, int32_t id, std::vector<size_t>& path) {
  for (size_t i = 0; i < fields.size(); ++i) {
    path.push_back(i);
    if (fields[i].id == id) return true;
    if (fields[i].type.id() == TypeId::kStruct && find_path(fields[i].type.fields(), id, path)) return true;
    path.pop_back();
  }
  return false;
}

// The bytes that make a value of the column: equal bytes, equal partition.
std::string_view value_bytes(const Column& column, int64_t row) {
  switch (column.type().id()) {
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return column.bytes_at(row);
    case TypeId::kBoolean:
      return column.boolean_at(row) ? std::string_view("\1", 1) : std::string_view("\0", 1);
    case TypeId::kInt:
    case TypeId::kDate:
    case TypeId::kFloat:
      return {reinterpret_cast<const char*>(column.values().data()) + row * 4, 4};
    case TypeId::kDecimal:
      return {reinterpret_cast<const char*>(column.values().data()) + row * 16, 16};
    default:
      return {reinterpret_cast<const char*>(column.values().data()) + row * 8, 8};
  }
}

bool has_four_bytes(TypeId id) { return id == TypeId::kInt || id == TypeId::kDate; }

// Numbers the distinct values of a column; `codes` is multiplied out with what earlier fields gave.
class Grouping {
 public:
  // `rows` outlives it.
  explicit Grouping(const std::vector<int32_t>& rows) : rows_(rows), codes_(rows.size(), 0) {}

  void refine(const Column& column) {
    has_four_bytes(column.type().id()) ? refine_ints(column) : refine_bytes(column);
    groups_ = next_.size();
    next_.clear();
  }
  size_t groups() const { return groups_; }
  const std::vector<uint32_t>& codes() const { return codes_; }

 private:
  uint32_t number(uint64_t key) {
    const auto [at, is_new] = next_.try_emplace(key, static_cast<uint32_t>(next_.size()));
    return at->second;
  }

  void refine_ints(const Column& column) {
    for (size_t i = 0; i < codes_.size(); ++i) {
      const int64_t row = rows_[i];
      const uint64_t value = column.is_null(row) ? (1ULL << 32) : static_cast<uint32_t>(column.int_at(row));
      // 33 bits of value below 31 bits of earlier groups: exact.
      codes_[i] = number(value | (static_cast<uint64_t>(codes_[i]) << 33));
    }
  }

  void refine_bytes(const Column& column) {
    std::unordered_map<std::string_view, uint32_t> values;
    for (size_t i = 0; i < codes_.size(); ++i) {
      const int64_t row = rows_[i];
      uint32_t value = 0;
      if (!column.is_null(row)) {
        value = values.try_emplace(value_bytes(column, row), static_cast<uint32_t>(values.size()) + 1).first->second;
      }
      codes_[i] = number(value | (static_cast<uint64_t>(codes_[i]) << 32));
    }
  }

  const std::vector<int32_t>& rows_;
  std::vector<uint32_t> codes_;  // as rows_
  std::unordered_map<uint64_t, uint32_t> next_;
  size_t groups_ = 1;
};

}  // namespace

std::string encode_key(const std::vector<columnar::Type>& types, const iceberg::PartitionKey& key) {
  std::string out;
  for (size_t i = 0; i < types.size(); ++i) {
    if (key[i].is_null()) {
      out += '\0';
      continue;
    }
    const std::string bytes = iceberg::to_binary(types[i], key[i]);
    const auto length = static_cast<uint32_t>(bytes.size());
    out += '\1';
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += bytes;
  }
  return out;
}

base::Result<iceberg::PartitionKey> decode_key(const std::vector<columnar::Type>& types, std::string_view bytes) {
  iceberg::PartitionKey key;
  for (const columnar::Type& type : types) {
    CHECK(!bytes.empty());
    const bool has_value = bytes[0] != '\0';
    bytes.remove_prefix(1);
    if (!has_value) {
      key.emplace_back();
      continue;
    }
    uint32_t length = 0;
    CHECK(bytes.size() >= sizeof length);
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    CHECK(bytes.size() >= length);
    TRY_ASSIGN(iceberg::Literal literal, iceberg::from_binary(type, bytes.substr(0, length)));
    key.push_back(std::move(literal));
    bytes.remove_prefix(length);
  }
  return key;
}

base::Result<std::unique_ptr<PartitionRouter>> PartitionRouter::make(std::shared_ptr<const columnar::Schema> schema,
                                                                     const iceberg::PartitionSpec& spec, bool by_hash,
                                                                     int reader_lane, int writer_lanes) {
  auto router = std::unique_ptr<PartitionRouter>(new PartitionRouter());
  for (const iceberg::PartitionField& field : spec.fields) {
    Source source;
    source.transform = field.transform;
    if (!find_path(schema->fields, field.source_id, source.path)) {
      return base::invalid("partition field " + field.name + " has no source column (field id " +
                           std::to_string(field.source_id) + ") in the schema");
    }
    router->sources_.push_back(std::move(source));
  }
  TRY_ASSIGN(router->types_, iceberg::partition_types(spec, *schema));
  router->by_hash_ = by_hash;
  router->own_lane_ = reader_lane % writer_lanes;
  router->writer_lanes_ = writer_lanes;
  return router;
}

base::Result<std::vector<Column>> PartitionRouter::transformed(const columnar::Batch& batch) const {
  std::vector<Column> results;
  for (const Source& source : sources_) {
    // The members of a null struct are null themselves (columnar/column.h), so the innermost column says it all.
    const Column* column = &batch.columns[source.path[0]];
    for (size_t i = 1; i < source.path.size(); ++i) column = &column->child(source.path[i]);
    TRY_ASSIGN(Column result, iceberg::apply(source.transform, *column));
    results.push_back(std::move(result));
  }
  return results;
}

base::Result<std::vector<engine::RoutedRows>> PartitionRouter::route(const columnar::Batch& batch) {
  std::vector<int32_t> rows(static_cast<size_t>(batch.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return route_rows(batch, rows);
}

base::Result<std::vector<engine::RoutedRows>> PartitionRouter::route_rows(const columnar::Batch& batch,
                                                                          const std::vector<int32_t>& rows) {
  TRY_ASSIGN(const std::vector<Column> values, transformed(batch));
  Grouping grouping(rows);
  for (const Column& column : values) grouping.refine(column);
  std::vector<engine::RoutedRows> routed(grouping.groups());
  const std::vector<uint32_t>& codes = grouping.codes();
  for (size_t i = 0; i < codes.size(); ++i) routed[codes[i]].rows.push_back(rows[i]);
  std::erase_if(routed, [](const engine::RoutedRows& group) { return group.rows.empty(); });
  for (engine::RoutedRows& group : routed) {
    iceberg::PartitionKey key;
    for (const Column& column : values) key.push_back(iceberg::literal_at(column, group.rows[0]));
    group.bucket = encode_key(types_, key);
    group.lane = by_hash_ ? static_cast<int>(base::xxh64(group.bucket) % static_cast<uint64_t>(writer_lanes_)) : own_lane_;
  }
  return routed;
}

}  // namespace frazil::sinks
