#include "io/s3/s3_location.h"

#include <algorithm>

#include "base/utf8.h"
#include "io/location.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Result;
using base::Status;

constexpr size_t kMaxKeyBytes = 1024;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Also the old names with capitals and underscores, which some stores still take.
bool is_bucket_character(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_'; }

Status check_bucket(const std::string& bucket) {
  if (bucket.empty()) return base::invalid("names no bucket; S3 locations are s3://bucket/key");
  if (bucket.size() > 255 || bucket == "." || bucket == ".." || !std::all_of(bucket.begin(), bucket.end(), is_bucket_character)) {
    return base::invalid("'" + base::valid_utf8_of(bucket) + "' cannot be the name of a bucket");
  }
  return {};
}

Status check_key(const std::string& key) {
  if (key.size() > kMaxKeyBytes) {
    return base::invalid("the key has " + std::to_string(key.size()) + " bytes; S3 allows " + std::to_string(kMaxKeyBytes));
  }
  if (key.find('\0') != std::string::npos) return base::invalid("a key cannot contain a zero byte");
  if (!base::is_valid_utf8(key)) return base::invalid("a key must be UTF-8");
  return {};
}

bool fits_into_host_name(const std::string& bucket) {
  const auto is_host_character = [](char c) { return is_lower_or_digit(c) || c == '-'; };
  return bucket.size() >= 3 && bucket.size() <= 63 && is_lower_or_digit(bucket.front()) && is_lower_or_digit(bucket.back()) &&
         std::all_of(bucket.begin(), bucket.end(), is_host_character);
}

std::string aws_endpoint(const std::string& region) {
  return "https://s3." + region + (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

}  // namespace

Result<S3Location> parse_s3_location(std::string_view location) {
  const std::string scheme = scheme_of(location);
  const std::string shown = "'" + base::valid_utf8_of(location.substr(0, 300)) + "'";
  if (scheme != "s3" && scheme != "s3a" && scheme != "s3n") {
    return base::unsupported(shown + ": this store serves s3://, s3a:// and s3n:// locations");
  }
  std::string_view rest = location.substr(scheme.size() + 1);
  if (!rest.starts_with("//")) return base::invalid(shown + ": S3 locations are s3://bucket/key");
  rest.remove_prefix(2);
  const size_t slash = std::min(rest.find('/'), rest.size());
  S3Location parsed;
  parsed.bucket = rest.substr(0, slash);
  if (slash < rest.size()) parsed.key = rest.substr(slash + 1);
  TRY(check_bucket(parsed.bucket).in(shown));
  TRY(check_key(parsed.key).in(shown));
  return parsed;
}

Result<S3Endpoint> S3Endpoint::make(const std::string& endpoint, const std::string& region, bool path_style) {
  const std::string text = endpoint.empty() ? aws_endpoint(region) : endpoint;
  TRY_ASSIGN(const net::Url url, net::parse_url(text).in("s3.endpoint"));
  if (url.path.size() > 1 || !url.query.empty()) {
    return base::invalid("s3.endpoint " + url.origin() + ": an endpoint is a scheme, a host and a port, such as https://s3.example:9000");
  }
  S3Endpoint made;
  made.scheme_ = url.scheme;
  made.authority_ = url.origin().substr(url.scheme.size() + 3);
  // An address has no names below it.
  const bool is_address = url.host.find(':') != std::string::npos || url.host.find_first_not_of("0123456789.") == std::string::npos;
  made.path_style_ = path_style || is_address;
  made.is_private_ = url.scheme == "https" || net::is_loopback_host(url.host);
  return made;
}

std::string S3Endpoint::url(const std::string& bucket, const std::string& key, const std::string& query) const {
  std::string text = scheme_ + "://";
  if (path_style_ || !fits_into_host_name(bucket)) {
    text += authority_ + "/" + bucket;
    if (!key.empty()) text += "/" + net::percent_encode_path(key);
  } else {
    text += bucket + "." + authority_ + "/" + net::percent_encode_path(key);
  }
  return query.empty() ? text : text + "?" + query;
}

}  // namespace frazil::io
