#include "iceberg/change/append.h"

#include <algorithm>

#include "base/failpoint.h"
#include "base/random.h"
#include "iceberg/change/manifest_merge.h"
#include "iceberg/change/new_snapshot.h"
#include "iceberg/scan.h"
#include "iceberg/table_properties.h"
#include "io/stored_files.h"

namespace frazil::iceberg {

namespace {

base::Failpoint manifest_write("manifest.write", "data files are whole, their manifest is not written", base::Code::kUnavailable);
base::Failpoint manifest_list_write("manifestlist.write", "manifests are written, the manifest list is not", base::Code::kUnavailable);

// Manifests that still show files, and those of this very snapshot.
base::Result<std::vector<ManifestFile>> current_manifests(io::FileIO& io, const TableMetadata& base) {
  const Snapshot* head = base.current_snapshot();
  if (head == nullptr) return std::vector<ManifestFile>();
  TRY_ASSIGN(ManifestList list, manifests_of(io, *head));
  std::erase_if(list.manifests, [](const ManifestFile& manifest) {
    return manifest.added_files_count == 0 && manifest.existing_files_count == 0 && manifest.deleted_files_count > 0;
  });
  return std::move(list.manifests);
}

}  // namespace

void Append::add(DataFile file, int32_t spec_id) { files_.push_back({std::move(file), spec_id}); }

void Append::add_manifest_files(const Manifest& manifest, int32_t spec_id) {
  for (const ManifestEntry& entry : manifest.entries) {
    if (entry.status == ManifestEntry::Status::kAdded) add(entry.data_file, spec_id);
  }
}

std::string Append::next_manifest_location() {
  if (uuid_.empty()) uuid_ = base::random_uuid();
  return manifest_location(metadata_path_, uuid_, manifest_number_++);
}

base::Status Append::write_new_manifests(const TableMetadata& base, const AvroOptions& options) {
  if (manifests_written_) return {};
  std::map<int32_t, std::vector<DataFile>> by_spec;
  for (const Added& added : files_) by_spec[added.spec_id].push_back(added.file);
  new_manifests_.clear();  // of an attempt that failed half-way
  for (const auto& [spec_id, files] : by_spec) {
    const PartitionSpec* spec = base.spec(spec_id);
    TRY(manifest_write.pass());
    if (spec == nullptr) return base::invalid("the table has no partition spec " + std::to_string(spec_id));
    TRY_ASSIGN(ManifestFile manifest, write_manifest(*io_, next_manifest_location(), *base.current_schema(), *spec, snapshot_id_,
                                                     files, options));
    new_manifests_.push_back(std::move(manifest));
  }
  // A merge reads them back, so they are looked at before it.
  std::vector<io::FileStatus> stored;
  for (const ManifestFile& manifest : new_manifests_) stored.push_back({manifest.manifest_path, manifest.manifest_length, 0});
  TRY(io::demand_stored(*io_, stored));
  manifests_written_ = true;
  return {};
}

base::Result<Snapshot> Append::prepare(const TableMetadata& base) {
  TRY_ASSIGN(const TableProperties properties, read_table_properties(base.properties, base.location));
  metadata_path_ = properties.metadata_path;
  TRY(write_new_manifests(base, properties.avro));
  std::vector<ManifestFile> manifests = new_manifests_;
  TRY_ASSIGN(const auto earlier, current_manifests(*io_, base));
  manifests.insert(manifests.end(), earlier.begin(), earlier.end());
  if (merger_ == nullptr) {
    // Lives in this object and no longer than it.
    merger_ = std::make_shared<ManifestMerger>(io_, snapshot_id_, [this] { return next_manifest_location(); });
  }
  TRY_ASSIGN(manifests, merger_->merge(base, properties, std::move(manifests)));

  Snapshot snapshot = next_snapshot(base, snapshot_id_);
  SnapshotDelta delta;
  for (const Added& added : files_) delta.add(added.file, added.spec_id);
  snapshot.summary = delta.summary("append", base.current_snapshot(), extra_summary_);
  snapshot.manifest_list = manifest_list_location(metadata_path_, snapshot_id_, ++attempt_);
  TRY(manifest_list_write.pass());
  TRY_ASSIGN(const int64_t list_bytes,
             write_manifest_list(*io_, snapshot.manifest_list, snapshot_id_, snapshot.parent_snapshot_id, snapshot.sequence_number,
                                 manifests, extra_header_, properties.avro));
  written_ = {{snapshot.manifest_list, list_bytes, 0}};
  for (const ManifestFile& manifest : manifests) {
    const bool is_known = std::any_of(new_manifests_.begin(), new_manifests_.end(), [&](const ManifestFile& known) {
      return known.manifest_path == manifest.manifest_path;
    });
    if (manifest.added_snapshot_id == snapshot_id_ && !is_known) written_.push_back({manifest.manifest_path, manifest.manifest_length, 0});
  }
  return snapshot;
}

void Append::write_anew() {
  manifests_written_ = false;
  merger_.reset();
}

}  // namespace frazil::iceberg
