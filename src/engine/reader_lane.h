// ReaderLane: read → decode → route, and the reader's end of epochs. Runs on a thread of its own; owns its decoder, router
// and staging batch.
//
// 1. When the epoch was cut: hand over staged rows, deliver ranges and dead letters, send the barrier everywhere.
// 2. Otherwise read; wait for budget for what was read, but wake up for a cut (then 1 comes first, the batch waits).
// 3. Decode into the staging batch; at 16 k rows route it to the writer lanes.
#pragma once

#include <memory>
#include <vector>

#include "base/memory_budget.h"
#include "engine/attempt_state.h"
#include "engine/decoder.h"
#include "engine/epoch_assembly.h"
#include "engine/exchange.h"
#include "engine/pipeline_status.h"
#include "engine/sink.h"
#include "engine/source.h"

namespace frazil::engine {

// What reader lanes need of their surroundings; all outlive the lane.
struct ReaderContext {
  Source& source;
  AttemptState& state;
  Exchange& exchange;
  base::MemoryBudget& budget;
  PipelineStatus& status;
  std::function<void(int64_t epoch, ReaderShare share)> deliver;
  std::string pipeline;
  int32_t dead_letter_schema_id = 0;
};

class ReaderLane {
 public:
  static constexpr int64_t kStagingRows = 16384;
  static constexpr int64_t kStagingBytes = 64LL << 20;

  ReaderLane(int lane, ReaderContext context, std::unique_ptr<Decoder> decoder, std::unique_ptr<Router> router);
  // Until the final epoch has ended or the attempt is abandoned. Failures go to the attempt's state.
  void run();

 private:
  base::Status step(bool& is_done);
  base::Status end_epoch();
  base::Status read_more();
  base::Status decode_pending();
  base::Status hand_over();
  void reject(const std::vector<Rejected>& rejects);
  void tell(const Rejected& rejected) const;
  void note_times(int64_t rows);
  std::shared_ptr<RowsInFlight> fresh_staging();

  const int lane_;
  ReaderContext context_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Router> router_;
  int64_t epoch_ = 1;  // the open epoch
  std::unique_ptr<RawBatch> pending_;
  bool is_idle_ = false;  // the last read gave nothing
  std::shared_ptr<RowsInFlight> staging_;
  std::shared_ptr<base::Lease> staging_lease_;
  std::vector<std::shared_ptr<RowsInFlight>> pool_;  // recycled when no lane holds them any more
  ReaderShare share_;
};

}  // namespace frazil::engine
