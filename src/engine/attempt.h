// Attempt: one stretch of reading from the table's positions. It owns the lanes of that stretch and joins them all before it
// ends; whatever they still hold is dropped then and read again by the next attempt. Belongs to the control lane.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/interrupt.h"
#include "base/sync.h"
#include "base/memory_budget.h"
#include "base/result.h"
#include "engine/attempt_state.h"
#include "engine/commit_lane.h"
#include "engine/epoch_assembly.h"
#include "engine/epoch_clock.h"
#include "engine/exchange.h"
#include "engine/reader_lane.h"
#include "engine/split_changes.h"
#include "engine/worker.h"
#include "engine/writer_lane.h"

namespace frazil::engine {

// What an attempt works with; all of it outlives the attempt.
struct AttemptParts {
  const WorkerOptions& options;
  Source& source;
  Sink& sink;
  const Worker::DecoderFactory& make_decoder;
  base::MemoryBudget& budget;
  PipelineStatus& status;
};

class Attempt {
 public:
  Attempt(AttemptParts parts, const SourcePositions& positions, int64_t started_micros);
  ~Attempt() { join(); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  enum class End {
    kStopped,  // all that was complete is committed, or the time for that was over
    kReset,    // an epoch was dropped, or the source wants it: read again from the table's positions
  };
  // An Error is the first failure of any lane. Raising `stop` commits what is complete and ends.
  base::Result<End> run(base::Interrupt& stop);
  const AttemptState& state() const { return state_; }

 private:
  base::Status start_lanes();
  base::Result<std::optional<End>> look(base::Interrupt& stop);
  base::Status watch_source();
  void answer(const SourceEvent& event, base::MonoMicros now);
  void release(const SourceEvent& event);
  void watch_table(base::MonoMicros now);
  void drain(base::MonoMicros deadline, End end);
  void cut(AttemptState::Cut kind);
  void show();
  void join();
  void stage(std::optional<AssembledEpoch> epoch);

  const AttemptParts parts_;
  const SourcePositions positions_;
  AttemptState state_;
  EpochClock clock_;
  Exchange exchange_;
  EpochAssembly assembly_;
  CommitLane committer_;
  SplitChanges changes_;
  std::vector<std::unique_ptr<ReaderLane>> readers_;
  std::vector<std::unique_ptr<WriterLane>> writers_;
  std::vector<base::Lane> lanes_;
  std::optional<End> draining_for_;
  base::MonoMicros drain_deadline_ = base::kForever;
  base::MonoMicros next_show_ = 0;
  base::MonoMicros next_table_look_ = 0;
};

}  // namespace frazil::engine
