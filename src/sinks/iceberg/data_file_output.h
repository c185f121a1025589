// DataFileOutput: a durable data file that no snapshot names yet, as the engine carries it to the committer.
#pragma once

#include <utility>

#include "engine/sink.h"
#include "iceberg/manifest.h"

namespace frazil::sinks {

class DataFileOutput : public engine::Output {
 public:
  DataFileOutput(iceberg::DataFile file, int32_t spec_id, size_t table = 0)
      : file_(std::move(file)), spec_id_(spec_id), table_(table) {}
  int64_t rows() const override { return file_.record_count; }
  int64_t bytes() const override { return file_.file_size_in_bytes; }
  const iceberg::DataFile& file() const { return file_; }
  int32_t spec_id() const { return spec_id_; }
  size_t table() const { return table_; }  // its number among the pipeline's tables

 private:
  iceberg::DataFile file_;
  int32_t spec_id_;
  size_t table_;
};

}  // namespace frazil::sinks
