#include <algorithm>
#include <cctype>
#include <set>

#include "app/config/nearest_name.h"
#include "app/config/schema_source.h"

namespace frazil::app {
namespace {

constexpr char kNestedForm[] =
    "a nested type is one text: \"struct<name: string, size: int>\", \"list<string>\", \"map<string, long>\"";

struct SqlName {
  std::string_view word;
  std::string_view type;
};

// How SQL and its databases call what has another name here.
constexpr SqlName kSqlNames[] = {
    {"varchar", "string"},      {"char", "string"},        {"character", "string"}, {"nvarchar", "string"},    {"text", "string"},
    {"clob", "string"},         {"json", "string"},        {"jsonb", "string"},     {"tinyint", "int"},        {"smallint", "int"},
    {"int2", "int"},            {"int4", "int"},           {"int32", "int"},        {"int8", "long"},          {"int64", "long"},
    {"real", "float"},          {"float4", "float"},       {"float8", "double"},    {"double", "double"},      {"numeric", "decimal(p, s)"},
    {"number", "decimal(p, s)"}, {"datetime", "timestamp"}, {"timestamp", "timestamp"}, {"time", "time"},      {"bytea", "binary"},
    {"blob", "binary"},         {"varbinary", "binary"},   {"bytes", "binary"},
};

// The type that somebody means who writes `text`, which is none; empty when nobody knows.
std::string_view meant_type(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.starts_with("timestamp") && text.find("with time zone") != std::string::npos) return "timestamptz";
  const std::string word = text.substr(0, text.find_first_of(" ("));
  for (const SqlName& name : kSqlNames) {
    if (word == name.word) return name.type;
  }
  return "";
}

// A text that is no type comes with the one that is meant, or with all words that are.
std::string type_problem(const std::string& text, const std::string& message) {
  if (message.find("expected") == std::string::npos) return message;
  if (const std::string_view meant = meant_type(text); !meant.empty()) {
    return "type '" + text + "': SQL's " + text + " is \"" + std::string(meant) + "\" here";
  }
  return message + "; there are boolean, int, long, float, double, decimal(p, s), date, time, timestamp, timestamptz, string, uuid, "
                   "binary, fixed[n], list<type>, map<type, type> and struct<name: type, ...>";
}

// How other systems write what is inside of a column.
bool is_nested_key(const std::string& key) {
  return key == "fields" || key == "items" || key == "element" || key == "elements" || key == "keys" || key == "values" || key == "key" ||
         key == "value" || key == "columns";
}

int open_brackets(const std::string& text) {
  int open = 0;
  for (const char c : text) open += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
  return open;
}

// The whole of a type that has lost its rest to a comma: {name: a, type: decimal(10, 2)} reads as two entries.
std::string type_cut_by_a_comma(const Node& column) {
  std::string type;
  for (const Entry& entry : column.entries) {
    if (type.empty() && entry.key != "type") continue;
    type += type.empty() ? entry.value.scalar : ", " + entry.key + (entry.value.is_empty ? "" : ": " + entry.value.scalar);
    if (open_brackets(type) <= 0) break;
  }
  const Node* first = column.find("type");
  return first != nullptr && open_brackets(first->scalar) > 0 && open_brackets(type) == 0 ? type : "";
}

// Reads one column; false when something was wrong.
bool read_column(const Node& node, Problems& problems, columnar::Field& field) {
  if (node.kind != Node::Kind::kMap) {
    problems.error(node.mark, "a column is written as {name: id, type: long, required: true}");
    return false;
  }
  if (const std::string type = type_cut_by_a_comma(node); !type.empty()) {
    problems.error(node.find("type")->mark, "put the type in quotes, since a comma ends it here: type: \"" + type + "\"");
    return false;
  }
  bool is_good = true;
  bool has_type = false;
  for (const Entry& entry : node.entries) {
    const std::string& text = entry.value.scalar;
    if (is_nested_key(entry.key) || (entry.key == "type" && entry.value.kind != Node::Kind::kScalar)) {
      problems.error(entry.mark, "\"" + entry.key + "\" of a column: " + kNestedForm);
      is_good = false;
    } else if (entry.value.kind != Node::Kind::kScalar || entry.value.is_empty) {
      problems.error(entry.value.mark, "\"" + entry.key + "\" of a column must be a text");
      is_good = false;
    } else if (entry.key == "name") {
      field.name = text;
    } else if (entry.key == "doc") {
      field.doc = text;
    } else if (entry.key == "required") {
      field.required = text == "true";
      if (text != "true" && text != "false") {
        problems.error(entry.value.mark, "\"required\" must be true or false");
        is_good = false;
      }
    } else if (entry.key == "type") {
      has_type = true;
      if (auto type = columnar::parse_type(text); type.ok()) {
        field.type = std::move(type).value();
      } else {
        problems.error(entry.value.mark, type_problem(text, type.error().message()));
        is_good = false;
      }
    } else {
      problems.error(entry.mark, "unknown key \"" + entry.key + "\" of a column, nearest known key \"" +
                                     nearest_name(entry.key, {"name", "type", "required", "doc"}) + "\"");
      is_good = false;
    }
  }
  if (field.name.empty()) problems.error(node.mark, "a column without \"name\"");
  if (!has_type) problems.error(node.mark, "a column without \"type\"");
  return is_good && has_type && !field.name.empty();
}

}  // namespace

std::optional<columnar::Schema> schema_from_columns(const Node& list, Problems& problems) {
  columnar::Schema schema;
  std::set<std::string> names;
  bool is_good = !list.items.empty();
  if (!is_good) problems.error(list.mark, "a schema needs at least one column");
  for (const Node& item : list.items) {
    columnar::Field field;
    is_good = read_column(item, problems, field) && is_good;
    if (!field.name.empty() && !names.insert(field.name).second) {
      problems.error(item.mark, "two columns have the name \"" + field.name + "\"");
      is_good = false;
    }
    schema.fields.push_back(std::move(field));
  }
  if (!is_good) return std::nullopt;
  return columnar::assign_fresh_ids(schema);
}

}  // namespace frazil::app
