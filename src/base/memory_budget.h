// MemoryBudget: one bound in bytes for everything that a process has in flight; Lease: a share of it, returned by RAII.
//
// Readers acquire before they read and may wait; writers never acquire, they keep the leases of what they hold. A reader
// that waits wakes up for `wake()` as well, so that it can send its barrier: barriers cost no bytes. An amount larger than
// the whole budget is granted when nothing else is leased, so one huge message cannot deadlock. Any thread.
#pragma once

#include <cstdint>
#include <functional>

#include "base/sync.h"

namespace frazil::base {

class MemoryBudget;

class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();
  int64_t bytes() const { return bytes_; }
  // Takes over the other's bytes (same budget).
  void merge(Lease&& other);
  // Grows without waiting (the data is already here) or gives back what is not needed.
  void resize(int64_t bytes);

 private:
  friend class MemoryBudget;
  Lease(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}
  void release();
  MemoryBudget* budget_ = nullptr;
  int64_t bytes_ = 0;
};

class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}
  int64_t limit() const { return limit_; }
  int64_t used() const;
  // Above 70 % the epoch clock cuts early.
  bool is_pressed() const { return used() * 10 > limit_ * 7; }
  // Waits until `bytes` fit, until the deadline, or until `give_up()` is true after a wake(). Empty lease (0 bytes): no.
  Lease acquire(int64_t bytes, MonoMicros deadline, const std::function<bool()>& give_up);
  // A lease at once, whatever the load: for memory that is in use already.
  Lease lease_now(int64_t bytes);
  // Wakes all waiters so that they look at their give_up condition.
  void wake();

 private:
  friend class Lease;
  void add(int64_t bytes);
  const int64_t limit_;
  mutable Mutex mutex_;
  CondVar changed_;
  int64_t used_ = 0;
};

}  // namespace frazil::base
