// Column mapping: fields of documents → columns of rows, and the columns that tell where a record came from.
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "columnar/column.h"
#include "decoders/columns_config.h"
#include "engine/source.h"

namespace frazil::decoders {

// _kafka_topic, _kafka_partition, _kafka_offset, _kafka_row, _kafka_timestamp, _kafka_key, _kafka_headers; all
// optional.
const std::vector<columnar::Field>& kafka_metadata_fields();

// The schema of rows: `document`'s fields, kept or dropped and renamed as configured, then the metadata columns. Fresh
// ids. kInvalid: a configured name that no field has, two columns of one name, or no column left.
base::Result<columnar::Schema> row_schema(const columnar::Schema& document, const ColumnsConfig& config);

// Where the values of one column come from.
struct ColumnOrigin {
  enum class Kind { kField, kMetadata, kNothing } kind = Kind::kField;
  std::string field;    // of kField: its name in the document
  size_t metadata = 0;  // of kMetadata: index in kafka_metadata_fields()
};

// For each column of `rows` (a table's schema, or one that row_schema() made). kInvalid: a required column that nothing
// fills, or a metadata column of another type.
base::Result<std::vector<ColumnOrigin>> column_origins(const columnar::Schema& rows, const ColumnsConfig& config);

// Appends the metadata value number `metadata` of a record's row `row_ordinal` (0 unless an array exploded).
void append_metadata(size_t metadata, const engine::RawBatch& raw, const engine::RawRecord& record, int32_t row_ordinal,
                     columnar::Column& column);

}  // namespace frazil::decoders
