// What `frazil rewind` tells of a rewind, planned or done: as text and as JSON. Pure.
#pragma once

#include <string>

#include "app/config/pipeline_config.h"
#include "engine/position.h"
#include "sinks/iceberg/rewind.h"

namespace frazil::app {

struct RewindReport {
  std::string text;
  std::string json;
};
RewindReport report_rewind(const PipelineConfig& pipeline, const sinks::RewindPlan& plan, const engine::PositionFormat& format, bool is_dry_run);

}  // namespace frazil::app
