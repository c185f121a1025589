// KafkaSourceConfig: what a pipeline says about its Kafka source. A plain value, checked where it is parsed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "clients/kafka/kafka_client.h"

namespace frazil::sources {

// Where reading begins when the table knows no positions. Means nothing once it does.
struct StartEarliest {};
struct StartLatest {};
// At the group's committed offsets; partitions without one begin at their log start. Needs at least one committed offset.
struct StartGroup {};
// At the first record whose timestamp is not below this, else at the end of the log.
struct StartTimestamp {
  int64_t timestamp_ms = 0;
};
// At these offsets; partitions that are not named begin at their log start.
struct StartOffsets {
  std::map<std::string, std::map<int32_t, int64_t>> offsets;  // topic → partition → offset
};
using KafkaStart = std::variant<StartEarliest, StartLatest, StartGroup, StartTimestamp, StartOffsets>;

struct KafkaSourceConfig {
  std::vector<std::string> topics;  // either names
  std::string topic_pattern;        // or a regular expression (base/pattern.h) that the whole name matches
  KafkaStart start = StartEarliest{};
  int64_t discovery_interval_ms = 300000;         // for new partitions and topics; 0: never
  std::string group_id;                           // empty: no group, all partitions are read
  std::map<std::string, std::string> properties;  // librdkafka names, checked by clients/kafka/property_allow_list.h
  bool allow_plaintext = false;
  std::string client_id = "frazil";  // what the group's members know this worker by
  // How long an open transaction may hold back a partition's records before status and log say so; 0: never.
  int64_t open_transaction_warning_ms = 300000;
};

// The client that this source needs, for make_librdkafka_client(). `lanes` is the number of reader lanes.
clients::KafkaClientConfig kafka_client_config(const KafkaSourceConfig& config, int lanes);

}  // namespace frazil::sources
