#include "sources/kafka/kafka_splits.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sources/kafka/kafka_halts.h"
#include "sources/kafka/kafka_positions.h"

namespace frazil::sources {

namespace {

using clients::KafkaClient;
using clients::OffsetSpec;
using clients::TopicPartition;
using Offsets = std::map<TopicPartition, int64_t>;

// Resolves one way to start; partitions that are absent in the answer begin at their log start.
struct StartResolver {
  KafkaClient& client;
  const KafkaSourceConfig& config;
  const std::vector<TopicPartition>& partitions;

  base::Result<Offsets> operator()(const StartEarliest&) const { return Offsets(); }
  base::Result<Offsets> operator()(const StartLatest&) const {
    return client.list_offsets(partitions, OffsetSpec::kLatest);
  }
  base::Result<Offsets> operator()(const StartTimestamp& start) const {
    return client.offsets_for_time(partitions, start.timestamp_ms);
  }
  base::Result<Offsets> operator()(const StartGroup&) const {
    if (config.group_id.empty()) return base::invalid("start: group needs a group, but group is none");
    TRY_ASSIGN(const auto committed, client.committed(partitions));
    if (committed.empty()) {
      return base::invalid("start: group " + config.group_id +
                           " has committed no offsets for these topics; choose earliest, latest, a timestamp or offsets");
    }
    Offsets offsets;
    for (const auto& [partition, entry] : committed) offsets[partition] = entry.first;
    return offsets;
  }
  base::Result<Offsets> operator()(const StartOffsets& start) const {
    Offsets offsets;
    for (const auto& [topic, by_partition] : start.offsets) {
      for (const auto& [number, offset] : by_partition) {
        const TopicPartition partition{topic, number};
        if (std::find(partitions.begin(), partitions.end(), partition) == partitions.end()) {
          return base::invalid("start: there is no partition " + split_id(partition));
        }
        offsets[partition] = offset;
      }
    }
    return offsets;
  }
};

bool is_configured(const KafkaSourceConfig& config, const std::string& topic) {
  if (!config.topic_pattern.empty()) return true;  // it matched once
  return std::find(config.topics.begin(), config.topics.end(), topic) != config.topics.end();
}

const std::string& identity_of(const engine::SourcePositions& positions, const std::string& key) {
  static const std::string none;
  const auto found = positions.identity.find(key);
  return found == positions.identity.end() ? none : found->second;
}

// A topic with fewer partitions than the table has seen is another topic, whatever the ids say.
bool lost_partitions(const engine::SourcePositions& positions, const std::string& topic, int32_t partitions) {
  return std::any_of(positions.next.begin(), positions.next.end(), [&](const auto& entry) {
    const auto partition = parse_split(entry.first);
    return partition && partition->topic == topic && partition->partition >= partitions;
  });
}

std::string or_unknown(const std::string& id) { return id.empty() ? "unknown" : id; }

base::Status check_topic(const std::string& topic, const KafkaTopics& topics, const engine::SourcePositions& positions) {
  const auto found = topics.cluster.topics.find(topic);
  if (found == topics.cluster.topics.end()) return base::Error(source_gone(topic));
  const std::string& known = identity_of(positions, topic_identity(topic));
  const bool is_other = !known.empty() && !found->second.id.empty() && known != found->second.id;
  if (is_other || lost_partitions(positions, topic, found->second.partitions)) {
    return base::Error(source_recreated(topic, or_unknown(known), or_unknown(found->second.id)));
  }
  return {};
}

}  // namespace

std::vector<std::string> topics_of(const engine::SourcePositions& positions) {
  std::set<std::string> topics;
  for (const auto& [split, position] : positions.next) {
    if (const auto partition = parse_split(split)) topics.insert(partition->topic);
  }
  return {topics.begin(), topics.end()};
}

base::Result<KafkaTopics> discover_topics(KafkaClient& client, const KafkaSourceConfig& config,
                                          const std::vector<std::string>& besides) {
  KafkaTopics topics;
  topics.names = config.topics;
  if (!config.topic_pattern.empty()) {
    TRY_ASSIGN(topics.names, client.match_topics(config.topic_pattern));
  }
  std::set<std::string> asked(topics.names.begin(), topics.names.end());
  topics.names.assign(asked.begin(), asked.end());
  asked.insert(besides.begin(), besides.end());
  TRY_ASSIGN(topics.cluster, client.describe({asked.begin(), asked.end()}));
  topics.identity[kClusterIdentity] = topics.cluster.cluster_id;
  for (const std::string& name : topics.names) {
    const auto found = topics.cluster.topics.find(name);
    if (found == topics.cluster.topics.end()) continue;
    topics.identity[topic_identity(name)] = found->second.id;
    for (int32_t number = 0; number < found->second.partitions; ++number) topics.partitions.push_back({name, number});
  }
  return topics;
}

base::Status require_topics(const KafkaTopics& topics) {
  if (topics.names.empty()) return base::not_found("no topic matches `topics`");
  for (const std::string& name : topics.names) {
    if (!topics.cluster.topics.contains(name)) {
      return base::not_found("topic " + name + " does not exist; create it, or correct `topics`");
    }
  }
  return {};
}

base::Result<engine::SourcePositions> resolve_kafka_start(KafkaClient& client, const KafkaSourceConfig& config,
                                                          const KafkaTopics& topics) {
  TRY_ASSIGN(const Offsets chosen, std::visit(StartResolver{client, config, topics.partitions}, config.start));
  TRY_ASSIGN(const Offsets log_starts, client.list_offsets(topics.partitions, OffsetSpec::kEarliest));
  engine::SourcePositions positions{.kind = "kafka", .identity = topics.identity, .next = {}};
  for (const TopicPartition& partition : topics.partitions) {
    const auto found = chosen.find(partition);
    const auto log_start = log_starts.find(partition);
    if (found == chosen.end() && log_start == log_starts.end()) {
      return base::unavailable("Kafka did not tell the log start of " + split_id(partition));
    }
    positions.next[split_id(partition)] = position_text({found != chosen.end() ? found->second : log_start->second, -1});
  }
  return positions;
}

base::Status check_identity(const KafkaSourceConfig& config, const KafkaTopics& topics,
                            const engine::SourcePositions& positions) {
  const std::string& cluster = identity_of(positions, kClusterIdentity);
  if (!cluster.empty() && !topics.cluster.cluster_id.empty() && cluster != topics.cluster.cluster_id) {
    return base::Error(source_cluster_changed(cluster, topics.cluster.cluster_id));
  }
  for (const std::string& topic : topics_of(positions)) {
    if (is_configured(config, topic)) TRY(check_topic(topic, topics, positions));
  }
  return {};
}

base::Status check_offsets(KafkaClient& client, const KafkaTopics& topics, const engine::SourcePositions& positions) {
  Offsets at;
  for (const TopicPartition& partition : topics.partitions) {
    const auto known = positions.next.find(split_id(partition));
    if (known == positions.next.end()) continue;
    const auto position = parse_position(known->second);
    if (!position) return base::corrupt("position '" + known->second + "' of " + known->first + " cannot be read");
    at[partition] = position->offset;
  }
  std::vector<TopicPartition> partitions;
  for (const auto& [partition, offset] : at) partitions.push_back(partition);
  TRY_ASSIGN(const Offsets log_starts, client.list_offsets(partitions, OffsetSpec::kEarliest));
  TRY_ASSIGN(const Offsets log_ends, client.list_offsets(partitions, OffsetSpec::kLatest));
  std::vector<OffsetSpan> gaps, behind;
  for (const auto& [partition, offset] : at) {
    const auto log_start = log_starts.find(partition);
    const auto log_end = log_ends.find(partition);
    if (log_start == log_starts.end() || log_end == log_ends.end()) {
      return base::unavailable("Kafka did not tell the offsets of " + split_id(partition));
    }
    if (offset < log_start->second) gaps.push_back({partition, offset, log_start->second});
    if (offset > log_end->second) behind.push_back({partition, log_end->second, offset});
  }
  if (!gaps.empty()) return base::Error(source_gap(gaps));
  if (!behind.empty()) return base::Error(source_behind(behind));
  return {};
}

}  // namespace frazil::sources
