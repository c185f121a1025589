#include "app/plan/topic_probe.h"

#include <algorithm>
#include <map>

#include "app/pipeline.h"
#include "base/clock.h"
#include "clients/kafka/kafka_client.h"
#include "sources/kafka/kafka_splits.h"

namespace frazil::app {
namespace {

using clients::KafkaClient;
using clients::OffsetSpec;
using clients::TopicPartition;
using Offsets = std::map<TopicPartition, int64_t>;

constexpr int64_t kWindowSeconds[] = {60, 600, 3600};
constexpr size_t kSampledPartitions = 16;
constexpr int64_t kSampledRecords = 200;  // of each

void note(TopicFacts& facts, std::string what, const base::Status& status) {
  facts.access.push_back({std::move(what), status.ok() ? "" : status.error().message()});
}

int64_t between(const Offsets& begin, const Offsets& end) {
  int64_t records = 0;
  for (const auto& [partition, offset] : begin) {
    if (const auto found = end.find(partition); found != end.end()) records += std::max<int64_t>(0, found->second - offset);
  }
  return records;
}

// The latest records of some partitions, read without a group. Part of them is enough.
base::Status sample(KafkaClient& client, const Offsets& starts, const Offsets& ends, int64_t timeout_ms, TopicFacts& facts) {
  std::map<TopicPartition, clients::OffsetAndEpoch> from;
  std::map<TopicPartition, int> lanes;
  Offsets left;
  for (const auto& [partition, end] : ends) {
    const int64_t start = starts.contains(partition) ? starts.at(partition) : 0;
    if (end <= start || from.size() == kSampledPartitions) continue;
    from[partition] = {std::max(start, end - kSampledRecords), -1};
    lanes[partition] = 0;
    left[partition] = end;
  }
  if (from.empty()) return {};
  TRY(client.add(from, lanes));
  const base::MonoMicros deadline = base::deadline_after(timeout_ms * 1000);
  base::Status answer;
  while (!left.empty() && base::mono_micros() < deadline) {
    auto batch = client.fetch(0, kSampledRecords, 16 << 20, deadline);
    if (!batch.ok()) {
      answer = batch.status();
      break;
    }
    if (*batch == nullptr) continue;
    facts.sampled_records += static_cast<int64_t>((*batch)->messages.size());
    facts.sampled_bytes += (*batch)->bytes;
    if (const auto end = left.find((*batch)->partition); end != left.end() && (*batch)->next_offset >= end->second) left.erase(end);
  }
  TRY(client.unassign());
  if (!answer.ok() || left.empty() || facts.sampled_records > 0) return answer;
  const std::string why = client.last_error();
  return base::unavailable("no record arrived within connect_timeout, " + std::to_string(timeout_ms) + " ms" + (why.empty() ? "" : ": " + why));
}

}  // namespace

double TopicFacts::records_per_second() const {
  double rate = 0;
  for (const RateWindow& window : windows) {
    if (window.records > 0) rate = window.per_second();
  }
  return rate;
}

base::Result<TopicFacts> probe_topics(const PipelineConfig& config) {
  const sources::KafkaSourceConfig kafka = kafka_source_config(config);
  clients::KafkaClientConfig settings = sources::kafka_client_config(kafka, 1);
  settings.settle_ms = config.connect_timeout_ms;
  TRY_ASSIGN(const auto client, clients::make_librdkafka_client(settings));
  TRY(client->connect(base::deadline_after(config.connect_timeout_ms * 1000)));
  TRY_ASSIGN(const sources::KafkaTopics topics, sources::discover_topics(*client, kafka));
  TRY(sources::require_topics(topics));
  TopicFacts facts;
  facts.topics = topics.names;
  facts.partitions = static_cast<int32_t>(topics.partitions.size());
  note(facts, "describe the topics", {});
  TRY_ASSIGN(const Offsets starts, client->list_offsets(topics.partitions, OffsetSpec::kEarliest));
  TRY_ASSIGN(const Offsets ends, client->list_offsets(topics.partitions, OffsetSpec::kLatest));
  facts.records = between(starts, ends);
  for (const int64_t seconds : kWindowSeconds) {
    TRY_ASSIGN(const Offsets then, client->offsets_for_time(topics.partitions, base::wall_millis() - seconds * 1000));
    facts.windows.push_back({seconds, between(then, ends)});
  }
  note(facts, "read the topics", sample(*client, starts, ends, config.connect_timeout_ms, facts));
  if (!kafka.group_id.empty()) note(facts, "read the offsets of group " + kafka.group_id, client->committed(topics.partitions).status());
  client->close();
  return facts;
}

}  // namespace frazil::app
