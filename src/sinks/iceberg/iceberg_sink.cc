#include "sinks/iceberg/iceberg_sink.h"

#include "sinks/iceberg/handing_committer.h"
#include "sinks/iceberg/iceberg_committer.h"
#include "sinks/iceberg/partition_router.h"
#include "sinks/iceberg/partition_writer.h"
#include "sinks/iceberg/table_router.h"

namespace frazil::sinks {
namespace {

class Sink : public IcebergSink {
 public:
  Sink(IcebergSinkConfig config, iceberg::Catalog& catalog, const engine::PositionFormat& format,
       std::vector<engine::AcceptedChoice> accepted, HandOver* hand_over)
      : config_(std::move(config)),
        catalog_(catalog),
        committer_(config_, catalog, format, std::move(accepted)),
        handing_committer_(config_, catalog, committer_, hand_over) {}

  int intakes() const override { return static_cast<int>(committer_.targets()->intakes().size()); }
  int intake_of(const std::string& stream) const override { return committer_.targets()->intake_of(stream); }

  base::Result<std::unique_ptr<engine::Router>> make_router(int intake, int reader_lane, int writer_lanes) override {
    const auto targets = committer_.targets();
    if (!targets->is_single()) {
      TRY_ASSIGN(auto router, TableRouter::make(targets, intake, {config_.route_to_all, config_.unrouted}, reader_lane, writer_lanes));
      return std::unique_ptr<engine::Router>(std::move(router));
    }
    const TargetTable& table = targets->tables()[0];
    TRY_ASSIGN(auto router, PartitionRouter::make(table.write->schema, table.write->spec, table.by_hash, reader_lane, writer_lanes));
    return std::unique_ptr<engine::Router>(std::move(router));
  }

  base::Result<std::unique_ptr<engine::SinkWriter>> make_writer(int writer_lane, int64_t epoch_number) override {
    const auto targets = committer_.targets();
    if (!targets->is_single()) {
      return std::unique_ptr<engine::SinkWriter>(
          std::make_unique<TableWriter>(catalog_.file_io(), targets, writer_lane, epoch_number));
    }
    const auto& write = targets->tables()[0].write;
    TRY_ASSIGN(auto types, iceberg::partition_types(write->spec, *write->schema));
    return std::unique_ptr<engine::SinkWriter>(
        std::make_unique<PartitionWriter>(catalog_.file_io(), write, std::move(types), writer_lane, epoch_number));
  }

  engine::Committer& committer() override { return handing_committer_; }
  std::shared_ptr<const columnar::Schema> row_schema(int intake) const override {
    return committer_.targets()->intakes()[static_cast<size_t>(intake)].rows;
  }

 private:
  const IcebergSinkConfig config_;
  iceberg::Catalog& catalog_;
  IcebergCommitter committer_;
  HandingCommitter handing_committer_;
};

}  // namespace

std::unique_ptr<IcebergSink> make_iceberg_sink(IcebergSinkConfig config, iceberg::Catalog& catalog,
                                               const engine::PositionFormat& format,
                                               std::vector<engine::AcceptedChoice> accepted, HandOver* hand_over) {
  return std::make_unique<Sink>(std::move(config), catalog, format, std::move(accepted), hand_over);
}

}  // namespace frazil::sinks
