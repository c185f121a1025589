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
  static constexpr int64_t kNoMost = INT64_MAX / 1000;

  Backoff(int64_t min_wait_ms, int64_t max_wait_ms, int64_t total_ms)
      : limit_(std::max<int64_t>(1, min_wait_ms) * 1000),
        max_(std::max<int64_t>(1, max_wait_ms) * 1000),
        deadline_(deadline_after(total_ms * 1000)) {}

  // Waits before the next try, `at_most_ms` whatever the limit is by now. False when the deadline has passed or the interrupt was
  // raised: give up.
  bool wait(Interrupt& interrupt, int64_t at_most_ms = kNoMost) {
    if (interrupt.raised() || mono_micros() >= deadline_) return false;
    const auto pause = static_cast<int64_t>(random_below(static_cast<uint64_t>(std::min(limit_, at_most_ms * 1000)) + 1));
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
