// WriterLane: rows → the sink's writer of their epoch, sealed when every reader lane has ended it. Runs on a thread of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/memory_budget.h"
#include "engine/attempt_state.h"
#include "engine/barrier_aligner.h"
#include "engine/exchange.h"
#include "engine/sink.h"
#include "engine/source.h"

namespace frazil::engine {

struct WriterContext {
  Sink& sink;
  Source& source;  // woken when something failed
  AttemptState& state;
  Exchange& exchange;
  base::MemoryBudget& budget;
  std::function<void(int64_t epoch, std::vector<std::unique_ptr<Output>> outputs)> deliver;
};

class WriterLane {
 public:
  WriterLane(int lane, int readers, WriterContext context);
  // Until the final epoch is sealed or the channel is closed.
  void run();

 private:
  base::Status take(LaneMessage message, bool& is_done);
  base::Status seal(int64_t epoch);
  void account();

  const int lane_;
  WriterContext context_;
  BarrierAligner aligner_;
  std::map<int64_t, std::unique_ptr<SinkWriter>> writers_;  // by open epoch
  base::Lease lease_;
};

}  // namespace frazil::engine
