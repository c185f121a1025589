// Oracle: judges every state that the tables went through.
//
// 1. Property and tag name the newest snapshot that carries positions, unless somebody took the property away or rolled back.
// 2. Each commit of the pipeline begins where the one before it ended, and covers exactly what its ranges say; epochs grow.
// 3. Each record below the frontier is there exactly once: in the table that its row is for, among the dead letters, or owed to one of
//    them; plain records as rows, bad ones as dead letters. Nothing else is there: no record beyond the frontier, none of a
//    transaction that was aborted, none of another topic. A roll-back that was answered with `table` takes the rows of its
//    epochs out of every table, one that was answered with `source` leaves them in all but the anchor.
// 4. What is owed to a table is applied in the order of epochs, each once.
// 5. Every file that a retained snapshot of the last state names exists.
// After a roll-back that nobody has answered, 1 to 3 rest. Records that retention removed and an operator left out are nowhere. Runs when the simulation is over; one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/lakehouse.h"
#include "tests/simulation/row_counts.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_kafka.h"
#include "tests/simulation/table_marks.h"
#include "tests/simulation/table_rows.h"

namespace frazil::simulation {

class Oracle {
 public:
  // `topic`: as the table may have seen it. `scenario`: which events are no fault of the pipeline.
  Oracle(const Lakehouse& house, SimTopic topic, const Scenario& scenario, Tally& tally)
      : house_(house),
        topic_(std::move(topic)),
        scenario_(scenario),
        may_roll_back_(scenario.rolls_back()),
        may_forget_(scenario.forgets),
        tally_(tally),
        rows_(house.store()->everything()),
        counts_(rows_, floors_, problems_) {}

  // Problems in order of time, at most a few. `must_be_complete`: the last state holds every record, and owes nothing.
  std::vector<std::string> judge(bool must_be_complete);

 private:
  void judge_state(const TablesState& state);
  bool is_rolled_back(const TablesState& state, const TableMarks& newest);
  void judge_step(const TableMarks& newest);
  void judge_decision(const TableMarks& newest);
  void judge_ranges(const TableMarks& newest);
  // A decision moved positions over records that retention had removed.
  bool is_skip(const TableMarks& newest, int32_t partition, int64_t before, int64_t next);
  void judge_rows(const TablesState& state, const TableMarks& newest);
  void judge_record(int32_t partition, int64_t offset, const Seen& seen, int64_t frontier);
  // Rows that a roll-back took and an operator left out: of the anchor alone.
  bool is_well_left_out(const std::string& value, const Seen& seen) const;
  void judge_place(int32_t partition, int64_t offset, const std::string& value, const Seen& seen);
  void judge_outbox(const iceberg::TableId& table, const iceberg::TableMetadata& metadata);
  void judge_files(const iceberg::TableMetadata& metadata);
  void judge_completeness(const TablesState& last);
  void judge_positions(const TableMarks& newest);
  void count_end(const TablesState& last);
  bool is_left_out(int32_t partition, int64_t offset) const;
  int32_t part_named_by(int32_t partition, int64_t offset) const;
  bool is_skipped(int32_t partition, int64_t offset) const;
  void problem(const std::string& text);

  const Lakehouse& house_;
  const SimTopic topic_;
  const Scenario& scenario_;
  const bool may_roll_back_;
  const bool may_forget_;  // a roll-back that took no row may have left no trace
  Tally& tally_;
  TableRows rows_;
  std::string where_;
  std::vector<std::string> problems_;
  std::optional<TableMarks> last_;         // of the state before
  std::optional<TableMarks> rolled_from_;  // what a roll-back took away
  int64_t highest_epoch_ = 0;
  bool has_strays_ = false;  // records that no table took
  VoidFloors floors_;
  RowCounts counts_;
  struct Outbox {
    int64_t snapshot = 0;  // that was looked at last
    int64_t applied = 0;
  };
  std::map<iceberg::TableId, Outbox> outboxes_;
  std::vector<std::pair<int32_t, std::pair<int64_t, int64_t>>> left_out_;  // by an operator's choice
  std::map<int32_t, std::pair<int64_t, int64_t>> skipped_;                 // by partition: removed by retention
};

}  // namespace frazil::simulation
