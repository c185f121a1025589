// JSON that people write, judged without mercy: a key that stands twice in an object is an error, since only one of them would count.
// Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.h"

namespace frazil::app {

// kInvalid: no JSON, or the name of the key that is there twice.
base::Status check_json_text(std::string_view text);

}  // namespace frazil::app
