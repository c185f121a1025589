// JsonRowReader: one JSON object into one row of columns, by a plan made from the schema.
//
// A row is read in one of two ways. Quickly: fields are converted as they come, which is right for nearly every
// document. When that way meets a field twice, or something that will be refused, it gives up, and the row is read
// again carefully: first every object is walked over to its end to find the last value of each field, then only those
// are converted. That is how an overridden value escapes its type check, and why reasons are put together only on the
// second way.
//
// The quick way has a faster one where the document lies in a JsonIndex: see json_fast_reader.cc. Without, every value is read exactly,
// which is the reference that the fast way is tested against.
//
// Steps of one object, quickly:
//   1. Guess the column of the next key: the one that followed the last key before, or the one after that.
//   2. Guessed wrong: look the key up; unknown keys are passed over and counted.
//   3. Convert the value into its column.
//   4. At the end give nulls to the columns that had no field.
//
// Owned by a JsonDecoder, which undoes what a refused row left behind. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "columnar/column.h"
#include "columnar/schema.h"
#include "format/json/json_cursor.h"
#include "format/json/json_decoder.h"
#include "format/json/json_steps.h"

namespace frazil::format {

// How reading a value or a row ended.
enum class Outcome {
  kTaken,
  kMisfit,     // the value does not fit its column, which may stand null instead; the cursor is behind the value
  kRefused,    // the row is out
  kDuplicate,  // only quickly: read again carefully
  kBroken,     // the document is not JSON: ask the cursor
};

// What happened in rows, in numbers that can be put back.
struct JsonTally {
  int64_t unknown_fields = 0;
  int64_t duplicate_keys = 0;
  int64_t bad_fields_nulled = 0;
  int64_t case_mismatches = 0;
};

class JsonRowReader {
 public:
  // `schema` and `options` must outlive the reader; what make() of the decoder checks holds for them.
  JsonRowReader(const columnar::Schema& schema, const JsonOptions& options,
                std::optional<int32_t> assumed_offset_seconds);

  // Before each document: the columns to fill.
  void bind(std::span<columnar::Column* const> columns);

  // Reads the object at the cursor, which stands at its '{', into one row. On another outcome than kTaken columns are
  // left uneven, to be truncated.
  Outcome read_row(JsonCursor& cursor, bool carefully);

  // Before each reading of a document of that size.
  void start_document(int64_t document_bytes);
  // Counts a row, a list's element or a map's entry. False when there is no room for another (JsonOptions::max_decoded_bytes); the
  // columns are measured now and then.
  bool has_room_for_entry() { return ++entries_ % kEntriesBetweenMeasures != 0 || has_room(); }
  std::string describe_lack_of_room() const;

  // Why the last careful read ended with kRefused.
  Reject take_reject();

  JsonTally& tally() { return tally_; }
  std::string& first_case_mismatch() { return first_case_mismatch_; }

 private:
  struct Found {
    const char* value = nullptr;
    RawString name;
  };
  // One field of the schema and the memory that reading it needs. What every value needs comes first, in a line of the cache.
  struct alignas(64) Node {
    columnar::Column* column = nullptr;
    columnar::TypeId id{};
    bool is_required = false;
    bool is_plain_name = false;  // stands in JSON without escapes
    // The date that the fast way read last, and its count.
    char last_date[10] = {'1', '9', '7', '0', '-', '0', '1', '-', '0', '1'};
    int32_t last_days = 0;
    const columnar::Field* field = nullptr;
    // Of objects with named fields:
    uint64_t object = 0;
    std::vector<Node> children;  // of lists and maps too
    std::vector<uint64_t> seen;  // by child: the object that had it last
    JsonSteps steps;             // of the fast way
    QuotedName quoted_name;      // the reference's, for a plain name
    std::unordered_map<std::string_view, int32_t> by_name;
    std::unordered_map<std::string, int32_t> by_folded_name;
    std::vector<int32_t> successor;  // by child + 1: the child whose field came next when last seen
    std::vector<Found> found;        // by child, carefully
  };

  // An entry of a map, read carefully.
  struct Entry {
    RawString key;
    const char* value = nullptr;
    bool is_overridden = false;
  };

  static constexpr int64_t kEntriesBetweenMeasures = 64;

  bool has_room();
  static void plan(Node& node, const std::vector<columnar::Field>& fields);
  static void bind_children(Node& node);

  Outcome read_members(Node& node);
  Outcome read_members_quickly(Node& node);
  Outcome read_members_carefully(Node& node);
  Outcome find_members(Node& node);
  Outcome convert_found(Node& node);
  Outcome fill_missing(Node& node);
  Outcome append_missing(Node& child);
  bool match_field(Node& node, int32_t previous, int32_t* child);
  bool find_field(Node& node, RawString* name, int32_t* child);
  int32_t look_up(Node& node, std::string_view name);
  int32_t unknown_field(Node& node, std::string_view name);
  static bool is_other_spelling(RawString a, RawString b);

  // The fast way, json_fast_reader.cc.
  struct PassedName {
    const char* end = nullptr;  // nullptr: not JSON
    int32_t step = 0;           // this one if it is known, else the one before
    int32_t child = 0;
  };
  Outcome read_members_fast(Node& node);
  const char* read_members_fast(Node& node, const char* at);
  PassedName pass_name(Node& node, int32_t step, const char* at);
  PassedName find_name(Node& node, int32_t step, const char* at);
  PassedName find_other_name(Node& node, int32_t step, const char* at);
  PassedName know_name(Node& node, int32_t step, std::string_view name, const char* end);
  void count_unknown(std::string_view name, bool is_other_case);
  const char* skip_fast(const char* at);
  const char* read_fast(Node& node, const char* at);
  const char* read_exactly(Node& node, const char* at);
  const char* read_struct_fast(Node& node, const char* at);
  const char* read_list_fast(Node& node, const char* at);
  const char* take_text(Node& node, const char* at);
  const char* take_escaped_text(Node& node, const char* first, const char* stop);
  const char* take_long(Node& node, const char* at);
  const char* take_int(Node& node, const char* at);
  const char* take_double(Node& node, const char* at);
  const char* take_boolean(Node& node, const char* at);
  const char* take_time(Node& node, const char* at);
  bool knows_date(Node& node, const char* at);
  const char* take_uuid(Node& node, const char* at);
  const char* end_with(Outcome outcome) {
    ended_ = outcome;
    return nullptr;
  }

  Outcome read_field(Node& node);
  Outcome read_value(Node& node);
  Outcome read_null(Node& node);
  Outcome read_boolean(Node& node, bool value);
  Outcome read_string(Node& node);
  Outcome read_number(Node& node);
  Outcome read_object(Node& node);
  Outcome read_array(Node& node);
  Outcome read_raw(Node& node);
  Outcome read_map(Node& node);
  Outcome read_map_quickly(Node& node);
  Outcome read_map_carefully(Node& node);
  Outcome find_entries(Node& node, std::vector<Entry>& entries);
  Outcome read_map_key(Node& node, RawString raw);
  Outcome convert_key(Node& key, std::string_view text);
  bool has_duplicate_keys(const Node& node, int64_t first);

  Outcome convert_number(Node& node, std::string_view token);
  Outcome convert_integer(Node& node, std::string_view token);
  Outcome convert_timestamp_number(Node& node, std::string_view token);
  Outcome convert_text(Node& node, std::string_view text);
  Outcome convert_scalar_text(Node& node, std::string_view text);
  Outcome convert_floating_text(Node& node, std::string_view text);
  Outcome convert_timestamp_text(Node& node, std::string_view text);
  Outcome convert_binary_text(Node& node, std::string_view text);

  static std::string_view unescaped(RawString raw, std::string& buffer);
  Outcome misfit(const char* code, std::string_view why);
  Outcome mismatch(const Node& node, std::string_view found);
  Outcome refuse(const char* code, std::string message);
  Outcome refuse_for_lack_of_room();

  const JsonOptions& options_;
  std::optional<int32_t> assumed_offset_seconds_;
  Node root_;
  JsonCursor* cursor_ = nullptr;
  bool carefully_ = false;
  Outcome ended_ = Outcome::kTaken;  // of the fast way
  int64_t entries_ = 0;  // of the document
  int64_t bytes_before_ = 0;
  int64_t bytes_allowed_ = 0;
  JsonTally tally_;
  std::string first_case_mismatch_;
  Reject reject_;
  std::vector<std::string_view> reject_path_;  // innermost first
  std::string text_;                           // an unescaped string
  std::string name_;                           // an unescaped or folded field name
  std::string bytes_;                          // decoded base64
  std::vector<std::string_view> keys_;         // of a map, to find duplicates
};

}  // namespace frazil::format
