// ForeignActor: other programs that change the tables meanwhile, straight through the catalog and without our marks: appends,
// compactions, changed and removed properties, expiry, another branch, a new column, and, where the scenario says so, one of the
// events that a pipeline must not pass over in silence. One lane.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/interrupt.h"
#include "tests/simulation/lakehouse.h"
#include "tests/simulation/scenario.h"

namespace frazil::simulation {

class ForeignActor {
 public:
  ForeignActor(Lakehouse& house, const Scenario& scenario, Tally& tally) : house_(house), scenario_(scenario), tally_(tally) {}
  // Until stop() was called.
  void run();
  void stop() { stop_.raise(); }
  // The event of the scenario has come to pass.
  bool has_struck() const { return has_struck_; }

 private:
  void act();
  iceberg::TableId draw_table();
  // Counts: tables that rows are routed to by themselves.
  void tell(const std::string& what, const iceberg::TableId& id);
  base::Status append(const iceberg::TableId& id, const std::string& operation);
  base::Status set_property(const iceberg::TableId& id);
  base::Status remove_property(const iceberg::TableId& id);
  base::Status expire(const iceberg::TableId& id, int64_t max_age_ms);
  base::Status forget();
  base::Status add_column(const iceberg::TableId& id);
  // One rewrite of every file of a table, with the same rows.
  base::Status compact(const iceberg::TableId& id);
  base::Status commit_to_another_branch();
  // Once: the event of the scenario.
  base::Status strike();
  // `replaces`: main goes to a new child of the older snapshot, not to that snapshot itself.
  base::Status roll_back(bool replaces);
  base::Status remove_tag();
  base::Status lose_table(bool makes_another);
  void hurry();

  Lakehouse& house_;
  const Scenario& scenario_;
  Tally& tally_;
  base::Interrupt stop_;
  bool has_struck_ = false;
  base::MonoMicros loses_table_from_ = 0;
  bool has_changed_schema_ = false;
};

}  // namespace frazil::simulation
