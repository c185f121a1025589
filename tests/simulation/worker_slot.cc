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

namespace frazil::simulation {
namespace {

columnar::Field column(int32_t id, std::string name, columnar::TypeId type, bool is_required) {
  columnar::Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = columnar::Type::primitive(type);
  field.required = is_required;
  return field;
}

columnar::Schema record_schema() {
  columnar::Schema schema;
  schema.fields = {column(1, "part", columnar::TypeId::kInt, true), column(2, "ord", columnar::TypeId::kLong, true),
                   column(3, "amount", columnar::TypeId::kLong, false)};
  return schema;
}

sinks::IcebergSinkConfig sink_config(const Scenario& scenario) {
  sinks::IcebergSinkConfig config;
  config.pipeline = kPipeline;
  config.table = kAnchor;
  config.dead_letters = kDeadLetters;
  config.schema = record_schema();
  config.create.emplace();
  if (scenario.is_partitioned) config.create->partition_by = {"part"};
  if (scenario.merges_manifests) config.create->properties["commit.manifest.min-count-to-merge"] = "4";
  if (scenario.forgets) config.create->properties["write.metadata.previous-versions-max"] = "2";
  config.history_keep_ms = scenario.history_keep_ms;
  config.user = "simulation";
  return config;
}

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
  const auto sink = sinks::make_iceberg_sink(sink_config(scenario_), catalog, source->format(), accepted_);
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
  // Crashes between a commit and its outbox are the worst: two more chances for them.
  const auto drawn = base::random_below(kPhases + 2);
  const auto phase = drawn < kPhases ? static_cast<Phase>(drawn) : Phase::kDeadLetters;
  const bool is_frequent = phase == Phase::kReading || phase == Phase::kPreparing;
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
  for (int answers = 0; answers < 2 && !ended.ok() && ended.error().halt() != nullptr; ++answers) {
    const base::Halt halt = *ended.error().halt();
    const std::string choice = choice_for(halt);
    if (choice.empty()) break;
    accepted_ = {{halt.code, choice, halt.token}};
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
  // Its cause is somebody's to mend: a token, a permission. Then it is started again.
  const bool is_refusal = halt.code == "COMMIT_REJECTED" || halt.code == "OWED_REFUSED";
  if (is_refusal && scenario_.faults.commit_rejected > 0) return;
  if (const std::string choice = choice_for(halt); !choice.empty()) {
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

// What an operator answers; empty: nobody expected that halt.
std::string WorkerSlot::choice_for(const base::Halt& halt) {
  if (halt.choices.empty()) return "";
  if (halt.code == "TABLE_ROLLED_BACK" && scenario_.rolls_back()) return halt.choices[base::random_below(halt.choices.size())].name;
  // Histories are cut, and compactions rewrite what would tell: with or without a roll-back.
  if (halt.code == "TABLE_HISTORY_LOST" && scenario_.forgets) return "source";
  if (halt.code == "WATERMARK_LOST" && scenario_.table == TableEvent::kTagRemoved) return "property";
  if (halt.code == "SOURCE_GAP" && scenario_.source == SourceEvent::kOvertaken) {
    tally_.add("KI10");
    return "skip";
  }
  if (halt.code == "SOURCE_CLUSTER_CHANGED" && scenario_.source == SourceEvent::kMoved) {
    tally_.add("KI13");
    return "same_offsets";
  }
  return "";
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
