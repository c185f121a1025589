// What becomes of the table's positions when an operator has answered a halt of the Kafka source. kafka_halts.h names the
// choices; those that need a look at the cluster are made here.
//
// Called by the control lane while nothing is read. Failures: the client's; kInvalid for a choice that the halt does not have.
#pragma once

#include <string>

#include "clients/kafka/kafka_client.h"
#include "engine/position.h"
#include "sources/kafka/kafka_source_config.h"

namespace frazil::sources {

// An empty `choice` stands for the only one of the halt.
base::Result<engine::SourcePositions> apply_kafka_choice(clients::KafkaClient& client, const KafkaSourceConfig& config,
                                                         const base::Halt& halt, const std::string& choice,
                                                         const engine::SourcePositions& positions);

}  // namespace frazil::sources
