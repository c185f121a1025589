// HandOver: where a worker's epochs go when one worker commits for all.
//
// Only progress depends on it, never safety: without a verdict in time the worker commits by itself, and whoever comes second is
// stale. Any thread.
#pragma once

#include "base/result.h"
#include "engine/sink.h"
#include "sinks/iceberg/handed_epoch.h"

namespace frazil::sinks {

class HandOver {
 public:
  virtual ~HandOver() = default;
  // The verdict of the worker that commits for all. An error when there is none in time: nobody is known to commit for all, it
  // is not reached, does not answer, or leaves this epoch to its worker. The epoch may be committed all the same, then or later.
  virtual base::Result<engine::CommitVerdict> hand_over(const HandedEpoch& epoch) = 0;
};

}  // namespace frazil::sinks
