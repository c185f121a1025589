// Fuzzes the readers of foreign pipelines: Beam YAML, properties, parameters of templates. Whatever they hold, each ends in findings that say
// something, and what comes out is YAML without a doubled key.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "app/convert/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil::app;
  if (size == 0) return 0;
  constexpr Dialect kDialects[] = {Dialect::kBeam, Dialect::kConnect, Dialect::kDataflow};
  ForeignPipeline pipeline;
  pipeline.file = "input";
  pipeline.text.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Converted converted = convert_pipeline(kDialects[data[0] % 3], pipeline);
  for (const Finding& finding : converted.findings) {
    if (finding.text.empty()) std::abort();
  }
  Problems problems("output");
  if (!parse_yaml(converted.yaml, problems) || problems.has_errors()) std::abort();
  return 0;
}
