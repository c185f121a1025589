#include "tests/simulation/operator.h"

#include <algorithm>

#include "base/log.h"
#include "base/random.h"
#include "tests/simulation/foreign_files.h"
#include "tests/simulation/producer.h"
#include "tests/simulation/table_rows.h"

namespace frazil::simulation {
namespace {

// Halts about a table that is owed something name it first.
std::string table_of(const base::Halt& halt) { return halt.range.substr(0, halt.range.find(' ')); }

}  // namespace

std::string Operator::choice_for(const base::Halt& halt) {
  if (halt.choices.empty()) return "";
  if (halt.code == "TABLE_ROLLED_BACK" && scenario_.rolls_back()) return halt.choices[base::random_below(halt.choices.size())].name;
  if (halt.code == "OWED_ROWS_REWRITTEN" && scenario_.rolls_back()) return "leave";
  // Histories are cut, and compactions rewrite what would tell: with or without a roll-back.
  if (halt.code == "TABLE_HISTORY_LOST" && scenario_.forgets) return "source";
  if (halt.code == "WATERMARK_LOST" && scenario_.table == TableEvent::kTagRemoved) return "property";
  if (halt.code == "SOURCE_GAP" && scenario_.source == SourceEvent::kOvertaken) {
    tally_.add("KI10");
    return "skip";
  }
  if (halt.code == "SOURCE_CLUSTER_CHANGED" && scenario_.source == SourceEvent::kMoved) {
    tally_.add("KI13");
    return "same_offsets";
  }
  return "";
}

bool Operator::is_mended(const base::Halt& halt) {
  // A token, a permission.
  const bool is_refusal = halt.code == "COMMIT_REJECTED" || halt.code == "OWED_REFUSED";
  if (is_refusal && scenario_.faults.commit_rejected > 0) return true;
  if (halt.code != "OWED_ROWS_REWRITTEN") return false;
  const auto table = iceberg::parse_table_id(table_of(halt));
  const base::Result<bool> removed = table.ok() ? remove_void_rows(*table) : base::Result<bool>(false);
  return removed.ok() ? *removed : true;  // somebody was faster: once more
}

std::optional<TableMarks> Operator::void_decision(const std::string& table) const {
  const std::optional<TableMarks> newest = house_.newest_anchor_marks();
  if (!newest) return std::nullopt;
  for (const OwedMark& owed : newest->owed) {
    if (!owed.void_epochs || owed.table != table) continue;
    for (const auto& [id, snapshot] : house_.known_snapshots()) {
      const std::optional<TableMarks> marks = marks_of(snapshot);
      if (marks && marks->epoch == owed.epoch) return marks;
    }
  }
  return std::nullopt;
}

base::Result<bool> Operator::remove_void_rows(const iceberg::TableId& id) {
  const std::optional<TableMarks> decision = void_decision(id.text());
  if (!decision) return false;
  const auto keeps = [&](int32_t part, int64_t ord) {
    const auto floor = decision->next.find(part % kOtherLogParts);
    return part < 0 || (floor != decision->next.end() && ord < floor->second);
  };
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(id));
  std::vector<std::string> problems;
  const std::vector<RecordName> rows = TableRows(house_.store()->everything()).visible(loaded.metadata, problems);
  const bool is_clean = std::all_of(rows.begin(), rows.end(), [&](const RecordName& row) { return keeps(row.partition, row.offset); });
  if (is_clean) return false;  // the table stays as it is, and so does the token
  TRY(rewrite_table(house_, id, "overwrite", keeps, "foreign removal").status());
  tally_.add("routed:void-rows-removed-by-hand");
  return true;
}

}  // namespace frazil::simulation
