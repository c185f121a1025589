// BarrierAligner: a writer lane's view of barriers. An epoch is complete when every reader lane has ended it. Pure.
//
// Rows of a reader that is already in epoch e+1 go to the writer of e+1, so nobody is held back by a slower reader. Readers end
// their epochs in order; a barrier out of order is our own fault and CHECKed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"

namespace frazil::engine {

class BarrierAligner {
 public:
  explicit BarrierAligner(int readers) : ended_(static_cast<size_t>(readers), 0) {}

  // Reader `reader` has ended `epoch` (1, 2, ...). True when that completes the epoch for all readers.
  bool barrier(int reader, int64_t epoch) {
    int64_t& last = ended_[static_cast<size_t>(reader)];
    CHECK(epoch == last + 1);
    last = epoch;
    for (const int64_t other : ended_) {
      if (other < epoch) return false;
    }
    return true;
  }

 private:
  std::vector<int64_t> ended_;  // by reader: the last epoch it ended
};

}  // namespace frazil::engine
