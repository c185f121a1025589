#include "base/memory_budget.h"

#include <utility>

#include "base/check.h"

namespace frazil::base {

Lease::Lease(Lease&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Lease::~Lease() { release(); }

void Lease::release() {
  if (budget_ != nullptr && bytes_ != 0) budget_->add(-bytes_);
  bytes_ = 0;
}

void Lease::merge(Lease&& other) {
  if (other.budget_ == nullptr) return;
  CHECK(budget_ == nullptr || budget_ == other.budget_);
  budget_ = other.budget_;
  bytes_ += std::exchange(other.bytes_, 0);
}

void Lease::resize(int64_t bytes) {
  CHECK(bytes >= 0);
  if (budget_ == nullptr) return;
  const int64_t change = bytes - bytes_;
  bytes_ = bytes;
  if (change != 0) budget_->add(change);
}

int64_t MemoryBudget::used() const {
  Lock lock(mutex_);
  return used_;
}

void MemoryBudget::add(int64_t bytes) {
  Lock lock(mutex_);
  used_ += bytes;
  CHECK(used_ >= 0);
  if (bytes < 0) changed_.notify_all();
}

Lease MemoryBudget::acquire(int64_t bytes, MonoMicros deadline, const std::function<bool()>& give_up) {
  Lock lock(mutex_);
  while (used_ != 0 && used_ + bytes > limit_) {
    if (give_up()) return {};
    if (!changed_.wait_until(lock, deadline)) return {};
  }
  used_ += bytes;
  return Lease(this, bytes);
}

Lease MemoryBudget::lease_now(int64_t bytes) {
  if (bytes != 0) add(bytes);
  return Lease(this, bytes);
}

void MemoryBudget::wake() {
  Lock lock(mutex_);
  changed_.notify_all();
}

}  // namespace frazil::base
