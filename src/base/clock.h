// Clocks. Wall time is for people, files and record timestamps; monotonic time is for waiting. Time is never evidence:
// correctness comes from the table, never from a clock. Virtual while a Simulation is installed. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/sync.h"

namespace frazil::base {

// Microseconds since 1970-01-01T00:00:00Z.
int64_t wall_micros();
inline int64_t wall_millis() { return wall_micros() / 1000; }
// Microseconds on a clock that never goes back.
MonoMicros mono_micros();
// `mono_micros() + micros`, saturating at kForever.
MonoMicros deadline_after(int64_t micros);
// CPU time of this process, user and system, in microseconds.
int64_t process_cpu_micros();
// "2026-01-31T12:34:56.789Z".
std::string format_utc(int64_t micros_since_epoch);

}  // namespace frazil::base
