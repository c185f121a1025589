#include "iceberg/scan.h"

namespace frazil::iceberg {

base::Result<ManifestList> manifests_of(io::FileIO& io, const Snapshot& snapshot) {
  if (snapshot.manifest_list.empty()) {
    return base::unsupported("snapshot " + std::to_string(snapshot.snapshot_id) + " has no manifest list");
  }
  return read_manifest_list(io, snapshot.manifest_list);
}

base::Status inherit(ManifestEntry& entry, const ManifestFile& manifest) {
  if (!entry.snapshot_id) entry.snapshot_id = manifest.added_snapshot_id;
  const bool is_added = entry.status == ManifestEntry::Status::kAdded;
  // Numbers of manifests from format version 1 are all zero, whatever the status.
  const bool may_inherit = is_added || manifest.sequence_number == 0;
  if (!may_inherit && !entry.sequence_number) {
    return base::corrupt("manifest " + manifest.manifest_path + ": file " + entry.data_file.file_path +
                         " is not new and has no sequence number");
  }
  if (!entry.sequence_number) entry.sequence_number = manifest.sequence_number;
  // Early writers of version 2 left this one out; the data's number is the nearest that is known.
  if (!entry.file_sequence_number) {
    entry.file_sequence_number = may_inherit ? manifest.sequence_number : *entry.sequence_number;
  }
  return {};
}

base::Result<std::vector<LiveFile>> live_files(io::FileIO& io, const TableMetadata& metadata, int64_t snapshot_id) {
  const Snapshot* snapshot = metadata.snapshot(snapshot_id);
  if (snapshot == nullptr) return base::not_found("the table has no snapshot " + std::to_string(snapshot_id));
  TRY_ASSIGN(const ManifestList list, manifests_of(io, *snapshot));
  std::vector<LiveFile> files;
  for (const ManifestFile& manifest : list.manifests) {
    if (manifest.added_files_count == 0 && manifest.existing_files_count == 0 && manifest.deleted_files_count > 0) continue;
    TRY_ASSIGN(Manifest content, read_manifest(io, manifest.manifest_path));
    for (ManifestEntry& entry : content.entries) {
      if (entry.status == ManifestEntry::Status::kDeleted) continue;
      TRY(inherit(entry, manifest));
      files.push_back({std::move(entry.data_file), manifest.partition_spec_id, *entry.sequence_number,
                       *entry.file_sequence_number, *entry.snapshot_id, manifest.manifest_path});
    }
  }
  return files;
}

}  // namespace frazil::iceberg
