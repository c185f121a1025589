// Steps, with the names of AWS's description:
//  1. canonical request: method, path, sorted query, sorted headers, their names, hash of the payload
//  2. string to sign: algorithm, time, scope, hash of 1
//  3. signing key: HMACs of date, region, service over the secret
//  4. signature: HMAC of 2 by 3, in the authorization header beside scope and names of headers
#include "net/aws_signature.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "net/digest.h"
#include "net/url.h"

namespace frazil::net {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Without spaces around it, and with one space where several were.
std::string canonical_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\t';
    if (!is_space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// "20130524T000000Z"
std::string amz_date(int64_t now_ms) {
  const std::string text = base::format_utc(now_ms * 1000);  // "2013-05-24T00:00:00.000Z"
  return text.substr(0, 4) + text.substr(5, 2) + text.substr(8, 5) + text.substr(14, 2) + text.substr(17, 2) + "Z";
}

std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (one.empty()) continue;
    const size_t equals = one.find('=');
    parameters.emplace_back(one.substr(0, equals), equals == one.npos ? std::string_view() : one.substr(equals + 1));
  }
  std::sort(parameters.begin(), parameters.end());
  std::string out;
  for (const auto& [name, value] : parameters) out += (out.empty() ? "" : "&") + name + "=" + value;
  return out;
}

// Empty and "." segments go, ".." takes the one before it (RFC 3986 section 6.2.2.3).
std::string normalized_path(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool ends_in_slash = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      kept.push_back(segment);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  std::string out;
  for (const std::string_view segment : kept) out.append("/").append(segment);
  return out.empty() || ends_in_slash ? out + "/" : out;
}

struct CanonicalHeaders {
  std::string lines;  // "name:value\n" each
  std::string names;  // joined by ';'
};

CanonicalHeaders canonical_headers(const HttpHeaders& headers) {
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : headers) {
    auto [at, is_new] = values.emplace(lower(name), canonical_value(value));
    if (!is_new) at->second += "," + canonical_value(value);
  }
  CanonicalHeaders out;
  for (const auto& [name, value] : values) {
    out.lines += name + ":" + value + "\n";
    out.names += (out.names.empty() ? "" : ";") + name;
  }
  return out;
}

void set_header(HttpRequest& request, const std::string& name, const std::string& value) {
  std::erase_if(request.headers, [&](const auto& header) { return lower(header.first) == name; });
  if (!value.empty()) request.headers.emplace_back(name, value);
}

std::string signing_key(const std::string& secret, const std::string& date, const SigningScope& scope) {
  const std::string of_date = hmac_sha256("AWS4" + secret, date);
  const std::string of_region = hmac_sha256(of_date, scope.region);
  return hmac_sha256(hmac_sha256(of_region, scope.service), "aws4_request");
}

void set_signed_headers(HttpRequest& request, const AwsCredentials& credentials, const Url& url,
                        const std::string& payload_hash, const std::string& time) {
  const std::string origin = url.origin();
  set_header(request, "authorization", "");
  set_header(request, "host", origin.substr(origin.find("://") + 3));
  set_header(request, "x-amz-date", time);
  set_header(request, "x-amz-content-sha256", payload_hash);
  set_header(request, "x-amz-security-token", credentials.session_token);
}

}  // namespace

void sign(HttpRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
          const std::string& payload_hash, int64_t now_ms) {
  const auto url = parse_url(request.url);
  if (credentials.is_anonymous() || !url.ok()) return;  // send() says what is wrong with the URL
  const std::string time = amz_date(now_ms);
  const std::string date = time.substr(0, 8);
  set_signed_headers(request, credentials, *url, payload_hash, time);
  const CanonicalHeaders headers = canonical_headers(request.headers);
  const std::string path = scope.encodes_path_twice ? percent_encode_path(normalized_path(url->path)) : url->path;
  const std::string canonical = request.method + "\n" + path + "\n" + canonical_query(url->query) + "\n" +
                                headers.lines + "\n" + headers.names + "\n" + payload_hash;
  const std::string scope_text = date + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + time + "\n" + scope_text + "\n" + sha256_hex(canonical);
  const std::string signature = hex(hmac_sha256(signing_key(credentials.secret_access_key, date, scope), to_sign));
  request.headers.emplace_back("authorization", "AWS4-HMAC-SHA256 Credential=" + credentials.access_key_id + "/" +
                                                    scope_text + ",SignedHeaders=" + headers.names +
                                                    ",Signature=" + signature);
}

std::string sha256_hex(std::string_view bytes) {
  return hex(sha256(bytes));
}

}  // namespace frazil::net
