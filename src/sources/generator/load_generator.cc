#include "sources/generator/load_generator.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "clients/kafka/kafka_producer.h"

namespace frazil::sources {

namespace {

using clients::KafkaProducer;
using clients::ProducedRecord;

// Records in a row of one partition, so that its batches fill.
constexpr uint64_t kRunRecords = 64;
constexpr int64_t kPauseMicros = 2000;

// The part of the load that one lane writes.
struct LoadLane {
  std::unique_ptr<KafkaProducer> producer;
  std::unique_ptr<RecordWriter> writer;
  std::atomic<int64_t> sent_records{0};
  std::atomic<int64_t> sent_bytes{0};
  int64_t spoiled = 0;
  int64_t tombstones = 0;
  base::Status status;
  base::Lane lane;
};

base::Result<std::unique_ptr<RecordWriter>> make_writer(const LoadOptions& options) {
  if (options.avro_schema.empty()) return make_record_writer(options.record);
  return make_avro_record_writer(options.avro_schema, options.record);
}

int lanes_for(const LoadOptions& options, int partitions) {
  const int64_t cores = options.lanes > 0 ? options.lanes : std::max<int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1);
  return static_cast<int>(std::min<int64_t>(cores, partitions));
}

class LoadRun {
 public:
  LoadRun(const LoadOptions& options, base::Interrupt& stop) : options_(options), stop_(stop) {}
  base::Result<LoadReport> run();

 private:
  base::Status prepare();
  base::Result<std::unique_ptr<KafkaProducer>> connect();
  void fill(LoadLane& lane, int number);
  base::Status write_run(LoadLane& lane, uint64_t run);
  bool wait_for_turn(int64_t sent_by_all);
  void pause(int64_t micros);
  LoadProgress progress() const;
  void watch();
  base::Status finish();
  int64_t sent_bytes() const;

  const LoadOptions& options_;
  base::Interrupt& stop_;
  std::deque<LoadLane> lanes_;
  int partitions_ = 0;
  int64_t started_ = 0;
  std::atomic<int64_t> turn_{0};     // lanes that are still filling
  std::atomic<bool> failed_{false};  // one lane could not go on: the others end too
};

base::Result<LoadReport> LoadRun::run() {
  TRY(prepare());
  started_ = base::mono_micros();
  turn_ = static_cast<int64_t>(lanes_.size());
  for (size_t number = 0; number < lanes_.size(); ++number) {
    LoadLane& lane = lanes_[number];
    lane.lane = base::Lane("generate-" + std::to_string(number), [this, &lane, number] {
      fill(lane, static_cast<int>(number));
      turn_.fetch_sub(1);
    });
  }
  watch();
  for (LoadLane& lane : lanes_) lane.lane.join();
  TRY(finish());
  LoadReport report{.total = progress(), .partitions = partitions_};
  for (const LoadLane& lane : lanes_) {
    report.spoiled_records += lane.spoiled;
    report.tombstones += lane.tombstones;
  }
  if (options_.on_progress) options_.on_progress(report.total);
  return report;
}

base::Result<std::unique_ptr<KafkaProducer>> LoadRun::connect() {
  TRY_ASSIGN(auto producer, clients::make_kafka_producer({.properties = options_.properties, .codec = options_.codec, .allow_plaintext = options_.allow_plaintext}));
  TRY(producer->connect(base::deadline_after(options_.connect_timeout_ms * 1000)));
  return producer;
}

// The topic, and for each lane its producer and writer.
base::Status LoadRun::prepare() {
  TRY_ASSIGN(auto first, connect());
  auto existing = first->partitions(options_.topic);
  if (!existing.ok() && existing.error().code() == base::Code::kNotFound && options_.create_topic) {
    const clients::TopicSettings settings{.partitions = options_.partitions, .replication = options_.replication, .configs = {}};
    TRY(first->create_topic(options_.topic, settings, base::deadline_after(options_.connect_timeout_ms * 1000)));
    existing = first->partitions(options_.topic);
  }
  if (!existing.ok()) return existing.error();
  partitions_ = existing.value();
  const int lanes = lanes_for(options_, partitions_);
  for (int number = 0; number < lanes; ++number) {
    LoadLane& lane = lanes_.emplace_back();
    if (number == 0) {
      lane.producer = std::move(first);
    } else {
      TRY_ASSIGN(lane.producer, connect());
    }
    TRY_ASSIGN(lane.writer, make_writer(options_));
  }
  return {};
}

// Runs of records go to the partitions in turn; this lane takes those of its own partitions.
void LoadRun::fill(LoadLane& lane, int number) {
  const uint64_t total = static_cast<uint64_t>(options_.records);
  for (uint64_t run = 0; total == 0 || run * kRunRecords < total; ++run) {
    const int partition = static_cast<int>(run % static_cast<uint64_t>(partitions_));
    if (partition % static_cast<int>(lanes_.size()) != number) continue;
    if (!wait_for_turn(sent_bytes())) return;
    lane.status = write_run(lane, run);
    if (!lane.status.ok()) {
      failed_ = true;
      return;
    }
  }
  lane.status = lane.producer->flush(base::deadline_after(options_.delivery_timeout_ms * 1000));
  if (!lane.status.ok()) failed_ = true;
}

base::Status LoadRun::write_run(LoadLane& lane, uint64_t run) {
  std::string keys[kRunRecords], values[kRunRecords];
  std::vector<ProducedRecord> records;
  const uint64_t total = options_.records == 0 ? UINT64_MAX : static_cast<uint64_t>(options_.records);
  const uint64_t count = std::min(kRunRecords, total - run * kRunRecords);
  int64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t index = options_.first_index + run * kRunRecords + i;
    const Spoiling spoiling = lane.writer->write(index, values[i]);
    if (spoiling == Spoiling::kTombstone) ++lane.tombstones;
    if (spoiling != Spoiling::kTombstone && spoiling != Spoiling::kNone) ++lane.spoiled;
    if (options_.with_keys) keys[i] = std::to_string(index);
    bytes += static_cast<int64_t>(values[i].size());
    records.push_back({.partition = static_cast<int32_t>(run % static_cast<uint64_t>(partitions_)),
                       .key = keys[i],
                       .value = values[i],
                       .has_key = options_.with_keys,
                       .has_value = spoiling != Spoiling::kTombstone});
  }
  TRY(lane.producer->produce(options_.topic, records, base::deadline_after(options_.delivery_timeout_ms * 1000)));
  lane.sent_records.fetch_add(static_cast<int64_t>(count));
  lane.sent_bytes.fetch_add(bytes);
  return {};
}

int64_t LoadRun::sent_bytes() const {
  int64_t bytes = 0;
  for (const LoadLane& lane : lanes_) bytes += lane.sent_bytes.load();
  return bytes;
}

// Waits until the rate and the consumer allow more; false when the load is to end.
bool LoadRun::wait_for_turn(int64_t sent_by_all) {
  for (;;) {
    if (stop_.raised() || failed_) return false;
    int64_t wait = 0;
    if (options_.bytes_per_second > 0) {
      const double due = static_cast<double>(sent_by_all) / options_.bytes_per_second * 1e6;
      wait = static_cast<int64_t>(due) - (base::mono_micros() - started_);
    }
    if (options_.max_bytes_ahead > 0 && sent_by_all - options_.consumed_bytes() >= options_.max_bytes_ahead) {
      wait = std::max(wait, kPauseMicros);
    }
    if (wait <= 0) return true;
    pause(std::min(wait, int64_t{100000}));
    sent_by_all = sent_bytes();
  }
}

void LoadRun::pause(int64_t micros) { stop_.wait_until(base::deadline_after(micros)); }

LoadProgress LoadRun::progress() const {
  LoadProgress progress{.elapsed_micros = base::mono_micros() - started_};
  for (const LoadLane& lane : lanes_) {
    const clients::ProducerStats stats = lane.producer->stats();
    progress.records += stats.delivered_records;
    progress.bytes += stats.delivered_bytes;
    progress.failed_records += stats.failed_records;
  }
  return progress;
}

// Reports progress while the lanes fill. After a stop the lanes end by themselves.
void LoadRun::watch() {
  base::Mutex mutex;
  base::CondVar tick;
  base::MonoMicros next = base::deadline_after(options_.progress_interval_ms * 1000);
  while (turn_ > 0) {
    {
      base::Lock lock(mutex);
      tick.wait_until(lock, std::min(next, base::deadline_after(10000)));
    }
    if (base::mono_micros() < next) continue;
    if (options_.on_progress) options_.on_progress(progress());
    next = base::deadline_after(options_.progress_interval_ms * 1000);
  }
}

// What was sent before a stop is delivered as well; what could not be delivered is an error.
base::Status LoadRun::finish() {
  for (LoadLane& lane : lanes_) {
    if (!lane.status.ok()) return lane.status;
    TRY(lane.producer->flush(base::deadline_after(options_.delivery_timeout_ms * 1000)));
  }
  for (const LoadLane& lane : lanes_) {
    const clients::ProducerStats stats = lane.producer->stats();
    if (stats.failed_records == 0) continue;
    return base::unavailable(std::to_string(stats.failed_records) + " records could not be delivered to " + options_.topic +
                             "; last error: " + stats.last_error);
  }
  return {};
}

}  // namespace

double LoadReport::megabytes_per_second() const {
  return total.elapsed_micros > 0 ? static_cast<double>(total.bytes) / static_cast<double>(total.elapsed_micros) : 0;
}

double LoadReport::records_per_second() const {
  return total.elapsed_micros > 0 ? static_cast<double>(total.records) * 1e6 / static_cast<double>(total.elapsed_micros) : 0;
}

base::Result<LoadReport> generate_load(const LoadOptions& options, base::Interrupt& stop) {
  if (options.max_bytes_ahead > 0 && !options.consumed_bytes) {
    return base::invalid("max_bytes_ahead needs consumed_bytes");
  }
  return LoadRun(options, stop).run();
}

}  // namespace frazil::sources
