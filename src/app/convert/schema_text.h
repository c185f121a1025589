// Schemas that stand as text inside of foreign configurations: an Avro record, or a JSON Schema of an object.
//
// JSON Schema → columns: integer → long, number → double, string → string, boolean → boolean, array → list, object with
// properties → struct, object with additionalProperties of one type → map<string, ...>; a property that `required` does not
// name, or whose type may be null, is optional. Formats and bounds of values are not checked. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "app/config/document.h"
#include "app/config/pipeline_config.h"
#include "base/result.h"
#include "columnar/schema.h"

namespace frazil::app {

// The schema of a text that begins with '{', by what it is. kInvalid and kUnsupported name the field. `timestamps` takes
// what only Avro says (schema_source.h).
base::Result<columnar::Schema> schema_from_text(std::string_view text, TimestampFields* timestamps = nullptr);
base::Result<columnar::Schema> schema_from_json_schema(std::string_view json);

// Texts of a JSON Schema whose "format" is a time's; their columns are strings all the same: "created_at (date-time), at.day (date)".
// For a text that schema_from_text() takes; empty for an Avro schema.
std::string times_that_stay_texts(std::string_view text);

// A schema written as a tree of YAML, as JSON text.
std::string to_json_text(const Node& node);

// True when a column's type, written as a text, loses that something inside of it is required.
bool loses_inner_required(const columnar::Schema& schema);

}  // namespace frazil::app
