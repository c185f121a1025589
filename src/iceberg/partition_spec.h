// Partition specs and transforms (Iceberg specification, sections "Partitioning" and "Partition Transforms", appendix B).
// Pure values; any thread. Unknown transforms of others are kept as text, and writing to such a spec is kUnsupported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "columnar/column.h"
#include "iceberg/literal.h"

namespace frazil::iceberg {

struct Transform {
  enum class Kind { kIdentity, kBucket, kTruncate, kYear, kMonth, kDay, kHour, kVoid, kUnknown } kind = Kind::kIdentity;
  int32_t width = 0;    // bucket count or truncation width
  std::string unknown;  // the text of kUnknown
  bool operator==(const Transform&) const = default;
};

// "identity", "bucket[16]", "truncate[4]", "year", ...: the form of table metadata.
std::string to_string(const Transform& transform);
Transform transform_from_string(std::string_view text);
// Type of the transform's results; kInvalid when it cannot be applied to `source`.
base::Result<columnar::Type> result_type(const Transform& transform, const columnar::Type& source);
// Transforms a whole primitive column; nulls stay null. Result column has result_type().
base::Result<columnar::Column> apply(const Transform& transform, const columnar::Column& source);
// Murmur3-based bucket hash of one non-null value (appendix B), before the modulo.
int32_t bucket_hash(const columnar::Type& type, const Literal& value);

struct PartitionField {
  int32_t source_id = 0;
  int32_t field_id = 0;  // 1000 and above
  std::string name;
  Transform transform;
  bool operator==(const PartitionField&) const = default;
};

struct PartitionSpec {
  int32_t spec_id = 0;
  std::vector<PartitionField> fields;
  bool is_unpartitioned() const { return fields.empty(); }
  bool operator==(const PartitionSpec&) const = default;
};

// Parses configuration entries such as "bucket(64, id)", "bucket(id, 64)", "day(ts)", "days(ts)", "id", "truncate(10, s)",
// "void(x)" against a schema; names fields as Java does (id_bucket, ts_day, name_trunc, x_null). Field ids from 1000.
base::Result<PartitionSpec> parse_partition_spec(const std::vector<std::string>& entries, const columnar::Schema& schema);
// "bucket(64, id)": the form that Frazil prints.
std::string to_string(const PartitionField& field, const columnar::Schema& schema);
// "id_bucket=5/ts_day=2026-01-31": URL-escaped as Java does; a name above 200 bytes
// is cut and gets a hash of the whole; empty for an unpartitioned spec.
std::string partition_path(const PartitionSpec& spec, const columnar::Schema& schema, const PartitionKey& key);
// Result types of the spec's fields (unknown source columns: kInvalid).
base::Result<std::vector<columnar::Type>> partition_types(const PartitionSpec& spec, const columnar::Schema& schema);

struct SortField {
  int32_t source_id = 0;
  Transform transform;
  bool ascending = true;
  bool nulls_first = true;
  bool operator==(const SortField&) const = default;
};
struct SortOrder {
  int32_t order_id = 0;
  std::vector<SortField> fields;
  bool operator==(const SortOrder&) const = default;
};

}  // namespace frazil::iceberg
