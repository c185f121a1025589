// Scan: the files that a snapshot makes visible, with inherited values filled in (Iceberg specification, section
// "Sequence Number Inheritance"). Any thread; reads the manifest list and every manifest with live entries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_io.h"
#include "iceberg/manifest.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

struct LiveFile {
  DataFile file;  // data or delete file: see file.content
  int32_t spec_id = 0;
  int64_t sequence_number = 0;       // of its data: which deletes apply
  int64_t file_sequence_number = 0;  // of the commit that added the file
  int64_t added_snapshot_id = 0;
  std::string manifest_path;
};

// In the order of the manifest list. kNotFound when the metadata has no such snapshot.
base::Result<std::vector<LiveFile>> live_files(io::FileIO& io, const TableMetadata& metadata, int64_t snapshot_id);
// Manifests of a snapshot, as its manifest list names them.
base::Result<ManifestList> manifests_of(io::FileIO& io, const Snapshot& snapshot);
// Fills the values that `entry` inherits from the manifest that holds it. kCorrupt when an EXISTING entry leaves them open.
base::Status inherit(ManifestEntry& entry, const ManifestFile& manifest);

}  // namespace frazil::iceberg
