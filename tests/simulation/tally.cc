#include "tests/simulation/tally.h"

namespace frazil::simulation {

const std::vector<std::string>& mandatory_counts() {
  static const std::vector<std::string> names{
      "commits accepted",      "commits conflicting",     "commits unknown, done",  "commits unknown, not done",
      "requests lost",         "requests delayed",        "requests doubled",       "answers lost",
      "epochs stale",          "epochs with a gap",       "crashes while loading",  "crashes while reading",
      "crashes while writing", "crashes while preparing", "crashes, commit sent",   "crashes, commit answered",
      "crashes, dead letters", "crashes, group offsets",  "rebalances",             "partitions added",
      "topics recreated",      "dead letters",            "owed applied",           "foreign commits",
      "foreign rollbacks",     "foreign property removals", "foreign expiries",      "foreign schema changes",
      "halts accepted",        "files removed",           "histories cut",
      "outages of the dead letters",
      "two workers, one group",  "two workers, no group",  "rows",
  };
  return names;
}

}  // namespace frazil::simulation
