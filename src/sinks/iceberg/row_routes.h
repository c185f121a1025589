// RowRoutes: which tables take a row. Decided once for each row, when it is appended to a batch, and remembered until the batch
// is handed on.
//
// A table's condition on a field looks at the text of the row's value: strings as they are, true and false, integers in decimal,
// UUIDs in their 36 characters of lower case; values to compare with are brought into that form. A null is no text and meets no condition. What a text means for all tables that ask about the
// same field is remembered, so patterns run once for each distinct text. One reader lane owns it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "columnar/column.h"
#include "engine/sink.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::sinks {

inline constexpr size_t kRoutesAtMost = 63;

// kInvalid when rows cannot be routed by `when`: no such column, a type without a text, a value that no row can have, a pattern that
// is none.
base::Status check_condition(const RouteCondition& when, const columnar::Schema& rows);

class RowRoutes {
 public:
  struct Policy {
    bool to_all = false;  // to each table that takes a row, not to the first alone
    engine::UnwantedRow::Fate unrouted = engine::UnwantedRow::Fate::kDeadLetter;
  };
  // `conditions`: of the tables, in their order, at most kRoutesAtMost; topics in them are not looked at.
  static base::Result<std::unique_ptr<RowRoutes>> make(const std::vector<RouteCondition>& conditions, const columnar::Schema& rows,
                                                       const Policy& policy);

  std::vector<engine::UnwantedRow> look(const columnar::Batch& batch, int64_t first);
  void leave_out(int64_t first, int64_t last);
  // The rows that table `table` takes, of all that were looked at.
  std::vector<int32_t> rows_of(size_t table) const;
  void clear() { taken_by_.clear(); }

 private:
  using Tables = uint64_t;  // a bit for each
  struct Condition {
    Tables bit = 0;
    std::unordered_set<std::string> equals;
    std::optional<base::Pattern> pattern;
  };
  // All conditions on one field.
  struct FieldConditions {
    std::string name;
    std::vector<size_t> path;  // top-level column, then struct members
    std::vector<Condition> conditions;
    std::unordered_map<std::string, Tables> known;  // by text
  };
  RowRoutes() = default;
  static Tables judge(FieldConditions& field, const std::string& text);
  void add_takers(FieldConditions& field, const columnar::Batch& batch, int64_t first);
  engine::UnwantedRow unwanted(int64_t row) const;

  Policy policy_;
  Tables takes_every_row_ = 0;
  std::vector<FieldConditions> fields_;
  std::vector<Tables> taken_by_;  // by row
};

}  // namespace frazil::sinks
