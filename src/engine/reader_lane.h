// ReaderLane: read → decode → route, and the reader's end of epochs. Runs on a thread of its own; owns, for each intake of the
// sink, a decoder, a router and a staging batch.
//
// 1. When the epoch was cut: hand over staged rows, deliver ranges and dead letters, send the barrier everywhere. What waits
//    for budget goes into the next epoch, unless its split is leaving: then it is dropped, for the next owner to read.
// 2. Otherwise read; wait for budget for what was read, but wake up for a cut (then 1 comes first, the batch waits).
// 3. Decode into the staging batch of the stream's intake. The router looks at the new rows: what no table takes becomes a dead
//    letter, is skipped, or halts. At 16 k rows, or 64 MiB (less with a small budget), route the batch to the writer lanes.
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
  Sink& sink;
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

  struct Parts {
    std::unique_ptr<Decoder> decoder;
    std::unique_ptr<Router> router;
  };
  // `parts`: one for each intake of the sink.
  ReaderLane(int lane, ReaderContext context, std::vector<Parts> parts);
  // Until the final epoch has ended or the attempt is abandoned. Failures go to the attempt's state.
  void run();

 private:
  struct Intake {
    Parts parts;
    std::shared_ptr<RowsInFlight> staging;
    std::shared_ptr<base::Lease> lease;                // of the staged rows
    std::vector<std::shared_ptr<RowsInFlight>> pool;   // recycled when no lane holds them any more
    std::vector<size_t> records;                       // of the rows just decoded
  };
  // What a batch of records gave.
  struct Gain {
    int64_t rows = 0;  // that will go to tables
    int64_t rejected = 0;
    DecodeCounts counts;
  };
  base::Status step(bool& is_done);
  base::Status end_epoch();
  base::Status read_more();
  base::Status decode_pending();
  // Decodes records of the pending batch from `first` on, as many as are staged at once; returns the next one.
  base::Result<size_t> decode_piece(Intake& intake, size_t first, Gain& gain);
  int64_t staging_bytes() const;
  // Settles what no table takes of the rows from `first` on; returns how many rows go nowhere.
  base::Result<int64_t> settle_unwanted(Intake& intake, int64_t first, std::vector<Rejected>& rejects, DecodeCounts& counts);
  base::Error unwanted_halt(const UnwantedRow& unwanted, size_t record) const;
  base::Status hand_over_all();
  base::Status hand_over(Intake& intake);
  void reject(const std::vector<Rejected>& rejects);
  void tell(const Rejected& rejected) const;
  void note_times(int64_t rows);
  void stage_afresh(Intake& intake);

  const int lane_;
  ReaderContext context_;
  std::vector<Intake> intakes_;
  int64_t epoch_ = 1;  // the open epoch
  std::unique_ptr<RawBatch> pending_;
  bool is_idle_ = false;  // the last read gave nothing
  ReaderShare share_;
};

}  // namespace frazil::engine
