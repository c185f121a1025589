// Fuzzes what reads Avro of other writers: object files, manifests and manifest lists.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "iceberg/manifest.h"
#include "io/memory_file_io.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr char kLocation[] = "memory:///fuzz.avro";
  const auto io = frazil::io::make_memory_file_io();
  if (!frazil::io::write_file(*io, kLocation, {reinterpret_cast<const char*>(data), size}).ok()) return 0;
  (void)frazil::iceberg::read_manifest(*io, kLocation);
  (void)frazil::iceberg::read_manifest_list(*io, kLocation);
  return 0;
}
