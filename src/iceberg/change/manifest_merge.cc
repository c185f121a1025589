#include "iceberg/change/manifest_merge.h"

#include <algorithm>

#include "base/failpoint.h"
#include "iceberg/scan.h"

namespace frazil::iceberg {

namespace {

base::Failpoint merge_point("manifest.merge", "manifests of a commit are about to be merged into one", base::Code::kUnavailable);

bool can_merge(const ManifestFile& manifest) { return manifest.content == 0 && !manifest.key_metadata; }

// Bins of neighbours, newest first, packed from the oldest on.
std::vector<std::vector<ManifestFile>> pack(const std::vector<ManifestFile>& newest_first, int64_t target_bytes) {
  std::vector<std::vector<ManifestFile>> bins;
  int64_t bytes = 0;
  for (auto manifest = newest_first.rbegin(); manifest != newest_first.rend(); ++manifest) {
    if (bins.empty() || bytes + manifest->manifest_length > target_bytes) {
      bins.emplace_back();
      bytes = 0;
    }
    bins.back().push_back(*manifest);
    bytes += manifest->manifest_length;
  }
  for (auto& bin : bins) std::reverse(bin.begin(), bin.end());
  std::reverse(bins.begin(), bins.end());
  return bins;
}

}  // namespace

base::Result<std::vector<ManifestFile>> ManifestMerger::merge(const TableMetadata& base, const TableProperties& properties,
                                                              std::vector<ManifestFile> manifests) {
  if (!properties.manifest_merge || manifests.empty()) return manifests;
  const std::string newest = manifests.front().manifest_path;
  std::map<int32_t, Bin, std::greater<>> by_spec;
  std::vector<ManifestFile> left_alone;
  for (ManifestFile& manifest : manifests) {
    Bin& group = can_merge(manifest) ? by_spec[manifest.partition_spec_id] : left_alone;
    group.push_back(std::move(manifest));
  }
  std::vector<ManifestFile> result;
  for (const auto& [spec_id, group] : by_spec) {
    const PartitionSpec* spec = base.spec(spec_id);
    const bool is_writable = spec != nullptr && partition_types(*spec, *base.current_schema()).ok();
    for (const Bin& bin : pack(group, properties.manifest_target_bytes)) {
      const bool is_newest = bin.front().manifest_path == newest;
      const bool is_small = is_newest && bin.size() < static_cast<size_t>(properties.manifest_min_count_to_merge);
      if (bin.size() == 1 || is_small || !is_writable) {
        result.insert(result.end(), bin.begin(), bin.end());
        continue;
      }
      TRY_ASSIGN(ManifestFile merged, merge_bin(base, *spec, bin, properties.avro));
      result.push_back(std::move(merged));
    }
  }
  result.insert(result.end(), left_alone.begin(), left_alone.end());
  return result;
}

base::Result<ManifestFile> ManifestMerger::merge_bin(const TableMetadata& base, const PartitionSpec& spec, const Bin& bin,
                                                     const AvroOptions& options) {
  std::vector<std::string> paths;
  for (const ManifestFile& manifest : bin) paths.push_back(manifest.manifest_path);
  if (const auto known = merged_.find(paths); known != merged_.end()) return known->second;
  TRY_ASSIGN(const auto writer, ManifestFileWriter::open(*base.current_schema(), spec, snapshot_id_, 0, options));
  TRY(merge_point.pass());
  for (const ManifestFile& manifest : bin) TRY(copy_entries(manifest, *writer));
  TRY_ASSIGN(ManifestFile merged, writer->finish(*io_, next_location_()));
  merged_.emplace(std::move(paths), merged);
  return merged;
}

base::Status ManifestMerger::copy_entries(const ManifestFile& manifest, ManifestFileWriter& writer) {
  using EntryStatus = ManifestEntry::Status;
  return visit_manifest(*io_, manifest.manifest_path, [&](ManifestEntry entry) -> base::Status {
    if (manifest.sequence_number != kUnassignedSequence) TRY(inherit(entry, manifest));
    const bool is_ours = entry.snapshot_id.value_or(manifest.added_snapshot_id) == snapshot_id_;
    if (entry.status == EntryStatus::kDeleted && !is_ours) return {};
    if (entry.status == EntryStatus::kAdded && !is_ours) entry.status = EntryStatus::kExisting;
    return writer.add(entry);
  });
}

}  // namespace frazil::iceberg
