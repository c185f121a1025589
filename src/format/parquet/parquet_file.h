// A written file in the tests of this folder: its bytes, metrics and footer.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/parquet/parquet_writer.h"

namespace parquet {
class ParquetFileReader;
}

namespace frazil::format {

struct ParquetFile {
  std::string bytes;
  ParquetFileMetrics metrics;

  // Reads a copy of the bytes, so it may outlive the file.
  std::unique_ptr<parquet::ParquetFileReader> open() const;
};

inline columnar::Field field_of(int32_t id, std::string name, columnar::Type type, bool is_required = false) {
  columnar::Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  field.required = is_required;
  return field;
}

inline std::shared_ptr<const columnar::Schema> schema_of(std::vector<columnar::Field> fields) {
  auto schema = std::make_shared<columnar::Schema>();
  schema->fields = std::move(fields);
  return schema;
}

// Writes and seals; a failure fails the running test.
ParquetFile write_file(const std::vector<columnar::Batch>& batches, const ParquetWriterOptions& options = {});
ParquetFile write_file(const columnar::Batch& batch, const ParquetWriterOptions& options = {});

}  // namespace frazil::format
