// Append: new data files become a snapshot on a branch head. A change is a function of base metadata, run again on every
// rebase; several changes may join one commit (an expiry travels with an append).
//
// Steps: (1) take the base's current manifests; (2) write the new files' manifest once, reuse it on every rebase (sequence
// numbers are inherited, the snapshot id stays); (3) merge small manifests when the table's properties ask for it (within one spec id; entries that stay become
// EXISTING with explicit numbers); (4) write a manifest list under a name of its own for each attempt; (5) give the updates.
// Nothing is deleted here, whatever happens.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_io.h"
#include "iceberg/manifest.h"
#include "iceberg/table_update.h"

namespace frazil::iceberg {

class ManifestMerger;

// One thread; neither copied nor moved.
class Append {
 public:
  // `snapshot_id` is chosen once for all attempts.
  Append(std::shared_ptr<io::FileIO> io, int64_t snapshot_id) : io_(std::move(io)), snapshot_id_(snapshot_id) {}
  Append(const Append&) = delete;
  Append& operator=(const Append&) = delete;

  void add(DataFile file, int32_t spec_id);
  // Adopts a manifest written earlier (all entries ADDED); it is rewritten under this snapshot id.
  void add_manifest_files(const Manifest& manifest, int32_t spec_id);
  // Summary entries beyond the standard ones; replaces earlier ones.
  void set_summary(Properties extra) { extra_summary_ = std::move(extra); }
  void set_manifest_list_header(std::map<std::string, std::string> extra) { extra_header_ = std::move(extra); }
  int64_t snapshot_id() const { return snapshot_id_; }
  bool has_files() const { return !files_.empty(); }

  // Writes manifests and a manifest list for `base` and returns the snapshot: parent = base's head, sequence number =
  // last + 1, timestamp = max(now, parent's + 1, last-updated), totals in the summary carried on from the parent's.
  // Standard summary keys: operation=append, added-data-files, added-records, added-files-size,
  // changed-partition-count, total-*. An append without files is a valid empty snapshot.
  base::Result<Snapshot> prepare(const TableMetadata& base);
  // The manifest list and the merged manifests that the last prepare() wrote, with their sizes: nobody has looked yet whether the
  // store has them. New manifests are looked at where they are written, since a merge reads them; kUnavailable when one is lost.
  const std::vector<io::FileStatus>& written() const { return written_; }
  // The next prepare() writes all manifests anew, under other names: the store has lost some.
  void write_anew();

 private:
  struct Added {
    DataFile file;
    int32_t spec_id;
  };
  base::Status write_new_manifests(const TableMetadata& base, const AvroOptions& options);
  std::string next_manifest_location();

  std::shared_ptr<io::FileIO> io_;
  int64_t snapshot_id_;
  std::vector<Added> files_;
  std::vector<ManifestFile> new_manifests_;
  bool manifests_written_ = false;
  std::vector<io::FileStatus> written_;
  Properties extra_summary_;
  std::map<std::string, std::string> extra_header_;
  int attempt_ = 0;
  std::string metadata_path_;
  std::string uuid_;  // of the manifests' names
  int manifest_number_ = 0;
  std::shared_ptr<ManifestMerger> merger_;
};

// Deletes (status DELETED) every live data file for which `gone` is true; operation=delete. For voiding epochs.
// kUnavailable when the store has lost a file of it: the next attempt writes all anew.
base::Result<Snapshot> prepare_delete(std::shared_ptr<io::FileIO> io, const TableMetadata& base, int64_t snapshot_id,
                                      const std::function<bool(const DataFile&, int64_t added_snapshot_id)>& gone,
                                      const Properties& extra_summary);

// Snapshots that may be expired in the same update: older than max_age_ms, beyond min_to_keep of main's ancestry, needed by
// no ref, oldest first. Empty when gc.enabled=false.
std::vector<int64_t> expirable_snapshots(const TableMetadata& base, int64_t now_ms, int64_t max_age_ms, int min_to_keep);

}  // namespace frazil::iceberg
