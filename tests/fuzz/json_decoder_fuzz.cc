// Fuzzes the JSON decoder: no input may crash it, columns stay even, and a rejected document leaves nothing behind.

#include <cstdint>
#include <cstdlib>
#include <memory>
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const auto schema = fuzz_schema();
  if (size == 0) return 0;
  auto decoder = frazil::format::JsonDecoder::make(schema, options_of(bytes[0])).value();
  frazil::columnar::Batch batch(schema);
  std::vector<frazil::columnar::Column*> columns;
  for (auto& column : batch.columns) columns.push_back(&column);
  const std::string_view document(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  int64_t rows = 0;
  const bool is_rejected = decoder->decode(document, columns, &rows).has_value();
  for (const auto& column : batch.columns) {
    if (column.length() != (is_rejected ? 0 : rows)) std::abort();
  }
  return 0;
}
