// JsonDecoder: JSON documents into columns, driven by the schema of the rows.
//
// One document is one row, or with a top-level array one row for each element; all of its rows are appended or none.
// A document that does not fit is a `Reject`, never an error: the caller keeps its bytes as a dead letter. What fits is
// told in docs/json.md, line by line; the short form: exact or refused. Integers and decimals never pass through a
// double, no digit is lost but the seventh and later ones of a second's fraction, text is valid UTF-8 in all its parts,
// and the fields that no column asks for are checked as strictly as the others.
//
// Fields are expected in the order of the last document, which makes the search for their columns one comparison.
// Nothing is allocated for a row once the buffers have grown. A decoder belongs to one lane; any number may share a
// schema.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "columnar/column.h"
#include "columnar/schema.h"

namespace frazil::format {

// What a number in a timestamp column counts, from 1970-01-01T00:00:00Z.
enum class TimestampNumbers { kReject, kSeconds, kMillis, kMicros, kNanos };

// How documents are read: fast with the instructions named, or exactly in every part, which is the reference for tests.
enum class JsonPath { kFastest, kPlain, kAvx2, kAvx512, kReference };
// Whether this processor can go it.
bool has_path(JsonPath path);

struct JsonOptions {
  // A value that does not fit an optional field becomes null there, instead of rejecting the document. The field that
  // holds the value decides: one that is required still rejects.
  bool bad_field_null = false;
  // A missing optional field rejects; explicit null is still accepted. A required field rejects in either case.
  bool missing_field_reject = false;
  // A top-level array gives one row for each element; else it rejects.
  bool explode_top_level_array = true;
  // Names match without regard to the case of ASCII letters. Two spellings of one column in a document reject.
  bool case_insensitive = false;
  // "42", "4.2e1", "true" are taken for number and boolean columns.
  bool coerce_strings = false;
  // Digits beyond a decimal's scale are rounded half to even; else they reject unless they are zeros.
  bool decimal_round = false;
  TimestampNumbers timestamp_numbers = TimestampNumbers::kReject;
  // Offset for timestamptz texts that carry none: "" (they reject), "Z", "UTC", or "+02:00".
  std::string assume_zone = {};
  int64_t max_document_bytes = int64_t{16} << 20;
  // What the rows of one document may take in columns, or four times its own bytes where that is more: each element of an array of
  // a few bytes takes room in every column.
  int64_t max_decoded_bytes = int64_t{256} << 20;
  // Levels of objects and arrays; the outermost is the first.
  int max_depth = 128;
  // Not for users: all give the same.
  JsonPath path = JsonPath::kFastest;
};

// Why a document was not taken.
struct Reject {
  // Stable: EMPTY, NOT_JSON, BAD_UTF8, TOO_DEEP, TOO_LARGE, ROWS_TOO_LARGE, NOT_AN_OBJECT, TOP_LEVEL_ARRAY, MISSING_FIELD,
  // NULL_IN_REQUIRED, AMBIGUOUS_FIELD, TYPE_MISMATCH, OUT_OF_RANGE, NOT_INTEGRAL, EXCESS_SCALE, BAD_DATE, BAD_TIME,
  // BAD_TIMESTAMP, BAD_UUID, BAD_BASE64, WRONG_LENGTH.
  std::string code;
  // What was wrong and where, for people; quotes at most some dozens of bytes of the input.
  std::string message;
  // Path of the field in the schema ("shipping.days", "tags.element"); empty when the document as a whole is wrong.
  std::string field;
};

// Since the decoder was made, rejected documents left out.
struct JsonCounters {
  int64_t rows = 0;
  int64_t unknown_fields = 0;
  int64_t duplicate_keys = 0;
  int64_t bad_fields_nulled = 0;
  // Fields without a column that would have one if case did not matter, and the first of them.
  int64_t case_mismatches = 0;
  std::string first_case_mismatch;
};

class JsonDecoder {
 public:
  // kInvalid: options out of range, a path that this processor cannot go, or, when case does not matter, two sibling fields of one name. kUnsupported: a map
  // whose key is nested, or a time zone known only by name.
  static base::Result<std::unique_ptr<JsonDecoder>> make(std::shared_ptr<const columnar::Schema> schema,
                                                         JsonOptions options);
  ~JsonDecoder();

  // Appends the rows of one document. `columns` stand in the order of the schema's top-level fields, have their types
  // and equal length; other columns of the same batch are the caller's to fill. `rows_appended` may be 0 (an empty
  // array). On a Reject nothing was appended. The caller starts a new batch long before a column holds 2 GiB.
  std::optional<Reject> decode(std::string_view document, std::span<columnar::Column* const> columns,
                               int64_t* rows_appended);

  // The same in two steps, for many documents: the columns once, for as long as they live and none is moved.
  void bind(std::span<columnar::Column* const> columns);
  std::optional<Reject> decode(std::string_view document, int64_t* rows_appended);

  const JsonCounters& counters() const;

 private:
  class Impl;
  explicit JsonDecoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::format
