#include "base/interrupt.h"

#include <utility>

namespace frazil::base {

void Interrupt::raise() {
  std::vector<std::function<void()>> wakes;
  {
    Lock lock(mutex_);
    if (raised()) return;
    raised_.store(true, std::memory_order_release);
    wakes = std::exchange(listeners_, {});
    changed_.notify_all();
  }
  for (const auto& wake : wakes) wake();
}

bool Interrupt::wait_until(MonoMicros deadline) {
  Lock lock(mutex_);
  while (!raised()) {
    if (!changed_.wait_until(lock, deadline)) return raised();
  }
  return true;
}

void Interrupt::on_raise(std::function<void()> wake) {
  {
    Lock lock(mutex_);
    if (!raised()) {
      listeners_.push_back(std::move(wake));
      return;
    }
  }
  wake();
}

}  // namespace frazil::base
