#include "sources/kafka/kafka_choices.h"

#include <utility>
#include <vector>

#include "sources/kafka/kafka_halts.h"
#include "sources/kafka/kafka_positions.h"
#include "sources/kafka/kafka_splits.h"

namespace frazil::sources {

namespace {

using clients::KafkaClient;
using clients::OffsetSpec;
using clients::TopicPartition;
using engine::SourcePositions;

// Log starts belong to no known leader epoch.
base::Status begin_at_log_starts(KafkaClient& client, const std::vector<TopicPartition>& partitions, SourcePositions& positions) {
  TRY_ASSIGN(const auto log_starts, client.list_offsets(partitions, OffsetSpec::kEarliest));
  for (const auto& [partition, offset] : log_starts) positions.next[split_id(partition)] = position_text({offset, -1});
  return {};
}

// The new topic from its log start, under its new id.
base::Result<SourcePositions> restart_topic(KafkaClient& client, const base::Halt& halt, SourcePositions positions) {
  const std::string topic = halt.range.substr(0, halt.range.find(' '));
  TRY_ASSIGN(const auto cluster, client.describe({topic}));
  const auto found = cluster.topics.find(topic);
  if (found == cluster.topics.end()) return base::Error(source_gone(topic));
  std::erase_if(positions.next, [&](const auto& entry) {
    const auto partition = parse_split(entry.first);
    return partition && partition->topic == topic;
  });
  positions.identity[topic_identity(topic)] = found->second.id;
  std::vector<TopicPartition> partitions;
  for (int32_t number = 0; number < found->second.partitions; ++number) partitions.push_back({topic, number});
  TRY(begin_at_log_starts(client, partitions, positions));
  return positions;
}

base::Result<SourcePositions> restart_spans(KafkaClient& client, const base::Halt& halt, SourcePositions positions) {
  const auto spans = parse_spans(halt.range);
  if (!spans) return base::invalid(halt.code + ": the range '" + halt.range + "' cannot be read");
  std::vector<TopicPartition> partitions;
  for (const OffsetSpan& span : *spans) partitions.push_back(span.partition);
  TRY(begin_at_log_starts(client, partitions, positions));
  return positions;
}

// The same offsets on another cluster, whose topic ids and leader epochs are its own.
base::Result<SourcePositions> adopt_cluster(KafkaClient& client, const KafkaSourceConfig& config, SourcePositions positions) {
  TRY_ASSIGN(const KafkaTopics topics, discover_topics(client, config, topics_of(positions)));
  positions.identity = {{kClusterIdentity, topics.cluster.cluster_id}};
  for (const auto& [name, topic] : topics.cluster.topics) positions.identity[topic_identity(name)] = topic.id;
  for (auto& [split, text] : positions.next) {
    if (const auto position = parse_position(text)) text = position_text({position->offset, -1});
  }
  return positions;
}

base::Result<SourcePositions> start_anew(KafkaClient& client, const KafkaSourceConfig& config) {
  TRY_ASSIGN(const KafkaTopics topics, discover_topics(client, config));
  TRY(require_topics(topics));
  return resolve_kafka_start(client, config, topics);
}

}  // namespace

base::Result<SourcePositions> apply_kafka_choice(KafkaClient& client, const KafkaSourceConfig& config, const base::Halt& halt,
                                                 const std::string& choice, const SourcePositions& positions) {
  const std::string chosen = choice.empty() && halt.choices.size() == 1 ? halt.choices[0].name : choice;
  if (halt.code == "SOURCE_RECREATED" && chosen == "restart") return restart_topic(client, halt, positions);
  if (halt.code == "SOURCE_BEHIND" && chosen == "restart") return restart_spans(client, halt, positions);
  if (halt.code == "SOURCE_CLUSTER_CHANGED" && chosen == "same_offsets") return adopt_cluster(client, config, positions);
  if (halt.code == "SOURCE_CLUSTER_CHANGED" && chosen == "start") return start_anew(client, config);
  return move_positions(halt, chosen, positions);
}

}  // namespace frazil::sources
