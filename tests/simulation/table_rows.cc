#include "tests/simulation/table_rows.h"

#include "engine/dead_letters.h"
#include "format/parquet/parquet_writer.h"
#include "iceberg/manifest.h"
#include "iceberg/scan.h"

namespace frazil::simulation {
namespace {

bool is_dead_letter_file(const std::string& location) { return location.find("dead_letters/") != std::string::npos; }

// Only the columns that name a record, by the field ids that both tables are created with.
std::shared_ptr<const columnar::Schema> name_schema(bool is_dead_letter) {
  auto schema = std::make_shared<columnar::Schema>();
  const auto add = [&](const columnar::Schema& from, const char* name) { schema->fields.push_back(*from.find(name)); };
  if (is_dead_letter) {
    for (const char* name : {"partition", "offset", "epoch"}) add(*engine::dead_letter_schema(), name);
    return schema;
  }
  columnar::Field part;
  part.id = 1;
  part.name = "part";
  part.type = columnar::Type::primitive(columnar::TypeId::kInt);
  columnar::Field ord = part;
  ord.id = 2;
  ord.name = "ord";
  ord.type = columnar::Type::primitive(columnar::TypeId::kLong);
  schema->fields = {part, ord};
  return schema;
}

}  // namespace

const std::vector<std::string>& TableRows::manifests(const iceberg::Snapshot& snapshot, std::vector<std::string>& problems) {
  const auto [entry, is_new] = manifests_.try_emplace(snapshot.manifest_list);
  if (!is_new) return entry->second;
  const auto list = iceberg::manifests_of(*store_, snapshot);
  if (!list.ok()) {
    problems.push_back("manifest list: " + list.error().message());
    return entry->second;
  }
  for (const iceberg::ManifestFile& manifest : list->manifests) entry->second.push_back(manifest.manifest_path);
  return entry->second;
}

const std::vector<std::string>& TableRows::live_files(const std::string& manifest, std::vector<std::string>& problems) {
  const auto [entry, is_new] = live_files_.try_emplace(manifest);
  if (!is_new) return entry->second;
  const auto read = iceberg::read_manifest(*store_, manifest);
  if (!read.ok()) {
    problems.push_back("manifest: " + read.error().message());
    return entry->second;
  }
  for (const iceberg::ManifestEntry& file : read->entries) {
    if (file.status != iceberg::ManifestEntry::Status::kDeleted) entry->second.push_back(file.data_file.file_path);
  }
  return entry->second;
}

const std::vector<RecordName>& TableRows::rows(const std::string& file, std::vector<std::string>& problems) {
  const auto [entry, is_new] = rows_.try_emplace(file);
  if (!is_new) return entry->second;
  const auto bytes = store_->read(file);
  if (!bytes.ok()) {
    problems.push_back("data file: " + bytes.error().message());
    return entry->second;
  }
  const bool is_dead_letter = is_dead_letter_file(file);
  const auto batches = format::read_parquet(*bytes, name_schema(is_dead_letter));
  if (!batches.ok()) {
    problems.push_back(file + ": " + batches.error().message());
    return entry->second;
  }
  for (const columnar::Batch& batch : *batches) {
    for (int64_t row = 0; row < batch.rows(); ++row) {
      entry->second.push_back({batch.columns[0].int_at(row), batch.columns[1].long_at(row),
                               is_dead_letter ? batch.columns[2].long_at(row) : 0});
    }
  }
  return entry->second;
}

std::vector<RecordName> TableRows::visible(const iceberg::TableMetadata& metadata, std::vector<std::string>& problems) {
  std::vector<RecordName> all;
  const iceberg::Snapshot* head = metadata.current_snapshot();
  if (head == nullptr) return all;
  for (const std::string& manifest : manifests(*head, problems)) {
    for (const std::string& file : live_files(manifest, problems)) {
      const std::vector<RecordName>& some = rows(file, problems);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

const std::vector<RecordName>& TableRows::of_manifest(const std::string& manifest, std::vector<std::string>& problems) {
  const auto [entry, is_new] = manifest_rows_.try_emplace(manifest);
  if (!is_new) return entry->second;
  for (const std::string& file : live_files(manifest, problems)) {
    const std::vector<RecordName>& some = rows(file, problems);
    entry->second.insert(entry->second.end(), some.begin(), some.end());
  }
  return entry->second;
}

std::vector<std::string> TableRows::referenced(const iceberg::TableMetadata& metadata, std::vector<std::string>& problems) {
  std::vector<std::string> files;
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    files.push_back(snapshot.manifest_list);
    for (const std::string& manifest : manifests(snapshot, problems)) {
      files.push_back(manifest);
      for (const std::string& file : live_files(manifest, problems)) files.push_back(file);
    }
  }
  return files;
}

}  // namespace frazil::simulation
