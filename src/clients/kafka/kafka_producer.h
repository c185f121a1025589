// KafkaProducer: a thin producer for generated load. Idempotent, in batches, bounded memory; not a transactional sink.
//
// One producer may be used by several lanes, but each lane with its own is faster: librdkafka builds and compresses all
// batches for a broker on one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sync.h"

namespace frazil::clients {

struct KafkaProducerConfig {
  std::map<std::string, std::string> properties;  // librdkafka names, already checked against the allow-list
  std::string client_id = "frazil";
  std::string codec = "lz4";  // none, gzip, snappy, lz4, zstd
  bool allow_plaintext = false;  // brokers outside of this machine may be reached without TLS
};

struct ProducedRecord {
  int32_t partition = 0;
  std::string_view key;
  std::string_view value;
  bool has_key = false;
  bool has_value = true;
  int64_t timestamp_ms = 0;  // 0: now
};

struct TopicSettings {
  int partitions = 1;
  int replication = 1;                         // -1: the broker's default
  std::map<std::string, std::string> configs;  // "retention.ms", ...
};

// Sums since the producer was made.
struct ProducerStats {
  int64_t delivered_records = 0;
  int64_t delivered_bytes = 0;  // of values
  int64_t failed_records = 0;
  std::string last_error;
};

class KafkaProducer {
 public:
  virtual ~KafkaProducer() = default;
  // Waits until the cluster answers, or kUnavailable with the last error at the deadline.
  virtual base::Status connect(base::MonoMicros deadline) = 0;
  // kExists when the topic is there already. Returns when its partitions have leaders, or kUnavailable at the deadline.
  virtual base::Status create_topic(const std::string& topic, const TopicSettings& settings,
                                    base::MonoMicros deadline) = 0;
  virtual base::Status delete_topic(const std::string& topic, base::MonoMicros deadline) = 0;
  // kNotFound when there is no such topic.
  virtual base::Result<int> partitions(const std::string& topic) = 0;
  // Copies the records into the send queue; waits while it is full. kUnavailable when it stays full until the deadline;
  // records before that one are queued then. Failed deliveries are counted, not returned.
  virtual base::Status produce(const std::string& topic, std::span<const ProducedRecord> records,
                               base::MonoMicros deadline) = 0;
  // Waits until all queued records are delivered or have failed.
  virtual base::Status flush(base::MonoMicros deadline) = 0;
  virtual ProducerStats stats() const = 0;
};

base::Result<std::unique_ptr<KafkaProducer>> make_kafka_producer(const KafkaProducerConfig& config);

}  // namespace frazil::clients
