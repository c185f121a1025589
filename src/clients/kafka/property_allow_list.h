// Which librdkafka properties a user may set. Everything else is refused, with the reason: a property that decides what is
// read or committed would break exactly-once, and one that loads code or runs a program would break the machine.
//
// Pure, no network; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "clients/kafka/connection_rules.h"  // the rules for all properties together

namespace frazil::clients {

// kInvalid names the property and why it is refused, or the nearest allowed name, or what is wrong with the value.
base::Status check_kafka_property(const std::string& name, const std::string& value);

// True when check_kafka_property() knows the name: as allowed, or as refused with a reason of its own.
bool has_kafka_answer(std::string_view name);

// True for properties that hold a secret: configuration files may give them only by reference.
bool is_kafka_secret(std::string_view name);

// All names that check_kafka_property() accepts, sorted; for the reference page.
std::vector<std::string> allowed_kafka_properties();

}  // namespace frazil::clients
