#include "sinks/iceberg/partition_writer.h"

#include <algorithm>

#include "sinks/iceberg/data_file_output.h"
#include "sinks/iceberg/partition_router.h"

namespace frazil::sinks {
namespace {

// Gathered this far, rows go to the encoder: large enough for few calls, small enough for many partitions.
constexpr int64_t kFlushRows = 65'536;
constexpr int64_t kFlushBytes = 16LL << 20;
// So many files that are full wait for the end of the epoch, open.
constexpr size_t kMaxSealed = 16;

}  // namespace

PartitionWriter::PartitionWriter(std::shared_ptr<io::FileIO> io, std::shared_ptr<const WriteTarget> target,
                                 std::vector<columnar::Type> key_types, int lane, int64_t epoch, size_t table)
    : io_(std::move(io)), target_(std::move(target)), key_types_(std::move(key_types)), lane_(lane), epoch_(epoch), table_(table) {}

base::Status PartitionWriter::write_rows(const columnar::Batch& batch, std::string_view key, std::span<const int32_t> rows) {
  auto known = partitions_.find(key);
  if (known == partitions_.end()) known = partitions_.emplace(std::string(key), nullptr).first;
  auto& slot = known->second;
  if (slot == nullptr) {
    slot = std::make_unique<Partition>(target_->schema);
    TRY_ASSIGN(slot->key, decode_key(key_types_, key));
  }
  slot->gathered.append_rows(batch, rows);
  const int64_t bytes = slot->gathered.bytes();
  gathered_bytes_ += bytes - slot->gathered_bytes;
  slot->gathered_bytes = bytes;
  // Row groups end between two flushes: small ones need small flushes.
  const int64_t flush_bytes = std::min(kFlushBytes, target_->parquet.row_group_bytes);
  if (slot->gathered.rows() >= kFlushRows || bytes >= flush_bytes) return flush(*slot);
  return {};
}

base::Status PartitionWriter::flush(Partition& partition) {
  if (partition.gathered.rows() == 0) return {};
  if (partition.file == nullptr) {
    partition.file = std::make_unique<DataFileWriter>(io_, *target_, partition.key,
                                                      data_file_location(*target_, partition.key, epoch_, lane_));
  }
  TRY(partition.file->write(partition.gathered));
  count_bytes(partition);
  partition.gathered.clear();
  gathered_bytes_ -= partition.gathered_bytes;
  partition.gathered_bytes = 0;
  if (partition.file->estimated_file_bytes() < target_->target_file_bytes) return {};
  TRY(seal(partition));
  return sealed_.size() > kMaxSealed ? close_oldest() : base::Status();
}

void PartitionWriter::count_bytes(Partition& partition) {
  const int64_t bytes = partition.file == nullptr ? 0 : partition.file->buffered_bytes();
  file_bytes_ += bytes - partition.file_bytes;
  partition.file_bytes = bytes;
}

base::Status PartitionWriter::seal(Partition& partition) {
  TRY(partition.file->seal());
  sealed_.push_back(std::move(partition.file));
  count_bytes(partition);
  return {};
}

base::Status PartitionWriter::close_oldest() {
  TRY_ASSIGN(iceberg::DataFile file, sealed_.front()->close());
  sealed_.pop_front();
  outputs_.push_back(std::make_unique<DataFileOutput>(std::move(file), target_->spec.spec_id, table_));
  return {};
}

base::Result<std::vector<std::unique_ptr<engine::Output>>> PartitionWriter::seal() {
  for (auto& [bucket, partition] : partitions_) {
    TRY(flush(*partition));
    if (partition->file != nullptr) TRY(seal(*partition));
    partition.reset();
  }
  while (!sealed_.empty()) TRY(close_oldest());
  return std::move(outputs_);
}

}  // namespace frazil::sinks
