#include "sinks/iceberg/expired_files.h"

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "iceberg/scan.h"

namespace frazil::sinks {
namespace {

base::Failpoint expire_delete("expire.delete", "snapshots are expired, a file of theirs is about to be removed");

constexpr size_t kWaitingAtMost = 20'000;
constexpr int kRemovedAtOnce = 100;

using SnapshotIds = std::set<int64_t>;

// The oldest retained snapshot, when all retained ones are ancestors of the head; else null.
const iceberg::Snapshot* oldest_of_one_line(const iceberg::TableMetadata& before, const SnapshotIds& removed) {
  const iceberg::Snapshot* oldest = nullptr;
  size_t retained = 0;
  for (const iceberg::Snapshot* at = before.current_snapshot(); at != nullptr && !removed.contains(at->snapshot_id);) {
    oldest = at;
    ++retained;
    at = at->parent_snapshot_id ? before.snapshot(*at->parent_snapshot_id) : nullptr;
  }
  return retained + removed.size() == before.snapshots.size() ? oldest : nullptr;
}

bool add_manifests(io::FileIO& io, const iceberg::Snapshot& snapshot, std::set<std::string>& manifests) {
  const auto list = iceberg::manifests_of(io, snapshot);
  if (!list.ok()) return false;
  for (const iceberg::ManifestFile& manifest : list->manifests) manifests.insert(manifest.manifest_path);
  return true;
}

}  // namespace

void ExpiredFiles::note(io::FileIO& io, const iceberg::TableMetadata& before, const std::vector<int64_t>& removed) {
  const SnapshotIds gone(removed.begin(), removed.end());
  std::set<std::string> files;
  std::set<std::string> kept;
  const iceberg::Snapshot* oldest = oldest_of_one_line(before, gone);
  const bool knows_manifests = oldest != nullptr && add_manifests(io, *oldest, kept);
  for (const int64_t id : removed) {
    const iceberg::Snapshot* snapshot = before.snapshot(id);
    if (snapshot == nullptr) continue;
    if (knows_manifests && !add_manifests(io, *snapshot, files)) continue;
    files.insert(snapshot->manifest_list);
  }
  const base::MonoMicros due = base::deadline_after(keep_micros_);
  for (const std::string& file : files) {
    if (!kept.contains(file) && waiting_.size() < kWaitingAtMost) waiting_.push_back({due, file});
  }
}

void ExpiredFiles::sweep(io::FileIO& io) {
  const base::MonoMicros now = base::mono_micros();
  for (int removed = 0; removed < kRemovedAtOnce && !waiting_.empty() && waiting_.front().due <= now; ++removed) {
    expire_delete.pass_by();
    const base::Status status = io.remove(waiting_.front().location);
    if (!status.ok()) {
      base::log_warn("expired_file_not_removed", {{"file", waiting_.front().location}, {"why", status.error().message()}});
    }
    waiting_.pop_front();
  }
}

}  // namespace frazil::sinks
