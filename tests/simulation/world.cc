#include "tests/simulation/world.h"

#include <memory>
#include <set>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/simulation.h"
#include "tests/simulation/foreign_actor.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/producer.h"
#include "tests/simulation/table_rows.h"
#include "tests/simulation/worker_slot.h"

namespace frazil::simulation {
namespace {

constexpr int64_t kLookMicros = 200'000;
constexpr int64_t kProgressMicros = 180'000'000;  // after healing, until every record is in
constexpr int64_t kStopMicros = 30'000'000;       // an orderly end

void pause(int64_t micros) {
  base::Interrupt never;
  never.wait_until(base::deadline_after(micros));
}

class World {
 public:
  explicit World(Tally& tally) : tally_(tally), house_(tally), kafka_(tally, faults_) {}
  void live();
  std::vector<std::string> judge();

 private:
  void open();
  void endure();
  void tend_outage(base::MonoMicros now);
  void begin_outage();
  void heal();
  void demand_progress();
  void stop_workers();
  void remove_orphans();
  void finish();
  bool is_caught_up();
  bool is_any_halted() const;
  bool has_lost() const;
  bool must_halt();

  Tally& tally_;
  Scenario scenario_;
  Faults faults_;  // those of the scenario, until healed
  Lakehouse house_;
  SimKafka kafka_;
  std::unique_ptr<Producer> producer_;
  std::unique_ptr<ForeignActor> foreign_;
  std::vector<std::unique_ptr<WorkerSlot>> slots_;
  std::vector<base::Lane> lanes_;         // producer and foreign actor
  std::vector<base::Lane> worker_lanes_;  // one for each slot
  base::MonoMicros outage_ends_ = 0;
  std::vector<std::string> problems_;
};

void World::live() {
  open();
  endure();
  heal();
  demand_progress();
  stop_workers();
  finish();
}

void World::open() {
  scenario_ = draw_scenario();
  faults_ = scenario_.faults;
  if (scenario_.workers > 1) {
    tally_.add(!scenario_.has_group       ? "several workers, no group"
               : scenario_.has_two_groups ? "several workers, two groups"
                                          : "several workers, one group");
  }
  if (scenario_.workers == 3) tally_.add("three workers");
  if (scenario_.is_routed()) tally_.add(scenario_.routing == Routing::kPositionsTable ? "routed:positions-table" : "routed:anchor-with-rows");
  if (scenario_.is_routed() && scenario_.workers > 1) tally_.add("routed:several-workers");
  kafka_.create_topic(kTopic, scenario_.partitions);
  producer_ = std::make_unique<Producer>(kafka_, house_, scenario_, tally_);
  foreign_ = std::make_unique<ForeignActor>(house_, scenario_, tally_);
  for (int i = 0; i < scenario_.workers; ++i) {
    slots_.push_back(std::make_unique<WorkerSlot>(i, scenario_, faults_, kafka_, house_, tally_));
  }
  lanes_.emplace_back("producer", [this] { producer_->run(); });
  lanes_.emplace_back("foreign", [this] { foreign_->run(); });
  for (auto& slot : slots_) {
    worker_lanes_.emplace_back("slot", [slot = slot.get()] { slot->run(); });
  }
}

void World::endure() {
  const base::MonoMicros end = base::deadline_after(scenario_.safety_ms * 1000);
  for (base::MonoMicros now = base::mono_micros(); now < end; now = base::mono_micros()) {
    for (auto& slot : slots_) slot->tend(now);
    tend_outage(now);
    pause(kLookMicros);
  }
}

void World::tend_outage(base::MonoMicros now) {
  if (faults_.refuses_dead_letters || faults_.refuses_routed) {
    if (now < outage_ends_) return;
    faults_.refuses_dead_letters = false;
    faults_.refuses_routed.reset();
  } else if (scenario_.has_outages && chance(50)) {
    begin_outage();
    outage_ends_ = now + between(1'000'000, 8'000'000);
  }
}

// Of the dead letters, or of one of the tables that rows are routed to.
void World::begin_outage() {
  if (scenario_.is_routed() && chance(700)) {
    faults_.refuses_routed = base::random_below(kRoutedTables);
  } else {
    faults_.refuses_dead_letters = true;
    tally_.add("outages of the dead letters");
  }
}

void World::heal() {
  foreign_->stop();
  for (base::Lane& lane : lanes_) lane.join();
  faults_ = Faults();
  for (auto& slot : slots_) slot->heal();
  house_.settle();
  base::log_info("sim_healed");
}

bool World::is_caught_up() {
  const std::optional<TableMarks> marks = house_.newest_anchor_marks();
  if (!marks) return false;
  for (const auto& [partition, end] : kafka_.ends(kTopic)) {
    const auto next = marks->next.find(partition.partition);
    if ((next == marks->next.end() ? 0 : next->second) < end) return false;
  }
  return true;
}

bool World::is_any_halted() const {
  for (const auto& slot : slots_) {
    if (slot->is_halted()) return true;
  }
  return false;
}

// Nobody goes on with what the workers had.
bool World::has_lost() const {
  return (scenario_.loses_log() && producer_->has_struck()) || (scenario_.loses_table() && foreign_->has_struck());
}

// Somebody has to stop: all but workers who have nothing left to commit, since they do not look at a table.
bool World::must_halt() { return has_lost() && !(scenario_.loses_table() && is_caught_up()); }

void World::demand_progress() {
  const base::MonoMicros deadline = base::deadline_after(kProgressMicros);
  while (must_halt() ? !is_any_halted() : !is_caught_up()) {
    if (base::mono_micros() >= deadline) {
      problems_.push_back(must_halt() ? "no worker halted, although log or table are others"
                                      : "no progress: records are missing long after healing");
      return;
    }
    pause(kLookMicros);
  }
}

void World::stop_workers() {
  const base::MonoMicros begun = base::mono_micros();
  for (auto& slot : slots_) slot->stop();
  for (base::Lane& lane : worker_lanes_) lane.join();
  if (base::mono_micros() - begun > kStopMicros) problems_.push_back("the workers took longer than 30 s to end in order");
  house_.settle();
}

// As another engine does it, once nothing is under way: every data file of the anchor that no snapshot names.
void World::remove_orphans() {
  if (house_.history().empty() || !house_.history().back().anchor) return;
  const iceberg::TableMetadata& metadata = *house_.history().back().anchor;
  TableRows rows(house_.store()->everything());
  std::vector<std::string> problems;
  const std::vector<std::string> named = rows.referenced(metadata, problems);
  const std::set<std::string> kept(named.begin(), named.end());
  const auto files = house_.store()->list(metadata.location + "/data/");
  for (size_t i = 0; files.ok() && problems.empty() && i < files->size(); ++i) {
    const std::string& location = (*files)[i].location;
    if (kept.contains(location)) continue;
    (void)house_.store()->remove(location).ok();
    tally_.add("foreign:orphan-removal");
  }
}

// What is owed is applied by whoever starts next. It gets as long as the others had.
void World::finish() {
  remove_orphans();
  if (!has_lost() && problems_.empty()) {
    base::Interrupt is_done, too_late;
    base::Lane watch("watch", [&] {
      if (!is_done.wait_until(base::deadline_after(kProgressMicros))) too_late.raise();
    });
    if (const base::Status last = slots_[0]->run_until_caught_up(too_late); !last.ok()) {
      problems_.push_back("the last worker failed: " + last.error().message());
    }
    is_done.raise();
    watch.join();
  }
  for (const auto& slot : slots_) problems_.insert(problems_.end(), slot->problems().begin(), slot->problems().end());
}

std::vector<std::string> World::judge() {
  Oracle oracle(house_, producer_->readable_topic(), scenario_, tally_);
  std::vector<std::string> found = oracle.judge(!has_lost() && problems_.empty());
  problems_.insert(problems_.end(), found.begin(), found.end());
  return problems_;
}

}  // namespace

Outcome run_world(uint64_t seed, bool echo) {
  Outcome outcome;
  base::Simulation simulation(seed);
  simulation.set_echo(echo);
  World world(outcome.tally);
  simulation.run([&] { world.live(); });
  outcome.event_hash = simulation.event_hash();
  outcome.switches = simulation.switches();
  outcome.virtual_micros = simulation.now();
  outcome.problems = world.judge();
  return outcome;
}

}  // namespace frazil::simulation
