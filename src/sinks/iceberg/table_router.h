// TableRouter and TableWriter: rows of a batch → tables → partitions → writer lanes, and the writer lane's files of all tables.
// The bucket's name carries the way: intake, place of the table in it, partition key. A router belongs to a reader lane, a
// writer to a writer lane and one epoch.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/sink.h"
#include "sinks/iceberg/partition_router.h"
#include "sinks/iceberg/partition_writer.h"
#include "sinks/iceberg/row_routes.h"
#include "sinks/iceberg/target_tables.h"

namespace frazil::sinks {

class TableRouter : public engine::Router {
 public:
  static base::Result<std::unique_ptr<TableRouter>> make(std::shared_ptr<const TargetTables> targets, int intake,
                                                         const RowRoutes::Policy& policy, int reader_lane, int writer_lanes);
  base::Result<std::vector<engine::UnwantedRow>> look(const columnar::Batch& batch, int64_t first) override {
    return routes_->look(batch, first);
  }
  void leave_out(int64_t first, int64_t last) override { routes_->leave_out(first, last); }
  base::Result<std::vector<engine::RoutedRows>> route(const columnar::Batch& batch) override;

 private:
  TableRouter() = default;
  int intake_ = 0;
  std::unique_ptr<RowRoutes> routes_;
  std::vector<std::unique_ptr<PartitionRouter>> partitions_;  // as the intake's tables
};

class TableWriter : public engine::SinkWriter {
 public:
  TableWriter(std::shared_ptr<io::FileIO> io, std::shared_ptr<const TargetTables> targets, int lane, int64_t epoch)
      : io_(std::move(io)), targets_(std::move(targets)), lane_(lane), epoch_(epoch) {}
  base::Status write(const columnar::Batch& batch, const engine::RoutedRows& routed) override;
  int64_t buffered_bytes() const override;
  base::Result<std::vector<std::unique_ptr<engine::Output>>> seal() override;

 private:
  base::Result<PartitionWriter*> writer_for(size_t table);

  std::shared_ptr<io::FileIO> io_;
  std::shared_ptr<const TargetTables> targets_;
  const int lane_;
  const int64_t epoch_;
  std::map<size_t, std::unique_ptr<PartitionWriter>> writers_;  // by table
};

}  // namespace frazil::sinks
