// How far the other tables of a pipeline have come, held against what its anchor knows.
//
// A table that has applied a later epoch than any that the anchor has used was not brought there by this line of the anchor's
// history: an older metadata file of the anchor was registered, or somebody has set `frazil.<name>.applied`. Nothing that the anchor
// owes may then be taken for applied by its number. Reads only; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/iceberg_sink_config.h"
#include "sinks/iceberg/owed.h"

namespace frazil::sinks {

struct AppliedEpoch {
  std::string table;  // empty: none has applied anything
  int64_t epoch = 0;
};

// The table that has applied the highest epoch of this anchor, among those that rows and dead letters go to. Tables that are not
// there are passed over.
base::Result<AppliedEpoch> highest_applied(iceberg::Catalog& catalog, const IcebergSinkConfig& config, const std::string& anchor_uuid);

// What the outbox of one pipeline has written down in a table that it has brought rows to.
struct OutboxMark {
  std::string pipeline;
  std::string anchor_uuid;
  std::string anchor_table;  // its name then
};
std::vector<OutboxMark> outbox_marks(const iceberg::TableMetadata& metadata);

// The summary's entry that names the manifest that an epoch's rows were taken from.
std::string manifest_key(const std::string& pipeline);
// The table has the epoch of `entry`, by another manifest than that one: it came on another line of the anchor's history. False
// when its snapshot is not retained.
bool came_on_another_line(const iceberg::TableMetadata& metadata, const OwedEntry& entry, const std::string& anchor_uuid,
                          const std::string& pipeline);
// Every entry's own snapshot, or one of its files, is in its table.
base::Result<bool> are_all_shown(iceberg::Catalog& catalog, const std::vector<OwedEntry>& owed, const std::string& anchor_uuid,
                                 const std::string& pipeline);

}  // namespace frazil::sinks
