// RowCounts: where each record of the topic is in one state of the tables: as a row that a head shows, or as one that the anchor owes to
// another table. What is owed to be void counts as gone already. Reads files; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/lakehouse.h"
#include "tests/simulation/table_marks.h"
#include "tests/simulation/table_rows.h"

namespace frazil::simulation {

struct Seen {
  int anchor = 0;
  int dead = 0;
  std::array<int, kRoutedTables> routed{};
  std::vector<int32_t> parts;  // by which its rows name themselves
  int total() const { return anchor + dead + routed[0] + routed[1]; }
};
using Counts = std::map<std::pair<int32_t, int64_t>, Seen>;  // by partition and offset
// From which positions on rows are void: by the epoch of the void entries, then by partition.
using VoidFloors = std::map<int64_t, std::map<int32_t, int64_t>>;

class RowCounts {
 public:
  // All outlive it.
  RowCounts(TableRows& rows, const VoidFloors& floors, std::vector<std::string>& problems)
      : rows_(rows), floors_(floors), problems_(problems) {}
  Counts count(const TablesState& state, const TableMarks& newest);

 private:
  void count_dead_letters(const iceberg::TableMetadata* table, const TableMarks& newest, Counts& counts);
  void count_routed(size_t place, const iceberg::TableMetadata* table, const TableMarks& newest, Counts& counts);
  bool is_below_floors(const RecordName& row, const std::vector<OwedMark>& owed) const;

  TableRows& rows_;
  const VoidFloors& floors_;
  std::vector<std::string>& problems_;
};

}  // namespace frazil::simulation
