// Questions to the cluster by librdkafka's admin API, with plain requests where a broker or the mock does not know it.
//
// Each is one round of requests with a bounded time. Any thread. Failures: kafka_error().
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "clients/kafka/kafka_client.h"
#include "clients/kafka/kafka_producer.h"
#include "clients/kafka/passing_states.h"
#include "clients/kafka/rdkafka_handles.h"

namespace frazil::clients {

// Longest wait for an answer.
inline constexpr int kRequestMillis = 10000;

// Cluster id and topic ids from requests that are sent now, never from a cache.
base::Result<ClusterDescription> describe_cluster(rd_kafka_s* handle, const std::vector<std::string>& topics);
// Names of all topics.
base::Result<std::vector<std::string>> list_topics(rd_kafka_s* handle);
// Log starts, or last stable offsets. Asked again as `passing` allows.
base::Result<std::map<TopicPartition, int64_t>> query_offsets(rd_kafka_s* handle, const std::vector<TopicPartition>& partitions,
                                                             OffsetSpec spec, PassingStates& passing);
base::Result<std::vector<GroupMember>> describe_group(rd_kafka_s* handle, const std::string& group, PassingStates& passing);
base::Status create_topic(rd_kafka_s* handle, const std::string& topic, const TopicSettings& settings);
base::Status delete_topic(rd_kafka_s* handle, const std::string& topic);

}  // namespace frazil::clients
