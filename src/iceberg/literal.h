// Literal: one value of a primitive type, null included: partition tuples and bounds are made of them.
// Pure value. Binary form: Iceberg specification, appendix D "Single-value serialization".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "columnar/column.h"

namespace frazil::iceberg {

// Alternatives by type: boolean bool · int, date int32 · long, time, timestamps int64 · float · double · decimal __int128 ·
// string, binary, uuid, fixed std::string (raw bytes).
struct Literal {
  using Value = std::variant<std::monostate, bool, int32_t, int64_t, float, double, __int128, std::string>;
  Value value;

  Literal() = default;
  template <typename T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Literal>)
  explicit Literal(T v) : value(std::move(v)) {}
  bool is_null() const { return value.index() == 0; }
  bool operator==(const Literal& other) const = default;
};

// The values of a file's partition fields, in the order of its spec.
using PartitionKey = std::vector<Literal>;

// Reads row `row` of a primitive column.
Literal literal_at(const columnar::Column& column, int64_t row);
std::string to_binary(const columnar::Type& type, const Literal& literal);
base::Result<Literal> from_binary(const columnar::Type& type, std::string_view bytes);
// Iceberg's order for the type (decimals signed, strings by bytes, -0.0 < 0.0, NaN last). Neither is null.
std::strong_ordering compare(const columnar::Type& type, const Literal& a, const Literal& b);
// The value as one of `type`, widened where the specification allows promotion (int → long, float → double); nullopt when it
// is of another type. Null stays null.
std::optional<Literal> promote(const columnar::Type& type, const Literal& literal);
// Decimals in their shortest big-endian two's complement form: at most 16 bytes, else kCorrupt.
std::string decimal_to_binary(__int128 unscaled);
base::Result<__int128> decimal_from_binary(std::string_view bytes);
// For people and paths: "null", "2026-01-31", "a", hex for binary.
std::string to_text(const columnar::Type& type, const Literal& literal);

}  // namespace frazil::iceberg
