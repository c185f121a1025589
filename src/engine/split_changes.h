// SplitChanges: splits that come to an attempt and go from it while the others flow.
//
// Going: 1. the source gives nothing of them any more; 2. the open epoch is cut as complete; 3. when it has settled, and with it
// all before it, the source releases them. Past the deadline they are released all the same and the attempt is reset: what was
// open is dropped, and the new owner reads it from the table's positions.
// Coming: 1. the committer lane loads the table, behind the epochs that are under way; 2. the source adds them at those positions.
// A split that goes is released before any comes, so one that comes back is read from where it was committed.
//
// Belongs to the control lane; waits for nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "engine/attempt_state.h"
#include "engine/commit_lane.h"
#include "engine/source.h"

namespace frazil::engine {

class SplitChanges {
 public:
  // All outlive this.
  SplitChanges(const std::string& pipeline, Source& source, AttemptState& state, CommitLane& committer)
      : pipeline_(pipeline), source_(source), state_(state), committer_(committer) {}

  void come(const std::vector<SplitId>& splits);
  // The caller cuts behind this, and says with end_with() which epoch is the last that may hold something of them.
  void go(const SourceEvent& event);
  void end_with(int64_t epoch) { last_epoch_ = epoch; }
  // Does what is due. With `is_ending` no split is begun any more. Failures: those of Source::add() and release().
  base::Status tend(base::MonoMicros now, bool is_ending);

 private:
  base::Status tend_going(base::MonoMicros now);
  base::Status tend_coming(base::MonoMicros now);

  const std::string& pipeline_;
  Source& source_;
  AttemptState& state_;
  CommitLane& committer_;
  std::vector<SplitId> going_;
  int64_t last_epoch_ = 0;
  base::MonoMicros deadline_ = base::kForever;
  std::vector<SplitId> coming_;
  int64_t ticket_ = 0;  // of the question for positions that is under way, 0: none
  base::MonoMicros next_try_ = 0;
};

}  // namespace frazil::engine
