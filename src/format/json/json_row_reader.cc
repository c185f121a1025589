#include "format/json/json_row_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "format/json/number_text.h"

namespace frazil::format {

using columnar::Column;
using columnar::Field;
using columnar::TypeId;

namespace {

constexpr int32_t kUnknown = -1;

void fold(std::string& name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
}

std::string folded(std::string_view name) {
  std::string result(name);
  fold(result);
  return result;
}

bool is_plain(std::string_view name) {
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

std::vector<std::string_view> names_of(const std::vector<Field>& fields) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

}  // namespace

JsonRowReader::JsonRowReader(const columnar::Schema& schema, const JsonOptions& options,
                             std::optional<int32_t> assumed_offset_seconds)
    : options_(options), assumed_offset_seconds_(assumed_offset_seconds) {
  root_.id = TypeId::kStruct;
  plan(root_, schema.fields);
}

void JsonRowReader::plan(Node& node, const std::vector<Field>& fields) {
  node.children.resize(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    Node& child = node.children[i];
    child.field = &fields[i];
    child.id = fields[i].type.id();
    child.is_required = fields[i].required;
    child.is_plain_name = is_plain(fields[i].name);
    if (child.is_plain_name) child.quoted_name = QuotedName(fields[i].name);
    plan(child, fields[i].type.fields());
    node.by_name.emplace(fields[i].name, static_cast<int32_t>(i));
    node.by_folded_name.emplace(folded(fields[i].name), static_cast<int32_t>(i));
  }
  if (node.id == TypeId::kStruct) node.steps = JsonSteps(names_of(fields));
  node.seen.assign(fields.size(), 0);
  node.found.resize(fields.size());
  for (size_t i = 0; i <= fields.size(); ++i)
    node.successor.push_back(i < fields.size() ? static_cast<int32_t>(i) : kUnknown);
}

void JsonRowReader::bind(std::span<Column* const> columns) {
  CHECK(columns.size() == root_.children.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    root_.children[i].column = columns[i];
    bind_children(root_.children[i]);
  }
}

void JsonRowReader::bind_children(Node& node) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    node.children[i].column = &node.column->child(i);
    bind_children(node.children[i]);
  }
}

Outcome JsonRowReader::read_row(JsonCursor& cursor, bool carefully) {
  cursor_ = &cursor;
  carefully_ = carefully;
  reject_path_.clear();
  return read_members(root_);
}

Reject JsonRowReader::take_reject() {
  reject_.field.clear();
  for (auto name = reject_path_.rbegin(); name != reject_path_.rend(); ++name) {
    if (!reject_.field.empty()) reject_.field += '.';
    reject_.field += *name;
  }
  return std::exchange(reject_, {});
}

// --- Objects with named fields ---

Outcome JsonRowReader::read_members(Node& node) {
  if (carefully_) return read_members_carefully(node);
  return cursor_->has_index() ? read_members_fast(node) : read_members_quickly(node);
}

Outcome JsonRowReader::read_members_quickly(Node& node) {
  if (!cursor_->enter()) return Outcome::kBroken;
  const uint64_t object = ++node.object;
  size_t filled = 0;
  int32_t previous = kUnknown;
  if (cursor_->peek() != '}') {
    do {
      int32_t child = kUnknown;
      if (!cursor_->expect_name() || !match_field(node, previous, &child) || !cursor_->take_colon())
        return Outcome::kBroken;
      if (child == kUnknown) {
        if (!cursor_->skip_value()) return Outcome::kBroken;
        continue;
      }
      uint64_t& seen = node.seen[static_cast<size_t>(child)];
      if (seen == object) return Outcome::kDuplicate;
      seen = object;
      ++filled;
      previous = child;
      const Outcome outcome = read_field(node.children[static_cast<size_t>(child)]);
      if (outcome != Outcome::kTaken) return outcome;
    } while (cursor_->take(','));
  }
  if (!cursor_->leave('}')) return Outcome::kBroken;
  return filled == node.children.size() ? Outcome::kTaken : fill_missing(node);
}

// The cursor stands at a quote. Passes the name and tells whose it is; false: not JSON.
bool JsonRowReader::match_field(Node& node, int32_t previous, int32_t* child) {
  int32_t& successor = node.successor[static_cast<size_t>(previous + 1)];
  int32_t guess = successor;
  for (int tries = 0; tries < 2 && guess != kUnknown; ++tries) {
    const Node& candidate = node.children[static_cast<size_t>(guess)];
    if (candidate.is_plain_name && cursor_->take_name(candidate.quoted_name)) {
      *child = guess;
      return true;
    }
    guess = node.successor[static_cast<size_t>(guess + 1)];
  }
  RawString name;
  if (!find_field(node, &name, child)) return false;
  if (*child != kUnknown) successor = *child;
  return true;
}

bool JsonRowReader::find_field(Node& node, RawString* name, int32_t* child) {
  if (!cursor_->scan_string(name)) return false;
  *child = look_up(node, unescaped(*name, name_));
  return true;
}

int32_t JsonRowReader::look_up(Node& node, std::string_view name) {
  const auto found = node.by_name.find(name);
  return found != node.by_name.end() ? found->second : unknown_field(node, name);
}

// No column has exactly that name. Either case does not matter, or the field is counted as what it is.
int32_t JsonRowReader::unknown_field(Node& node, std::string_view name) {
  std::string& lowered = text_;
  lowered.assign(name);
  fold(lowered);
  const auto found = node.by_folded_name.find(lowered);
  const bool differs_by_case = found != node.by_folded_name.end();
  if (differs_by_case && options_.case_insensitive) return found->second;
  ++tally_.unknown_fields;
  if (differs_by_case && tally_.case_mismatches++ == 0) first_case_mismatch_.assign(name);
  return kUnknown;
}

Outcome JsonRowReader::fill_missing(Node& node) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (node.seen[i] == node.object) continue;
    const Outcome outcome = append_missing(node.children[i]);
    if (outcome != Outcome::kTaken) return outcome;
  }
  return Outcome::kTaken;
}

Outcome JsonRowReader::append_missing(Node& child) {
  if (!child.is_required && !options_.missing_field_reject) {
    child.column->append_null();
    return Outcome::kTaken;
  }
  if (!carefully_) return Outcome::kRefused;
  reject_path_.push_back(child.field->name);
  return refuse("MISSING_FIELD", child.is_required ? "a required field is missing" : "a field is missing");
}

Outcome JsonRowReader::read_members_carefully(Node& node) {
  Outcome outcome = find_members(node);
  if (outcome != Outcome::kTaken) return outcome;
  const char* const end = cursor_->position();
  outcome = convert_found(node);
  if (outcome != Outcome::kTaken) return outcome;
  cursor_->seek(end);
  return cursor_->leave('}') ? Outcome::kTaken : Outcome::kBroken;
}

// Walks to the object's end and notes where the last value of each field stands.
Outcome JsonRowReader::find_members(Node& node) {
  std::fill(node.found.begin(), node.found.end(), Found{});
  if (!cursor_->enter()) return Outcome::kBroken;
  if (cursor_->peek() == '}') return Outcome::kTaken;
  int32_t ambiguous = kUnknown;
  do {
    RawString name;
    int32_t child = kUnknown;
    if (!cursor_->expect_name() || !find_field(node, &name, &child) || !cursor_->take_colon()) return Outcome::kBroken;
    if (child != kUnknown) {
      Found& found = node.found[static_cast<size_t>(child)];
      if (found.value != nullptr && is_other_spelling(found.name, name)) ambiguous = child;
      tally_.duplicate_keys += found.value != nullptr;
      found = {cursor_->position(), name};
    }
    if (!cursor_->skip_value()) return Outcome::kBroken;
  } while (cursor_->take(','));
  if (cursor_->peek() != '}') return cursor_->leave('}') ? Outcome::kTaken : Outcome::kBroken;
  if (ambiguous == kUnknown) return Outcome::kTaken;
  reject_path_.push_back(node.children[static_cast<size_t>(ambiguous)].field->name);
  return refuse("AMBIGUOUS_FIELD", "two fields whose names differ in case are meant for one column");
}

Outcome JsonRowReader::convert_found(Node& node) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    Outcome outcome = Outcome::kTaken;
    if (node.found[i].value == nullptr) {
      outcome = append_missing(node.children[i]);
    } else {
      cursor_->seek(node.found[i].value);
      outcome = read_field(node.children[i]);
    }
    if (outcome != Outcome::kTaken) return outcome;
  }
  return Outcome::kTaken;
}

bool JsonRowReader::is_other_spelling(RawString a, RawString b) {
  std::string first;
  std::string second;
  return unescaped(a, first) != unescaped(b, second);
}

// --- Values ---

// Reads the value of a field, a list's element, or a map's value, and answers for it.
Outcome JsonRowReader::read_field(Node& node) {
  Outcome outcome = read_value(node);
  if (outcome == Outcome::kTaken) return outcome;
  if (outcome == Outcome::kMisfit) {
    if (options_.bad_field_null && !node.is_required) {
      node.column->append_null();
      ++tally_.bad_fields_nulled;
      return Outcome::kTaken;
    }
    outcome = Outcome::kRefused;
  }
  if (carefully_ && outcome == Outcome::kRefused) reject_path_.push_back(node.field->name);
  return outcome;
}

Outcome JsonRowReader::read_value(Node& node) {
  const char first = cursor_->peek();
  switch (first) {
    case '"':
      return read_string(node);
    case '{':
      return read_object(node);
    case '[':
      return read_array(node);
    case 't':
      return cursor_->scan_literal("true") ? read_boolean(node, true) : Outcome::kBroken;
    case 'f':
      return cursor_->scan_literal("false") ? read_boolean(node, false) : Outcome::kBroken;
    case 'n':
      return cursor_->scan_literal("null") ? read_null(node) : Outcome::kBroken;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return read_number(node);
    default:
      cursor_->fail_value();
      return Outcome::kBroken;
  }
}

Outcome JsonRowReader::read_null(Node& node) {
  if (node.is_required) return refuse("NULL_IN_REQUIRED", "null in a required field");
  node.column->append_null();
  return Outcome::kTaken;
}

Outcome JsonRowReader::read_boolean(Node& node, bool value) {
  if (node.id == TypeId::kBoolean) {
    node.column->append_boolean(value);
    return Outcome::kTaken;
  }
  if (node.id != TypeId::kString) return mismatch(node, "a boolean");
  node.column->append_bytes(value ? "true" : "false");
  return Outcome::kTaken;
}

Outcome JsonRowReader::read_string(Node& node) {
  RawString raw;
  if (!cursor_->scan_string(&raw)) return Outcome::kBroken;
  return convert_text(node, unescaped(raw, text_));
}

Outcome JsonRowReader::read_number(Node& node) {
  std::string_view token;
  if (!cursor_->scan_number(&token)) return Outcome::kBroken;
  return convert_number(node, token);
}

Outcome JsonRowReader::read_object(Node& node) {
  if (node.id == TypeId::kMap) return read_map(node);
  if (node.id == TypeId::kString) return read_raw(node);
  if (node.id != TypeId::kStruct) return cursor_->skip_value() ? mismatch(node, "an object") : Outcome::kBroken;
  const Outcome outcome = read_members(node);
  if (outcome == Outcome::kTaken) node.column->append_struct_end();
  return outcome;
}

Outcome JsonRowReader::read_array(Node& node) {
  if (node.id == TypeId::kString) return read_raw(node);
  if (node.id != TypeId::kList) return cursor_->skip_value() ? mismatch(node, "an array") : Outcome::kBroken;
  if (!cursor_->enter()) return Outcome::kBroken;
  if (cursor_->peek() != ']') {
    do {
      if (!has_room_for_entry()) return refuse_for_lack_of_room();
      const Outcome outcome = read_field(node.children[0]);
      if (outcome != Outcome::kTaken) return outcome;
    } while (cursor_->take(','));
  }
  if (!cursor_->leave(']')) return Outcome::kBroken;
  node.column->append_list_end();
  return Outcome::kTaken;
}

// A string column takes an object or array as the text that it has in the document.
Outcome JsonRowReader::read_raw(Node& node) {
  const char* const start = cursor_->position();
  if (!cursor_->skip_value()) return Outcome::kBroken;
  node.column->append_bytes({start, static_cast<size_t>(cursor_->position() - start)});
  return Outcome::kTaken;
}

// --- Maps ---

Outcome JsonRowReader::read_map(Node& node) {
  const Outcome outcome = carefully_ ? read_map_carefully(node) : read_map_quickly(node);
  if (outcome == Outcome::kTaken) node.column->append_list_end();
  return outcome;
}

Outcome JsonRowReader::read_map_quickly(Node& node) {
  const int64_t first = node.children[0].column->length();
  if (!cursor_->enter()) return Outcome::kBroken;
  if (cursor_->peek() != '}') {
    do {
      if (!has_room_for_entry()) return refuse_for_lack_of_room();
      RawString key;
      if (!cursor_->expect_name() || !cursor_->scan_string(&key)) return Outcome::kBroken;
      Outcome outcome = read_map_key(node, key);
      if (outcome != Outcome::kTaken) return outcome;
      if (!cursor_->take_colon()) return Outcome::kBroken;
      outcome = read_field(node.children[1]);
      if (outcome != Outcome::kTaken) return outcome;
    } while (cursor_->take(','));
  }
  if (!cursor_->leave('}')) return Outcome::kBroken;
  return has_duplicate_keys(node, first) ? Outcome::kDuplicate : Outcome::kTaken;
}

Outcome JsonRowReader::read_map_key(Node& node, RawString raw) {
  Node& key = node.children[0];
  const Outcome outcome = convert_key(key, unescaped(raw, text_));
  if (outcome == Outcome::kTaken) return outcome;
  if (carefully_) reject_path_.push_back(key.field->name);
  return Outcome::kRefused;
}

// A key's text is taken as the string that it is or, where the column wants a number, as that number.
Outcome JsonRowReader::convert_key(Node& key, std::string_view text) {
  if (key.id == TypeId::kString) return convert_text(key, text);
  const bool takes_number = options_.timestamp_numbers != TimestampNumbers::kReject &&
                            (key.id == TypeId::kTimestamp || key.id == TypeId::kTimestamptz);
  return takes_number && is_json_number(text) ? convert_number(key, text) : convert_scalar_text(key, text);
}

namespace {

// A key's value as bytes. Views hold until the column grows.
std::string_view key_bytes(const Column& keys, int64_t row) {
  static constexpr std::string_view kBooleans[] = {"f", "t"};
  const columnar::Type& type = keys.type();
  if (type.id() == TypeId::kBoolean) return kBooleans[keys.boolean_at(row)];
  if (keys.offsets().size() != 0) return keys.bytes_at(row);
  const int64_t width = keys.values().size() / keys.length();
  return {reinterpret_cast<const char*>(keys.values().data()) + row * width, static_cast<size_t>(width)};
}

}  // namespace

bool JsonRowReader::has_duplicate_keys(const Node& node, int64_t first) {
  const Column& keys = *node.children[0].column;
  if (keys.length() - first < 2) return false;
  keys_.clear();
  for (int64_t row = first; row < keys.length(); ++row) keys_.push_back(key_bytes(keys, row));
  std::sort(keys_.begin(), keys_.end());
  return std::adjacent_find(keys_.begin(), keys_.end()) != keys_.end();
}

// Finds the last entry of each key, then converts those entries in the order of the document.
Outcome JsonRowReader::read_map_carefully(Node& node) {
  std::vector<Entry> entries;
  Column& keys = *node.children[0].column;
  const int64_t first = keys.length();
  Outcome outcome = find_entries(node, entries);
  if (outcome != Outcome::kTaken) return outcome;
  const char* const end = cursor_->position();
  keys.truncate(first);
  for (const Entry& entry : entries) {
    if (entry.is_overridden) continue;
    if (!has_room_for_entry()) return refuse_for_lack_of_room();
    outcome = read_map_key(node, entry.key);
    CHECK(outcome == Outcome::kTaken);
    cursor_->seek(entry.value);
    outcome = read_field(node.children[1]);
    if (outcome != Outcome::kTaken) return outcome;
  }
  cursor_->seek(end);
  return cursor_->leave('}') ? Outcome::kTaken : Outcome::kBroken;
}

// Walks to the map's end. Keys are the same when their converted values are: they are appended to tell.
Outcome JsonRowReader::find_entries(Node& node, std::vector<Entry>& entries) {
  const Column& keys = *node.children[0].column;
  std::unordered_map<std::string, size_t> last;
  if (!cursor_->enter()) return Outcome::kBroken;
  if (cursor_->peek() == '}') return Outcome::kTaken;
  do {
    Entry entry;
    if (!cursor_->expect_name() || !cursor_->scan_string(&entry.key)) return Outcome::kBroken;
    const Outcome outcome = read_map_key(node, entry.key);
    if (outcome != Outcome::kTaken) return outcome;
    const auto [found, is_new] = last.emplace(key_bytes(keys, keys.length() - 1), entries.size());
    if (!is_new) {
      entries[std::exchange(found->second, entries.size())].is_overridden = true;
      ++tally_.duplicate_keys;
    }
    if (!cursor_->take_colon()) return Outcome::kBroken;
    entry.value = cursor_->position();
    entries.push_back(entry);
    if (!cursor_->skip_value()) return Outcome::kBroken;
  } while (cursor_->take(','));
  return Outcome::kTaken;
}

// --- Room ---

void JsonRowReader::start_document(int64_t document_bytes) {
  entries_ = 0;
  bytes_allowed_ = std::max(options_.max_decoded_bytes, 4 * document_bytes);
}

bool JsonRowReader::has_room() {
  int64_t bytes = 0;
  for (const Node& column : root_.children) bytes += column.column->bytes();
  if (entries_ == kEntriesBetweenMeasures) bytes_before_ = bytes;
  return bytes - bytes_before_ <= bytes_allowed_;
}

std::string JsonRowReader::describe_lack_of_room() const {
  return "the rows of this record would take more than " + std::to_string(bytes_allowed_) + " bytes in memory";
}

// --- Reasons ---

std::string_view JsonRowReader::unescaped(RawString raw, std::string& buffer) {
  if (!raw.has_escapes) return raw.text;
  buffer.clear();
  append_unescaped(raw.text, buffer);
  return buffer;
}

Outcome JsonRowReader::misfit(const char* code, std::string_view why) {
  if (!carefully_) return Outcome::kMisfit;
  refuse(code, std::string(why));
  return Outcome::kMisfit;
}

Outcome JsonRowReader::mismatch(const Node& node, std::string_view found) {
  if (!carefully_) return Outcome::kMisfit;
  return misfit("TYPE_MISMATCH", "expected " + node.field->type.name() + ", found " + std::string(found));
}

Outcome JsonRowReader::refuse_for_lack_of_room() { return refuse("ROWS_TOO_LARGE", describe_lack_of_room()); }

Outcome JsonRowReader::refuse(const char* code, std::string message) {
  if (!carefully_) return Outcome::kRefused;
  reject_.code = code;
  reject_.message = std::move(message);
  return Outcome::kRefused;
}

}  // namespace frazil::format
