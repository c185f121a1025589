// JSON of types and schemas (Iceberg specification, appendix C "Schemas"). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "columnar/schema.h"

namespace frazil::iceberg {

std::string schema_to_json(const columnar::Schema& schema);
// kCorrupt names the offending member; kUnsupported names a type of a later format version.
base::Result<columnar::Schema> schema_from_json(std::string_view json);

}  // namespace frazil::iceberg
