// Channel: a bounded queue between lanes. Batches wait for room; barriers (push_always) never do, since they cost no bytes.
//
// Many senders, one receiver. close() wakes everybody: senders then get false, the receiver gets what is left, then nothing.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "base/sync.h"

namespace frazil::base {

template <typename T>
class Channel {
 public:
  explicit Channel(size_t capacity) : capacity_(capacity) {}

  // Waits for room. False when the channel was closed; the value is dropped then.
  bool push(T value) {
    Lock lock(mutex_);
    while (!closed_ && queue_.size() >= capacity_) changed_.wait(lock);
    return put(std::move(value));
  }

  // Never waits.
  bool push_always(T value) {
    Lock lock(mutex_);
    return put(std::move(value));
  }

  // The next value; nothing at the deadline, or when the channel is closed and empty.
  std::optional<T> pop(MonoMicros deadline = kForever) {
    Lock lock(mutex_);
    while (queue_.empty() && !closed_) {
      if (!changed_.wait_until(lock, deadline)) break;
    }
    if (queue_.empty()) return std::nullopt;
    T value = std::move(queue_.front());
    queue_.pop_front();
    changed_.notify_all();
    return value;
  }

  void close() {
    Lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  bool is_closed() const {
    Lock lock(mutex_);
    return closed_;
  }

  size_t size() const {
    Lock lock(mutex_);
    return queue_.size();
  }

 private:
  bool put(T value) {
    if (closed_) return false;
    queue_.push_back(std::move(value));
    changed_.notify_all();
    return true;
  }

  const size_t capacity_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<T> queue_;
  bool closed_ = false;
};

}  // namespace frazil::base
