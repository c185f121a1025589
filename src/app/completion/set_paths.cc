#include <algorithm>

#include "app/completion/completion_script.h"
#include "app/config/option.h"

namespace frazil::app {

std::vector<std::string> set_paths() {
  std::vector<std::string> paths;
  for (const auto* options : {&pipeline_options(), &process_options()}) {
    for (const Option& option : *options) {
      if (option.kind != OptionKind::kSection && shown_path(option) == option.path) paths.push_back(option.path + "=");
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace frazil::app
