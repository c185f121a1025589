// Java's login configurations, `sasl.jaas.config`: one login module with its options, as Kafka's clients take it. Pure; any
// thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "app/convert/conversion.h"

namespace frazil::app {

struct JaasLogin {
  std::string module;  // "org.apache.kafka.common.security.plain.PlainLoginModule"
  std::map<std::string, std::string> options;
};

// `Module required name="value" name=value;`. Nothing when it has another form.
std::optional<JaasLogin> parse_jaas(std::string_view text);

// Puts what the login says under the names of librdkafka; its secrets stay outside of the draft.
void translate_jaas(Conversion& conversion, const Given& given);

}  // namespace frazil::app
