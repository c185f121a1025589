#include "clients/kafka/rdkafka_handles.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "base/clock.h"

namespace frazil::clients {

// A consumer that broke for good is not closed first: that may wait without end.
void RdKafkaDeleter::operator()(rd_kafka_s* handle) const {
  const bool is_broken = rd_kafka_fatal_error(handle, nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
  rd_kafka_destroy_flags(handle, is_broken ? RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE : 0);
}
void RdKafkaDeleter::operator()(rd_kafka_queue_s* queue) const { rd_kafka_queue_destroy(queue); }
void RdKafkaDeleter::operator()(rd_kafka_op_s* event) const { rd_kafka_event_destroy(event); }
void RdKafkaDeleter::operator()(rd_kafka_topic_partition_list_s* list) const {
  rd_kafka_topic_partition_list_destroy(list);
}
void RdKafkaDeleter::operator()(rd_kafka_AdminOptions_s* options) const { rd_kafka_AdminOptions_destroy(options); }

bool is_unknown_topic(int code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_ID:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return true;
    default:
      return false;
  }
}

static base::Code code_of(int code) {
  if (is_unknown_topic(code)) return base::Code::kNotFound;
  switch (code) {
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
      return base::Code::kExists;
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return base::Code::kInvalid;
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
      return base::Code::kUnsupported;
    default:
      return base::Code::kUnavailable;
  }
}

base::Error kafka_error(int code, const std::string& text) {
  return base::Error(code_of(code), std::string(rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code))) + ": " + text);
}

base::Error kafka_error(int code) { return kafka_error(code, rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(code))); }

RdKafkaPartitionList partition_list(const std::vector<TopicPartition>& partitions) {
  RdKafkaPartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const TopicPartition& partition : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition);
  }
  return list;
}

int millis_until(base::MonoMicros deadline, int at_most) {
  if (deadline == base::kForever) return at_most;
  const int64_t micros = deadline - base::mono_micros();
  if (micros <= 0) return 0;
  return static_cast<int>(std::min<int64_t>(at_most, (micros + 999) / 1000));
}

}  // namespace frazil::clients
