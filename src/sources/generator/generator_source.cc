#include "sources/generator/generator_source.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sources/generator/generator_positions.h"

namespace frazil::sources {

namespace {

using engine::RawBatch;
using engine::SourcePositions;

constexpr int64_t kRecordsPerBatch = 2048;
constexpr int64_t kRateStepMicros = 20000;

// One split while it is read; belongs to its reader lane.
struct GeneratedSplit {
  int number = 0;
  int64_t next = 0;
  bool is_first = false;
};

struct GeneratorLane {
  std::unique_ptr<RecordWriter> writer;
  std::vector<GeneratedSplit> splits;
  size_t turn = 0;
};

// Bytes that a batch's views point into.
struct GeneratedBytes {
  std::vector<std::string> values;
};

base::Result<std::unique_ptr<RecordWriter>> make_writer(const GeneratorSourceConfig& config) {
  if (config.avro_schema.empty()) return make_record_writer(config.record);
  return make_avro_record_writer(config.avro_schema, config.record);
}

class GeneratorSource : public engine::Source {
 public:
  explicit GeneratorSource(GeneratorSourceConfig config) : config_(std::move(config)) {}

  const engine::PositionFormat& format() const override { return generator_position_format(); }
  base::Status connect(base::MonoMicros) override { return {}; }
  base::Result<SourcePositions> resolve_start() override;
  base::Status check(const SourcePositions& positions) override;
  base::Result<SourcePositions> apply_choice(const base::Halt& halt, const std::string&, const SourcePositions&) override {
    return base::invalid("the generator never halts: " + halt.code);
  }
  base::Status start(const SourcePositions& positions, int lanes) override;
  base::Result<std::unique_ptr<RawBatch>> read(int lane, base::MonoMicros deadline) override;
  void wake() override;
  void stop() override {}
  base::Result<engine::SourceEvent> poll_control(base::MonoMicros deadline) override;
  base::Status confirm(const SourcePositions&, const std::vector<engine::Range>&) override { return {}; }
  std::map<std::string, std::string> identity() const override;
  void acknowledge(const SourcePositions&, const std::string&) override {}
  std::string last_mark() override { return ""; }
  bool is_caught_up(const SourcePositions& positions) override;
  std::vector<engine::SplitLag> lag(const SourcePositions& positions) override;
  void close() override { wake(); }

 private:
  // Records of a split in all; of an endless generator none is the last.
  int64_t records_of(int split) const {
    if (config_.records == 0) return INT64_MAX;
    return config_.records / config_.splits + (split < config_.records % config_.splits ? 1 : 0);
  }
  int64_t allowance(int64_t wanted);
  bool wait(base::MonoMicros deadline, int64_t wakes_seen);
  std::unique_ptr<RawBatch> make_batch(GeneratorLane& lane, GeneratedSplit& split, int64_t count);

  const GeneratorSourceConfig config_;
  std::vector<GeneratorLane> lanes_;
  base::Mutex mutex_;
  base::CondVar changed_;
  int64_t wakes_ = 0;
  base::MonoMicros rate_since_ = 0;
  int64_t granted_ = 0;  // records since rate_since_
};

std::map<std::string, std::string> GeneratorSource::identity() const {
  return {{"seed", std::to_string(config_.record.seed)}, {"splits", std::to_string(config_.splits)}};
}

base::Result<SourcePositions> GeneratorSource::resolve_start() {
  SourcePositions positions{.kind = "generator", .identity = identity(), .next = {}};
  for (int split = 0; split < config_.splits; ++split) positions.next[generator_split(split)] = "0";
  return positions;
}

base::Status GeneratorSource::check(const SourcePositions& positions) {
  if (positions.kind == "generator" && positions.identity == identity()) return {};
  return base::invalid("the table's positions are of a generator with another seed or number of splits, "
                       "or of another kind of source");
}

base::Status GeneratorSource::start(const SourcePositions& positions, int lanes) {
  TRY(check(positions));
  lanes_.clear();
  lanes_.resize(static_cast<size_t>(lanes));
  for (GeneratorLane& lane : lanes_) {
    TRY_ASSIGN(lane.writer, make_writer(config_));
  }
  for (int number = 0; number < config_.splits; ++number) {
    const auto known = positions.next.find(generator_split(number));
    const bool is_first = known == positions.next.end();
    const auto next = is_first ? std::optional<int64_t>(0) : generator_count(known->second);
    if (!next) return base::corrupt("position '" + known->second + "' of " + known->first + " cannot be read");
    lanes_[static_cast<size_t>(number % lanes)].splits.push_back({number, *next, is_first});
  }
  base::Lock lock(mutex_);
  rate_since_ = base::mono_micros();
  granted_ = 0;
  return {};
}

// How many of `wanted` records the rate allows now.
int64_t GeneratorSource::allowance(int64_t wanted) {
  if (config_.records_per_second == 0) return wanted;
  base::Lock lock(mutex_);
  const double elapsed = static_cast<double>(base::mono_micros() - rate_since_) / 1e6;
  const auto due = static_cast<int64_t>(elapsed * static_cast<double>(config_.records_per_second));
  const int64_t allowed = std::clamp<int64_t>(due - granted_, 0, wanted);
  granted_ += allowed;
  return allowed;
}

// False when somebody called wake().
bool GeneratorSource::wait(base::MonoMicros deadline, int64_t wakes_seen) {
  base::Lock lock(mutex_);
  while (wakes_ == wakes_seen) {
    if (!changed_.wait_until(lock, deadline)) break;
  }
  return wakes_ == wakes_seen;
}

base::Result<std::unique_ptr<RawBatch>> GeneratorSource::read(int lane_number, base::MonoMicros deadline) {
  GeneratorLane& lane = lanes_[static_cast<size_t>(lane_number)];
  int64_t wakes_seen = 0;
  {
    base::Lock lock(mutex_);
    wakes_seen = wakes_;
  }
  for (;;) {
    bool is_exhausted = true;
    for (size_t i = 0; i < lane.splits.size(); ++i) {
      GeneratedSplit& split = lane.splits[lane.turn++ % lane.splits.size()];
      const int64_t left = records_of(split.number) - split.next;
      if (left <= 0) continue;
      is_exhausted = false;
      const int64_t count = allowance(std::min(left, kRecordsPerBatch));
      if (count > 0) return make_batch(lane, split, count);
    }
    const base::MonoMicros until = is_exhausted ? deadline : std::min(deadline, base::deadline_after(kRateStepMicros));
    if (!wait(until, wakes_seen) || base::mono_micros() >= deadline) return std::unique_ptr<RawBatch>();
  }
}

std::unique_ptr<RawBatch> GeneratorSource::make_batch(GeneratorLane& lane, GeneratedSplit& split, int64_t count) {
  auto batch = std::make_unique<RawBatch>();
  auto bytes = std::make_shared<GeneratedBytes>();
  bytes->values.resize(static_cast<size_t>(count));
  batch->records.resize(static_cast<size_t>(count));
  batch->stream = "generator";
  batch->partition = split.number;
  batch->range = {.split = generator_split(split.number),
                  .begin = std::to_string(split.next),
                  .end = std::to_string(split.next + count),
                  .is_first = std::exchange(split.is_first, false)};
  const int64_t now = base::wall_micros();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t offset = split.next + i;
    std::string& value = bytes->values[static_cast<size_t>(i)];
    const uint64_t index = static_cast<uint64_t>(offset) * static_cast<uint64_t>(config_.splits) +
                           static_cast<uint64_t>(split.number);
    const Spoiling spoiling = lane.writer->write(index, value);
    engine::RawRecord& record = batch->records[static_cast<size_t>(i)];
    record.value = value;
    record.has_value = spoiling != Spoiling::kTombstone;
    record.offset = offset;
    record.timestamp_micros = now;
    batch->bytes += static_cast<int64_t>(value.size());
  }
  split.next += count;
  batch->memory = std::move(bytes);
  return batch;
}

void GeneratorSource::wake() {
  base::Lock lock(mutex_);
  ++wakes_;
  changed_.notify_all();
}

base::Result<engine::SourceEvent> GeneratorSource::poll_control(base::MonoMicros deadline) {
  int64_t wakes_seen = 0;
  {
    base::Lock lock(mutex_);
    wakes_seen = wakes_;
  }
  wait(deadline, wakes_seen);
  return engine::SourceEvent();
}

bool GeneratorSource::is_caught_up(const SourcePositions& positions) {
  if (config_.records == 0) return false;
  for (int split = 0; split < config_.splits; ++split) {
    const auto known = positions.next.find(generator_split(split));
    const auto count = known == positions.next.end() ? std::optional<int64_t>(0) : generator_count(known->second);
    if (!count || *count < records_of(split)) return false;
  }
  return true;
}

std::vector<engine::SplitLag> GeneratorSource::lag(const SourcePositions& positions) {
  std::vector<engine::SplitLag> lags;
  for (const auto& [split, position] : positions.next) {
    const auto number = generator_split_number(split);
    const auto count = generator_count(position);
    if (!number || !count) continue;
    lags.push_back({split, position, config_.records == 0 ? -1 : std::max<int64_t>(records_of(*number) - *count, 0)});
  }
  return lags;
}

}  // namespace

base::Result<std::unique_ptr<engine::Source>> make_generator_source(GeneratorSourceConfig config) {
  if (config.splits < 1) return base::invalid("generator: splits must be at least 1");
  TRY(make_writer(config));
  return std::unique_ptr<engine::Source>(std::make_unique<GeneratorSource>(std::move(config)));
}

}  // namespace frazil::sources
