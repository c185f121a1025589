// `--to` of `frazil rewind`, and what a rewind tells: as text and as JSON. Pure.
#pragma once

#include <string>

#include "app/config/pipeline_config.h"
#include "base/result.h"
#include "engine/position.h"
#include "sinks/iceberg/rewind.h"

namespace frazil::app {

// snapshot:ID, time:2026-01-31T00:00:00Z, or offsets:topic/0=42,topic/1=7.
base::Result<sinks::RewindTarget> parse_rewind_target(const std::string& text);

struct RewindReport {
  std::string text;
  std::string json;
};
RewindReport report_rewind(const PipelineConfig& pipeline, const sinks::RewindPlan& plan, const engine::PositionFormat& format, bool is_dry_run);

}  // namespace frazil::app
