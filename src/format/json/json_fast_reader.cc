// JsonRowReader's way through documents that look like the last one: names where they are expected, values in the form that nearly
// all have. It is left for one name or one value wherever anything else comes, and taken again behind it: what a value of another
// form gives, or why it is refused, only the exact way knows.
//
// `at` is where the reader stands while the cursor waits; before the exact way goes on, the cursor is put there. Functions return
// where they stand behind what they have read: read_* nullptr where reading ended, with the outcome in `ended_`; take_* nullptr when
// another form came, and nothing was read. The document lies in a JsonIndex, so words may be read without a look at its end, where a
// zero stands that is no part of any value.

#include <cstring>

#include "format/json/binary_text.h"
#include "format/json/json_row_reader.h"
#include "format/json/roomy_escape.h"
#include "format/json/roomy_text.h"
#include "format/json/temporal_text.h"

namespace frazil::format {

using columnar::TypeId;

namespace {

constexpr int32_t kUnknown = -1;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

[[gnu::always_inline]] inline const char* skip_spaces(const char* at) {
  if (static_cast<unsigned char>(*at) > ' ') [[likely]] return at;
  while (is_space(*at)) ++at;
  return at;
}

bool is_word(const char* at, const char (&word)[5]) { return std::memcmp(at, word, 4) == 0; }

}  // namespace

Outcome JsonRowReader::read_members_fast(Node& node) {
  const char* const end = read_members_fast(node, cursor_->position());
  if (end == nullptr) return ended_;
  cursor_->seek(end);
  return Outcome::kTaken;
}

// An object that begins at `at`.
const char* JsonRowReader::read_members_fast(Node& node, const char* at) {
  cursor_->seek(at);
  if (!cursor_->enter()) return end_with(Outcome::kBroken);
  const uint64_t object = ++node.object;
  size_t filled = 0;
  int32_t step = JsonSteps::kStart;
  at = skip_spaces(at + 1);
  if (*at != '}') {
    while (true) {
      const PassedName name = pass_name(node, step, at);
      if (name.end == nullptr) return end_with(Outcome::kBroken);
      step = name.step;
      at = skip_spaces(name.end);
      if (name.child != kUnknown) {
        uint64_t& seen = node.seen[static_cast<size_t>(name.child)];
        if (seen == object) return end_with(Outcome::kDuplicate);
        seen = object;
        ++filled;
        at = read_fast(node.children[static_cast<size_t>(name.child)], at);
      } else {
        at = skip_fast(at);
      }
      if (at == nullptr) return nullptr;
      at = skip_spaces(at);
      if (*at != ',') break;
      at = skip_spaces(at + 1);
    }
  }
  cursor_->seek(at);
  if (!cursor_->leave('}')) return end_with(Outcome::kBroken);
  if (filled != node.children.size()) {
    const Outcome outcome = fill_missing(node);
    if (outcome != Outcome::kTaken) return end_with(outcome);
  }
  return cursor_->position();
}

// Passes a name and its colon and tells whose it is.
inline JsonRowReader::PassedName JsonRowReader::pass_name(Node& node, int32_t step, const char* at) {
  int32_t expected = node.steps.at(step).next;
  for (int tries = 0; tries < 2 && expected >= 0; ++tries) {
    const JsonStep& known = node.steps.at(expected);
    const size_t size = known.key.match(at);
    if (size != 0) [[likely]] {
      if (known.child == kUnknown) count_unknown(known.key.name(), known.is_other_case);
      return {at + size, expected, known.child};
    }
    expected = known.next;
  }
  return find_name(node, step, at);
}

// The same for a name that was not expected, which then is.
JsonRowReader::PassedName JsonRowReader::find_name(Node& node, int32_t step, const char* at) {
  const char* const end = *at == '"' ? cursor_->find_stop(at + 1) : at;
  if (*end != '"' || end[1] != ':') return find_other_name(node, step, at);
  const std::string_view name(at + 1, static_cast<size_t>(end - at - 1));
  return know_name(node, step, name, end + 2);
}

// One with escapes, or white space behind it.
JsonRowReader::PassedName JsonRowReader::find_other_name(Node& node, int32_t step, const char* at) {
  cursor_->seek(at);
  RawString name;
  if (!cursor_->expect_name() || !cursor_->scan_string(&name)) return {};
  const PassedName known = name.has_escapes ? PassedName{at, step, look_up(node, unescaped(name, name_))}
                                            : know_name(node, step, name.text, at);
  if (!cursor_->take_colon()) return {};
  return {cursor_->position(), known.step, known.child};
}

JsonRowReader::PassedName JsonRowReader::know_name(Node& node, int32_t step, std::string_view name, const char* end) {
  int32_t child = kUnknown;
  int32_t found = node.steps.find(name);
  if (found >= 0) {
    child = node.steps.at(found).child;
    if (child == kUnknown) count_unknown(name, node.steps.at(found).is_other_case);
  } else {
    const int64_t mismatches = tally_.case_mismatches;
    child = look_up(node, name);
    found = node.steps.learn(name, child, tally_.case_mismatches != mismatches);
    if (found < 0) return {end, step, child};
  }
  node.steps.at(step).next = found;
  return {end, found, child};
}

void JsonRowReader::count_unknown(std::string_view name, bool is_other_case) {
  ++tally_.unknown_fields;
  if (is_other_case && tally_.case_mismatches++ == 0) first_case_mismatch_.assign(name);
}

const char* JsonRowReader::skip_fast(const char* at) {
  cursor_->seek(at);
  return cursor_->skip_value() ? cursor_->position() : end_with(Outcome::kBroken);
}

// Reads the value of a field or a list's element; `at` is at its first character.
[[gnu::always_inline]] inline const char* JsonRowReader::read_fast(Node& node, const char* at) {
  const char* end = nullptr;
  switch (node.id) {
    case TypeId::kString:
      end = take_text(node, at);
      break;
    case TypeId::kLong:
      end = take_long(node, at);
      break;
    case TypeId::kInt:
      end = take_int(node, at);
      break;
    case TypeId::kDouble:
      end = take_double(node, at);
      break;
    case TypeId::kBoolean:
      end = take_boolean(node, at);
      break;
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      end = take_time(node, at);
      break;
    case TypeId::kUuid:
      end = take_uuid(node, at);
      break;
    case TypeId::kStruct:
      if (*at == '{') return read_struct_fast(node, at);
      break;
    case TypeId::kList:
      if (*at == '[') return read_list_fast(node, at);
      break;
    default:
      break;
  }
  if (end != nullptr) return end;
  if (!is_word(at, "null") || node.is_required) return read_exactly(node, at);
  node.column->append_null();
  return at + 4;
}

const char* JsonRowReader::read_exactly(Node& node, const char* at) {
  cursor_->seek(at);
  const Outcome outcome = read_field(node);
  return outcome == Outcome::kTaken ? cursor_->position() : end_with(outcome);
}

const char* JsonRowReader::read_struct_fast(Node& node, const char* at) {
  at = read_members_fast(node, at);
  if (at != nullptr) node.column->append_struct_end();
  return at;
}

const char* JsonRowReader::read_list_fast(Node& node, const char* at) {
  cursor_->seek(at);
  if (!cursor_->enter()) return end_with(Outcome::kBroken);
  at = skip_spaces(at + 1);
  if (*at != ']') {
    while (true) {
      if (!has_room_for_entry()) return end_with(refuse_for_lack_of_room());
      at = read_fast(node.children[0], at);
      if (at == nullptr) return nullptr;
      at = skip_spaces(at);
      if (*at != ',') break;
      at = skip_spaces(at + 1);
    }
  }
  cursor_->seek(at);
  if (!cursor_->leave(']')) return end_with(Outcome::kBroken);
  node.column->append_list_end();
  return cursor_->position();
}

inline const char* JsonRowReader::take_text(Node& node, const char* at) {
  if (*at != '"') return nullptr;
  const char* const first = at + 1;
  const char* const end = cursor_->find_stop(first);
  if (*end != '"') return take_escaped_text(node, first, end);
  node.column->append_roomy_bytes({first, static_cast<size_t>(end - first)});
  return end + 1;
}

// The text from `first` on, which is plain up to `stop`.
const char* JsonRowReader::take_escaped_text(Node& node, const char* first, const char* stop) {
  char* const text = cursor_->scratch();
  size_t size = 0;
  while (*stop == '\\') {
    const auto plain = static_cast<size_t>(stop - first);
    copy_pieces(text + size, first, plain);
    size += plain;
    const size_t passed = unescape(stop, text, &size);
    if (passed == 0) return nullptr;
    first = stop + passed;
    stop = cursor_->find_stop(first);
  }
  if (*stop != '"') return nullptr;
  copy_pieces(text + size, first, static_cast<size_t>(stop - first));
  size += static_cast<size_t>(stop - first);
  node.column->append_roomy_bytes({text, size});
  return stop + 1;
}

inline const char* JsonRowReader::take_long(Node& node, const char* at) {
  int64_t value = 0;
  at = take_integer(at, &value);
  if (at != nullptr) node.column->append_long(value);
  return at;
}

inline const char* JsonRowReader::take_int(Node& node, const char* at) {
  int64_t value = 0;
  at = take_integer(at, &value);
  if (at == nullptr || value != static_cast<int32_t>(value)) return nullptr;
  node.column->append_int(static_cast<int32_t>(value));
  return at;
}

inline const char* JsonRowReader::take_double(Node& node, const char* at) {
  double value = 0;
  at = take_number(at, &value);
  if (at != nullptr) node.column->append_double(value);
  return at;
}

inline const char* JsonRowReader::take_boolean(Node& node, const char* at) {
  const bool is_true = is_word(at, "true");
  const bool is_false = is_word(at, "fals") & (at[4] == 'e');
  if (!(is_true | is_false)) return nullptr;
  node.column->append_boolean(is_true);
  return at + 4 + is_false;
}

// "2026-01-31T12:34:56.123456Z", "2026-01-31T12:34:56", "2026-01-31", "12:34:56"; of a point and its digits up to six.
const char* JsonRowReader::take_time(Node& node, const char* at) {
  if (*at++ != '"') return nullptr;
  int64_t micros = 0;
  if (node.id != TypeId::kTime) {
    if (!knows_date(node, at)) return nullptr;
    at += sizeof(node.last_date);
    micros = node.last_days * int64_t{86'400'000'000};
  }
  if (node.id != TypeId::kDate) {
    if (node.id != TypeId::kTime && *at != 'T' && *at != ' ') return nullptr;
    at += node.id != TypeId::kTime;
    int64_t time = 0;
    at = take_clock(at, &time);
    if (at == nullptr) return nullptr;
    micros += time;
  }
  if (node.id == TypeId::kTimestamptz && *at++ != 'Z') return nullptr;
  if (*at != '"') return nullptr;
  if (node.id == TypeId::kDate) {
    node.column->append_int(node.last_days);
  } else {
    node.column->append_long(micros);
  }
  return at + 1;
}

// Whether a date stands there. It is left in the node, where it mostly is already.
inline bool JsonRowReader::knows_date(Node& node, const char* at) {
  if (std::memcmp(at, node.last_date, sizeof(node.last_date)) == 0) return true;
  const std::optional<int32_t> days = parse_date({at, sizeof(node.last_date)});
  if (!days) return false;
  std::memcpy(node.last_date, at, sizeof(node.last_date));
  node.last_days = *days;
  return true;
}

const char* JsonRowReader::take_uuid(Node& node, const char* at) {
  constexpr size_t kSize = 36;
  char uuid[16];
  if (*at != '"' || at[1 + kSize] != '"' || !parse_uuid({at + 1, kSize}, uuid)) return nullptr;
  node.column->append_uuid(uuid);
  return at + kSize + 2;
}

}  // namespace frazil::format
