// Operator: answers halts as somebody would who has read them: picks a choice, and does before what the halt asks for. An empty
// choice: nobody expected that halt here. One for each slot.
#pragma once

#include <string>

#include "base/result.h"
#include "tests/simulation/lakehouse.h"
#include "tests/simulation/scenario.h"

namespace frazil::simulation {

class Operator {
 public:
  Operator(const Scenario& scenario, Lakehouse& house, Tally& tally) : scenario_(scenario), house_(house), tally_(tally) {}
  std::string choice_for(const base::Halt& halt);
  // Its cause is mended, or somebody else's to mend: the pipeline is started again, without an answer.
  bool is_mended(const base::Halt& halt);

 private:
  // Rows of void epochs that others have moved into files of their own leave by hand. True: some did.
  base::Result<bool> remove_void_rows(const iceberg::TableId& id);
  // Where the anchor went back to, of what a table is owed to be void; nullopt: nothing.
  std::optional<TableMarks> void_decision(const std::string& table) const;

  const Scenario& scenario_;
  Lakehouse& house_;
  Tally& tally_;
};

}  // namespace frazil::simulation
