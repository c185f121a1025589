#include "tests/simulation/scenario.h"

namespace frazil::simulation {
namespace {

Faults draw_faults() {
  const int level = static_cast<int>(between(0, 3));  // one run of four has a quiet network
  Faults faults;
  if (level == 0) return faults;
  faults.commit_not_sent = 15 * level;
  faults.commit_lost = 40 * level;
  faults.answer_lost = 40 * level;
  faults.commit_delayed = 50 * level;
  faults.commit_doubled = 40 * level;
  faults.load_failed = 15 * level;
  faults.commit_throttled = 15 * level;
  faults.commit_rejected = chance(250) ? 5 * level : 0;
  faults.file_failed = 2 * level;
  faults.file_damaged = chance(300) ? 10 * level : 0;
  faults.kafka_failed = 5 * level;
  faults.stalled = chance(500) ? 4 * level : 0;
  return faults;
}

SourceEvent draw_source_event() {
  const int64_t drawn = between(0, 999);
  if (drawn < 40) return SourceEvent::kRecreated;
  if (drawn < 80) return SourceEvent::kTruncated;
  if (drawn < 120) return SourceEvent::kRestored;
  if (drawn < 190) return SourceEvent::kOvertaken;
  if (drawn < 230) return SourceEvent::kMoved;
  return SourceEvent::kNone;
}

TableEvent draw_table_event() {
  const int64_t drawn = between(0, 999);
  if (drawn < 170) return TableEvent::kRolledBack;
  if (drawn < 230) return TableEvent::kBranchReplaced;
  if (drawn < 300) return TableEvent::kTagRemoved;
  if (drawn < 325) return TableEvent::kDropped;
  if (drawn < 350) return TableEvent::kRecreated;
  return TableEvent::kNone;
}

Routing draw_routing() {
  const int64_t drawn = between(0, 999);
  return drawn < 200 ? Routing::kAnchorTakesTheRest : drawn < 340 ? Routing::kPositionsTable : Routing::kNone;
}

}  // namespace

Scenario draw_scenario() {
  Scenario s;
  s.partitions = static_cast<int>(between(1, 3));
  s.records = static_cast<int>(between(20, 90));
  s.workers = static_cast<int>(between(1, 20));
  s.workers = s.workers <= 6 ? 1 : s.workers <= 16 ? 2 : 3;
  s.has_group = chance(600);
  s.has_two_groups = s.workers > 1 && s.has_group && chance(150);
  s.reader_lanes = chance(250) ? 2 : 1;
  s.writer_lanes = chance(250) ? 2 : 1;
  s.is_partitioned = chance(250);
  s.merges_manifests = chance(500);
  s.commit_interval_ms = between(100, 1500);
  s.history_keep_ms = chance(300) ? between(2'000, 10'000) : 3'600'000;
  s.safety_ms = between(8'000, 20'000);
  s.life_ms = between(3'000, 12'000);
  s.bad_records = chance(800) ? static_cast<int>(between(20, 200)) : 0;
  s.disputed_records = chance(800) ? static_cast<int>(between(50, 400)) : 0;
  s.adds_partition = chance(150);
  s.forgets_group_offsets = s.has_group && chance(100);
  s.has_storms = s.has_group && chance(100);
  s.routing = draw_routing();
  s.source = draw_source_event();
  if (s.source == SourceEvent::kNone) s.table = draw_table_event();
  s.changes_schema = chance(80);
  s.is_busy = chance(60);
  s.has_outages = chance(400);
  s.foreign_pause_ms = between(800, 5'000);
  s.faults = draw_faults();
  s.forgets = s.records % 3 == 0;  // no draw of its own: seeds that once failed stay what they were
  return s;
}

}  // namespace frazil::simulation
