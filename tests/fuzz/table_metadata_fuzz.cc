// Fuzzes the reader of metadata files: what it accepts must survive being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "iceberg/table_metadata_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil::iceberg;
  const auto metadata = table_metadata_from_json({reinterpret_cast<const char*>(data), size});
  if (!metadata.ok() || metadata->format_version != 2) return 0;
  const auto text = table_metadata_to_json(*metadata);
  if (!text.ok() || !table_metadata_from_json(*text).ok()) std::abort();
  return 0;
}
