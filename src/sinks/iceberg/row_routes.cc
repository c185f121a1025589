#include "sinks/iceberg/row_routes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace frazil::sinks {
namespace {

using columnar::Column;
using columnar::Type;
using columnar::TypeId;

constexpr size_t kKnownTextsAtMost = 4096;
constexpr size_t kKnownTextBytes = 1024;  // longer ones are looked at each time

// Column positions of a dotted name; nullptr when there is none.
const Type* find_column(const columnar::Schema& rows, const std::string& name, std::vector<size_t>& path) {
  const std::vector<columnar::Field>* fields = &rows.fields;
  std::string rest = name;
  while (true) {
    // A column whose own name holds dots comes before a member.
    for (size_t i = 0; i < fields->size(); ++i) {
      if ((*fields)[i].name != rest) continue;
      path.push_back(i);
      return &(*fields)[i].type;
    }
    const size_t dot = rest.find('.');
    if (dot == std::string::npos) return nullptr;
    const std::string head = rest.substr(0, dot);
    const auto found = std::find_if(fields->begin(), fields->end(), [&](const auto& field) { return field.name == head; });
    if (found == fields->end() || found->type.id() != TypeId::kStruct) return nullptr;
    path.push_back(static_cast<size_t>(found - fields->begin()));
    fields = &found->type.fields();
    rest = rest.substr(dot + 1);
  }
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return text;
}

bool has_text(TypeId id) {
  return id == TypeId::kString || id == TypeId::kBoolean || id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kUuid;
}

base::Error never_equal(const std::string& given, const Type& type, const std::string& hint) {
  return base::invalid("no " + type.name() + " equals \"" + given + "\": " + hint);
}

base::Result<std::string> boolean_text_of(const std::string& given, const Type& type) {
  const std::string text = lower_case(given);
  if (text == "true" || text == "false") return text;
  return never_equal(given, type, "write true or false");
}

base::Result<std::string> integer_text_of(const std::string& given, const Type& type) {
  const std::string digits = given.starts_with('+') && !given.starts_with("+-") ? given.substr(1) : given;
  int64_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_whole = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  const bool is_plain = is_whole && (std::to_string(value) == digits || digits == "-0");
  if (!is_plain) return never_equal(given, type, "write a whole number of its range in decimal, as in 7 or -7");
  const bool fits = type.id() == TypeId::kLong || (value >= INT32_MIN && value <= INT32_MAX);
  if (!fits) return never_equal(given, type, "it holds -2147483648 to 2147483647");
  return std::to_string(value);
}

base::Result<std::string> uuid_text_of(const std::string& given, const Type& type) {
  const std::string text = lower_case(given);
  bool is_uuid = text.size() == 36;
  for (size_t i = 0; is_uuid && i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    is_uuid = is_dash ? text[i] == '-' : std::string_view("0123456789abcdef").find(text[i]) != std::string_view::npos;
  }
  if (is_uuid) return text;
  return never_equal(given, type, "write its 36 characters, as in 123e4567-e89b-12d3-a456-426614174000");
}

// The text that a value of the type has which somebody wrote as `given`.
base::Result<std::string> text_of_value(const std::string& given, const Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return boolean_text_of(given, type);
    case TypeId::kInt:
    case TypeId::kLong:
      return integer_text_of(given, type);
    case TypeId::kUuid:
      return uuid_text_of(given, type);
    default:
      return given;
  }
}

std::string uuid_text(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += two;
  }
  return text;
}

void text_at(const Column& column, int64_t row, std::string& text) {
  switch (column.type().id()) {
    case TypeId::kBoolean:
      text = column.boolean_at(row) ? "true" : "false";
      return;
    case TypeId::kInt:
      text = std::to_string(column.int_at(row));
      return;
    case TypeId::kLong:
      text = std::to_string(column.long_at(row));
      return;
    case TypeId::kUuid:
      text = uuid_text(column.bytes_at(row));
      return;
    default:
      text = column.bytes_at(row);
  }
}

}  // namespace

base::Status check_condition(const RouteCondition& when, const columnar::Schema& rows) {
  if (when.field.empty()) return {};
  std::vector<size_t> path;
  const Type* type = find_column(rows, when.field, path);
  if (type == nullptr) return base::invalid("there is no column \"" + when.field + "\"");
  if (!has_text(type->id())) {
    return base::invalid("column \"" + when.field + "\" is of type " + type->name() +
                         "; rows are routed by columns of type string, boolean, int, long and uuid");
  }
  for (const std::string& given : when.equals) TRY(text_of_value(given, *type).status());
  if (!when.matches.empty()) return base::Pattern::compile(when.matches).status();
  return {};
}

base::Result<std::unique_ptr<RowRoutes>> RowRoutes::make(const std::vector<RouteCondition>& conditions,
                                                         const columnar::Schema& rows, const Policy& policy) {
  CHECK(conditions.size() <= kRoutesAtMost);
  auto routes = std::unique_ptr<RowRoutes>(new RowRoutes());
  routes->policy_ = policy;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const RouteCondition& when = conditions[i];
    TRY(check_condition(when, rows));
    if (when.field.empty()) {
      routes->takes_every_row_ |= Tables{1} << i;
      continue;
    }
    std::vector<size_t> path;
    const Type& type = *find_column(rows, when.field, path);
    auto& fields = routes->fields_;
    auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& known) { return known.name == when.field; });
    if (field == fields.end()) {
      field = fields.insert(fields.end(), FieldConditions{when.field, path, {}, {}});
    }
    Condition condition;
    condition.bit = Tables{1} << i;
    for (const std::string& given : when.equals) condition.equals.insert(text_of_value(given, type).value());
    if (!when.matches.empty()) {
      TRY_ASSIGN(condition.pattern, base::Pattern::compile(when.matches));
    }
    field->conditions.push_back(std::move(condition));
  }
  return routes;
}

RowRoutes::Tables RowRoutes::judge(FieldConditions& field, const std::string& text) {
  if (const auto known = field.known.find(text); known != field.known.end()) return known->second;
  Tables tables = 0;
  for (const Condition& condition : field.conditions) {
    if (condition.equals.contains(text) || (condition.pattern && condition.pattern->matches(text))) tables |= condition.bit;
  }
  if (text.size() > kKnownTextBytes) return tables;
  if (field.known.size() >= kKnownTextsAtMost) field.known.clear();
  field.known.emplace(text, tables);
  return tables;
}

void RowRoutes::add_takers(FieldConditions& field, const columnar::Batch& batch, int64_t first) {
  const Column* column = &batch.columns[field.path[0]];
  for (size_t i = 1; i < field.path.size(); ++i) column = &column->child(field.path[i]);
  std::string text;
  for (int64_t row = first; row < batch.rows(); ++row) {
    if (column->is_null(row)) continue;
    text_at(*column, row, text);
    taken_by_[static_cast<size_t>(row)] |= judge(field, text);
  }
}

engine::UnwantedRow RowRoutes::unwanted(int64_t row) const {
  std::string names;
  for (const FieldConditions& field : fields_) names += (names.empty() ? "" : ", ") + field.name;
  const std::string why = names.empty() ? "no table is for this topic" : "no table is for what it holds in " + names;
  return {policy_.unrouted, row, "NO_TABLE", why, fields_.size() == 1 ? fields_[0].name : ""};
}

std::vector<engine::UnwantedRow> RowRoutes::look(const columnar::Batch& batch, int64_t first) {
  taken_by_.resize(static_cast<size_t>(batch.rows()), takes_every_row_);
  for (FieldConditions& field : fields_) add_takers(field, batch, first);
  std::vector<engine::UnwantedRow> found;
  for (int64_t row = first; row < batch.rows(); ++row) {
    Tables& takers = taken_by_[static_cast<size_t>(row)];
    if (!policy_.to_all) takers &= ~takers + 1;  // the lowest bit alone: the first table
    if (takers == 0) found.push_back(unwanted(row));
  }
  return found;
}

void RowRoutes::leave_out(int64_t first, int64_t last) {
  std::fill(taken_by_.begin() + first, taken_by_.begin() + last, 0);
}

std::vector<int32_t> RowRoutes::rows_of(size_t table) const {
  std::vector<int32_t> rows;
  for (size_t row = 0; row < taken_by_.size(); ++row) {
    if ((taken_by_[row] >> table) & 1) rows.push_back(static_cast<int32_t>(row));
  }
  return rows;
}

}  // namespace frazil::sinks
