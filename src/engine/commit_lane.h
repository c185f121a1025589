// CommitLane: staged epochs → the sink's committer, strictly in order, one at a time. Runs on a thread of its own.
//
// 1. An epoch without rows and dead letters moves positions only: its ranges travel with the next rows, or alone after the
//    position interval, at once when the run waits to be caught up, and with epochs that are cut as complete.
// 2. Before each commit the source confirms that it is still the source the positions speak of.
// 3. Done: tell the source and the status. Stale or a gap: the attempt is reset and everything behind is dropped.
// 4. Between epochs it looks what the table says now, when the control lane asks: the committer belongs to this lane.
#pragma once

#include <optional>

#include "base/channel.h"
#include "engine/attempt_state.h"
#include "engine/epoch_assembly.h"
#include "engine/pipeline_status.h"
#include "engine/sink.h"
#include "engine/source.h"
#include "engine/worker.h"

namespace frazil::engine {

// Without an epoch: a question for the table's positions.
struct CommitTask {
  std::optional<AssembledEpoch> epoch;
  int64_t ticket = 0;
};

class CommitLane {
 public:
  CommitLane(const WorkerOptions& options, Source& source, Committer& committer, AttemptState& state,
             PipelineStatus& status, SourcePositions positions, int64_t started_micros);
  base::Channel<CommitTask>& inbox() { return inbox_; }
  // Loads the table behind what is in the inbox, and answers in AttemptState under the number that is returned. Control lane.
  int64_t ask_positions();
  void run();

 private:
  base::Status work(CommitTask task, bool& is_last);
  base::Status take(AssembledEpoch epoch);
  base::Status look_at_table(int64_t ticket);
  base::Status commit(StagedEpoch& epoch);
  bool may_carry(const StagedEpoch& epoch) const;
  // When positions that moved without rows are due, though no other epoch came.
  base::MonoMicros carry_deadline() const;
  base::Status commit_carried();
  void tell_dropped(const CommitVerdict& verdict, const StagedEpoch& epoch);
  void done(const CommitVerdict& verdict, const StagedEpoch& epoch, double seconds);
  void measure_freshness(const StagedEpoch& epoch);

  const WorkerOptions& options_;
  Source& source_;
  Committer& committer_;
  AttemptState& state_;
  PipelineStatus& status_;
  SourcePositions positions_;  // what the table says, as far as this lane knows
  const int64_t started_micros_;
  std::vector<Range> carried_;  // positions that moved without rows
  base::MonoMicros carried_since_ = base::kForever;
  int64_t last_ticket_ = 0;  // the control lane's
  base::Channel<CommitTask> inbox_{1024};
};

}  // namespace frazil::engine
