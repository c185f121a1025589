// What other programs write into tables: rows of their own, and the rows that are there in new files. Through the catalog and the store
// themselves, without the product's marks. Any lane.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "iceberg/manifest.h"
#include "tests/simulation/lakehouse.h"

namespace frazil::simulation {

iceberg::AssertRefSnapshotId at_head(const iceberg::TableMetadata& metadata);
iceberg::SnapshotRef branch_at(int64_t snapshot_id);

// One row that is no record of the topic: partition -1.
base::Result<iceberg::DataFile> foreign_file(std::shared_ptr<io::FileIO> store, const iceberg::TableMetadata& metadata);

using RowFilter = std::function<bool(int32_t part, int64_t ord)>;
// Commits a snapshot that shows the rows for which `keeps` is true, in new files: one or, where the table is partitioned, one for
// each that there was. False: there was no file.
base::Result<bool> rewrite_table(Lakehouse& house, const iceberg::TableId& id, const std::string& operation, const RowFilter& keeps,
                                 const std::string& cause);

}  // namespace frazil::simulation
