#include "iceberg/stored_file.h"

namespace frazil::iceberg {

// Manifests and their lists begin with "Obj\1", metadata with '{' or, compressed, with 1f 8b.
base::Result<std::string> read_stored(io::FileIO& io, const std::string& location) {
  TRY_ASSIGN(std::string bytes, io.read(location));
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || bytes[first] != '<') return bytes;
  return base::unavailable(location + ": a page (HTML or XML) came in the place of the file: who stands between here and the store?");
}

}  // namespace frazil::iceberg
