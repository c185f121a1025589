// `--parameter name=value` of `convert` and `run --template`, and the check of what comes out. Any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/config/problems.h"
#include "app/convert/convert.h"
#include "base/result.h"

namespace frazil::app {

// kInvalid: one without '=', or a name that is given twice. Values are not quoted in the message.
base::Result<std::vector<std::pair<std::string, std::string>>> parse_parameters(const std::vector<std::string>& texts);

// What is wrong with the pipeline file that came out; `file` is where relative paths start. References need not resolve here.
Problems check_converted(const Converted& converted, const std::string& file);

}  // namespace frazil::app
