// Checks of one pipeline that need several of its options together, and values that follow from others. No network.
#pragma once

#include "app/config/option_tree.h"
#include "app/config/pipeline_config.h"
#include "app/config/problems.h"

namespace frazil::app {

// Completes `pipeline` (group, dead letters, schema of generated records) and adds what is wrong to `problems`.
void complete_pipeline(PipelineConfig& pipeline, const Marks& marks, const ValueContext& context);

// Makes the paths of a catalog absolute; relative ones start at `folder`. Returns what is wrong with its addresses.
std::vector<std::string> place_catalog(CatalogConfig& catalog, const std::string& folder);

// The rows' schema that `decode` and `table.columns` give together; kInvalid when they do not fit. Not for
// `from_table`.
base::Result<columnar::Schema> configured_row_schema(const PipelineConfig& pipeline);

}  // namespace frazil::app
