// What catalogs that keep metadata files themselves have in common: everything before the swap of the name.
//
// A staged table is a metadata file that no name points to yet. When the swap is lost, the file stays as an orphan: a
// late reader may still look at it, and only orphan removal deletes. Any thread. A failure here means that the table
// has not changed, so an unknown outcome of the FileIO becomes kUnavailable.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "io/file_io.h"

namespace frazil::iceberg {

// kInvalid unless every part is a name that all catalogs can hold: not empty, no control characters, no dot in a
// namespace (nested namespaces are joined by dots).
base::Status check_namespace(const Namespace& ns);
base::Status check_new_table_id(const TableId& id);

// <warehouse>/<namespace parts>/<name>. A part that a URI or a path would misread ('/', '?', '#', '%', "..", ...) is
// written with '_' in place of such characters and a hash of the whole, so that other engines find the files.
std::string default_table_location(const std::string& warehouse, const TableId& id);

// Writes the first metadata file of a table.
base::Result<LoadedTable> stage_table(io::FileIO& io, const std::string& warehouse, const TableId& id,
                                      const CreateTable& request);
// Checks the requirements on `base` (kConflict), applies the updates to it, writes the result.
base::Result<LoadedTable> stage_commit(io::FileIO& io, const LoadedTable& base, const TableCommit& commit);

// A metadata file that is to get a name in a catalog: kNotFound, kInvalid when it is no table metadata.
base::Result<LoadedTable> load_to_register(io::FileIO& io, const std::string& metadata_location);

// True when `ns` is `above` or lies within it.
bool is_at_or_below(const Namespace& ns, const Namespace& above);
// kInvalid: a key without a name, or one that is set and removed.
base::Status check_property_change(const Properties& set, const std::vector<std::string>& remove);

// After the swap has succeeded: removes the metadata files that the new version's log has forgotten, when the table asks for
// it (write.metadata.delete-after-commit.enabled). A file that cannot be removed stays, and is told in the log.
void remove_forgotten_metadata(io::FileIO& io, const TableMetadata& before, const TableMetadata& after);

// Finds the current metadata location of a table and reads that file. A file that has gone because the table moved on
// meanwhile is looked for again; one that is named and missing is kCorrupt.
base::Result<LoadedTable> load_current(io::FileIO& io,
                                       const std::function<base::Result<std::string>()>& current_location);

}  // namespace frazil::iceberg
