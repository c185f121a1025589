// PartitionWriter: a writer lane's open files of one epoch, one for each partition it owns.
//
// Rows of a partition are gathered as columns first and go to the file in large pieces; a file that reaches the target size
// is closed and followed by another. One thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sink.h"
#include "sinks/iceberg/data_file_writer.h"

namespace frazil::sinks {

class PartitionWriter : public engine::SinkWriter {
 public:
  // `target` outlives the writer (shared).
  PartitionWriter(std::shared_ptr<io::FileIO> io, std::shared_ptr<const WriteTarget> target,
                  std::vector<columnar::Type> key_types, int lane, int64_t epoch, size_t table = 0);
  base::Status write(const columnar::Batch& batch, const engine::RoutedRows& routed) override {
    return write_rows(batch, routed.bucket, routed.rows);
  }
  // Rows of the partition `key`.
  base::Status write_rows(const columnar::Batch& batch, std::string_view key, std::span<const int32_t> rows);
  int64_t buffered_bytes() const override { return gathered_bytes_ + file_bytes_; }
  base::Result<std::vector<std::unique_ptr<engine::Output>>> seal() override;

 private:
  struct Partition {
    explicit Partition(std::shared_ptr<const columnar::Schema> schema) : gathered(std::move(schema)) {}
    iceberg::PartitionKey key;
    columnar::Batch gathered;
    int64_t gathered_bytes = 0;
    int64_t file_bytes = 0;  // of file_bytes_
    std::unique_ptr<DataFileWriter> file;
  };
  base::Status flush(Partition& partition);
  void count_bytes(Partition& partition);
  // Its file is full, or the epoch ends: it may go to its store while others are still written.
  base::Status seal(Partition& partition);
  base::Status close_oldest();

  std::shared_ptr<io::FileIO> io_;
  std::shared_ptr<const WriteTarget> target_;
  const std::vector<columnar::Type> key_types_;
  const int lane_;
  const int64_t epoch_;
  const size_t table_;  // which of the pipeline's tables, for the outputs
  std::map<std::string, std::unique_ptr<Partition>, std::less<>> partitions_;
  std::deque<std::unique_ptr<DataFileWriter>> sealed_;  // under way to their store
  std::vector<std::unique_ptr<engine::Output>> outputs_;
  int64_t gathered_bytes_ = 0;
  int64_t file_bytes_ = 0;  // held by open files, as of the last flush of each
};

}  // namespace frazil::sinks
