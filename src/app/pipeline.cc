#include "app/pipeline.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "app/merge_service.h"
#include "app/open_catalog.h"
#include "app/sink_config.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/patience.h"
#include "clients/kafka/kafka_client.h"
#include "clients/kafka/renewing_client.h"
#include "decoders/json/json_record_decoder.h"
#include "sinks/iceberg/iceberg_sink.h"
#include "sources/generator/generator_source.h"
#include "sources/kafka/kafka_source.h"

namespace frazil::app {
namespace {

sources::KafkaStart to_start(const StartConfig& start) {
  switch (start.mode) {
    case StartConfig::Mode::kEarliest:
      return sources::StartEarliest{};
    case StartConfig::Mode::kLatest:
      return sources::StartLatest{};
    case StartConfig::Mode::kGroup:
      return sources::StartGroup{};
    case StartConfig::Mode::kTimestamp:
      return sources::StartTimestamp{start.timestamp_ms};
    case StartConfig::Mode::kOffsets:
      return sources::StartOffsets{start.offsets};
  }
  return sources::StartEarliest{};
}

}  // namespace

sources::KafkaSourceConfig kafka_source_config(const PipelineConfig& config) {
  sources::KafkaSourceConfig kafka;
  kafka.topics = config.kafka->topics;
  kafka.topic_pattern = config.kafka->topic_pattern;
  kafka.start = to_start(config.kafka->start);
  kafka.discovery_interval_ms = config.kafka->discovery_interval_ms;
  kafka.open_transaction_warning_ms = config.kafka->open_transaction_warning_ms;
  kafka.group_id = config.kafka->group;
  kafka.properties = config.kafka->properties;
  kafka.allow_plaintext = config.kafka->allow_plaintext;
  return kafka;
}

base::Result<std::unique_ptr<engine::Source>> make_source(const PipelineConfig& config, int lanes, const std::string& address) {
  if (config.generator) {
    sources::GeneratorSourceConfig generator;
    generator.splits = config.generator->splits;
    generator.records = config.generator->records;
    generator.records_per_second = config.generator->records_per_second;
    generator.record.seed = static_cast<uint64_t>(config.generator->seed);
    return sources::make_generator_source(std::move(generator));
  }
  sources::KafkaSourceConfig kafka = kafka_source_config(config);
  if (!address.empty()) {
    std::string& client_id = kafka.properties.try_emplace("client.id", kafka.client_id).first->second;
    client_id = client_id_at(client_id, address);
  }
  TRY_ASSIGN(auto client, clients::make_renewing_client([config = sources::kafka_client_config(kafka, lanes)] {
    return clients::make_librdkafka_client(config);
  }));
  return sources::make_kafka_source(std::move(kafka), std::move(client));
}

namespace {

engine::WorkerOptions worker_options(const PipelineConfig& config, const PipelineOptions& options, int lanes) {
  engine::WorkerOptions worker;
  worker.pipeline = config.name;
  worker.reader_lanes = lanes;
  worker.writer_lanes = lanes;
  worker.commit_interval_ms = config.commit.interval_ms;
  worker.position_interval_ms = config.commit.position_interval_ms;
  worker.connect_timeout_ms = config.connect_timeout_ms;
  // A generator with an end has nothing more to wait for.
  const bool has_end = config.generator && config.generator->records > 0;
  worker.until_caught_up = options.until_caught_up || has_end;
  worker.accepted = options.accepted;
  worker.is_accepted_for_others = options.is_accepted_for_others;
  worker.user = options.user;
  worker.on_commit = options.on_commit;
  return worker;
}

}  // namespace

std::string user_name() {
  for (const char* variable : {"USER", "LOGNAME"}) {
    if (const char* name = std::getenv(variable)) return name;
  }
  return "uid " + std::to_string(getuid());
}

int usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

Pipeline::Pipeline(PipelineConfig config, PipelineOptions options, base::MemoryBudget& budget, base::Metrics& metrics)
    : config_(std::move(config)), options_(std::move(options)), budget_(budget), metrics_(metrics), status_(config_.name, metrics) {}

Pipeline::~Pipeline() = default;

// Answers given at the start were for halts of that time: this one replaces them.
void Pipeline::answer(engine::AcceptedChoice choice, std::string user) {
  options_.accepted = {std::move(choice)};
  options_.is_accepted_for_others = false;
  options_.user = std::move(user);
  status_.set_state("starting");
}

base::Status Pipeline::run(base::Interrupt& stop) {
  base::Status status = build_and_run(stop);
  if (status.ok()) {
    status_.set_state("ended");
  } else if (const base::Halt* halt = status.error().halt()) {
    status_.set_state("halted", halt->text, halt->code);
  } else {
    status_.set_state("failed", status.error().message());
  }
  return status;
}

namespace {

// A catalog that is locked by somebody else, or not there yet, is waited for.
base::Result<std::unique_ptr<iceberg::Catalog>> open_catalog_within(const PipelineConfig& config, base::Interrupt& stop,
                                                                    base::Patience& patience) {
  constexpr int64_t kPauseMicros = 200'000;
  const base::MonoMicros deadline = base::deadline_after(config.connect_timeout_ms * 1000);
  for (bool is_first = true;; is_first = false) {
    auto catalog = open_catalog(config.table.catalog, {patience.over(), true});
    if (catalog.ok() || catalog.error().code() != base::Code::kUnavailable) return catalog;
    if (stop.raised() || base::mono_micros() >= deadline) return catalog;
    if (is_first) {
      base::log_warn("start_again", {{"pipeline", config.name},
                                     {"answer", catalog.error().message()},
                                     {"then", "tried again for " + std::to_string(config.connect_timeout_ms / 1000) + " s (connect_timeout)"}});
    }
    stop.wait_until(base::deadline_after(kPauseMicros));
  }
}

// A catalog that did not answer before the stop is no failure of the run.
bool is_end_by_stop(const PipelineConfig& config, const base::Error& error, base::Interrupt& stop) {
  if (!stop.raised() || (error.code() != base::Code::kCancelled && error.code() != base::Code::kUnavailable)) return false;
  base::log_warn("stopped_without_answer", {{"pipeline", config.name}, {"why", error.message()}, {"meaning", "nothing was begun"}});
  return true;
}

}  // namespace

base::Status Pipeline::build_and_run(base::Interrupt& stop) {
  const int lanes = config_.lanes > 0 ? config_.lanes : usable_cores();
  std::unique_ptr<MergeService> merge;
  if (config_.commit.merge.mode != MergeConfig::Mode::kOff) {
    TRY_ASSIGN(merge, MergeService::start(config_.commit.merge));
  }
  TRY_ASSIGN(auto source, make_source(config_, lanes, merge ? merge->address() : ""));
  const auto patience = base::Patience::until(stop);
  auto opened = open_catalog_within(config_, stop, *patience);
  if (!opened.ok() && is_end_by_stop(config_, opened.error(), stop)) return {};
  TRY_ASSIGN(const auto catalog, std::move(opened));
  TRY_ASSIGN(auto sink_settings, sink_config(config_, options_.user));
  sink_settings.metrics = &metrics_;
  sink_settings.on_answer = [this](bool is_accepted) { is_accepted ? status_.commit_accepted() : static_cast<void>(status_.commit_lost()); };
  if (merge) {
    auto own = open_catalog_within(config_, stop, *patience);
    if (!own.ok() && is_end_by_stop(config_, own.error(), stop)) return {};
    TRY_ASSIGN(auto own_catalog, std::move(own));
    merge->open(sink_settings, std::move(own_catalog), source->format(), [&source] { return source->first_reader(); });
  }
  auto sink =
      sinks::make_iceberg_sink(std::move(sink_settings), *catalog, source->format(), options_.accepted, merge.get());
  decoders::JsonDecoderConfig json = config_.decode.json;
  json.json.max_decoded_bytes = std::max<int64_t>(options_.memory_bytes / 8, 1);
  const auto make_decoder = [&](int, int intake) { return decoders::make_json_decoder(json, sink->row_schema(intake)); };
  engine::WorkerOptions settings = worker_options(config_, options_, lanes);
  settings.patience = patience;
  engine::Worker worker(std::move(settings), *source, *sink, make_decoder, budget_, status_);
  base::log_info("pipeline starts", {{"pipeline", config_.name}, {"table", config_.table.name}, {"lanes", lanes}});
  return worker.run(stop);
}

}  // namespace frazil::app
