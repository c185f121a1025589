// Interrupt: a one-way flag that asks lanes to end, with waiting and with listeners that wake their own waits.
// Raised from any thread (not from signal handlers: those write to a pipe that a lane reads). Raising twice is harmless.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/sync.h"

namespace frazil::base {

class Interrupt {
 public:
  void raise();
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  // Waits until raised or until the deadline; true when raised.
  bool wait_until(MonoMicros deadline);
  // `wake` is called once when raised (at once if it is already). It must not block; it must outlive this object.
  void on_raise(std::function<void()> wake);

 private:
  std::atomic<bool> raised_{false};
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::function<void()>> listeners_;
};

}  // namespace frazil::base
