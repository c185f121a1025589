// Owning pointers for librdkafka's objects, and its error codes as our errors. Keeps librdkafka's header in the .cc files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "clients/kafka/kafka_client.h"

struct rd_kafka_s;
struct rd_kafka_queue_s;
struct rd_kafka_op_s;
struct rd_kafka_topic_partition_list_s;
struct rd_kafka_AdminOptions_s;

namespace frazil::clients {

struct RdKafkaDeleter {
  void operator()(rd_kafka_s* handle) const;
  void operator()(rd_kafka_queue_s* queue) const;
  void operator()(rd_kafka_op_s* event) const;
  void operator()(rd_kafka_topic_partition_list_s* list) const;
  void operator()(rd_kafka_AdminOptions_s* options) const;
};
template <typename T>
using RdKafkaPtr = std::unique_ptr<T, RdKafkaDeleter>;
using RdKafkaQueue = RdKafkaPtr<rd_kafka_queue_s>;
using RdKafkaEvent = RdKafkaPtr<rd_kafka_op_s>;
using RdKafkaPartitionList = RdKafkaPtr<rd_kafka_topic_partition_list_s>;

// `code` is an rd_kafka_resp_err_t. kNotFound for unknown topics and partitions, kExists, kInvalid for what the caller asked
// wrongly, kUnsupported, else kUnavailable.
base::Error kafka_error(int code, const std::string& text);
base::Error kafka_error(int code);

// Topics or partitions that the cluster does not know (any more).
bool is_unknown_topic(int code);

RdKafkaPartitionList partition_list(const std::vector<TopicPartition>& partitions);

// Milliseconds until the deadline, from 0 to `at_most`, rounded up.
int millis_until(base::MonoMicros deadline, int at_most);

}  // namespace frazil::clients
