// prepare_delete of append.h: takes whole data files out of the table.
#include "base/random.h"
#include "iceberg/change/append.h"
#include "iceberg/change/new_snapshot.h"
#include "iceberg/scan.h"
#include "iceberg/table_properties.h"
#include "io/stored_files.h"

namespace frazil::iceberg {

namespace {

using Gone = std::function<bool(const DataFile&, int64_t added_snapshot_id)>;

struct Marked {
  std::vector<ManifestEntry> entries;  // live ones, of which some are now DELETED
  bool has_deleted = false;
};

base::Result<Marked> mark_deleted(io::FileIO& io, const ManifestFile& manifest, int64_t snapshot_id, const Gone& gone) {
  Marked marked;
  TRY_ASSIGN(Manifest content, read_manifest(io, manifest.manifest_path));
  for (ManifestEntry& entry : content.entries) {
    if (entry.status == ManifestEntry::Status::kDeleted) continue;
    TRY(inherit(entry, manifest));
    entry.status = ManifestEntry::Status::kExisting;
    if (gone(entry.data_file, *entry.snapshot_id)) {
      entry.status = ManifestEntry::Status::kDeleted;
      entry.snapshot_id = snapshot_id;
      marked.has_deleted = true;
    }
    marked.entries.push_back(std::move(entry));
  }
  return marked;
}

}  // namespace

base::Result<Snapshot> prepare_delete(std::shared_ptr<io::FileIO> io, const TableMetadata& base, int64_t snapshot_id,
                                      const Gone& gone, const Properties& extra_summary) {
  TRY_ASSIGN(const TableProperties properties, read_table_properties(base.properties, base.location));
  ManifestList list;
  if (const Snapshot* head = base.current_snapshot()) {
    TRY_ASSIGN(list, manifests_of(*io, *head));
  }
  const std::string uuid = base::random_uuid();
  SnapshotDelta delta;
  std::vector<ManifestFile> manifests;
  std::vector<io::FileStatus> written;
  for (const ManifestFile& manifest : list.manifests) {
    const bool is_empty =
        manifest.added_files_count == 0 && manifest.existing_files_count == 0 && manifest.deleted_files_count > 0;
    if (is_empty) continue;
    if (manifest.content != 0) {
      manifests.push_back(manifest);
      continue;
    }
    TRY_ASSIGN(const Marked marked, mark_deleted(*io, manifest, snapshot_id, gone));
    if (!marked.has_deleted) {
      manifests.push_back(manifest);
      continue;
    }
    for (const ManifestEntry& entry : marked.entries) {
      if (entry.status == ManifestEntry::Status::kDeleted) delta.remove(entry.data_file, manifest.partition_spec_id);
    }
    const PartitionSpec* spec = base.spec(manifest.partition_spec_id);
    if (spec == nullptr) return base::corrupt("the table has no partition spec " + std::to_string(manifest.partition_spec_id));
    const std::string location = manifest_location(properties.metadata_path, uuid, static_cast<int>(manifests.size()));
    TRY_ASSIGN(ManifestFile rewritten, write_manifest_entries(*io, location, *base.current_schema(), *spec, snapshot_id,
                                                              marked.entries, properties.avro));
    written.push_back({location, rewritten.manifest_length, 0});
    manifests.push_back(std::move(rewritten));
  }
  Snapshot snapshot = next_snapshot(base, snapshot_id);
  snapshot.summary = delta.summary("delete", base.current_snapshot(), extra_summary);
  snapshot.manifest_list = manifest_list_location(properties.metadata_path, snapshot_id, 1);
  TRY_ASSIGN(const int64_t list_bytes, write_manifest_list(*io, snapshot.manifest_list, snapshot_id, snapshot.parent_snapshot_id,
                                                           snapshot.sequence_number, manifests, {}, properties.avro));
  written.push_back({snapshot.manifest_list, list_bytes, 0});
  TRY(io::demand_stored(*io, written));
  return snapshot;
}

}  // namespace frazil::iceberg
