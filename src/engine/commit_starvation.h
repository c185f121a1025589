// CommitStarvation: for how long the commits of a worker have lost to those of others, without one accepted.
//
// A commit loses when somebody moved the table's head before its request came, or had committed the same records. That is normal now and then;
// for minutes it means that others commit too often for anybody to get through, or that two workers read the same records. The first loss after
// a commit that was accepted begins the count. A loss long after the last one begins it anew: in between there was nothing to commit.
// Times are monotonic. Not locked: PipelineStatus owns it.
#pragma once

#include <cstdint>

#include "base/sync.h"

namespace frazil::engine {

class CommitStarvation {
 public:
  static constexpr int64_t kPatienceMicros = 120'000'000;  // until it is worth a warning
  static constexpr int64_t kQuietMicros = 60'000'000;      // between two warnings
  static constexpr int64_t kMemoryMicros = 300'000'000;    // longer than the pauses of a commit that is tried again and again

  void accepted() { losses_ = 0; }
  // True when it is time for a warning.
  bool lost(base::MonoMicros now);
  // 0 when nothing was lost since the last accepted commit, or not lately.
  int64_t micros(base::MonoMicros now) const;
  int64_t losses() const { return losses_; }

 private:
  int64_t losses_ = 0;
  base::MonoMicros first_ = 0;  // of these
  base::MonoMicros last_ = 0;
  base::MonoMicros told_ = -kQuietMicros;
};

}  // namespace frazil::engine
