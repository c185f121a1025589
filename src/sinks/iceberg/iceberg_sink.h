// IcebergSink: rows become Parquet files, files become snapshots, snapshots carry the source's positions.
// Built once for each pipeline; open() of its committer loads or creates the table, after that routers and writers exist.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/sink.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/hand_over.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::sinks {

class IcebergSink : public engine::Sink {
 public:
  // The schema of an intake's rows: the configured one with the field ids of its first table, or that table's own. Valid after the
  // committer's open().
  virtual std::shared_ptr<const columnar::Schema> row_schema(int intake) const = 0;
};

// `catalog`, `format` and `hand_over` (may be null) outlive the sink.
std::unique_ptr<IcebergSink> make_iceberg_sink(IcebergSinkConfig config, iceberg::Catalog& catalog,
                                               const engine::PositionFormat& format,
                                               std::vector<engine::AcceptedChoice> accepted, HandOver* hand_over = nullptr);

}  // namespace frazil::sinks
