// RetryBudget: how often all operations on one endpoint may try again. One failed request is tried again at once; when a store is down,
// a thousand operations do not become ten thousand requests.
//
// A bucket of tokens: a retry takes one and waits for it when there is none. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/sync.h"

namespace frazil::io {

class RetryBudget {
 public:
  explicit RetryBudget(int64_t burst = 100, int64_t per_second = 10)
      : micros_per_token_(1'000'000 / per_second), span_(burst * micros_per_token_) {}

  // Takes a token; the time from which on it may be used.
  base::MonoMicros take() {
    const base::MonoMicros now = base::mono_micros();
    base::Lock lock(mutex_);
    // The bucket is full when the next token came due a whole burst ago.
    next_ = std::max(next_, now - span_) + micros_per_token_;
    return std::max(next_, now);
  }

 private:
  const int64_t micros_per_token_;
  const int64_t span_;
  base::Mutex mutex_;
  base::MonoMicros next_ = INT64_MIN / 2;
};

}  // namespace frazil::io
