// Counts what a table holds, twice: by what its metadata says, and by reading one column of every file. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"

namespace frazil::app {

struct TableCount {
  int64_t rows = 0;                 // by the manifests
  int64_t rows_read = 0;            // by decoding `column` of every live file
  int64_t distinct = -1;            // values of `column`, when it is a long; -1: not counted
  std::vector<int64_t> file_bytes;  // of live data files, ascending
  std::string metadata_location;
  int64_t median_file_bytes() const { return file_bytes.empty() ? 0 : file_bytes[file_bytes.size() / 2]; }
};

// kNotFound when there is no such table. `column` may be empty: the first one.
base::Result<TableCount> count_table(iceberg::Catalog& catalog, const iceberg::TableId& id, const std::string& column);

}  // namespace frazil::app
