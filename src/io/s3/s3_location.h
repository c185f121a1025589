// S3 locations and the URLs of objects. Keys are opaque: encoded once into a URL, never decoded, never normalised. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::io {

struct S3Location {
  std::string bucket;
  std::string key;  // what follows the first '/' behind the bucket, byte for byte; may be empty
};

// Of s3://, s3a:// and s3n://. kUnsupported for other schemes; kInvalid for what no bucket or key can be called.
base::Result<S3Location> parse_s3_location(std::string_view location);

// Where a store is, and how its buckets are addressed.
class S3Endpoint {
 public:
  // `endpoint` empty: AWS in that region. kInvalid when it is no origin ("https://host:port").
  static base::Result<S3Endpoint> make(const std::string& endpoint, const std::string& region, bool path_style);

  // `query` is encoded already, without '?'. Buckets that cannot be part of a host name are addressed by path in any case.
  std::string url(const std::string& bucket, const std::string& key, const std::string& query = "") const;
  // Payloads need no signature: TLS guards them, or they do not leave this machine.
  bool is_private() const { return is_private_; }

 private:
  std::string scheme_;
  std::string authority_;
  bool path_style_ = false;
  bool is_private_ = false;
};

}  // namespace frazil::io
