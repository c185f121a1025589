// Owed entries: what an anchor's commit owes to other tables of its pipeline (dead letters, tables that rows are routed to).
//
// An entry lists, for one epoch and one table, the manifest of the files to append, or the epochs to void. It is written in
// the anchor's commit (summary and property), applied after it in the order of epochs, and left out once applied.
// Pure; any thread. Protocol: docs/protocol/kafka-to-iceberg.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace frazil::sinks {

struct OwedEntry {
  int64_t epoch = 0;
  std::string table;                                      // "db.orders_dead_letters"
  std::string manifest;                                   // of the files to append; empty for a void entry
  std::optional<std::pair<int64_t, int64_t>> void_epochs;  // first and last, inclusive
  std::string uuid = {};  // of the table that the files were written for; empty: not told (void entries, earlier versions)
  bool operator==(const OwedEntry&) const = default;
};

// JSON, one line: [{"epoch":5,"table":"db.t","manifest":"file:///…","uuid":"…"},{"epoch":9,"table":"db.t","void":[6,8]}].
std::string encode_owed(const std::vector<OwedEntry>& owed);
base::Result<std::vector<OwedEntry>> decode_owed(const std::string& json);

// Tables other than the anchor that a pipeline has written to, by name, with their uuids: property `frazil.<name>.tables` of the
// anchor. It tells a new process that a table was dropped or replaced, and which tables a roll-back concerns.
using KnownTables = std::map<std::string, std::string>;
std::string encode_known_tables(const KnownTables& tables);
// What cannot be read, since somebody has edited it, is passed over.
KnownTables decode_known_tables(const std::string& json);

}  // namespace frazil::sinks
