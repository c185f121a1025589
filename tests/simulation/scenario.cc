#include "tests/simulation/scenario.h"

namespace frazil::simulation {
namespace {

Faults draw_faults() {
  const int level = static_cast<int>(between(0, 3));  // one run of four has a quiet network
  Faults faults;
  if (level == 0) return faults;
  faults.commit_refused = 15 * level;
  faults.commit_lost = 40 * level;
  faults.answer_lost = 40 * level;
  faults.commit_delayed = 50 * level;
  faults.commit_doubled = 40 * level;
  faults.load_failed = 15 * level;
  faults.file_failed = 2 * level;
  faults.kafka_failed = 5 * level;
  faults.stalled = chance(500) ? 4 * level : 0;
  return faults;
}

}  // namespace

Scenario draw_scenario() {
  Scenario s;
  s.partitions = static_cast<int>(between(1, 3));
  s.records = static_cast<int>(between(20, 90));
  s.workers = chance(700) ? 2 : 1;
  s.has_group = chance(600);
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
  s.recreates_topic = chance(40);
  s.rolls_back = !s.recreates_topic && chance(200);
  s.changes_schema = chance(80);
  s.has_outages = chance(400);
  s.foreign_pause_ms = between(800, 5'000);
  s.faults = draw_faults();
  s.forgets = s.records % 3 == 0;  // no draw of its own: seeds that once failed stay what they were
  return s;
}

}  // namespace frazil::simulation
