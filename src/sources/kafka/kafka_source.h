// The Kafka source: splits are partitions ("orders/0"), positions are offsets with their leader epoch ("120@5").
//
// Where it reads is decided by the table alone: positions come from the table, `start` counts only when the table knows
// none, and a partition that appears later begins at its log start. With a group, the group decides *which* partitions this
// worker reads; without one it reads all. Before a commit, confirm() asks the cluster once more whether topics and cluster
// are still the same, since a topic that was deleted and created again gives no error of its own.
// Threads: see engine/source.h. Situations that need an operator are halts (kafka_halts.h).
#pragma once

#include <memory>

#include "clients/kafka/kafka_client.h"
#include "engine/source.h"
#include "sources/kafka/kafka_source_config.h"

namespace frazil::sources {

// `client` was made for kafka_client_config(config, lanes) (or is a simulated one); start() must be called with that many lanes.
std::unique_ptr<engine::Source> make_kafka_source(KafkaSourceConfig config, std::unique_ptr<clients::KafkaClient> client);

}  // namespace frazil::sources
