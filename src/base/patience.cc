#include "base/patience.h"

#include <utility>

namespace frazil::base {

std::shared_ptr<Patience> Patience::until(Interrupt& stop) {
  auto patience = std::make_shared<Patience>();
  stop.on_raise([patience] { patience->change(0, true); });
  return patience;
}

void Patience::change(int holds, bool is_stopped) {
  {
    Lock lock(mutex_);
    holds_ += holds;
    is_stopped_ = is_stopped_ || is_stopped;
    if (!is_stopped_ || holds_ > 0) return;
  }
  over_.raise();
}

Patience::Hold::Hold(std::shared_ptr<Patience> patience) : patience_(std::move(patience)) {
  if (patience_ != nullptr) patience_->change(1, false);
}

Patience::Hold::~Hold() {
  if (patience_ != nullptr) patience_->change(-1, false);
}

}  // namespace frazil::base
