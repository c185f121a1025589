// Life: one simulated process. Everything outside that it touches (catalog, files, Kafka) asks its life first.
//
// A crash comes at the nth step of one phase: from then on each operation answers kCancelled and has no effect, except for
// requests that are on their way already. Steps stand before an operation (it never happened) and behind it (it happened,
// and the process never learned). The worker's lanes then end by themselves, as nothing works any more. Holder of the token.
#pragma once

#include <array>
#include <string>

#include "base/result.h"
#include "tests/simulation/tally.h"

namespace frazil::simulation {

enum class Phase { kLoading, kReading, kWriting, kPreparing, kCommitSent, kCommitAnswered, kDeadLetters, kGroupOffsets, kRouted };
inline constexpr int kPhases = 9;

class Life {
 public:
  // `has_others`: other workers of the pipeline live meanwhile.
  explicit Life(Tally& tally, bool has_others = false) : tally_(tally), has_others_(has_others) {}
  // Dies at step number `nth` (from 1) of `phase`.
  void doom(Phase phase, int nth);
  void pardon() { doomed_at_ = 0; }
  void end() { is_dead_ = true; }
  // kCancelled from the crash on.
  base::Status step(Phase phase);
  bool is_dead() const { return is_dead_; }

 private:
  void count(Phase phase);

  Tally& tally_;
  const bool has_others_;
  Phase doomed_in_ = Phase::kReading;
  int doomed_at_ = 0;  // 0: lives
  std::array<int, kPhases> steps_{};
  bool is_dead_ = false;
};

}  // namespace frazil::simulation
