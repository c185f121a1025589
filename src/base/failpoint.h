// Failpoint: a named place in the program where a test can interrupt it: kill the process, fail, wait, or hang.
//
// Each place declares its point once, at file scope, and passes it by name:
//
//   base::Failpoint batch_close("batch.close", "an epoch's files are known to the committer", base::Code::kUnavailable);
//   ...
//   TRY(batch_close.pass());
//
// A point that nobody armed costs one load of a flag, writes no log and takes no part in a simulation's order. Points are armed
// by the variable FRAZIL_FAILPOINTS of a `frazil run`; `frazil run --failpoints` lists them. Any thread passes; arming is for
// the start, before lanes exist.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::base {

class Failpoint {
 public:
  enum class Action { kKill, kError, kHang, kDelay };

  // `name` and `meaning` are literals. `code` is what an armed `error` answers; without one the place cannot fail.
  Failpoint(const char* name, const char* meaning, std::optional<Code> code = std::nullopt);
  Failpoint(const Failpoint&) = delete;
  Failpoint& operator=(const Failpoint&) = delete;

  Status pass() { return is_armed_.load(std::memory_order_acquire) ? meet() : Status(); }
  // For places that cannot fail.
  void pass_by() {
    if (is_armed_.load(std::memory_order_acquire)) (void)meet().ok();
  }

 private:
  friend Status arm_failpoints(std::string_view text);
  friend void disarm_failpoints();
  friend std::vector<struct FailpointDoc> all_failpoints();

  Status meet();
  Status act(uint64_t hit);

  const char* const name_;
  const char* const meaning_;
  const std::optional<Code> code_;
  Failpoint* const next_;  // all points of the program, in no order
  std::atomic<bool> is_armed_{false};
  std::atomic<uint64_t> passes_{0};
  Action action_ = Action::kKill;
  int64_t delay_ms_ = 0;
  uint64_t hit_ = 1;
  bool stays_ = false;  // acts at every pass from hit_ on
};

struct FailpointDoc {
  std::string name;
  std::string meaning;
  bool can_fail = false;
};

// Every point of the program, by name.
std::vector<FailpointDoc> all_failpoints();

// Arms points: NAME=kill|error|hang|delay:MS[@HIT[+]], separated by commas. HIT counts passes from 1 (the first unless given); with
// a plus the point acts at every later pass too. Each is logged. kInvalid names what was not understood, and nothing is armed then.
Status arm_failpoints(std::string_view text);
void disarm_failpoints();

}  // namespace frazil::base
