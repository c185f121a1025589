// Fuzzes the reader of pipeline files: whatever YAML says, it ends in a configuration or in problems, and each problem
// can be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "app/config/config_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("file") != text.npos) return 0;  // a file of this machine (a device, say) is no input of ours
  const frazil::app::ReadOptions options{.overrides = {}, .missing = frazil::app::MissingReference::kWarning};
  const auto read = frazil::app::read_config_text(text, "/nowhere/pipeline.yaml", options);
  if (read.problems.render().empty() != read.problems.all().empty()) std::abort();
  if (!read.problems.has_errors() && read.config.pipelines.empty()) std::abort();
  return 0;
}
