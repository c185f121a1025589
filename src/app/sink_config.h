// What a pipeline's configuration means for its Iceberg sink. Pure; any thread.
#pragma once

#include <string>

#include "app/config/pipeline_config.h"
#include "base/result.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::app {

// `user`: recorded with accepted choices. kInvalid when schema and `table.columns` do not fit.
base::Result<sinks::IcebergSinkConfig> sink_config(const PipelineConfig& pipeline, const std::string& user);

sinks::RouteCondition condition_of(const RoutedTableConfig& entry);

}  // namespace frazil::app
