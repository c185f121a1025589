#include "sinks/iceberg/table_router.h"

namespace frazil::sinks {
namespace {

constexpr size_t kWayBytes = 3;  // two for the intake, one for the place of the table in it

std::string way_of(int intake, size_t place) {
  return {static_cast<char>(intake >> 8), static_cast<char>(intake), static_cast<char>(place)};
}

}  // namespace

base::Result<std::unique_ptr<TableRouter>> TableRouter::make(std::shared_ptr<const TargetTables> targets, int intake,
                                                             const RowRoutes::Policy& policy, int reader_lane, int writer_lanes) {
  auto router = std::unique_ptr<TableRouter>(new TableRouter());
  router->intake_ = intake;
  const Intake& shared = targets->intakes()[static_cast<size_t>(intake)];
  std::vector<RouteCondition> conditions;
  for (size_t i = 0; i < shared.tables.size(); ++i) {
    const TargetTable& table = targets->tables()[shared.tables[i]];
    conditions.push_back(table.when);
    TRY_ASSIGN(auto partitions, PartitionRouter::make(table.write->schema, table.write->spec, table.by_hash, reader_lane,
                                                      writer_lanes));
    router->partitions_.push_back(std::move(partitions));
  }
  TRY_ASSIGN(router->routes_, RowRoutes::make(conditions, *shared.rows, policy));
  return router;
}

base::Result<std::vector<engine::RoutedRows>> TableRouter::route(const columnar::Batch& batch) {
  std::vector<engine::RoutedRows> routed;
  for (size_t place = 0; place < partitions_.size(); ++place) {
    const std::vector<int32_t> rows = routes_->rows_of(place);
    if (rows.empty()) continue;
    TRY_ASSIGN(auto groups, partitions_[place]->route_rows(batch, rows));
    for (engine::RoutedRows& group : groups) {
      group.bucket.insert(0, way_of(intake_, place));
      routed.push_back(std::move(group));
    }
  }
  routes_->clear();
  return routed;
}

base::Result<PartitionWriter*> TableWriter::writer_for(size_t table) {
  auto& writer = writers_[table];
  if (writer == nullptr) {
    const auto& write = targets_->tables()[table].write;
    TRY_ASSIGN(auto types, iceberg::partition_types(write->spec, *write->schema));
    writer = std::make_unique<PartitionWriter>(io_, write, std::move(types), lane_, epoch_, table);
  }
  return writer.get();
}

base::Status TableWriter::write(const columnar::Batch& batch, const engine::RoutedRows& routed) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(routed.bucket[i])); };
  const Intake& intake = targets_->intakes()[byte(0) << 8 | byte(1)];
  const size_t place = byte(2);
  TRY_ASSIGN(PartitionWriter* const writer, writer_for(intake.tables[place]));
  return writer->write_rows(batch, std::string_view(routed.bucket).substr(kWayBytes), routed.rows);
}

int64_t TableWriter::buffered_bytes() const {
  int64_t bytes = 0;
  for (const auto& [table, writer] : writers_) bytes += writer->buffered_bytes();
  return bytes;
}

base::Result<std::vector<std::unique_ptr<engine::Output>>> TableWriter::seal() {
  std::vector<std::unique_ptr<engine::Output>> all;
  for (auto& [table, writer] : writers_) {
    TRY_ASSIGN(auto outputs, writer->seal());
    for (auto& output : outputs) all.push_back(std::move(output));
  }
  return all;
}

}  // namespace frazil::sinks
