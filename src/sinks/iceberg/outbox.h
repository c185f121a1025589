// Outbox: applies owed entries to the tables they are owed to, in the order of epochs, each once.
//
// 1. Take the entries of each table in order of epochs. Tables do not wait for each other.
// 2. Load the table; an entry whose epoch is not above `frazil.<name>.applied` is done already. A table that has applied more than
//    the anchor knows of, or that epoch by another manifest, is a halt (applied_epochs.h).
// 3. Commit the next entry: files appended (or void epochs deleted), `applied` set in summary and property, asserting the head
//    that `applied` was read from. The snapshot's id is made of anchor, pipeline, table and epoch (void_epochs.h).
// 4. Any answer but success: go to 2. Nothing is ever deleted from the store.
// A table that is gone, that is another one, or that refuses an entry for good is a halt; what it is owed stays owed.
// Any worker may apply; twice is harmless. Runs on the committer lane.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/expired_files.h"
#include "sinks/iceberg/iceberg_sink_config.h"
#include "sinks/iceberg/owed.h"

namespace frazil::sinks {

// A table that has not got all that it is owed, and why.
struct OwedTrouble {
  std::string table;
  base::Error error;
};

class Outbox {
 public:
  // Both outlive the outbox.
  Outbox(iceberg::Catalog& catalog, const IcebergSinkConfig& config) : catalog_(catalog), config_(config) {}

  // The anchor whose epochs the entries count. Before the first apply().
  void belong_to(const std::string& anchor_uuid) { anchor_uuid_ = anchor_uuid; }
  // Asked before the first rows of this pipeline go into a table, with the table as it is.
  using BeforeFirst = std::function<base::Status(const iceberg::TableId&, const iceberg::TableMetadata&)>;
  void ask_before_first(BeforeFirst ask) { before_first_ = std::move(ask); }
  // What the anchor, loaded just now, knows as the highest epoch ever used. A halt when a table has a higher one of it.
  base::Status note_anchor_at(int64_t highest_epoch, int64_t head);

  // Applies all entries. What had to be left, table by table, stays owed.
  std::vector<OwedTrouble> apply(std::vector<OwedEntry> owed, base::Interrupt& abandon);
  // Drops the entries that their tables are known to have applied.
  std::vector<OwedEntry> remaining(std::vector<OwedEntry> owed) const;
  // A table as it was when last loaded, here or where the pipeline was opened; nothing before.
  struct Seen {
    int32_t schema_id = 0;
    int32_t spec_id = 0;
  };
  const Seen* seen(const std::string& table) const;
  void note_seen(const std::string& table, const iceberg::TableMetadata& metadata);

 private:
  using Entries = std::deque<OwedEntry>;  // of one table, in the order of epochs
  base::Status apply_to(const std::string& table, Entries& entries);
  base::Status try_once(const iceberg::TableId& table, const Entries& entries);
  base::Result<iceberg::LoadedTable> load(const iceberg::TableId& table, const Entries& entries);
  base::Status check_dead_letter_files(const OwedEntry& entry, const iceberg::TableMetadata& metadata);
  base::Status check_anchor(const iceberg::TableMetadata& metadata);
  // A halt when `entry` is not what the table has under its number.
  bool has_come_before(const OwedEntry& entry, const iceberg::TableMetadata& metadata) const;
  base::Result<iceberg::LoadedTable> load_anchor();
  base::Status check_line(const OwedEntry& entry, const iceberg::TableMetadata& metadata, int64_t applied);
  void tell_found(const OwedEntry& entry) const;
  base::Result<iceberg::Snapshot> prepare(const OwedEntry& entry, const iceberg::TableMetadata& metadata);
  base::Result<iceberg::Snapshot> prepare_void(const OwedEntry& entry, const iceberg::TableMetadata& metadata, int64_t snapshot_id,
                                               const iceberg::Properties& summary);
  iceberg::TableCommit request(const OwedEntry& entry, const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot) const;
  void sweep(const std::string& table, const iceberg::TableMetadata& before, const iceberg::TableCommit& commit);

  iceberg::Catalog& catalog_;
  const IcebergSinkConfig& config_;
  std::string anchor_uuid_;
  BeforeFirst before_first_;
  int64_t anchor_epoch_ = 0;  // the highest that the anchor was last seen to know
  std::map<std::string, int64_t> applied_;  // by table: what it was seen to have applied; only ever grows
  std::map<std::string, int64_t> unanswered_;  // by table: the last epoch whose request had no clear answer
  std::map<std::string, Seen> seen_;
  std::map<std::string, ExpiredFiles> expired_files_;
};

}  // namespace frazil::sinks
