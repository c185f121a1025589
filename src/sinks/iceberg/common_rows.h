// common_rows: the one schema of rows that may go to several tables, and their columns in its order. Pure.
//
// 1. Columns, struct members, list elements, map keys and values are paired by their names; their order is each table's own affair.
// 2. Every name is there in every table, and means one type: kind, digits of decimals and bytes of fixed included.
// 3. What one table requires, at any depth, all rows must have.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "columnar/schema.h"

namespace frazil::sinks {

struct TableColumns {
  std::string table;
  const columnar::Schema* schema = nullptr;
};

// The first table's columns and ids with the requirements of all. kInvalid names every column that two tables do not have in common,
// with both of them. `tables` is not empty.
base::Result<columnar::Schema> common_rows(const std::vector<TableColumns>& tables);

// `fields` in the order that their names have in `order`, on every level; both have the same names.
std::vector<columnar::Field> in_order_of(const std::vector<columnar::Field>& order, const std::vector<columnar::Field>& fields);

}  // namespace frazil::sinks
