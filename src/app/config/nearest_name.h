// The known name that a mistyped one most likely means. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frazil::app {

// The name of `known` with the fewest edits from `name` (letters changed, added, left out, or two neighbours swapped),
// the first of equals; empty when `known` is.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
// How many edits lie between two names.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace frazil::app
