// `--set path=value` and `--set pipeline:path=value`: changes to a configuration from the command line, made on its
// tree before options are read, so that they are checked like the file. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/config/document.h"
#include "app/config/problems.h"

namespace frazil::app {

// `overrides` are applied in order; the value is YAML ("2s", "[a, b]"). What is wrong goes to `problems`.
void apply_overrides(const std::vector<std::string>& overrides, Node& root, Problems& problems);

}  // namespace frazil::app
