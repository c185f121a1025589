// Positions of generated records: {"v":1,"kind":"generator","seed":"1","splits":4,"next":[10,9,null,9]}; ranges {"0":[0,10]}.
//
// Split s is "generator/s", a position the count of its records. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/position.h"

namespace frazil::sources {

engine::SplitId generator_split(int number);
std::optional<int> generator_split_number(const engine::SplitId& split);
std::optional<int64_t> generator_count(const std::string& position);

// One for the process. Identity keys: "seed" and "splits".
const engine::PositionFormat& generator_position_format();

}  // namespace frazil::sources
