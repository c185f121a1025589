// PipelineState: what a table says about one pipeline: its positions, what it owes, and whether all of that still holds.
//
// Positions stand in snapshots (summary `frazil.*`, or the Avro header of the manifest list when they are long), a tag
// `frazil-<name>` keeps the newest such snapshot X, and property `frazil.<name>` names it. X an ancestor of the head: its
// positions hold. X retained but no ancestor: the table was rolled back. X gone: the watermark is lost. Where the chain of parents was
// cut by expiry, the files tell (head_descends_from). Reads only; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/position.h"
#include "iceberg/table_metadata.h"
#include "io/file_io.h"
#include "sinks/iceberg/owed.h"

namespace frazil::sinks {

enum class StateCondition {
  kUnknownPipeline,  // the table knows nothing of this pipeline
  kHolds,
  kRolledBack,
  kHistoryLost,    // snapshots between X and the head were expired, and nothing left tells whether the head grew out of X
  kWatermarkLost,
  kTakenOver,  // another pipeline has taken the positions over
};

// What one snapshot of the pipeline says.
struct SnapshotMarks {
  int64_t snapshot_id = 0;
  int64_t epoch = 0;
  engine::SourcePositions positions;
  std::vector<OwedEntry> owed;
};

struct PipelineState {
  StateCondition condition = StateCondition::kUnknownPipeline;
  SnapshotMarks marks;                    // of X; kWatermarkLost: no more than what the property still owes
  int64_t highest_epoch = 0;              // ever used, rolled-back ones included
  std::optional<int64_t> tag_snapshot;    // where the tag points now
  KnownTables tables;                     // others that the pipeline has written to
  std::string taken_over_by;
  std::optional<SnapshotMarks> at_head;   // kRolledBack, kHistoryLost: the newest marks among the head's ancestors
  std::optional<engine::SourcePositions> property_positions;  // kWatermarkLost: what the property still says
};

// The highest epoch that an anchor knows the pipeline to have used, rolled-back ones included.
int64_t highest_epoch(const iceberg::TableMetadata& metadata, const std::string& pipeline);

// The pipeline wrote it, and it carries the pipeline's positions.
bool is_of(const iceberg::Snapshot& snapshot, const std::string& pipeline);
std::string tag_name(const std::string& pipeline);       // frazil-<name>
std::string property_name(const std::string& pipeline);  // frazil.<name>

// kCorrupt when the marks cannot be read, kUnsupported when a newer version wrote them.
base::Result<PipelineState> read_state(io::FileIO& io, const iceberg::TableMetadata& metadata, const std::string& pipeline,
                                       const engine::PositionFormat& format);

// The marks in one snapshot; nullopt when it is not of this pipeline.
base::Result<std::optional<SnapshotMarks>> read_marks(io::FileIO& io, const iceberg::Snapshot& snapshot,
                                                      const std::string& pipeline, const engine::PositionFormat& format);

// Value of property `frazil.<name>`.
std::string encode_property(int64_t snapshot_id, int64_t sequence_number, int64_t epoch, const std::string& positions_json);

// Names of other pipelines that keep positions in this table and have not been closed.
std::vector<std::string> other_pipelines(const iceberg::TableMetadata& metadata, const std::string& pipeline);

// Highest epoch of `pipeline` that this table has applied from the outbox, 0 if none. Epochs of another anchor than
// `anchor_uuid` count nothing; empty: of whichever.
int64_t applied_epoch(const iceberg::TableMetadata& metadata, const std::string& pipeline, const std::string& anchor_uuid = "");

}  // namespace frazil::sinks
