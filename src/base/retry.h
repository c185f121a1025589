// Backoff: bounded retries with full jitter (a random wait below a limit that doubles), until a deadline. One thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"

namespace frazil::base {

class Backoff {
 public:
  Backoff(int64_t min_wait_ms, int64_t max_wait_ms, int64_t total_ms)
      : limit_(std::max<int64_t>(1, min_wait_ms) * 1000),
        max_(std::max<int64_t>(1, max_wait_ms) * 1000),
        deadline_(deadline_after(total_ms * 1000)) {}

  // Waits before the next try. False when the deadline has passed or the interrupt was raised: give up.
  bool wait(Interrupt& interrupt) {
    if (interrupt.raised() || mono_micros() >= deadline_) return false;
    const auto pause = static_cast<int64_t>(random_below(static_cast<uint64_t>(limit_) + 1));
    limit_ = std::min(limit_ * 2, max_);
    ++tries_;
    return !interrupt.wait_until(std::min(deadline_after(pause), deadline_));
  }
  int tries() const { return tries_; }

 private:
  int64_t limit_;
  const int64_t max_;
  const MonoMicros deadline_;
  int tries_ = 0;
};

}  // namespace frazil::base
