// Outbox: applies owed entries to the tables they are owed to, in the order of epochs, each once.
//
// 1. Take the entries of a table in order of epochs.
// 2. Load the table; an entry whose epoch is not above `frazil.<name>.applied` is done already.
// 3. Commit the next entry: files appended (or void epochs deleted), `applied` set in summary and property, asserting the head
//    that `applied` was read from.
// 4. Any answer but success: go to 2. Nothing is ever deleted from the store.
// Any worker may apply; twice is harmless. Runs on the committer lane.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/owed.h"

namespace frazil::sinks {

class Outbox {
 public:
  // `catalog` outlives the outbox.
  Outbox(iceberg::Catalog& catalog, std::string pipeline) : catalog_(catalog), pipeline_(std::move(pipeline)) {}

  // At a start most entries are applied already: a run names what it has applied until its next commit.
  enum class When { kAtStart, kAfterCommit };
  // Applies all entries; kUnavailable when some had to be left for later (they stay owed).
  base::Status apply(std::vector<OwedEntry> owed, base::Interrupt& abandon, When when = When::kAfterCommit);
  // Drops the entries that their tables are known to have applied.
  std::vector<OwedEntry> remaining(std::vector<OwedEntry> owed) const;

 private:
  base::Status apply_one(const OwedEntry& entry, base::Interrupt& abandon, When when);
  base::Result<bool> try_once(const OwedEntry& entry, const iceberg::TableId& table, int64_t snapshot_id, bool is_from_before);
  void tell_found(const OwedEntry& entry, bool is_from_before) const;
  base::Result<iceberg::Snapshot> prepare(const OwedEntry& entry, const iceberg::TableMetadata& metadata, int64_t snapshot_id);

  iceberg::Catalog& catalog_;
  const std::string pipeline_;
  std::map<std::string, int64_t> applied_;  // by table: what it was seen to have applied; only ever grows
};

}  // namespace frazil::sinks
