#include "sinks/iceberg/void_epochs.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "iceberg/manifest.h"
#include "iceberg/scan.h"
#include "sinks/iceberg/marks.h"

namespace frazil::sinks {
namespace {

constexpr int64_t kEarlierEpochs = 100'000;  // that are recognised, to tell what came before

class EpochFinder {
 public:
  EpochFinder(io::FileIO& io, const iceberg::TableMetadata& metadata, const OwedSnapshots& ids, int64_t first, int64_t last)
      : io_(io), metadata_(metadata), first_(first) {
    for (int64_t epoch = std::max<int64_t>(1, first - kEarlierEpochs); epoch <= last; ++epoch) epochs_[ids.id_of(epoch)] = epoch;
  }

  base::Result<FilesOfEpochs> find() {
    if (!metadata_.current_snapshot_id) return std::move(found_);
    TRY_ASSIGN(live_, iceberg::live_files(io_, metadata_, *metadata_.current_snapshot_id));
    std::erase_if(live_, [](const iceberg::LiveFile& file) { return file.file.content != iceberg::FileContent::kData; });
    for (const iceberg::LiveFile& file : live_) {
      live_paths_.insert(file.file.file_path);
      note_earlier(file.added_snapshot_id, file.file_sequence_number);
      if (!is_wanted(file.added_snapshot_id)) continue;
      found_.paths.insert(file.file.file_path);
      found_.rows += file.file.record_count;
    }
    for (const iceberg::Snapshot& snapshot : metadata_.snapshots) note_earlier(snapshot.snapshot_id, snapshot.sequence_number);
    if (walk()) {
      TRY(check_line());
    } else {
      check_origins();
    }
    return std::move(found_);
  }

 private:
  // 0: no epoch of ours.
  int64_t epoch_of(int64_t snapshot_id) const {
    const auto known = epochs_.find(snapshot_id);
    return known == epochs_.end() ? 0 : known->second;
  }
  bool is_wanted(int64_t snapshot_id) const { return epoch_of(snapshot_id) >= first_; }
  void note_earlier(int64_t snapshot_id, int64_t sequence_number) {
    const int64_t epoch = epoch_of(snapshot_id);
    if (epoch != 0 && epoch < first_) before_ = std::max(before_, sequence_number);
  }

  // From the head, newest first, down to what came before. True: nothing is missing in between.
  bool walk() {
    for (const iceberg::Snapshot* at = metadata_.current_snapshot(); at != nullptr;) {
      if (at->sequence_number <= before_) return true;
      line_.push_back(at);
      if (!at->parent_snapshot_id) return at->sequence_number == 1;
      at = metadata_.snapshot(*at->parent_snapshot_id);
    }
    return false;
  }

  // What came with other rows than ours: our own appends, those of other pipelines, and whatever adds nothing. Anybody else's append
  // may bring back rows that a delete before or after it took away: an overwrite in two snapshots.
  bool may_hold_our_rows(const iceberg::Snapshot& snapshot) const {
    const std::string does = snapshot.summary_text("operation");
    if (does == "delete") return false;
    return does != "append" || (epoch_of(snapshot.snapshot_id) == 0 && snapshot.summary_text(kPipelineKey).empty());
  }

  base::Status check_line() {
    const iceberg::Snapshot* rewriting = nullptr;  // the oldest one above the snapshot in hand that may hold our rows
    for (const iceberg::Snapshot* snapshot : line_) {
      if (is_wanted(snapshot->snapshot_id) && rewriting != nullptr) {
        TRY_ASSIGN(const std::string missing, missing_file_of(*snapshot));
        if (!missing.empty()) {
          found_.problem = "file " + missing + " of epoch " + std::to_string(epoch_of(snapshot->snapshot_id)) +
                           " is gone, and snapshot " + std::to_string(rewriting->snapshot_id) + " (" + rewriting->summary_text("operation") +
                           ") wrote files after it was added";
          return {};
        }
      }
      if (may_hold_our_rows(*snapshot)) rewriting = snapshot;
    }
    return {};
  }

  base::Result<std::string> missing_file_of(const iceberg::Snapshot& snapshot) {
    TRY_ASSIGN(const iceberg::ManifestList list, iceberg::manifests_of(io_, snapshot));
    for (const iceberg::ManifestFile& file : list.manifests) {
      if (file.added_snapshot_id != snapshot.snapshot_id || file.content != 0) continue;
      TRY_ASSIGN(const iceberg::Manifest manifest, iceberg::read_manifest(io_, file.manifest_path));
      for (const iceberg::ManifestEntry& entry : manifest.entries) {
        if (entry.status != iceberg::ManifestEntry::Status::kAdded) continue;
        if (!live_paths_.contains(entry.data_file.file_path)) return entry.data_file.file_path;
      }
    }
    return std::string();
  }

  void check_origins() {
    for (const iceberg::LiveFile& file : live_) {
      if (file.file_sequence_number <= before_ || epoch_of(file.added_snapshot_id) != 0) continue;
      const iceberg::Snapshot* origin = metadata_.snapshot(file.added_snapshot_id);
      if (origin != nullptr && !may_hold_our_rows(*origin)) continue;
      found_.problem = "file " + file.file.file_path + " was added by snapshot " + std::to_string(file.added_snapshot_id) +
                       ", which is not of this pipeline, and the history since those epochs is no longer whole: it may hold their rows";
      return;
    }
  }

  io::FileIO& io_;
  const iceberg::TableMetadata& metadata_;
  const int64_t first_;
  std::unordered_map<int64_t, int64_t> epochs_;  // by snapshot id
  std::vector<iceberg::LiveFile> live_;
  std::set<std::string> live_paths_;
  int64_t before_ = 0;  // no row of the wanted epochs has this sequence number or a lower one
  std::vector<const iceberg::Snapshot*> line_;
  FilesOfEpochs found_;
};

}  // namespace

int64_t OwedSnapshots::id_of(int64_t epoch) const {
  const std::string text = anchor_uuid + "\n" + pipeline + "\n" + table_uuid + "\n" + std::to_string(epoch);
  const auto id = static_cast<int64_t>(base::xxh64(text) & INT64_MAX);
  return id == 0 ? 1 : id;
}

base::Result<FilesOfEpochs> files_of_epochs(io::FileIO& io, const iceberg::TableMetadata& metadata, const OwedSnapshots& ids,
                                            int64_t first, int64_t last) {
  return EpochFinder(io, metadata, ids, first, last).find();
}

}  // namespace frazil::sinks
