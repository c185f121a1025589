// Reading of single Avro values where a foreign writer may have wrapped them in a union or chosen a near type.
// One thread at a time; failures stick to the decoder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/avro/avro_decoder.h"
#include "iceberg/literal.h"

namespace frazil::iceberg {

// Steps into a union: the chosen branch, or nullptr for null (and on failure). Other nodes are themselves.
const format::AvroNode* enter_optional(const format::AvroNode& node, format::AvroDecoder& decoder);

// Each reads a value of that node, null included; a node of another kind is a failure.
std::optional<int64_t> read_optional_long(const format::AvroNode& node, format::AvroDecoder& decoder);
std::optional<int32_t> read_optional_int(const format::AvroNode& node, format::AvroDecoder& decoder);
std::optional<bool> read_optional_boolean(const format::AvroNode& node, format::AvroDecoder& decoder);
std::optional<std::string> read_optional_bytes(const format::AvroNode& node, format::AvroDecoder& decoder);
std::vector<int64_t> read_longs(const format::AvroNode& node, format::AvroDecoder& decoder);
std::map<int32_t, int64_t> read_counts(const format::AvroNode& node, format::AvroDecoder& decoder);
std::map<int32_t, std::string> read_bounds(const format::AvroNode& node, format::AvroDecoder& decoder);
// A partition value: uuids of other writers may be bytes, fixed or text; decimals bytes or fixed.
Literal read_partition_value(const format::AvroNode& node, format::AvroDecoder& decoder);

}  // namespace frazil::iceberg
