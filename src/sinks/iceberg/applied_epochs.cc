#include "sinks/iceberg/applied_epochs.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "iceberg/manifest.h"
#include "iceberg/scan.h"
#include "sinks/iceberg/pipeline_state.h"
#include "sinks/iceberg/void_epochs.h"

namespace frazil::sinks {
namespace {

// The manifest that the table has the entry's epoch from; empty: its snapshot is not retained, or tells of none.
std::string manifest_of_epoch(const iceberg::TableMetadata& metadata, const OwedEntry& entry, const std::string& anchor_uuid,
                              const std::string& pipeline) {
  const iceberg::Snapshot* snapshot = metadata.snapshot(OwedSnapshots{anchor_uuid, pipeline, metadata.table_uuid}.id_of(entry.epoch));
  return snapshot == nullptr ? "" : snapshot->summary_text(manifest_key(pipeline));
}

base::Result<bool> is_any_file_live(io::FileIO& io, const iceberg::TableMetadata& metadata, const OwedEntry& entry) {
  if (!metadata.current_snapshot_id) return false;
  TRY_ASSIGN(const iceberg::Manifest manifest, iceberg::read_manifest(io, entry.manifest));
  TRY_ASSIGN(const std::vector<iceberg::LiveFile> live, iceberg::live_files(io, metadata, *metadata.current_snapshot_id));
  std::set<std::string> paths;
  for (const iceberg::LiveFile& file : live) paths.insert(file.file.file_path);
  return std::any_of(manifest.entries.begin(), manifest.entries.end(),
                     [&](const iceberg::ManifestEntry& one) { return paths.contains(one.data_file.file_path); });
}

}  // namespace

base::Result<AppliedEpoch> highest_applied(iceberg::Catalog& catalog, const IcebergSinkConfig& config, const std::string& anchor_uuid) {
  std::set<iceberg::TableId> tables{config.dead_letters};
  for (const TargetConfig& target : config.targets) tables.insert(target.table);
  tables.erase(config.table);
  AppliedEpoch highest;
  for (const iceberg::TableId& table : tables) {
    const base::Result<iceberg::LoadedTable> loaded = catalog.load_table(table);
    if (!loaded.ok() && loaded.error().code() == base::Code::kNotFound) continue;
    if (!loaded.ok()) return loaded.error().in("load table " + table.text());
    const int64_t epoch = applied_epoch(loaded->metadata, config.pipeline, anchor_uuid);
    if (epoch > highest.epoch) highest = {table.text(), epoch};
  }
  return highest;
}

std::vector<OutboxMark> outbox_marks(const iceberg::TableMetadata& metadata) {
  constexpr std::string_view kBegin = "frazil.";
  constexpr std::string_view kEnd = ".applied";
  std::vector<OutboxMark> marks;
  for (const auto& [key, value] : metadata.properties) {
    if (!key.starts_with(kBegin) || !key.ends_with(kEnd) || key.size() <= kBegin.size() + kEnd.size()) continue;
    const std::string pipeline = key.substr(kBegin.size(), key.size() - kBegin.size() - kEnd.size());
    const std::string property = property_name(pipeline);
    marks.push_back({pipeline, metadata.property(property + ".anchor"), metadata.property(property + ".anchor-table")});
  }
  return marks;
}

std::string manifest_key(const std::string& pipeline) { return property_name(pipeline) + ".manifest"; }

bool came_on_another_line(const iceberg::TableMetadata& metadata, const OwedEntry& entry, const std::string& anchor_uuid,
                          const std::string& pipeline) {
  const std::string manifest = manifest_of_epoch(metadata, entry, anchor_uuid, pipeline);
  return !entry.void_epochs && !manifest.empty() && manifest != entry.manifest;
}

base::Result<bool> are_all_shown(iceberg::Catalog& catalog, const std::vector<OwedEntry>& owed, const std::string& anchor_uuid,
                                 const std::string& pipeline) {
  for (const OwedEntry& entry : owed) {
    if (entry.void_epochs) continue;
    TRY_ASSIGN(const iceberg::TableId table, iceberg::parse_table_id(entry.table));
    TRY_ASSIGN(const iceberg::LoadedTable loaded, catalog.load_table(table));
    const std::string manifest = manifest_of_epoch(loaded.metadata, entry, anchor_uuid, pipeline);
    if (manifest == entry.manifest) continue;
    if (!manifest.empty()) return false;
    TRY_ASSIGN(const bool is_live, is_any_file_live(*catalog.file_io(), loaded.metadata, entry));
    if (!is_live) return false;
  }
  return true;
}

}  // namespace frazil::sinks
