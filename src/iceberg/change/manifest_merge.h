// ManifestMerger: keeps the number of manifests small, as commit.manifest-merge.enabled, commit.manifest.min-count-to-merge
// and commit.manifest.target-size-bytes ask for. Rows stay as they are: only their entries move together.
//
// Steps, for each partition spec by itself: (1) from the oldest manifest on, pack neighbours into bins of the target size;
// (2) leave bins of one manifest, and the newest bin while it has fewer than the minimal count; (3) write the others anew:
// entries of earlier snapshots become EXISTING with explicit numbers, their DELETED entries go. They pass through one block
// at a time: a merge holds two files of the target size in their compressed form, not their entries.
// Delete manifests and encrypted ones are left alone, and so are bins whose spec names a column that is gone.
// A merged manifest is kept for the next attempt. Belongs to the change that owns it; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/manifest.h"
#include "iceberg/table_properties.h"

namespace frazil::iceberg {

class ManifestMerger {
 public:
  // `next_location` names a new manifest.
  ManifestMerger(std::shared_ptr<io::FileIO> io, int64_t snapshot_id, std::function<std::string()> next_location)
      : io_(std::move(io)), snapshot_id_(snapshot_id), next_location_(std::move(next_location)) {}

  // `manifests`: newest first. Errors are those of reading and writing.
  base::Result<std::vector<ManifestFile>> merge(const TableMetadata& base, const TableProperties& properties,
                                                std::vector<ManifestFile> manifests);

 private:
  using Bin = std::vector<ManifestFile>;
  base::Result<ManifestFile> merge_bin(const TableMetadata& base, const PartitionSpec& spec, const Bin& bin,
                                       const AvroOptions& options);
  base::Status copy_entries(const ManifestFile& manifest, ManifestFileWriter& writer);

  std::shared_ptr<io::FileIO> io_;
  int64_t snapshot_id_;
  std::function<std::string()> next_location_;
  std::map<std::vector<std::string>, ManifestFile> merged_;  // by the paths of what was merged
};

}  // namespace frazil::iceberg
