// StopSignals: SIGTERM and SIGINT as an orderly end. The first raises an Interrupt; a second ends the process at once
// with 1, and so does the end of the time that an orderly stop may take. One object in a process, made before other
// lanes exist.
#pragma once

#include <cstdint>

#include "base/interrupt.h"
#include "base/sync.h"

namespace frazil::app {

class StopSignals {
 public:
  // `run_for_ms` > 0 raises the interrupt after that time as well. `stop` outlives this object.
  StopSignals(base::Interrupt& stop, int64_t run_for_ms);
  // Restores the former handlers and joins the lane.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void watch();
  base::Interrupt& stop_;
  int64_t run_for_ms_;
  base::Lane lane_;
};

}  // namespace frazil::app
