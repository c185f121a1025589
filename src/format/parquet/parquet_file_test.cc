#include "format/parquet/parquet_file.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

namespace frazil::format {

std::unique_ptr<parquet::ParquetFileReader> ParquetFile::open() const {
  return parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)));
}

MakeParquetWriter& writer_under_test() {
  static MakeParquetWriter make = &make_parquet_writer;
  return make;
}

ParquetFile write_file(const std::vector<columnar::Batch>& batches, const ParquetWriterOptions& options) {
  ParquetFile file;
  auto writer = writer_under_test()(batches.at(0).schema, options, [&](std::string_view bytes) {
    file.bytes.append(bytes);
    return base::Status();
  });
  EXPECT_TRUE(writer.ok()) << writer.error().message();
  for (const columnar::Batch& batch : batches) {
    const base::Status status = (*writer)->write(batch);
    EXPECT_TRUE(status.ok()) << status.error().message();
  }
  auto sealed = (*writer)->seal();
  EXPECT_TRUE(sealed.ok()) << sealed.error().message();
  file.metrics = *sealed;
  return file;
}

ParquetFile write_file(const columnar::Batch& batch, const ParquetWriterOptions& options) {
  std::vector<columnar::Batch> batches;
  batches.emplace_back(batch.schema);
  std::vector<int32_t> rows(static_cast<size_t>(batch.rows()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
  batches[0].append_rows(batch, rows);
  return write_file(batches, options);
}

namespace {

TEST(ParquetFile, HoldsTheRowsThatWereWritten) {
  columnar::Batch batch(schema_of({field_of(1, "id", columnar::Type::primitive(columnar::TypeId::kLong))}));
  batch.columns[0].append_long(1);
  batch.columns[0].append_null();
  const ParquetFile file = write_file(batch);
  EXPECT_EQ(file.metrics.rows, 2);
  EXPECT_EQ(file.open()->metadata()->num_rows(), 2);
}

}  // namespace
}  // namespace frazil::format
