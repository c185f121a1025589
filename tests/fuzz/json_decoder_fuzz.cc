// Fuzzes the JSON decoder: no input may crash it, columns stay even, a rejected document leaves nothing behind, and the fast path gives
// what the reference gives, also when it has learned from the same document.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "columnar/column.h"
#include "format/json/json_decoder.h"

namespace {

std::shared_ptr<const frazil::columnar::Schema> fuzz_schema() {
  constexpr const char* kType =
      "struct<b: boolean, i: int, l: long, f: float, d: double, n: decimal(20, 5), date: date, time: time, ts: "
      "timestamp, "
      "tz: timestamptz, s: string, u: uuid, x: fixed[5], y: binary, list: list<struct<a: int, b: list<string>>>, "
      "map: map<int, struct<x: double>>, st: struct<p: struct<q: string>, m: map<string, list<long>>>>";
  auto schema = std::make_shared<frazil::columnar::Schema>();
  schema->fields = frazil::columnar::parse_type(kType)->fields();
  return schema;
}

// The first byte of the input picks the options.
frazil::format::JsonOptions options_of(uint8_t bits) {
  frazil::format::JsonOptions options;
  options.bad_field_null = (bits & 1) != 0;
  options.missing_field_reject = (bits & 2) != 0;
  options.case_insensitive = (bits & 4) != 0;
  options.coerce_strings = (bits & 8) != 0;
  options.decimal_round = (bits & 16) != 0;
  options.timestamp_numbers = static_cast<frazil::format::TimestampNumbers>((bits >> 5) % 5);
  return options;
}

using frazil::columnar::Column;

bool is_same(const frazil::columnar::Buffer& a, const frazil::columnar::Buffer& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size())) == 0);
}

bool is_same(const Column& a, const Column& b) {
  if (a.length() != b.length() || a.null_count() != b.null_count() || !is_same(a.offsets(), b.offsets())) return false;
  const bool is_boolean = a.type().id() == frazil::columnar::TypeId::kBoolean;
  for (int64_t row = 0; row < a.length(); ++row) {
    if (a.is_null(row) != b.is_null(row) || (is_boolean && a.boolean_at(row) != b.boolean_at(row))) return false;
  }
  for (size_t i = 0; i < a.child_count(); ++i) {
    if (!is_same(a.child(i), b.child(i))) return false;
  }
  return is_boolean || is_same(a.values(), b.values());
}

// A decoder by one path and what it has decoded.
struct Decoded {
  Decoded(const std::shared_ptr<const frazil::columnar::Schema>& schema, frazil::format::JsonOptions options,
          frazil::format::JsonPath path)
      : batch(schema) {
    options.path = path;
    decoder = frazil::format::JsonDecoder::make(schema, std::move(options)).value();
    for (auto& column : batch.columns) columns.push_back(&column);
  }

  void decode(std::string_view document) {
    const int64_t before = batch.rows();
    int64_t rows = 0;
    reject = decoder->decode(document, columns, &rows);
    for (const auto& column : batch.columns) {
      if (column.length() != before + (reject ? 0 : rows)) std::abort();
    }
  }

  bool agrees_with(const Decoded& other) const {
    if (reject.has_value() != other.reject.has_value()) return false;
    if (reject && (reject->code != other.reject->code || reject->message != other.reject->message || reject->field != other.reject->field)) return false;
    const auto& a = decoder->counters();
    const auto& b = other.decoder->counters();
    if (a.rows != b.rows || a.unknown_fields != b.unknown_fields || a.duplicate_keys != b.duplicate_keys) return false;
    if (a.bad_fields_nulled != b.bad_fields_nulled || a.case_mismatches != b.case_mismatches) return false;
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      if (!is_same(batch.columns[i], other.batch.columns[i])) return false;
    }
    return true;
  }

  frazil::columnar::Batch batch;
  std::unique_ptr<frazil::format::JsonDecoder> decoder;
  std::vector<Column*> columns;
  std::optional<frazil::format::Reject> reject;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const auto schema = fuzz_schema();
  if (size == 0) return 0;
  Decoded reference(schema, options_of(bytes[0]), frazil::format::JsonPath::kReference);
  Decoded fast(schema, options_of(bytes[0]), frazil::format::JsonPath::kFastest);
  // A copy of exactly that size: reading past the end is found by the sanitizer.
  const std::vector<char> document(bytes + 1, bytes + size);
  for (int times = 0; times < 2; ++times) {
    reference.decode({document.data(), document.size()});
    fast.decode({document.data(), document.size()});
    if (!fast.agrees_with(reference)) std::abort();
  }
  return 0;
}
