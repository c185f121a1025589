// Renewed<T>: something with an end (a token, keys), kept, shared, and fetched anew at two thirds of its life.
//
//  - While what is kept still holds, one thread fetches and the others go on with it; a failed renewal is tried again
//    later.
//  - When nothing is kept that holds, one thread fetches and the others wait for its outcome: there is never a second
//    request.
//  - refused(): what is kept is dropped, unless another was fetched since.
// Time is the monotonic clock, so that a wall clock set wrong does no harm. Any thread; get() may block as long as a
// fetch does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"

namespace frazil::net {

template <typename T>
struct Fetched {
  T value;
  int64_t life_ms = 0;  // 0: without end
};

template <typename T>
class Renewed {
 public:
  // `fetch` is never called by two threads at once.
  explicit Renewed(std::function<base::Result<Fetched<T>>()> fetch) : fetch_(std::move(fetch)) {}

  base::Result<T> get() {
    {
      const base::MonoMicros now = base::mono_micros();
      base::Lock lock(mutex_);
      if (holds(now) && (is_fetching_ || now < renew_at_)) return *kept_;
      if (is_fetching_) return wait_for_fetch(lock);
      is_fetching_ = true;
    }
    return fetch_and_keep();
  }

  // Drops what is kept if `is_it` says that it is the one that was refused.
  void refused(const std::function<bool(const T&)>& is_it) {
    base::Lock lock(mutex_);
    if (kept_.has_value() && is_it(*kept_)) kept_.reset();
  }

 private:
  static constexpr int64_t kRetryMicros = 10'000'000;

  bool holds(base::MonoMicros now) const { return kept_.has_value() && now < ends_at_; }

  base::Result<T> wait_for_fetch(base::Lock& lock) {
    const uint64_t awaited = fetches_ + 1;
    while (fetches_ < awaited) changed_.wait(lock);
    if (last_error_.has_value()) return *last_error_;
    return *last_;
  }

  base::Result<T> fetch_and_keep() {
    auto fetched = fetch_();
    const base::MonoMicros now = base::mono_micros();
    base::Lock lock(mutex_);
    is_fetching_ = false;
    ++fetches_;
    changed_.notify_all();
    if (!fetched.ok()) {
      last_error_ = fetched.error();
      if (!holds(now)) return *last_error_;
      renew_at_ = std::min(ends_at_, now + kRetryMicros);
      return *kept_;
    }
    last_error_.reset();
    keep(std::move(fetched).value(), now);
    return *last_;
  }

  void keep(Fetched<T> fetched, base::MonoMicros now) {
    const int64_t life = fetched.life_ms * 1000;
    last_ = fetched.value;
    kept_ = std::move(fetched.value);
    ends_at_ = life > 0 ? now + life : base::kForever;
    renew_at_ = life > 0 ? now + life / 3 * 2 : base::kForever;
  }

  const std::function<base::Result<Fetched<T>>()> fetch_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::optional<T> kept_;
  std::optional<T>
      last_;  // of the last fetch that went well, kept even when refused since: for those that waited for it
  std::optional<base::Error> last_error_;
  base::MonoMicros renew_at_ = 0;
  base::MonoMicros ends_at_ = 0;
  uint64_t fetches_ = 0;
  bool is_fetching_ = false;
};

}  // namespace frazil::net
