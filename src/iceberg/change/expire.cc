// expirable_snapshots of append.h.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "iceberg/change/append.h"
#include "iceberg/table_properties.h"

namespace frazil::iceberg {

namespace {

struct Retention {
  int64_t oldest_kept_ms;  // snapshots from then on are kept
  int min_to_keep;
};

// Keeps a branch's head and its ancestors while they are young or few.
void keep_branch(const std::unordered_map<int64_t, const Snapshot*>& by_id, int64_t head, const Retention& retention,
                 std::set<int64_t>& kept, std::set<int64_t>& referenced) {
  std::set<int64_t> walked;
  bool keeps = true;
  for (std::optional<int64_t> at = head; at && walked.insert(*at).second;) {
    const auto found = by_id.find(*at);
    if (found == by_id.end()) return;
    const Snapshot& snapshot = *found->second;
    referenced.insert(*at);
    keeps = keeps && (walked.size() <= static_cast<size_t>(std::max(1, retention.min_to_keep)) ||
                      snapshot.timestamp_ms >= retention.oldest_kept_ms);
    if (keeps) kept.insert(*at);
    at = snapshot.parent_snapshot_id;
  }
}

}  // namespace

std::vector<int64_t> expirable_snapshots(const TableMetadata& base, int64_t now_ms, int64_t max_age_ms, int min_to_keep) {
  const auto properties = read_table_properties(base.properties, base.location);
  // Properties that make no sense are no permission to remove anything.
  if (!properties.ok() || !properties->gc_enabled) return {};
  std::unordered_map<int64_t, const Snapshot*> by_id;
  for (const Snapshot& snapshot : base.snapshots) by_id.emplace(snapshot.snapshot_id, &snapshot);
  std::set<int64_t> kept;
  std::set<int64_t> referenced;
  const int64_t oldest_kept_ms = now_ms - std::min(max_age_ms, now_ms);
  for (const auto& [name, ref] : base.refs) {
    kept.insert(ref.snapshot_id);
    referenced.insert(ref.snapshot_id);
    if (!ref.is_branch) continue;
    Retention retention{oldest_kept_ms, ref.min_snapshots_to_keep.value_or(min_to_keep)};
    if (ref.max_snapshot_age_ms) retention.oldest_kept_ms = now_ms - std::min(*ref.max_snapshot_age_ms, now_ms);
    keep_branch(by_id, ref.snapshot_id, retention, kept, referenced);
  }
  std::vector<const Snapshot*> gone;
  for (const Snapshot& snapshot : base.snapshots) {
    if (kept.contains(snapshot.snapshot_id)) continue;
    const bool is_young_stray = !referenced.contains(snapshot.snapshot_id) && snapshot.timestamp_ms >= oldest_kept_ms;
    if (!is_young_stray) gone.push_back(&snapshot);
  }
  std::stable_sort(gone.begin(), gone.end(), [](const Snapshot* a, const Snapshot* b) {
    return a->sequence_number < b->sequence_number;
  });
  std::vector<int64_t> ids;
  for (const Snapshot* snapshot : gone) ids.push_back(snapshot->snapshot_id);
  return ids;
}

}  // namespace frazil::iceberg
