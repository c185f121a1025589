#include "iceberg/table_metadata.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/check.h"

namespace frazil::iceberg {

const Snapshot* TableMetadata::snapshot(int64_t id) const {
  // The newest are asked for most.
  const auto found =
      std::find_if(snapshots.rbegin(), snapshots.rend(), [id](const Snapshot& snapshot) { return snapshot.snapshot_id == id; });
  return found == snapshots.rend() ? nullptr : &*found;
}

const Snapshot* TableMetadata::current_snapshot() const {
  return current_snapshot_id ? snapshot(*current_snapshot_id) : nullptr;
}

std::shared_ptr<const columnar::Schema> TableMetadata::current_schema() const { return schema(current_schema_id); }

std::shared_ptr<const columnar::Schema> TableMetadata::schema(int32_t id) const {
  for (const auto& schema : schemas) {
    if (schema->schema_id == id) return schema;
  }
  return nullptr;
}

const PartitionSpec* TableMetadata::spec(int32_t id) const {
  for (const PartitionSpec& spec : specs) {
    if (spec.spec_id == id) return &spec;
  }
  return nullptr;
}

const PartitionSpec& TableMetadata::default_spec() const {
  const PartitionSpec* found = spec(default_spec_id);
  CHECK(found != nullptr);  // reading metadata has verified it
  return *found;
}

std::string Snapshot::summary_text(const std::string& key) const {
  const auto found = summary.find(key);
  return found == summary.end() ? "" : found->second;
}

int64_t Snapshot::summary_number(const std::string& key) const {
  const std::string text = summary_text(key);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool TableMetadata::is_ancestor(int64_t ancestor, int64_t descendant) const {
  if (ancestor == descendant) return snapshot(descendant) != nullptr;
  std::unordered_map<int64_t, std::optional<int64_t>> parents;
  for (const Snapshot& snapshot : snapshots) parents.emplace(snapshot.snapshot_id, snapshot.parent_snapshot_id);
  // Foreign metadata may hold a circle: no walk is longer than the number of snapshots.
  std::optional<int64_t> at = descendant;
  for (size_t steps = 0; at && steps <= parents.size(); ++steps) {
    const auto found = parents.find(*at);
    if (found == parents.end()) return false;
    if (*at == ancestor) return true;
    at = found->second;
  }
  return false;
}

std::string TableMetadata::property(const std::string& key, const std::string& otherwise) const {
  const auto found = properties.find(key);
  return found == properties.end() ? otherwise : found->second;
}

}  // namespace frazil::iceberg
