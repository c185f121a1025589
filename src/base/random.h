// Random numbers and UUIDs: from the system in production, from the seed while a Simulation is installed. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace frazil::base {

uint64_t random_u64();
// A positive 63-bit number, as Iceberg wants snapshot ids.
int64_t random_snapshot_id();
// Version 4, lower case, 8-4-4-4-12.
std::string random_uuid();
// Version 7: begins with the wall clock's milliseconds, so later ones sort behind earlier ones.
std::string random_time_uuid();
// Uniform in [0, bound); bound > 0.
uint64_t random_below(uint64_t bound);

}  // namespace frazil::base
