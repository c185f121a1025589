// PartitionRouter: rows of a batch → partitions → writer lanes. One reader lane owns it.
//
// 1. Transform each partition column as a whole. 2. Give each distinct value a small number, field by field, so that a
// partition is one number. 3. Group the row numbers by partition. 4. Distribution `hash`: a partition always goes to the lane
// that its key hashes to (one owner); `none`: everything goes to one lane, given by the reader's number.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/sink.h"
#include "iceberg/partition_spec.h"

namespace frazil::sinks {

// A partition key as bytes and back: the engine's bucket names.
std::string encode_key(const std::vector<columnar::Type>& types, const iceberg::PartitionKey& key);
base::Result<iceberg::PartitionKey> decode_key(const std::vector<columnar::Type>& types, std::string_view bytes);

class PartitionRouter : public engine::Router {
 public:
  // kInvalid when a partition field's source is no primitive column of `schema` (struct members included).
  static base::Result<std::unique_ptr<PartitionRouter>> make(std::shared_ptr<const columnar::Schema> schema,
                                                             const iceberg::PartitionSpec& spec, bool by_hash,
                                                             int reader_lane, int writer_lanes);
  base::Result<std::vector<engine::RoutedRows>> route(const columnar::Batch& batch) override;
  // The same for some rows of the batch, `rows` in rising order.
  base::Result<std::vector<engine::RoutedRows>> route_rows(const columnar::Batch& batch, const std::vector<int32_t>& rows);

 private:
  struct Source {
    std::vector<size_t> path;  // top-level column, then struct children
    iceberg::Transform transform;
  };
  PartitionRouter() = default;
  base::Result<std::vector<columnar::Column>> transformed(const columnar::Batch& batch) const;

  std::vector<Source> sources_;
  std::vector<columnar::Type> types_;
  bool by_hash_ = true;
  int own_lane_ = 0;
  int writer_lanes_ = 1;
};

}  // namespace frazil::sinks
