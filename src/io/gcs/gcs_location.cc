#include "io/gcs/gcs_location.h"

#include <algorithm>

#include "base/utf8.h"
#include "io/location.h"

namespace frazil::io {
namespace {

constexpr size_t kMaxObjectBytes = 1024;

bool is_bucket_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

base::Status check(const GcsLocation& location) {
  const std::string& bucket = location.bucket;
  const bool is_bucket = !bucket.empty() && bucket.size() <= 222 && bucket.find_first_not_of('.') != bucket.npos &&
                         std::all_of(bucket.begin(), bucket.end(), is_bucket_character);
  if (!is_bucket) return base::invalid("'" + base::valid_utf8_of(bucket) + "' cannot be the name of a bucket");
  if (location.object.size() > kMaxObjectBytes) {
    return base::invalid("the object's name has " + std::to_string(location.object.size()) +
                         " bytes; the store allows " + std::to_string(kMaxObjectBytes));
  }
  if (location.object.find('\0') != std::string::npos)
    return base::invalid("an object's name cannot contain a zero byte");
  if (!base::is_valid_utf8(location.object)) return base::invalid("an object's name must be UTF-8");
  return {};
}

}  // namespace

base::Result<GcsLocation> parse_gcs_location(std::string_view location) {
  const std::string shown = "'" + base::valid_utf8_of(location.substr(0, 300)) + "'";
  const std::string scheme = scheme_of(location);
  if (scheme != "gs") return base::unsupported(shown + ": this store serves gs:// locations");
  std::string_view rest = location.substr(scheme.size() + 1);
  if (!rest.starts_with("//")) return base::invalid(shown + ": locations of this store are gs://bucket/object");
  rest.remove_prefix(2);
  const size_t slash = std::min(rest.find('/'), rest.size());
  GcsLocation parsed;
  parsed.bucket = rest.substr(0, slash);
  if (slash < rest.size()) parsed.object = rest.substr(slash + 1);
  TRY(check(parsed).in(shown));
  return parsed;
}

}  // namespace frazil::io
