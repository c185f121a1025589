// SimFileIO: the store of files as one simulated process sees it. The store itself outlives every process.
//
// Each operation asks the process's life before and after; now and then one fails, or a file is reported as stored and is short or
// not there. Phases: files of the dead-letter table,
// data files (writing), all others (preparing a commit).
#pragma once

#include <memory>

#include "io/file_io.h"
#include "tests/simulation/life.h"
#include "tests/simulation/scenario.h"

namespace frazil::simulation {

// `faults` and `tally` outlive the FileIO.
std::shared_ptr<io::FileIO> make_sim_file_io(std::shared_ptr<io::FileIO> store, std::shared_ptr<Life> life, const Faults& faults,
                                             Tally& tally);

}  // namespace frazil::simulation
