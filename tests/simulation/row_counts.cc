#include "tests/simulation/row_counts.h"

#include <algorithm>

#include "tests/simulation/producer.h"

namespace frazil::simulation {
namespace {

// What a table is owed and has not applied.
std::vector<OwedMark> unapplied(const TableMarks& newest, const std::string& table, const iceberg::TableMetadata* metadata) {
  const int64_t applied = metadata == nullptr ? 0 : applied_of(*metadata);
  std::vector<OwedMark> owed;
  std::copy_if(newest.owed.begin(), newest.owed.end(), std::back_inserter(owed),
               [&](const OwedMark& entry) { return entry.table == table && entry.epoch > applied; });
  return owed;
}

bool is_void(const std::vector<OwedMark>& owed, int64_t epoch) {
  return std::any_of(owed.begin(), owed.end(), [&](const OwedMark& entry) {
    return entry.void_epochs && entry.epoch > epoch && entry.void_epochs->first <= epoch && epoch <= entry.void_epochs->second;
  });
}

Seen& seen_of(const RecordName& row, Counts& counts) {
  Seen& seen = counts[{row.partition % kOtherLogParts, row.offset}];
  seen.parts.push_back(row.partition);
  return seen;
}

}  // namespace

Counts RowCounts::count(const TablesState& state, const TableMarks& newest) {
  Counts counts;
  for (const RecordName& row : rows_.visible(*state.anchor, problems_)) {
    if (row.partition >= 0) ++seen_of(row, counts).anchor;
  }
  count_dead_letters(state.dead_letters.get(), newest, counts);
  for (size_t place = 0; place < kRoutedTables; ++place) count_routed(place, state.routed[place].get(), newest, counts);
  return counts;
}

void RowCounts::count_dead_letters(const iceberg::TableMetadata* table, const TableMarks& newest, Counts& counts) {
  const std::vector<OwedMark> owed = unapplied(newest, kDeadLetters.text(), table);
  const auto add = [&](const std::vector<RecordName>& rows) {
    for (const RecordName& row : rows) {
      if (!is_void(owed, row.epoch)) ++counts[{row.partition, row.offset}].dead;
    }
  };
  if (table != nullptr) add(rows_.visible(*table, problems_));
  for (const OwedMark& entry : owed) {
    if (!entry.void_epochs) add(rows_.of_manifest(entry.manifest, problems_));
  }
}

// Rows do not hold their epoch: what lies beyond the positions to which the anchor went back is of the epochs that are void.
void RowCounts::count_routed(size_t place, const iceberg::TableMetadata* table, const TableMarks& newest, Counts& counts) {
  const std::vector<OwedMark> owed = unapplied(newest, routed_tables()[place].text(), table);
  if (table != nullptr) {
    for (const RecordName& row : rows_.visible(*table, problems_)) {
      if (row.partition >= 0 && is_below_floors(row, owed)) ++seen_of(row, counts).routed[place];
    }
  }
  for (const OwedMark& entry : owed) {
    if (entry.void_epochs || is_void(owed, entry.epoch)) continue;
    for (const RecordName& row : rows_.of_manifest(entry.manifest, problems_)) ++seen_of(row, counts).routed[place];
  }
}

bool RowCounts::is_below_floors(const RecordName& row, const std::vector<OwedMark>& owed) const {
  return std::all_of(owed.begin(), owed.end(), [&](const OwedMark& entry) {
    const auto floors = floors_.find(entry.epoch);
    if (!entry.void_epochs || floors == floors_.end()) return true;
    const auto floor = floors->second.find(row.partition % kOtherLogParts);
    return floor != floors->second.end() && row.offset < floor->second;
  });
}

}  // namespace frazil::simulation
