// Generated records: JSON that looks like a shop's orders, the same for the same seed and index whatever wrote it.
//
// The record (schema version 1) has 30 top-level fields and about 1,040 bytes, with skewed users, dictionaries of different
// sizes, nulls, free text, a list and a struct. Its fields appear nowhere outside this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "columnar/schema.h"

namespace frazil::sources {

struct RecordOptions {
  uint64_t seed = 1;
  bool shuffle_keys = false;  // fields in random order, another one for each record
  double bad_percent = 0;     // of records that no row can be made of, in every way of Spoiling in turn
};

// How a record is spoiled. Each is rejected under the default rules of JSON decoding, but kTombstone, which is skipped.
enum class Spoiling {
  kNone,
  kTruncated,          // ends in the middle
  kNotJson,            // words
  kEmptyValue,         // no bytes, but not null
  kTombstone,          // null value
  kTopLevelScalar,     // a number alone
  kTopLevelNull,       // the word null
  kRequiredMissing,    // no id
  kRequiredNull,       // id is null
  kFractionInInteger,  // quantity 42.5
  kIntegerOverflow,    // quantity beyond 32 bits
  kNumberAsText,       // quantity "42"
  kTextAsNumber,       // price "cheap"
  kNumberAsBoolean,    // is_paid 1
  kDoubleOverflow,     // price 1e999
  kNoZone,             // event_time without an offset
  kNotATimestamp,      // event_time "yesterday"
  kNumberAsTimestamp,  // event_time 1767225600
  kBadUuid,            // trace_id of 31 digits
  kScalarAsList,       // tags "one"
  kScalarAsStruct,     // shipping 7
  kInvalidUtf8,        // a lone 0xFF in the comment
  kLoneSurrogate,      // \ud800 in the comment
  kTooDeep,            // an unknown field nested 129 deep
  kBadArrayElement,    // an array of a good and a bad record
};
inline constexpr int kSpoilings = static_cast<int>(Spoiling::kBadArrayElement);

// Writes records by index. Belongs to one lane; instances with the same options write the same.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  // Replaces `out` by record `index` and says how it was spoiled. A tombstone has no value: `out` is empty.
  virtual Spoiling write(uint64_t index, std::string& out) = 0;
};

// The shop's record. Times run on by a millisecond with each index, from 2026-01-01T00:00:00Z.
std::unique_ptr<RecordWriter> make_record_writer(const RecordOptions& options);

// Random records for an Avro schema (JSON text) of the user's, as JSON that the JSON decoder reads with that schema.
// kInvalid when the text is no Avro record schema. bad_percent and shuffle_keys do not apply.
base::Result<std::unique_ptr<RecordWriter>> make_avro_record_writer(std::string_view avro_schema, const RecordOptions& options);

// Columns for the shop's record; ids are fresh.
columnar::Schema generator_schema();
// The field of generator_schema() that spreads rows evenly: for bucket partitions and keys.
std::string_view generator_key_field();

}  // namespace frazil::sources
