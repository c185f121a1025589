// The settings of Beam's ReadFromKafka and WriteToIceberg, under Beam's names and under the same names in camel case, as the
// Dataflow template takes them.
//
// Pure; any thread.
#pragma once

#include <vector>

#include "app/convert/conversion.h"

namespace frazil::app {

const std::vector<ForeignName>& kafka_read_names();
const std::vector<ForeignName>& iceberg_write_names();
// The same declarations in the template's spelling: consumer_config_updates → consumerConfigUpdates.
std::vector<ForeignName> in_camel_case(const std::vector<ForeignName>& names);

// Avro or JSON Schema as text, a file, or a tree; into decode.json.schema.
void translate_schema(Conversion& conversion, const Given& given);

// What holds for both: the name, the schema, a table that is created, addresses without TLS. `where` is the place of the whole.
void complete_pipeline_draft(Conversion& conversion, const Mark& where);

}  // namespace frazil::app
