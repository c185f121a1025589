// Scenario: what one seed plays. Drawn once, inside the running simulation, so that the seed decides it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"

namespace frazil::simulation {

// Goes up whenever a seed's meaning changes. tests/simulation/seeds.txt tells for each seed which one it was found in.
inline constexpr int kScenarioVersion = 4;

inline bool chance(int per_thousand) { return base::random_below(1000) < static_cast<uint64_t>(per_thousand); }
// Uniform in [first, last].
inline int64_t between(int64_t first, int64_t last) {
  return first + static_cast<int64_t>(base::random_below(static_cast<uint64_t>(last - first + 1)));
}

// Chances of faults, per thousand requests. All zero: healed.
struct Faults {
  int commit_not_sent = 0;     // it never left
  int commit_lost = 0;         // it never arrived, and nobody answers, or something in between does
  int answer_lost = 0;         // applied, and the answer says nothing
  int commit_throttled = 0;    // 429 or 503, applied or not
  int commit_rejected = 0;     // 400, 401, 403 and their like: not applied, for good
  int commit_delayed = 0;      // applied after the client has got kUnknownOutcome
  int commit_doubled = 0;      // applied, and tried again: at once or later
  int load_failed = 0;
  int file_failed = 0;
  int file_damaged = 0;        // reported as stored: short, or not there
  int kafka_failed = 0;
  int stalled = 0;             // a process stands still for seconds
  bool refuses_dead_letters = false;  // for a while: no commit to the dead-letter table is let through
  std::optional<size_t> refuses_routed;  // the same of one table that rows are routed to
};

// What happens to the topic, beside records, leader changes and new partitions.
enum class SourceEvent {
  kNone,
  kRecreated,  // deleted and made again under its name
  kTruncated,  // an unclean election: the log loses records that the table has, and gets others at their offsets
  kRestored,   // from a backup: the log ends below the table's position, leader epochs are what they were
  kOvertaken,  // retention removes records before they were read
  kMoved,      // the cluster gives itself another id; ids of topics and offsets are the same
};

// What somebody does to the anchor table, beside commits that harm nobody.
enum class TableEvent {
  kNone,
  kRolledBack,
  kBranchReplaced,  // main goes to another child of an older snapshot
  kTagRemoved,      // and sometimes the snapshot that it kept
  kDropped,
  kRecreated,
};

// Which tables the pipeline has, beside its dead letters.
enum class Routing {
  kNone,                // one
  kAnchorTakesTheRest,  // the anchor, and others that take their kinds of rows first
  kPositionsTable,      // others; the anchor holds positions and no row
};

struct Scenario {
  int partitions = 2;
  int records = 60;
  int workers = 1;
  bool has_group = true;
  bool has_two_groups = false;   // by mistake: every second worker is in a group of its own
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
  bool forgets_group_offsets = false;
  bool has_storms = false;       // rebalances that follow each other
  Routing routing = Routing::kNone;
  SourceEvent source = SourceEvent::kNone;
  TableEvent table = TableEvent::kNone;
  bool changes_schema = false;
  bool is_busy = false;          // another program commits many times a second, for a while
  bool forgets = false;  // the table remembers few older metadata files: an expiry soon cuts what its history tells
  bool has_outages = false;  // of commits to the dead-letter table and to others beside the anchor, so that owed entries pile up
  int64_t foreign_pause_ms = 3'000;  // at most, between two foreign commits
  Faults faults;

  bool is_routed() const { return routing != Routing::kNone; }
  bool rolls_back() const { return table == TableEvent::kRolledBack || table == TableEvent::kBranchReplaced; }
  // The records that Kafka has at the end are not those that the table may have.
  bool loses_log() const {
    return source == SourceEvent::kRecreated || source == SourceEvent::kTruncated || source == SourceEvent::kRestored;
  }
  bool loses_table() const { return table == TableEvent::kDropped || table == TableEvent::kRecreated; }
  // The pipeline has to stop, and nobody answers its halt here.
  bool ends_with_halt() const { return loses_log() || loses_table(); }
};

Scenario draw_scenario();

}  // namespace frazil::simulation
