// World: one simulation from one seed. A safety phase with faults, crashes and foreign commits; then everything is healed, and
// the pipeline must make progress: all records in the tables within a virtual deadline, an orderly end, nothing owed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/tally.h"

namespace frazil::simulation {

struct Outcome {
  uint64_t event_hash = 0;
  uint64_t switches = 0;
  int64_t virtual_micros = 0;
  std::vector<std::string> problems;  // empty: well
  Tally tally;
};

// Must not be called while another simulation runs in this process. With `echo`, events go to stderr.
Outcome run_world(uint64_t seed, bool echo);

}  // namespace frazil::simulation
