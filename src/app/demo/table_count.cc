#include "app/demo/table_count.h"

#include <algorithm>

#include "format/parquet/parquet_writer.h"
#include "iceberg/scan.h"

namespace frazil::app {

base::Result<TableCount> count_table(iceberg::Catalog& catalog, const iceberg::TableId& id, const std::string& column) {
  TRY_ASSIGN(const iceberg::LoadedTable table, catalog.load_table(id));
  TableCount count;
  count.metadata_location = table.metadata_location;
  if (!table.metadata.current_snapshot_id) return count;
  const auto schema = table.metadata.current_schema();
  const columnar::Field* field = column.empty() ? &schema->fields.at(0) : schema->find(column);
  if (field == nullptr) return base::not_found("table " + id.text() + " has no column " + column);
  auto one_column = std::make_shared<columnar::Schema>();
  one_column->fields.push_back(*field);
  const auto io = catalog.file_io();
  TRY_ASSIGN(const auto files, iceberg::live_files(*io, table.metadata, *table.metadata.current_snapshot_id));
  std::vector<int64_t> values;
  for (const iceberg::LiveFile& live : files) {
    if (live.file.content != iceberg::FileContent::kData) continue;
    count.rows += live.file.record_count;
    count.file_bytes.push_back(live.file.file_size_in_bytes);
    TRY_ASSIGN(const std::string bytes, io->read(live.file.file_path));
    TRY_ASSIGN(const auto batches, format::read_parquet(bytes, one_column).in(live.file.file_path));
    for (const columnar::Batch& batch : batches) {
      count.rows_read += batch.rows();
      for (int64_t row = 0; field->type.id() == columnar::TypeId::kLong && row < batch.rows(); ++row) {
        if (!batch.columns[0].is_null(row)) values.push_back(batch.columns[0].long_at(row));
      }
    }
  }
  std::sort(count.file_bytes.begin(), count.file_bytes.end());
  if (field->type.id() == columnar::TypeId::kLong) {
    std::sort(values.begin(), values.end());
    count.distinct = std::unique(values.begin(), values.end()) - values.begin();
  }
  return count;
}

}  // namespace frazil::app
