// Opens the catalog that a configuration names, with the stores that hold its tables' files. Any thread.
#pragma once

#include <memory>
#include <string>

#include "app/config/pipeline_config.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "iceberg/catalog.h"

namespace frazil::app {

// How a catalog is used.
struct CatalogUse {
  std::shared_ptr<base::Interrupt> given_up;  // ends all that waits for catalog and stores; may be null
  bool writes = false;                        // a table's store is asked before the table is made
};

// Paths are absolute already. kUnavailable: not reached now. kUnsupported names a type that this version lacks.
base::Result<std::unique_ptr<iceberg::Catalog>> open_catalog(const CatalogConfig& config, const CatalogUse& use = {});

}  // namespace frazil::app
