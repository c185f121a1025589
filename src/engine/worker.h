// Worker: one pipeline in one process. It owns the lanes and moves epochs from source to sink.
//
//   reader lanes: read → decode → route → channels → writer lanes: write, seal at barriers → committer lane: commit in order
//
// 1. The control lane cuts epochs by interval, bytes or memory pressure, and watches the source.
// 2. Each reader lane ends the epoch on its side and sends a barrier to every writer lane; barriers need no budget.
// 3. A writer lane that has every reader's barrier seals its writer of that epoch.
// 4. When all lanes have delivered, the staged epoch goes to the committer lane, strictly in order.
// 5. Splits that come are added, splits that go are committed and released (split_changes.h); the others flow on.
// 6. Stale, gap or splits lost: all lanes end, open work is dropped, reading starts again at the table's positions.
// 7. So it does, after a pause, when a store, catalog or broker fails for a while. What is refused or damaged is tried three times in a row.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/memory_budget.h"
#include "base/patience.h"
#include "base/result.h"
#include "engine/decoder.h"
#include "engine/pipeline_status.h"
#include "engine/sink.h"
#include "engine/source.h"

namespace frazil::engine {

struct WorkerOptions {
  std::string pipeline;
  int reader_lanes = 1;
  int writer_lanes = 1;
  int64_t commit_interval_ms = 5000;
  int64_t position_interval_ms = 600000;
  int64_t connect_timeout_ms = 60000;
  int64_t retry_for_ms = 1'800'000;  // how long attempts may fail without a commit before the run does
  std::shared_ptr<base::Patience> patience;  // held while an attempt may commit; may be null
  bool until_caught_up = false;
  int32_t dead_letter_schema_id = 0;
  std::vector<AcceptedChoice> accepted;
  bool is_accepted_for_others = false;  // other pipelines of the process have the same answers: one that fits none here is no news
  std::string user;  // recorded with accepted choices
  // Called on the committer lane after every commit, for progress and `run --json`.
  std::function<void(const CommitVerdict&, const StagedEpoch&, double commit_seconds)> on_commit;
};

class Worker {
 public:
  // Called once for each reader lane and intake of the sink, after the sink's committer is open.
  using DecoderFactory = std::function<base::Result<std::unique_ptr<Decoder>>(int lane, int intake)>;
  Worker(WorkerOptions options, Source& source, Sink& sink, DecoderFactory make_decoder, base::MemoryBudget& budget,
         PipelineStatus& status);
  ~Worker();

  // Runs until `stop` is raised (take in no more, commit what is complete), until caught up when asked, until a halt
  // (Error with kHalted) or a failure. Blocks the calling thread, which becomes the control lane.
  base::Status run(base::Interrupt& stop);

 private:
  class Trouble;
  struct AttemptFailure {
    base::Error error;
    bool is_of_writer = false;
  };
  base::Status run_attempts(base::Interrupt& stop);
  std::optional<AttemptFailure> run_attempt(const SourcePositions& positions, int64_t started_micros,
                                            std::optional<Trouble>& trouble, base::Interrupt& stop);
  // True when `code` is what a stop makes of requests that hang: told in the log, and no failure of the run.
  bool is_end_by_stop(const base::Error& error, base::Interrupt& stop) const;
  // Waits and returns well when another attempt may mend the failure; else the error.
  base::Status recover(const AttemptFailure& failure, std::optional<Trouble>& trouble, base::Interrupt& stop);
  // Ends without error when `stop` is raised meanwhile: the process must not wait for brokers that are not there.
  base::Status connect(base::MonoMicros deadline, base::Interrupt& stop);
  base::Result<SourcePositions> settle();
  void tell_start_again(const base::Error& error);  // the first time as a warning
  void tell_answers_without_halt();                 // after the first start that no halt prevented
  // Applies an accepted choice to a halt; gives the error back (with its token) when nobody has answered it.
  base::Result<SourcePositions> answer(const base::Error& error);
  WorkerOptions options_;
  Source& source_;
  Sink& sink_;
  DecoderFactory make_decoder_;
  base::MemoryBudget& budget_;
  PipelineStatus& status_;
  bool has_told_start_again_ = false;
  bool has_started_ = false;
  bool is_stopped_ = false;  // the last attempt ended in order
};

}  // namespace frazil::engine
