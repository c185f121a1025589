// Opens the catalog that a configuration names, with the stores that hold its tables' files. Any thread.
#pragma once

#include <memory>
#include <string>

#include "app/config/pipeline_config.h"
#include "base/result.h"
#include "iceberg/catalog.h"
#include "io/scheme_file_io.h"

namespace frazil::app {

// Paths are absolute already. kUnavailable: not reached now. kUnsupported names a type that this version lacks.
base::Result<std::unique_ptr<iceberg::Catalog>> open_catalog(const CatalogConfig& config);

// The stores of a catalog, by the schemes of locations; of a catalog over the network local files only below the allowed roots.
io::SchemeFileIOConfig file_io_config(const CatalogConfig& config);

}  // namespace frazil::app
