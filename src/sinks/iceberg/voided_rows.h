// VoidedRows: what a void entry takes out of its table: rows and files, told before it is applied.
//
// The same files are found here as when the outbox applies the entry. Reads only; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/iceberg_sink_config.h"
#include "sinks/iceberg/owed.h"

namespace frazil::sinks {

struct VoidedRows {
  std::string table;
  bool exists = true;
  bool is_dead_letters = false;
  int64_t rows = 0;
  int64_t files = 0;
  std::string problem;  // why it cannot be said, or not be done; empty: it can
};

// `anchor_uuid`: the table whose epochs the entry counts. A table that cannot be looked at is a problem of the answer.
VoidedRows weigh_void(iceberg::Catalog& catalog, const IcebergSinkConfig& config, const std::string& anchor_uuid, const OwedEntry& entry);

}  // namespace frazil::sinks
