// `--to` of `frazil rewind`. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "sinks/iceberg/rewind.h"

namespace frazil::app {

// snapshot:ID, time:2026-01-31T00:00:00Z, or offsets:topic/0=42,topic/1=7.
base::Result<sinks::RewindTarget> parse_rewind_target(const std::string& text);

}  // namespace frazil::app
