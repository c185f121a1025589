// Rewind: table and source position go back together, by one commit of the anchor.
//
//  1. Find the target: an ancestor of the head that carries this pipeline's positions.
//  2. What lies between the target and the head is undone. Snapshots of others that changed rows are a refusal, unless the operator says so.
//  3. One request on that very metadata: an empty snapshot whose parent is the target, with the target's positions and an epoch above the highest
//     ever used; branch and tag move to it, both asserted; other tables are owed that the undone epochs are void; the decision is recorded.
//  4. A commit in between is a conflict: the table is looked at again, and the same target must come out.
//  5. What is owed is applied at once; what cannot be stays owed, and the pipeline applies it at its next start.
// Undone snapshots stay in the table until they expire. A worker that runs meanwhile begins beyond the table's positions with its next epoch: it
// drops that epoch and reads on from the new ones, as after any commit of another worker. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/position.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/anchor_table.h"
#include "sinks/iceberg/iceberg_sink_config.h"
#include "sinks/iceberg/pipeline_state.h"
#include "sinks/iceberg/voided_rows.h"

namespace frazil::sinks {

struct ToSnapshot {
  int64_t id = 0;
};
struct ToTime {
  int64_t ms = 0;  // the newest snapshot of the pipeline that is not younger
};
// The newest snapshot whose positions of these splits are at or before the given ones.
struct ToPositions {
  std::map<engine::SplitId, std::string> next;
};
using RewindTarget = std::variant<ToSnapshot, ToTime, ToPositions>;

struct RewindRequest {
  RewindTarget target;
  std::string target_text;    // as the operator gave it, for the record
  bool undoes_others = false;  // commits of others may be undone too
};

struct UndoneSnapshot {
  int64_t snapshot_id = 0;
  int64_t timestamp_ms = 0;
  std::string operation;
  std::string pipeline;  // empty: none of Frazil's
  int64_t rows = 0;      // added by it
  int64_t files = 0;
};

struct RewindPlan {
  SnapshotMarks target;
  int64_t target_timestamp_ms = 0;
  int64_t head = 0;
  int64_t highest_epoch = 0;
  std::vector<UndoneSnapshot> undone;        // newest first; empty: the table is there already
  std::vector<VoidedRows> voided;            // of the other tables, dead letters last
  std::vector<engine::Range> ranges;         // read again: from the target's positions to the present ones
  std::vector<engine::SplitId> from_start;   // splits that the target does not know: read from their start
};

class Rewind {
 public:
  // All outlive it.
  Rewind(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format, RewindRequest request);

  // What would be done now. kNotFound: no such target in the table's history; kInvalid: it would undo commits of others; a Halt that waits for
  // an answer is given back as it is.
  base::Result<RewindPlan> plan();
  // Does it, and returns what was done: commits that came in between are undone as well. kInvalid when the target is not the one
  // of `agreed` any more; kUnavailable when commits of others came first again and again.
  base::Result<RewindPlan> carry_out(const RewindPlan& agreed);

 private:
  base::Result<RewindPlan> plan_on(const iceberg::LoadedTable& loaded, const PipelineState& state) const;
  std::vector<VoidedRows> weigh_others(const PipelineState& state, int64_t target_epoch) const;
  base::Result<PipelineState> sound_state(const iceberg::LoadedTable& loaded) const;
  base::Status check_applied(const PipelineState& state) const;
  base::Result<SnapshotMarks> find_target(const iceberg::TableMetadata& metadata) const;
  base::Result<SnapshotMarks> find_snapshot(const iceberg::TableMetadata& metadata, int64_t id) const;
  base::Result<bool> is_reached(const iceberg::Snapshot& snapshot, const SnapshotMarks& marks) const;
  Proposal proposal(const RewindPlan& plan, const PipelineState& state) const;

  const IcebergSinkConfig& config_;
  iceberg::Catalog& catalog_;
  const engine::PositionFormat& format_;
  const RewindRequest request_;
  AnchorTable anchor_;
};

}  // namespace frazil::sinks
