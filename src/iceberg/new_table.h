// The first metadata of a table: what CREATE TABLE means (Iceberg specification, sections "Table Metadata" and "Schemas").
// Pure, apart from the random table uuid; any thread. Catalogs that keep metadata files themselves call it, then write the
// result with metadata_file.h; a REST catalog does this on its server.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

// Fresh column ids from 1, partition field ids from 1000, spec id 0, sort order id 1 (0 when unsorted), schema id 0.
// `location` wins over `request.location`; a trailing slash is dropped. "format-version" is taken out of the properties
// (absent or "2"; other versions: kUnsupported). kInvalid: a source id that the schema lacks, a transform that does not fit
// its column, names that collide, a property whose value makes no sense.
base::Result<TableMetadata> new_table_metadata(const CreateTable& request, const std::string& location, int64_t now_ms);

}  // namespace frazil::iceberg
