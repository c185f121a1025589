#include "tests/simulation/worker_slot.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "decoders/json/json_record_decoder.h"
#include "engine/worker.h"
#include "sinks/iceberg/iceberg_sink.h"
#include "sources/kafka/kafka_source.h"
#include "tests/simulation/observed_sink.h"
#include "tests/simulation/producer.h"
#include "tests/simulation/sim_catalog.h"
#include "tests/simulation/sink_setup.h"

namespace frazil::simulation {
namespace {

engine::WorkerOptions worker_options(const Scenario& scenario, bool until_caught_up) {
  engine::WorkerOptions options;
  options.pipeline = kPipeline;
  options.reader_lanes = scenario.reader_lanes;
  options.writer_lanes = scenario.writer_lanes;
  options.commit_interval_ms = scenario.commit_interval_ms;
  options.position_interval_ms = 1'500;
  options.until_caught_up = until_caught_up;
  options.user = "simulation";
  return options;
}

constexpr int kLastAnswers = 2 + 2 * static_cast<int>(kRoutedTables);

// Errors that a fault of network, store or cluster explains.
bool is_passing(base::Code code) {
  return code == base::Code::kUnavailable || code == base::Code::kUnknownOutcome || code == base::Code::kCancelled ||
         code == base::Code::kConflict;
}

}  // namespace

base::Status WorkerSlot::run_process(const std::shared_ptr<Life>& life, base::Interrupt& stop, bool until_caught_up) {
  SimCatalog catalog(house_, life, faults_, tally_);
  const bool strays = scenario_.has_two_groups && number_ % 2 == 1;
  const std::string group = !scenario_.has_group ? "" : strays ? "frazil-sim-by-mistake" : "frazil-sim";
  const bool has_rivals = scenario_.workers > 1 && (!scenario_.has_group || scenario_.has_two_groups);
  sources::KafkaSourceConfig source_config;
  source_config.topics = {kTopic};
  source_config.discovery_interval_ms = 1'500;
  source_config.group_id = group;
  const auto source = sources::make_kafka_source(source_config, kafka_.make_client(life, group));
  base::Metrics metrics;
  engine::PipelineStatus status(kPipeline, metrics);
  const auto sink = sinks::make_iceberg_sink(draw_sink_config(scenario_), catalog, source->format(), accepted_);
  ObservedSink observed(*sink, tally_, has_rivals);
  decoders::JsonDecoderConfig decoding;
  decoding.pipeline = kPipeline;
  decoding.json.coerce_strings = chance(500);
  base::MemoryBudget budget(64 << 20);
  engine::WorkerOptions options = worker_options(scenario_, until_caught_up);
  options.accepted = accepted_;
  engine::Worker worker(
      std::move(options), *source, observed,
      [&](int, int intake) { return decoders::make_json_decoder(decoding, sink->row_schema(intake)); }, budget, status);
  return worker.run(stop);
}

void WorkerSlot::doom(Life& life) {
  if (!chance(750)) return;
  // Crashes between a commit and its outbox are the worst: more chances for them.
  const int phases = scenario_.is_routed() ? kPhases + 3 : kPhases + 1;
  const auto drawn = static_cast<int>(base::random_below(static_cast<uint64_t>(phases)));
  const Phase worst = scenario_.is_routed() ? Phase::kRouted : Phase::kDeadLetters;
  const auto phase = drawn < kPhases - 1 ? static_cast<Phase>(drawn) : worst;
  const bool is_frequent = phase == Phase::kReading || phase == Phase::kPreparing || phase == Phase::kRouted;
  life.doom(phase, static_cast<int>(between(1, is_frequent ? 80 : 12)));
}

void WorkerSlot::run() {
  stopped_.wait_until(base::deadline_after(between(0, 2'000'000)));
  while (!stopped_.raised() && !is_halted_) {
    auto life = std::make_shared<Life>(tally_, scenario_.workers > 1);
    auto stop_process = std::make_shared<base::Interrupt>();
    life_ = life;
    stop_process_ = stop_process;
    ends_at_ = is_healed_ || scenario_.loses_table() ? base::kForever : base::deadline_after(scenario_.life_ms * 1000);
    // Who loses its table has to see that himself: one that starts afterwards would make a new one.
    if (!is_healed_ && !scenario_.loses_table()) doom(*life);
    if (stopped_.raised()) return;
    tally_.add("processes");
    const base::Status ended = run_process(life, *stop_process, false);
    if (life->is_dead() && house_.owed_to_routed() > 0) tally_.add("routed:owed-over-a-crash");
    life->end();
    judge(ended, *life);
    // An operator who has read a halt answers it before the other worker meets it.
    const bool is_answered = ended.ok() ? false : ended.error().halt() != nullptr;
    stopped_.wait_until(base::deadline_after(between(1'000, is_answered ? 60'000 : 800'000)));
  }
}

base::Status WorkerSlot::run_until_caught_up(base::Interrupt& stop) {
  base::Status ended = run_process(std::make_shared<Life>(tally_), stop, true);
  // Something happened after the others had looked for the last time: it is answered as theirs were.
  for (int answers = 0; answers < kLastAnswers && !ended.ok() && ended.error().halt() != nullptr; ++answers) {
    const base::Halt halt = *ended.error().halt();
    if (!operator_.is_mended(halt)) {
      const std::string choice = operator_.choice_for(halt);
      if (choice.empty()) break;
      accepted_ = {{halt.code, choice, halt.token}};
    }
    ended = run_process(std::make_shared<Life>(tally_), stop, true);
  }
  return ended;
}

void WorkerSlot::judge(const base::Status& ended, const Life&) {
  base::log_info("sim_process_ended", {{"slot", number_}, {"how", ended.ok() ? "ok" : ended.error().message()}});
  if (ended.ok() || is_passing(ended.error().code())) return;
  if (const base::Halt* halt = ended.error().halt()) return answer(*halt);
  problems_.push_back("a worker failed: " + ended.error().message());
}

void WorkerSlot::answer(const base::Halt& halt) {
  tally_.add("halt:" + halt.code);
  if (scenario_.ends_with_halt() && is_of_event(halt.code)) {
    is_halted_ = true;
    tally_.add(point_of_end(halt.code));
    return;
  }
  if (operator_.is_mended(halt)) return;
  if (const std::string choice = operator_.choice_for(halt); !choice.empty()) {
    accepted_ = {{halt.code, choice, halt.token}};
    tally_.add("halts accepted");
    return;
  }
  if (problems_.empty()) problems_.push_back("a worker halted: " + halt.code + ": " + halt.text);
  is_halted_ = true;
}

// A new topic may be noticed first by its offsets or leader epochs, and so may a log that was cut.
bool WorkerSlot::is_of_event(const std::string& code) const {
  if (scenario_.loses_table()) return code == "TABLE_GONE" || code == "TABLE_REPLACED";
  return code.starts_with("SOURCE_");
}

std::string WorkerSlot::point_of_end(const std::string& code) const {
  if (code == "SOURCE_TRUNCATED") return "KI9";
  if (code == "SOURCE_BEHIND") return "KI11";
  if (code == "SOURCE_RECREATED") return "KI12";
  return "ended by " + code;
}

void WorkerSlot::tend(base::MonoMicros now) {
  if (stop_process_ == nullptr || now < ends_at_) return;
  ends_at_ = base::kForever;
  tally_.add("orderly ends");
  stop_process_->raise();
}

void WorkerSlot::heal() {
  is_healed_ = true;
  ends_at_ = base::kForever;
  if (life_ != nullptr) life_->pardon();
  // A worker without records does not look at its table, so it would not notice the roll-back.
  const bool may_be_unseen = scenario_.rolls_back() || scenario_.table == TableEvent::kTagRemoved || scenario_.forgets;
  if (may_be_unseen && stop_process_ != nullptr) stop_process_->raise();
}

void WorkerSlot::stop() {
  stopped_.raise();
  if (stop_process_ != nullptr) stop_process_->raise();
}

}  // namespace frazil::simulation
