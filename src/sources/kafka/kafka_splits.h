// Which partitions a Kafka source reads, where they begin, and whether the table's positions still fit the cluster.
//
// Questions to the cluster without state; called by the control lane. Failures: the client's, and halts (kafka_halts.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "clients/kafka/kafka_client.h"
#include "engine/position.h"
#include "sources/kafka/kafka_source_config.h"

namespace frazil::sources {

// What the cluster has of the configured topics.
struct KafkaTopics {
  clients::ClusterDescription cluster;              // configured topics and those asked for besides
  std::vector<std::string> names;                   // configured: listed, or matching the pattern now
  std::vector<clients::TopicPartition> partitions;  // of `names` that exist, in order
  std::map<std::string, std::string> identity;      // of `names` and the cluster, for SourcePositions
};

// `besides`: topics to describe although the configuration does not name them.
base::Result<KafkaTopics> discover_topics(clients::KafkaClient& client, const KafkaSourceConfig& config,
                                          const std::vector<std::string>& besides = {});

// Topics whose positions the table has.
std::vector<std::string> topics_of(const engine::SourcePositions& positions);

// kNotFound names a configured topic that does not exist.
base::Status require_topics(const KafkaTopics& topics);

// The configured start of every partition. kInvalid when `start` cannot be resolved (a group without offsets).
base::Result<engine::SourcePositions> resolve_kafka_start(clients::KafkaClient& client, const KafkaSourceConfig& config,
                                                          const KafkaTopics& topics);

// Compares the table's positions with the cluster (KI10 to KI13 of the protocol): ids first, since offsets of another topic
// mean nothing. `topics` describes the positions' topics as well.
base::Status check_identity(const KafkaSourceConfig& config, const KafkaTopics& topics,
                            const engine::SourcePositions& positions);
base::Status check_offsets(clients::KafkaClient& client, const KafkaTopics& topics,
                           const engine::SourcePositions& positions);

}  // namespace frazil::sources
