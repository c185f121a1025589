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
    case Phase::kRouted: return "crashes, routed tables";
  }
  return "";
}

// The failure point of docs/protocol/kafka-to-iceberg.md; empty: the catalog tells it, or none.
const char* point_of(Phase phase) {
  switch (phase) {
    case Phase::kLoading:
    case Phase::kReading:
    case Phase::kWriting: return "KI1";
    case Phase::kPreparing: return "KI2";
    case Phase::kGroupOffsets: return "KI6";
    case Phase::kCommitSent:
    case Phase::kCommitAnswered:
    case Phase::kDeadLetters:
    case Phase::kRouted: return "";
  }
  return "";
}

}  // namespace

void Life::count(Phase phase) {
  tally_.add(count_name(phase));
  if (const std::string point = point_of(phase); !point.empty()) tally_.add(point);
  if (!has_others_) return;
  if (phase == Phase::kReading || phase == Phase::kWriting) tally_.add("KM1");
  if (phase == Phase::kPreparing || phase == Phase::kCommitSent || phase == Phase::kCommitAnswered) tally_.add("KM4");
}

void Life::doom(Phase phase, int nth) {
  doomed_in_ = phase;
  doomed_at_ = nth;
}

base::Status Life::step(Phase phase) {
  if (!is_dead_) {
    const int step = ++steps_[static_cast<size_t>(phase)];
    if (doomed_at_ == 0 || phase != doomed_in_ || step < doomed_at_) return {};
    is_dead_ = true;
    count(phase);
    base::log_info("sim_crash", {{"phase", count_name(phase)}});
  }
  return base::cancelled("the process has crashed");
}

}  // namespace frazil::simulation
