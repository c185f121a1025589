// JSON of partition specs and sort orders (Iceberg specification, appendix C). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "iceberg/partition_spec.h"

namespace frazil::iceberg {

std::string spec_to_json(const PartitionSpec& spec);
// Only the array of fields: the form of a manifest's header and of v1 metadata.
std::string spec_fields_to_json(const PartitionSpec& spec);
base::Result<PartitionSpec> spec_from_json(std::string_view json);
// `json` is the array of fields; missing field ids (v1) count up from 1000.
base::Result<PartitionSpec> spec_fields_from_json(std::string_view json, int32_t spec_id);
std::string sort_order_to_json(const SortOrder& order);
base::Result<SortOrder> sort_order_from_json(std::string_view json);

}  // namespace frazil::iceberg
