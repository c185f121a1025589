// Routing: pipelines of several tables. A record names its kind, and each kind has its tables: "click" and "refund" one each, "sale"
// the anchor, or no table where the anchor holds positions alone. Where a "return" goes, the processes of a pipeline do not
// agree, as after a change of its configuration. Pure, but for draws.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sinks/iceberg/iceberg_sink_config.h"
#include "tests/simulation/scenario.h"

namespace frazil::simulation {

// The tables beside the anchor, in the order in which they are asked for a row.
inline constexpr size_t kRoutedTables = 2;
const std::array<iceberg::TableId, kRoutedTables>& routed_tables();
// Its place among them; nullopt: the anchor or the dead letters.
std::optional<size_t> routed_place(const iceberg::TableId& id);
std::optional<size_t> routed_place(const std::string& name);

std::string draw_kind();
// Where the row of a record may be; `dead`: among the dead letters, since no table takes it.
struct Places {
  bool anchor = false;
  bool dead = false;
  std::array<bool, kRoutedTables> routed{};
};
Places places_of(const std::string& value, Routing routing);

// The targets as one process is told them; none without routing.
std::vector<sinks::TargetConfig> draw_targets(Routing routing, const sinks::IcebergSinkConfig& config);

}  // namespace frazil::simulation
