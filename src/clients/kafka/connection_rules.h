// What only shows in all Kafka properties together: whether they make sense with each other, whether records and passwords
// would travel in the clear, and which of them are names of files. Pure, no network; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace frazil::clients {

using KafkaProperties = std::map<std::string, std::string>;

// kInvalid, with what to change, when
// - no broker is named, or security properties are set that security.protocol leaves without effect;
// - OAUTHBEARER has nowhere to get tokens from;
// - properties of one group protocol are set with the other one;
// - without `allow_plaintext`: a broker or token endpoint outside of loopback would be reached without TLS, or with TLS that
//   does not verify who answers.
base::Status check_kafka_connection(const KafkaProperties& properties, bool allow_plaintext);

// True when security.protocol (default: plaintext) is one without TLS.
bool is_plaintext(const KafkaProperties& properties);
// True when every broker of bootstrap.servers is on this machine.
bool has_loopback_brokers_only(const KafkaProperties& properties);

// Names of the properties that hold the name of a file.
const std::vector<std::string>& kafka_file_properties();
// Properties that hold the name of a file count from `folder` when they are relative. Special words of librdkafka stay.
void place_kafka_files(KafkaProperties& properties, const std::string& folder);

}  // namespace frazil::clients
