// Which files of a table hold rows that a pipeline's outbox appended in given epochs: told by the snapshots that added them.
//
// The outbox appends epoch e to a table in a snapshot whose id is made of the anchor, the pipeline, the table and e. A data
// file keeps the id of the snapshot that added it for ever, through merged manifests and after that snapshot has expired. So the
// files of an epoch are known without any history, unless somebody else has rewritten them: then their rows are in files of
// other snapshots, mixed with others. That is looked for, and named instead of guessed at. Reads only; any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/result.h"
#include "iceberg/table_metadata.h"
#include "io/file_io.h"

namespace frazil::sinks {

// Gives the snapshot ids of one pipeline's appends to one table.
struct OwedSnapshots {
  std::string anchor_uuid;
  std::string pipeline;
  std::string table_uuid;
  int64_t id_of(int64_t epoch) const;
};

struct FilesOfEpochs {
  std::set<std::string> paths;  // all their rows are of those epochs, and no other live file holds any
  int64_t rows = 0;             // in them
  std::string problem;          // why that cannot be said, or empty
};

// 1. Live files that a snapshot of epochs first..last added are theirs.
// 2. Files of earlier epochs give a sequence number below which no row of first..last can be.
// 3. Down to there the chain of parents is retained: each epoch's files are listed by its own snapshot, and all of them must be
//    live, or nobody but pipelines may have added files since.
// 4. The chain is cut: no live file above that number may come from elsewhere, but for retained appends of other pipelines.
base::Result<FilesOfEpochs> files_of_epochs(io::FileIO& io, const iceberg::TableMetadata& metadata, const OwedSnapshots& ids,
                                            int64_t first, int64_t last);

}  // namespace frazil::sinks
