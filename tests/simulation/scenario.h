// Scenario: what one seed plays. Drawn once, inside the running simulation, so that the seed decides it.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace frazil::simulation {

inline bool chance(int per_thousand) { return base::random_below(1000) < static_cast<uint64_t>(per_thousand); }
// Uniform in [first, last].
inline int64_t between(int64_t first, int64_t last) {
  return first + static_cast<int64_t>(base::random_below(static_cast<uint64_t>(last - first + 1)));
}

// Chances of faults, per thousand requests. All zero: healed.
struct Faults {
  int commit_refused = 0;      // it never left: kUnavailable
  int commit_lost = 0;         // it never arrived: kUnknownOutcome
  int answer_lost = 0;         // applied: kUnknownOutcome
  int commit_delayed = 0;      // applied after the client has got kUnknownOutcome
  int commit_doubled = 0;      // applied, and tried again: at once or later
  int load_failed = 0;
  int file_failed = 0;
  int kafka_failed = 0;
  int stalled = 0;             // a process stands still for seconds
  bool refuses_dead_letters = false;  // for a while: no commit to the dead-letter table is let through
};

struct Scenario {
  int partitions = 2;
  int records = 60;
  int workers = 1;
  bool has_group = true;
  int reader_lanes = 1;
  int writer_lanes = 1;
  bool is_partitioned = false;
  bool merges_manifests = false;
  int64_t commit_interval_ms = 500;
  int64_t history_keep_ms = 3'600'000;
  int64_t safety_ms = 20'000;
  int64_t life_ms = 6'000;       // after which a worker that has not crashed is ended in order
  int bad_records = 100;         // per thousand: no decoder takes them
  int disputed_records = 150;    // per thousand: one of two decoders takes them
  bool adds_partition = false;
  bool recreates_topic = false;
  bool rolls_back = false;
  bool changes_schema = false;
  bool forgets = false;  // the table remembers few older metadata files: an expiry soon cuts what its history tells
  bool has_outages = false;  // of commits to the dead-letter table, so that owed entries pile up
  int64_t foreign_pause_ms = 3'000;  // at most, between two foreign commits
  Faults faults;
};

Scenario draw_scenario();

}  // namespace frazil::simulation
