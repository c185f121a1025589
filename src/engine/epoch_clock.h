// EpochClock: when to end an epoch. Pure: time and load come in, yes or no comes out.
//
// Cuts when the interval has passed since the epoch's first record, when the memory budget is pressed, or when told to end.
// Never while `max_in_flight` epochs wait for their commit: memory then holds readers back instead.
#pragma once

#include <cstdint>

#include "base/sync.h"

namespace frazil::engine {

class EpochClock {
 public:
  EpochClock(int64_t interval_micros, int max_in_flight) : interval_(interval_micros), max_in_flight_(max_in_flight) {}

  // A sink may ask for longer epochs than configured, and later for shorter ones again.
  void set_interval(int64_t interval_micros) { interval_ = interval_micros; }

  struct Load {
    base::MonoMicros first_record = base::kForever;  // when the open epoch got its first record; kForever: it is empty
    bool is_pressed = false;                         // memory budget above 70 %
    int in_flight = 0;                               // epochs cut and not yet committed
  };
  bool should_cut(base::MonoMicros now, const Load& load) const {
    if (load.first_record == base::kForever || load.in_flight >= max_in_flight_) return false;
    return load.is_pressed || now - load.first_record >= interval_;
  }
  // When to look again at the latest.
  base::MonoMicros next_look(base::MonoMicros now, const Load& load, int64_t longest_micros) const {
    const base::MonoMicros latest = now + longest_micros;
    if (load.first_record == base::kForever || load.in_flight >= max_in_flight_) return latest;
    const base::MonoMicros due = load.first_record + interval_;
    return due < now ? now : due < latest ? due : latest;
  }

 private:
  int64_t interval_;
  int max_in_flight_;
};

}  // namespace frazil::engine
