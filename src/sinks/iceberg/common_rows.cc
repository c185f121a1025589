#include "sinks/iceberg/common_rows.h"

#include <algorithm>

namespace frazil::sinks {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;
using Fields = std::vector<Field>;

const Field* find(const Fields& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

bool is_same_kind(const Type& a, const Type& b) {
  return a.id() == b.id() && a.precision() == b.precision() && a.scale() == b.scale() && a.length() == b.length();
}

// Collects what two tables do not have in common.
class Comparison {
 public:
  Comparison(const TableColumns& first, const TableColumns& second) : first_(first), second_(second) {
    compare(first.schema->fields, second.schema->fields, "");
  }

  base::Status status() const {
    if (lines_.empty()) return {};
    return base::invalid("tables " + first_.table + " and " + second_.table + " take rows of the same topics, and their columns differ:" +
                         lines_ + "\n  Convert the column in one of them, or give each table a pipeline of its own.");
  }

 private:
  void compare(const Fields& first, const Fields& second, const std::string& prefix) {
    for (const Field& field : first) {
      const Field* there = find(second, field.name);
      if (there == nullptr) {
        add_line(prefix + field.name, field.type.name() + " in " + first_.table + ", not in " + second_.table);
      } else if (!is_same_kind(field.type, there->type)) {
        add_line(prefix + field.name, field.type.name() + " in " + first_.table + ", " + there->type.name() + " in " + second_.table);
      } else {
        compare(field.type.fields(), there->type.fields(), prefix + field.name + ".");
      }
    }
    for (const Field& field : second) {
      if (find(first, field.name) != nullptr) continue;
      add_line(prefix + field.name, "not in " + first_.table + ", " + field.type.name() + " in " + second_.table);
    }
  }

  void add_line(const std::string& path, const std::string& text) { lines_ += "\n  " + path + ": " + text; }

  const TableColumns& first_;
  const TableColumns& second_;
  std::string lines_;
};

Type with_fields(const Type& type, Fields fields) {
  if (type.id() == TypeId::kStruct) return Type::structure(std::move(fields));
  if (type.id() == TypeId::kList) return Type::list(std::move(fields[0]));
  return type.id() == TypeId::kMap ? Type::map(std::move(fields[0]), std::move(fields[1])) : type;
}

// Both have the same names.
Fields with_requirements(Fields fields, const Fields& others) {
  for (Field& field : fields) {
    const Field& other = *find(others, field.name);
    field.required = field.required || other.required;
    field.type = with_fields(field.type, with_requirements(field.type.fields(), other.type.fields()));
  }
  return fields;
}

// Fields are paired by names: one that stands twice cannot be.
base::Status demand_single_names(const TableColumns& columns) {
  const std::string name = columnar::repeated_full_name(columns.schema->fields);
  if (name.empty()) return {};
  return base::invalid("table " + columns.table + " has two columns of the name " + name);
}

}  // namespace

base::Result<columnar::Schema> common_rows(const std::vector<TableColumns>& tables) {
  columnar::Schema rows = *tables.front().schema;
  if (tables.size() == 1) return rows;
  for (const TableColumns& columns : tables) TRY(demand_single_names(columns));
  for (size_t i = 1; i < tables.size(); ++i) {
    TRY(Comparison(tables.front(), tables[i]).status());
    rows.fields = with_requirements(std::move(rows.fields), tables[i].schema->fields);
  }
  return rows;
}

Fields in_order_of(const Fields& order, const Fields& fields) {
  Fields ordered;
  for (const Field& place : order) {
    ordered.push_back(*find(fields, place.name));
    columnar::Type& type = ordered.back().type;
    type = with_fields(type, in_order_of(place.type.fields(), type.fields()));
  }
  return ordered;
}

}  // namespace frazil::sinks
