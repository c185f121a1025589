// Reading back through Arrow, projected by field id.
#include <algorithm>
#include <exception>
#include <map>
#include <numeric>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "format/parquet/arrow_values.h"
#include "format/parquet/parquet_writer.h"

namespace frazil::format {
namespace {

using columnar::Batch;

constexpr int64_t kBatchRows = 16384;

base::Error unreadable(const std::string& what) { return base::corrupt("the Parquet file cannot be read: " + what); }

void collect_columns(const parquet::arrow::SchemaField& field, std::vector<int>& columns) {
  if (field.column_index >= 0) columns.push_back(field.column_index);
  for (const auto& child : field.children) collect_columns(child, columns);
}

// The file's columns that belong to fields of the schema. kUnsupported for a file without field ids: all would be null.
base::Result<std::vector<int>> columns_of(const parquet::arrow::SchemaManifest& manifest, const columnar::Schema& schema) {
  std::vector<int> columns;
  bool has_ids = false;
  for (const auto& field : manifest.schema_fields) {
    const auto id = field_id_of(*field.field);
    has_ids = has_ids || id.has_value();
    const bool is_wanted =
        id && std::any_of(schema.fields.begin(), schema.fields.end(), [&](const auto& own) { return own.id == *id; });
    if (is_wanted) collect_columns(field, columns);
  }
  if (!has_ids) return base::unsupported("the Parquet file carries no field ids, so its columns cannot be told");
  return columns;
}

base::Result<Batch> convert(const arrow::RecordBatch& from, const std::shared_ptr<const columnar::Schema>& schema) {
  std::map<int32_t, int> place;
  for (int i = 0; i < from.num_columns(); ++i) {
    if (const auto id = field_id_of(*from.schema()->field(i))) place[*id] = i;
  }
  Batch batch(schema);
  for (size_t i = 0; i < schema->fields.size(); ++i) {
    const auto found = place.find(schema->fields[i].id);
    const auto array = found == place.end() ? nullptr : from.column(found->second);
    TRY(append_values(schema->fields[i], array.get(), 0, from.num_rows(), batch.columns[i]));
  }
  return batch;
}

// What a file without any column of the schema holds: its number of rows.
base::Status append_empty_rows(int64_t rows, const std::shared_ptr<const columnar::Schema>& schema,
                               std::vector<Batch>& batches) {
  for (int64_t done = 0; done < rows; done += kBatchRows) {
    Batch batch(schema);
    for (size_t i = 0; i < schema->fields.size(); ++i) {
      TRY(append_values(schema->fields[i], nullptr, 0, std::min(kBatchRows, rows - done), batch.columns[i]));
    }
    batches.push_back(std::move(batch));
  }
  return {};
}

base::Result<std::vector<Batch>> read_all(const std::string& file_bytes,
                                          const std::shared_ptr<const columnar::Schema>& schema) {
  const auto source = std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(file_bytes));
  parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(kBatchRows);
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  auto opened = parquet::arrow::FileReader::Make(arrow::system_memory_pool(), parquet::ParquetFileReader::Open(source),
                                                 properties);
  if (!opened.ok()) return unreadable(opened.status().ToString());
  const auto& reader = *opened;

  std::vector<Batch> batches;
  TRY_ASSIGN(const std::vector<int> columns, columns_of(reader->manifest(), *schema));
  if (columns.empty()) {
    TRY(append_empty_rows(reader->parquet_reader()->metadata()->num_rows(), schema, batches));
    return batches;
  }
  std::vector<int> row_groups(static_cast<size_t>(reader->num_row_groups()));
  std::iota(row_groups.begin(), row_groups.end(), 0);
  auto stream = reader->GetRecordBatchReader(row_groups, columns);
  if (!stream.ok()) return unreadable(stream.status().ToString());
  while (true) {
    std::shared_ptr<arrow::RecordBatch> next;
    const arrow::Status status = (*stream)->ReadNext(&next);
    if (!status.ok()) return unreadable(status.ToString());
    if (next == nullptr) return batches;
    TRY_ASSIGN(Batch batch, convert(*next, schema));
    batches.push_back(std::move(batch));
  }
}

}  // namespace

base::Result<std::vector<Batch>> read_parquet(const std::string& file_bytes,
                                              std::shared_ptr<const columnar::Schema> schema) {
  try {
    return read_all(file_bytes, schema);
  } catch (const std::exception& e) {
    return unreadable(e.what());
  }
}

}  // namespace frazil::format
