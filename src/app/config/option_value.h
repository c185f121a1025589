// From a node of the document to the value of an option: kinds checked, references resolved, secrets kept out of
// messages.
#pragma once

#include <optional>
#include <string>

#include "app/config/option.h"
#include "app/config/problems.h"

namespace frazil::app {

// What becomes of a reference that cannot be resolved here.
enum class MissingReference {
  kError,    // the value is needed: a run
  kWarning,  // only form is checked: `validate`
};

struct ValueContext {
  Problems& problems;
  std::string folder;  // of the configuration file: relative paths start here
  MissingReference missing = MissingReference::kError;
};

// Reads the value of `option`. Nothing when a problem was added, or when a reference is missing and that is only a
// warning.
std::optional<OptionValue> read_option_value(const Option& option, const Node& node, const ValueContext& context);

}  // namespace frazil::app
