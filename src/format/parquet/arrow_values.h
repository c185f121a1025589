// Arrow arrays, as a Parquet file gives them, appended to columns of a schema.
//
// Structs are matched by field id, lists and maps by their structure, so two-level lists of older writers and other names of
// the repeated group do no harm. Iceberg's promotions are done here: int to long, float to double, wider decimals. Any
// thread. Errors: kInvalid for a type that does not fit the schema, kCorrupt for a null or nothing where a value is required,
// kUnsupported for columns without field ids and for nanoseconds.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "columnar/column.h"

namespace arrow {
class Array;
class Field;
}  // namespace arrow

namespace frazil::format {

// The field id that the file carries on this node.
std::optional<int32_t> field_id_of(const arrow::Field& field);

// Appends rows [begin, end) of `array` to `out`, whose type is the field's. `array` absent: the file has no such column.
base::Status append_values(const columnar::Field& field, const arrow::Array* array, int64_t begin, int64_t end,
                           columnar::Column& out);

}  // namespace frazil::format
