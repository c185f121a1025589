// ForeignActor: other programs that change the tables meanwhile, straight through the catalog and without our marks: appends,
// rewrites, changed and removed properties, expiry, a new column, and, where the scenario says so, one roll-back. One lane.
#pragma once

#include <cstdint>

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

 private:
  void act();
  base::Status append(const iceberg::TableId& id, const std::string& operation);
  base::Status set_property(const iceberg::TableId& id);
  base::Status remove_property(const iceberg::TableId& id);
  base::Status expire(int64_t max_age_ms);
  base::Status forget();
  base::Status add_column();
  base::Status roll_back();

  Lakehouse& house_;
  const Scenario& scenario_;
  Tally& tally_;
  base::Interrupt stop_;
  bool has_rolled_back_ = false;
  bool has_changed_schema_ = false;
};

}  // namespace frazil::simulation
