// Names of Kafka's Java clients, as consumer configurations of other systems hold them, and the librdkafka names, options or
// reasons that answer them. Names that both clients share need no entry.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "app/convert/conversion.h"

namespace frazil::app {

const std::vector<ForeignName>& kafka_names();

// One client property; `given.key` is its name.
void translate_kafka_property(Conversion& conversion, const Given& given);
// A map of them; `prefix` stands before the names in findings.
void translate_kafka_properties(Conversion& conversion, const std::string& prefix, const Node& map);

// What only shows at the end: brokers without TLS, stores and keys that belong together.
void complete_kafka(Conversion& conversion);

}  // namespace frazil::app
