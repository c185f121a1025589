// Schemas as users give them: an Avro schema file, or columns written out in the configuration. Pure, but for reading a
// file.
//
// Avro → columns: boolean, int, long, float, double, string; bytes → binary; fixed → fixed; enum → string; array →
// list; map → map<string, ...>; record → struct; [null, T] → optional T. Logical types: decimal, date, time-millis and
// time-micros → time, timestamp-millis and timestamp-micros → timestamptz, local-timestamp-* (and adjust-to-utc: false)
// → timestamp, uuid. Other unions and recursive records are kUnsupported, named by path. Field ids are given freshly.
// Where `timestamps` is given, it takes the first fields whose numbers have a unit by their logical type.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/config/document.h"
#include "app/config/pipeline_config.h"
#include "app/config/problems.h"
#include "base/result.h"
#include "columnar/schema.h"

namespace frazil::app {

base::Result<columnar::Schema> schema_from_avro(std::string_view json, TimestampFields* timestamps = nullptr);
// The same from a file.
base::Result<columnar::Schema> schema_from_avro_file(const std::string& path, TimestampFields* timestamps = nullptr);
// `[{name: id, type: long, required: true, doc: ...}, ...]`. Everything wrong goes to `problems`; nothing then.
std::optional<columnar::Schema> schema_from_columns(const Node& list, Problems& problems);

}  // namespace frazil::app
