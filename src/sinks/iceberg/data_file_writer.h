// DataFileWriter: rows → one Parquet data file of a table, with what a manifest must say about it. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "columnar/column.h"
#include "format/parquet/parquet_writer.h"
#include "iceberg/manifest.h"
#include "iceberg/table_metadata.h"
#include "io/file_io.h"

namespace frazil::sinks {

// Where and how files of a table are written: taken from one metadata version.
struct WriteTarget {
  std::shared_ptr<const columnar::Schema> schema;  // of the files, with the table's field ids
  iceberg::PartitionSpec spec;
  std::string metadata_path;     // where manifests of its files are written
  iceberg::AvroOptions avro;     // and how
  std::string data_path;
  bool object_storage = false;
  bool object_storage_partitioned_paths = true;
  int64_t target_file_bytes = 512LL << 20;
  format::ParquetWriterOptions parquet;
};

// kInvalid or kUnsupported for properties that cannot be honoured and would change the result.
base::Result<WriteTarget> make_write_target(const iceberg::TableMetadata& metadata,
                                            std::shared_ptr<const columnar::Schema> schema,
                                            const iceberg::PartitionSpec& spec);

// <data path>/<partition path>/<epoch>-<lane>-<uuid>.parquet; with object storage on, a hash goes in front of the path.
std::string data_file_location(const WriteTarget& target, const iceberg::PartitionKey& partition, int64_t epoch, int lane);

class DataFileWriter {
 public:
  DataFileWriter(std::shared_ptr<io::FileIO> io, const WriteTarget& target, iceberg::PartitionKey partition,
                 std::string location);
  ~DataFileWriter();
  base::Status write(const columnar::Batch& batch);
  // Of the encoder, and of the file for bytes that have not left yet. Falls by itself while a store takes them.
  int64_t buffered_bytes() const;
  int64_t estimated_file_bytes() const;
  int64_t rows() const { return rows_; }
  // Encodes what is left: no more rows will come, and the file may go to its store in the background. Once.
  base::Status seal();
  // Waits until the file is durable; seals it first when that has not been done.
  base::Result<iceberg::DataFile> close();

 private:
  base::Status open();

  std::shared_ptr<io::FileIO> io_;
  const WriteTarget& target_;
  iceberg::PartitionKey partition_;
  const std::string location_;
  std::unique_ptr<io::OutputFile> file_;
  std::unique_ptr<format::ParquetWriter> writer_;
  int64_t rows_ = 0;
  std::optional<format::ParquetFileMetrics> metrics_;  // set when sealed
};

}  // namespace frazil::sinks
