#include "iceberg/avro_values.h"

namespace frazil::iceberg {

using format::AvroDecoder;
using format::AvroField;
using format::AvroNode;
using format::AvroType;

const AvroNode* enter_optional(const AvroNode& node, AvroDecoder& decoder) {
  if (node.type != AvroType::kUnion) return node.type == AvroType::kNull ? nullptr : &node;
  const AvroNode* branch = node.branches[static_cast<size_t>(decoder.read_branch(node.branches.size()))];
  return decoder.ok() && branch->type != AvroType::kNull ? branch : nullptr;
}

std::optional<int64_t> read_optional_long(const AvroNode& node, AvroDecoder& decoder) {
  const AvroNode* inner = enter_optional(node, decoder);
  if (inner == nullptr) return std::nullopt;
  if (inner->type != AvroType::kInt && inner->type != AvroType::kLong) {
    decoder.fail("expected an integer field");
    return std::nullopt;
  }
  return decoder.read_long();
}

std::optional<int32_t> read_optional_int(const AvroNode& node, AvroDecoder& decoder) {
  const auto wide = read_optional_long(node, decoder);
  if (!wide) return std::nullopt;
  if (*wide < INT32_MIN || *wide > INT32_MAX) decoder.fail("int has more than 32 bits");
  return static_cast<int32_t>(*wide);
}

std::optional<bool> read_optional_boolean(const AvroNode& node, AvroDecoder& decoder) {
  const AvroNode* inner = enter_optional(node, decoder);
  if (inner == nullptr) return std::nullopt;
  if (inner->type != AvroType::kBoolean) decoder.fail("expected a boolean field");
  return decoder.read_boolean();
}

namespace {

std::string read_binary(const AvroNode& node, AvroDecoder& decoder) {
  switch (node.type) {
    case AvroType::kString:
    case AvroType::kBytes: return std::string(decoder.read_bytes());
    case AvroType::kFixed: return std::string(decoder.read_fixed(node.size));
    default: decoder.fail("expected a string or bytes field"); return {};
  }
}

template <typename Visit>
void for_each_item(const AvroNode& node, AvroDecoder& decoder, Visit visit) {
  const AvroNode* array = enter_optional(node, decoder);
  if (array == nullptr) return;
  if (array->type != AvroType::kArray) return decoder.fail("expected an array field");
  for (int64_t count = decoder.read_block(); count != 0; count = decoder.read_block()) {
    for (int64_t i = 0; i < count && decoder.ok(); ++i) visit(*array->element);
  }
}

// Key and value of one pair of a map with int keys; `read_value(node)` reads the value.
template <typename Value, typename ReadValue>
std::map<int32_t, Value> read_pairs(const AvroNode& node, AvroDecoder& decoder, ReadValue read_value) {
  std::map<int32_t, Value> result;
  for_each_item(node, decoder, [&](const AvroNode& pair) {
    if (pair.type != AvroType::kRecord) return decoder.fail("expected pairs of key and value");
    int32_t key = 0;
    Value value{};
    for (const AvroField& field : pair.fields) {
      if (field.name == "key") {
        key = read_optional_int(*field.type, decoder).value_or(0);
      } else if (field.name == "value") {
        value = read_value(*field.type);
      } else {
        decoder.skip(*field.type);
      }
    }
    result.emplace_hint(result.end(), key, std::move(value));
  });
  return result;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The 16 bytes of "8-4-4-4-12" text; the text itself when it is none.
std::string uuid_bytes(const std::string& text) {
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    if (c == '-') continue;
    const int digit = hex_digit(c);
    if (digit < 0) return text;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<char>(high << 4 | digit));
      high = -1;
    }
  }
  return bytes.size() == 16 && high < 0 ? bytes : text;
}

}  // namespace

std::optional<std::string> read_optional_bytes(const AvroNode& node, AvroDecoder& decoder) {
  const AvroNode* inner = enter_optional(node, decoder);
  if (inner == nullptr) return std::nullopt;
  return read_binary(*inner, decoder);
}

std::vector<int64_t> read_longs(const AvroNode& node, AvroDecoder& decoder) {
  std::vector<int64_t> result;
  for_each_item(node, decoder, [&](const AvroNode& item) { result.push_back(read_optional_long(item, decoder).value_or(0)); });
  return result;
}

std::map<int32_t, int64_t> read_counts(const AvroNode& node, AvroDecoder& decoder) {
  return read_pairs<int64_t>(node, decoder,
                             [&](const AvroNode& value) { return read_optional_long(value, decoder).value_or(0); });
}

std::map<int32_t, std::string> read_bounds(const AvroNode& node, AvroDecoder& decoder) {
  return read_pairs<std::string>(node, decoder,
                                 [&](const AvroNode& value) { return read_optional_bytes(value, decoder).value_or(""); });
}

Literal read_partition_value(const AvroNode& node, AvroDecoder& decoder) {
  const AvroNode* inner = enter_optional(node, decoder);
  if (inner == nullptr) return {};
  switch (inner->type) {
    case AvroType::kBoolean: return Literal(decoder.read_boolean());
    case AvroType::kInt: return Literal(decoder.read_int());
    case AvroType::kLong: return Literal(decoder.read_long());
    case AvroType::kFloat: return Literal(decoder.read_float());
    case AvroType::kDouble: return Literal(decoder.read_double());
    default: break;
  }
  std::string bytes = read_binary(*inner, decoder);
  if (!decoder.ok()) return {};
  if (inner->type == AvroType::kString) {
    return Literal(inner->logical_type == "uuid" ? uuid_bytes(bytes) : std::move(bytes));
  }
  if (inner->logical_type != "decimal") return Literal(std::move(bytes));
  const auto unscaled = decimal_from_binary(bytes);
  if (!unscaled.ok()) {
    decoder.fail("decimal has no bytes or more than 16");
    return {};
  }
  return Literal(*unscaled);
}

}  // namespace frazil::iceberg
