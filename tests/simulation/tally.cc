#include "tests/simulation/tally.h"

namespace frazil::simulation {

const std::vector<std::string>& mandatory_counts() {
  static const std::vector<std::string> names{
      "commits accepted",      "commits conflicting",     "commits unknown, done",  "commits unknown, not done",
      "requests lost",         "requests delayed",        "requests doubled",       "answers lost",
      "epochs stale",          "epochs with a gap",       "crashes while loading",  "crashes while reading",
      "crashes while writing", "crashes while preparing", "crashes, commit sent",   "crashes, commit answered",
      "crashes, dead letters", "crashes, group offsets",  "eager rebalances",       "cooperative rebalances", "partitions added",
      "dead letters",            "owed applied",           "foreign commits",
      "halts accepted",        "files removed",           "histories cut",
      "outages of the dead letters",
      "several workers, one group", "several workers, no group", "several workers, two groups", "three workers", "rows",
      // Answers to commit requests, by the rows of docs/protocol/kafka-to-iceberg.md.
      "answer:200", "answer:not-sent", "answer:409", "answer:400-order", "answer:400", "answer:401", "answer:403", "answer:429-503",
      "answer:unknown",
      // Failure points of one worker and of many.
      "KI1", "KI2", "KI3", "KI4", "KI5", "KI6", "KI7", "KI8", "KI9", "KI10", "KI11", "KI12", "KI13", "KI14", "KI15", "KI16", "KI17",
      "KM1", "KM2", "KM3", "KM4", "KM6", "KM7",
      // What others do to the table.
      "foreign:append", "foreign:compaction", "foreign:expiry", "foreign:orphan-removal", "foreign:roll-back",
      "foreign:branch-replaced", "foreign:drop", "foreign:recreate", "foreign:property-removed", "foreign:tag-removed",
      "foreign:watermark-lost", "foreign:other-branch", "foreign:schema", "own:expiry",
      // Tables that rows are routed to.
      "routed:positions-table", "routed:anchor-with-rows", "routed:several-workers", "routed:rows", "routed:no-table", "routed:applied",
      "routed:unknown", "routed:late", "routed:doubled", "routed:outage", "routed:owed-over-a-crash", "crashes, routed tables",
      "routed:own-expiry", "routed:foreign:append", "routed:foreign:compaction", "routed:foreign:expiry", "routed:foreign:schema",
      "routed:roll-back-taken", "routed:roll-back-left-out", "routed:void-epochs", "halt:OWED_ROWS_REWRITTEN",
      "routed:void-rows-removed-by-hand",
  };
  return names;
}

}  // namespace frazil::simulation
