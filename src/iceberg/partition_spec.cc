#include "iceberg/partition_spec.h"

#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "base/hash.h"
#include "iceberg/literal_text.h"

namespace frazil::iceberg {

using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;
using Kind = Transform::Kind;

namespace {

constexpr int32_t kFirstPartitionFieldId = 1000;

// Finds a column by its dotted path through structs; names that hold dots themselves are tried too.
const Field* find_path(const std::vector<Field>& fields, std::string_view path) {
  for (const Field& field : fields) {
    if (field.name == path) return &field;
    const bool is_prefix = path.size() > field.name.size() && path.starts_with(field.name) && path[field.name.size()] == '.';
    if (!is_prefix || field.type.id() != TypeId::kStruct) continue;
    if (const Field* inner = find_path(field.type.fields(), path.substr(field.name.size() + 1))) return inner;
  }
  return nullptr;
}

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

std::optional<Kind> kind_named(std::string_view name) {
  static const std::map<std::string, Kind> kKinds = {
      {"bucket", Kind::kBucket}, {"truncate", Kind::kTruncate}, {"trunc", Kind::kTruncate}, {"year", Kind::kYear},
      {"years", Kind::kYear},    {"month", Kind::kMonth},       {"months", Kind::kMonth},   {"day", Kind::kDay},
      {"days", Kind::kDay},      {"date", Kind::kDay},          {"hour", Kind::kHour},      {"hours", Kind::kHour},
      {"void", Kind::kVoid},     {"identity", Kind::kIdentity},
  };
  const auto found = kKinds.find(lower(name));
  if (found == kKinds.end()) return std::nullopt;
  return found->second;
}

std::optional<int32_t> positive_number(std::string_view text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

std::string field_suffix(Kind kind) {
  switch (kind) {
    case Kind::kBucket: return "_bucket";
    case Kind::kTruncate: return "_trunc";
    case Kind::kYear: return "_year";
    case Kind::kMonth: return "_month";
    case Kind::kDay: return "_day";
    case Kind::kHour: return "_hour";
    case Kind::kVoid: return "_null";
    default: return "";
  }
}

struct Entry {
  Transform transform;
  std::string column;
};

// Splits "64, id" or "id, 64" into width and column.
base::Result<Entry> with_width(const std::string& text, Kind kind, std::string_view arguments) {
  for (const size_t comma : {arguments.find(','), arguments.rfind(',')}) {
    if (comma == std::string_view::npos) break;
    const std::string_view first = trim(arguments.substr(0, comma));
    const std::string_view second = trim(arguments.substr(comma + 1));
    if (const auto width = positive_number(first)) return Entry{{kind, *width, {}}, std::string(second)};
    if (const auto width = positive_number(second)) return Entry{{kind, *width, {}}, std::string(first)};
  }
  return base::invalid("partition field \"" + text + "\": expected a positive number and a column, as in bucket(64, id)");
}

base::Result<Entry> parse_entry(const std::string& text, const Schema& schema) {
  const std::string_view whole = trim(text);
  if (find_path(schema.fields, whole) != nullptr) return Entry{{}, std::string(whole)};
  const size_t open = whole.find('(');
  if (open == std::string_view::npos || !whole.ends_with(")")) {
    return base::invalid("partition field \"" + text + "\": the schema has no such column");
  }
  const auto kind = kind_named(trim(whole.substr(0, open)));
  if (!kind) {
    return base::invalid("partition field \"" + text +
                         "\": unknown transform (known: identity, bucket, truncate, year, month, day, hour, void)");
  }
  const std::string_view arguments = trim(whole.substr(open + 1, whole.size() - open - 2));
  if (*kind == Kind::kBucket || *kind == Kind::kTruncate) return with_width(text, *kind, arguments);
  return Entry{{*kind, 0, {}}, std::string(arguments)};
}

}  // namespace

base::Result<PartitionSpec> parse_partition_spec(const std::vector<std::string>& entries, const Schema& schema) {
  PartitionSpec spec;
  std::set<std::string> names;
  for (const std::string& text : entries) {
    TRY_ASSIGN(const Entry entry, parse_entry(text, schema));
    const Field* source = find_path(schema.fields, entry.column);
    if (source == nullptr) {
      return base::invalid("partition field \"" + text + "\": the schema has no column \"" + entry.column + "\"");
    }
    TRY(result_type(entry.transform, source->type).in("partition field \"" + text + "\""));
    const std::string name = entry.column + field_suffix(entry.transform.kind);
    if (!names.insert(name).second) return base::invalid("partition field \"" + text + "\": \"" + name + "\" exists twice");
    const bool is_column = find_path(schema.fields, name) != nullptr;
    if (is_column && entry.transform.kind != Kind::kIdentity) {
      return base::invalid("partition field \"" + text + "\": its name \"" + name + "\" is a column's name");
    }
    const int32_t field_id = kFirstPartitionFieldId + static_cast<int32_t>(spec.fields.size());
    spec.fields.push_back({source->id, field_id, name, entry.transform});
  }
  return spec;
}

std::string to_string(const PartitionField& field, const Schema& schema) {
  std::string column = schema.path_of(field.source_id);
  if (column.empty()) column = "#" + std::to_string(field.source_id);
  switch (field.transform.kind) {
    case Kind::kIdentity: return column;
    case Kind::kBucket: return "bucket(" + std::to_string(field.transform.width) + ", " + column + ")";
    case Kind::kTruncate: return "truncate(" + std::to_string(field.transform.width) + ", " + column + ")";
    default: return to_string(field.transform) + "(" + column + ")";
  }
}

namespace {

// As Java's URLEncoder: letters, digits and ".-*_" stay, a space becomes '+'.
std::string url_escape(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                          c == '*' || c == '_';
    if (is_plain) {
      out.push_back(c);
    } else if (c == ' ') {
      out.push_back('+');
    } else {
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

// Local disks take at most 255 bytes in a name, and one long value must not stop a table. The path is for people; what
// counts stands in the manifest. A cut name keeps its begin and gets a hash of the whole.
std::string shortened(std::string name) {
  constexpr size_t kLongest = 200;
  constexpr size_t kKept = 180;
  if (name.size() <= kLongest) return name;
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(base::xxh64(name)));
  size_t kept = kKept;
  for (const size_t back : {1U, 2U}) {
    if (name[kKept - back] == '%') kept = kKept - back;  // no half of an escape
  }
  return name.substr(0, kept) + "-" + hash;
}

std::string value_text(const Transform& transform, const Type& type, const Literal& value) {
  if (value.is_null()) return "null";
  switch (transform.kind) {
    case Kind::kYear: return year_text(std::get<int32_t>(value.value));
    case Kind::kMonth: return month_text(std::get<int32_t>(value.value));
    case Kind::kHour: return hour_text(std::get<int32_t>(value.value));
    default: break;
  }
  if (type.id() == TypeId::kBinary || type.id() == TypeId::kFixed) return base64_text(std::get<std::string>(value.value));
  return to_text(type, value);
}

}  // namespace

std::string partition_path(const PartitionSpec& spec, const Schema& schema, const PartitionKey& key) {
  const auto types = partition_types(spec, schema);
  std::string path;
  for (size_t i = 0; i < spec.fields.size() && i < key.size(); ++i) {
    if (i > 0) path += '/';
    const Type type = types.ok() ? types.value()[i] : Type::primitive(TypeId::kString);
    const auto value = promote(type, key[i]);
    const std::string text = value ? url_escape(value_text(spec.fields[i].transform, type, *value)) : "unknown";
    path += shortened(url_escape(spec.fields[i].name) + "=" + text);
  }
  return path;
}

base::Result<std::vector<Type>> partition_types(const PartitionSpec& spec, const Schema& schema) {
  std::vector<Type> types;
  for (const PartitionField& field : spec.fields) {
    const Field* source = schema.find_by_id(field.source_id);
    if (source == nullptr) {
      return base::invalid("partition field \"" + field.name + "\": its source column " + std::to_string(field.source_id) +
                           " is not in the schema");
    }
    auto type = result_type(field.transform, source->type);
    if (!type.ok()) return type.error().in("partition field \"" + field.name + "\"");
    types.push_back(*type);
  }
  return types;
}

}  // namespace frazil::iceberg
