// Checks of a pipeline whose rows go to several tables, and the names that follow from them. No network.
#pragma once

#include <functional>
#include <string>

#include "app/config/pipeline_config.h"

namespace frazil::app {

// Tells a problem at the place of an option.
using TellProblem = std::function<void(const std::string& path, std::string text)>;

// Completes anchor and `table.name` (which is the anchor then), and tells what is wrong with `tables`. Not for pipelines of one table.
void check_routing(PipelineConfig& pipeline, const TellProblem& tell);

// The rows' schema of one entry; nothing for `from_table`. kInvalid when schema and `table.columns` do not fit.
base::Result<std::optional<columnar::Schema>> routed_row_schema(const PipelineConfig& pipeline, const RoutedTableConfig& entry);

}  // namespace frazil::app
