#include "engine/commit_starvation.h"

namespace frazil::engine {

bool CommitStarvation::lost(base::MonoMicros now) {
  if (now - last_ > kMemoryMicros) losses_ = 0;
  if (losses_++ == 0) first_ = now;
  last_ = now;
  if (now - first_ < kPatienceMicros || now - told_ < kQuietMicros) return false;
  told_ = now;
  return true;
}

int64_t CommitStarvation::micros(base::MonoMicros now) const {
  if (losses_ == 0 || now - last_ > kMemoryMicros) return 0;
  return now - first_;
}

}  // namespace frazil::engine
