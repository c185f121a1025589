// The SQLite catalog with its connection's options, which only tests change. Everybody else calls open_sqlite_catalog
// of iceberg/catalog.h.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "iceberg/catalogs/sqlite_database.h"

namespace frazil::iceberg {

base::Result<std::unique_ptr<Catalog>> open_sqlite_catalog(const std::string& path, const std::string& catalog_name,
                                                           const std::string& warehouse, std::shared_ptr<io::FileIO> io,
                                                           const SqliteOptions& options);

}  // namespace frazil::iceberg
