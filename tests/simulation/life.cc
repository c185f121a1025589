#include "tests/simulation/life.h"

#include "base/log.h"

namespace frazil::simulation {
namespace {

const char* count_name(Phase phase) {
  switch (phase) {
    case Phase::kLoading: return "crashes while loading";
    case Phase::kReading: return "crashes while reading";
    case Phase::kWriting: return "crashes while writing";
    case Phase::kPreparing: return "crashes while preparing";
    case Phase::kCommitSent: return "crashes, commit sent";
    case Phase::kCommitAnswered: return "crashes, commit answered";
    case Phase::kDeadLetters: return "crashes, dead letters";
    case Phase::kGroupOffsets: return "crashes, group offsets";
  }
  return "";
}

}  // namespace

void Life::doom(Phase phase, int nth) {
  doomed_in_ = phase;
  doomed_at_ = nth;
}

base::Status Life::step(Phase phase) {
  if (!is_dead_) {
    const int step = ++steps_[static_cast<size_t>(phase)];
    if (doomed_at_ == 0 || phase != doomed_in_ || step < doomed_at_) return {};
    is_dead_ = true;
    tally_.add(count_name(phase));
    base::log_info("sim_crash", {{"phase", count_name(phase)}});
  }
  return base::cancelled("the process has crashed");
}

}  // namespace frazil::simulation
