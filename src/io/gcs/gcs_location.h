// Locations on Google Cloud Storage: gs://bucket/object. Names are opaque: encoded once into a URL, never decoded.
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::io {

struct GcsLocation {
  std::string bucket;
  std::string object;  // what follows the first '/' behind the bucket, byte for byte; may be empty
};

// kUnsupported for other schemes; kInvalid for what no bucket or object can be called.
base::Result<GcsLocation> parse_gcs_location(std::string_view location);

}  // namespace frazil::io
