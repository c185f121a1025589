// A written file in the tests of this folder: its bytes, metrics and footer.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

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

using MakeParquetWriter = decltype(&make_parquet_writer);

// What write_file() writes with: our writer, unless a test of both says otherwise.
MakeParquetWriter& writer_under_test();

// Runs its tests with our writer and with Arrow's: instantiate with both_writers().
struct NamedWriter {
  const char* name;
  MakeParquetWriter make;
};
class EachParquetWriter : public testing::TestWithParam<NamedWriter> {
 protected:
  void SetUp() override { writer_under_test() = GetParam().make; }
  void TearDown() override { writer_under_test() = &make_parquet_writer; }
};
inline auto both_writers() {
  return testing::Values(NamedWriter{"Ours", &make_parquet_writer}, NamedWriter{"Arrows", &make_arrow_parquet_writer});
}
inline std::string writer_name(const testing::TestParamInfo<NamedWriter>& info) { return info.param.name; }

// Writes and seals; a failure fails the running test.
ParquetFile write_file(const std::vector<columnar::Batch>& batches, const ParquetWriterOptions& options = {});
ParquetFile write_file(const columnar::Batch& batch, const ParquetWriterOptions& options = {});

}  // namespace frazil::format
