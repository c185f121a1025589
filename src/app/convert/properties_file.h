// Java's .properties files as a flat tree. Pure; any thread.
#pragma once

#include <string_view>

#include "app/config/document.h"
#include "app/config/problems.h"

namespace frazil::app {

// A map of texts, in the order of the file. `key=value`, `key: value` or `key value`; `#` and `!` begin comments; a backslash at
// the end of a line goes on in the next; \t \n \r \f \uXXXX and escaped signs are read. A repeated key becomes a problem, and
// the last one counts, as in Java.
Node parse_properties(std::string_view text, Problems& problems);

}  // namespace frazil::app
