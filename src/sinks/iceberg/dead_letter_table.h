// The dead-letter table: created at the first reject, unpartitioned, each of its data files belonging to one epoch.
// Runs on the committer lane.
#pragma once

#include <string>

#include "base/result.h"
#include "columnar/column.h"
#include "iceberg/catalog.h"
#include "iceberg/manifest.h"
#include "sinks/iceberg/void_epochs.h"

namespace frazil::sinks {

// Loads the table, or creates it (and its namespace) with the schema of engine/dead_letters.h.
base::Result<iceberg::LoadedTable> open_dead_letter_table(iceberg::Catalog& catalog, const iceberg::TableId& id);

// Asked at the start, not at the first reject: kInvalid, with each column that does not fit, when a table of that name exists and
// cannot take dead letters. Columns that others have added stay null; of a table that others have partitioned since, the
// unpartitioned spec that it was made with goes on.
base::Status check_dead_letter_table(iceberg::Catalog& catalog, const iceberg::TableId& id);

// Writes `rows` (epoch column filled in) as one data file and a manifest that lists it. Both are durable and not visible.
// Returns the manifest's location. kInvalid as above.
base::Result<std::string> write_dead_letters(iceberg::Catalog& catalog, const iceberg::TableId& id, const iceberg::TableMetadata& metadata,
                                             const columnar::Batch& rows, int64_t epoch);

// What a file's bounds say about how many of its rows are of `pipeline` and of epochs first..last.
enum class Share { kNone, kSome, kAll };  // kSome: bounds that tell nothing too
Share share_of_epochs(const columnar::Schema& schema, const iceberg::DataFile& file, const std::string& pipeline, int64_t first,
                      int64_t last);

// Which files hold the dead letters of those epochs; a problem when a file holds some, as after a compaction by others.
base::Result<FilesOfEpochs> dead_letters_of_epochs(io::FileIO& io, const iceberg::TableMetadata& metadata, const std::string& pipeline,
                                                   int64_t first, int64_t last);

}  // namespace frazil::sinks
