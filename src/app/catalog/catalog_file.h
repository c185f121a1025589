// Where a command that works on a catalog finds it: a file that holds the block of `table.catalog` alone, or a pipeline
// file. No network; any thread.
#pragma once

#include <optional>
#include <string>

#include "app/config/pipeline_config.h"
#include "app/config/problems.h"

namespace frazil::app {

// Reads either kind of file. Of a file with several pipelines that keep their tables in different catalogs, `pipeline`
// names the one that is meant (empty: none was named). Nothing when `problems` has errors then.
std::optional<CatalogConfig> read_catalog_of(const std::string& path, const std::string& pipeline, Problems& problems);

}  // namespace frazil::app
