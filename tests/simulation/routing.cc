#include "tests/simulation/routing.h"

#include <algorithm>

#include "tests/simulation/lakehouse.h"

namespace frazil::simulation {

const std::array<iceberg::TableId, kRoutedTables>& routed_tables() {
  static const std::array<iceberg::TableId, kRoutedTables> tables{{{{"db"}, "clicks"}, {{"db"}, "refunds"}}};
  return tables;
}

std::optional<size_t> routed_place(const iceberg::TableId& id) {
  const auto& tables = routed_tables();
  const auto found = std::find(tables.begin(), tables.end(), id);
  return found == tables.end() ? std::nullopt : std::optional(static_cast<size_t>(found - tables.begin()));
}

std::optional<size_t> routed_place(const std::string& name) {
  const auto id = iceberg::parse_table_id(name);
  return id.ok() ? routed_place(*id) : std::nullopt;
}

std::string draw_kind() {
  const char* kinds[] = {"click", "refund", "return", "sale"};
  return kinds[base::random_below(4)];
}

Places places_of(const std::string& value, Routing routing) {
  const auto is = [&](const char* kind) { return value.find("\"kind\":\"" + std::string(kind)) != std::string::npos; };
  Places places;
  if (routing == Routing::kNone) {
    places.anchor = true;
  } else if (is("sale")) {
    places.anchor = routing == Routing::kAnchorTakesTheRest;
    places.dead = routing == Routing::kPositionsTable;
  } else {
    places.routed = {is("click") || is("return"), is("refund") || is("return")};
  }
  return places;
}

std::vector<sinks::TargetConfig> draw_targets(Routing routing, const sinks::IcebergSinkConfig& config) {
  if (routing == Routing::kNone) return {};
  const auto& tables = routed_tables();
  std::vector<sinks::TargetConfig> targets{{tables[0], config.schema, config.create, {"", "kind", {"click"}, ""}},
                                           {tables[1], config.schema, config.create, {"", "kind", {}, "re(fund|turn)"}}};
  if (chance(500)) targets[0].when.equals.push_back("return");
  if (routing == Routing::kAnchorTakesTheRest) targets.push_back({config.table, config.schema, config.create, {}});
  return targets;
}

}  // namespace frazil::simulation
