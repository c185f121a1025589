// ScriptedS3: a store in memory that speaks S3 as an HttpClient, and fails as a test scripts it. Path-style URLs; signatures are not checked
// (net has tests of those, and a real server checks them). Any thread.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "io/crc32c.h"
#include "io/s3/s3_xml.h"
#include "net/aws_credentials.h"
#include "net/http_client.h"
#include "net/url.h"
#include "tests/conformance/scripted_store.h"

namespace frazil::conformance {

// Fixed keys, and new ones when they are refused.
class ScriptedCredentials : public net::AwsCredentialsProvider {
 public:
  base::Result<net::AwsCredentials> get() override {
    if (failures > 0) return --failures, base::Error(failure, "no credentials now");
    return net::AwsCredentials{key, "secret", "", 0};
  }
  void refused(const net::AwsCredentials&) override { ++refusals, key = next_key; }
  std::string key = "key";
  std::string next_key = "key";
  int refusals = 0;
  int failures = 0;  // to come
  base::Code failure = base::Code::kUnavailable;
};

class ScriptedS3 : public ScriptedStore {
 public:
  int taken_status = 412;          // for If-None-Match when the name is taken; one store says 304 to uploads in parts
  int reads_until_known = 0;       // so many reads of a new object answer 404
  size_t page_keys = 1000;
  size_t least_part_bytes = 0;     // smaller parts, but the last, are refused
  bool lists_encoded = true;
  bool fails_late_once = false;    // the next completion of an upload answers 200 with an error in the body
  int64_t clock_ahead_ms = 0;      // of our clock: requests that are signed more than 15 minutes off are refused
  std::string wanted_key = "key";  // of requests that are let in
  bool accepts_any_key = false;    // and none

  // "bucket/key" → bytes.
  std::map<std::string, std::string> objects() { return bytes_of(objects_); }
  void put(const std::string& name, const std::string& bytes) {
    base::Lock lock(mutex_);
    objects_[name] = {bytes, io::crc32c_base64(io::crc32c(bytes)), etag_of(bytes), 0};
  }
  size_t open_uploads() {
    base::Lock lock(mutex_);
    return uploads_.size();
  }

 private:
  struct Object {
    std::string bytes, checksum, etag;
    int hidden_reads = 0;
    int64_t modified_millis = base::wall_millis();
  };

  static std::string etag_of(std::string_view bytes) { return "\"" + std::to_string(base::xxh64(bytes)) + "\""; }
  static Response answer(int status, std::string body = "", net::HttpHeaders headers = {}) {
    headers.emplace_back("content-length", std::to_string(body.size()));
    return {status, std::move(headers), std::move(body)};
  }
  Response refusal(int status, const std::string& code, net::HttpHeaders headers = {}) const override {
    return {status, std::move(headers), "<Error><Code>" + code + "</Code><Message>as scripted</Message></Error>"};
  }
  static std::string parameter(const std::string& query, const std::string& name) {
    for (size_t at = 0; at <= query.size();) {
      const size_t end = std::min(query.find('&', at), query.size());
      const std::string pair = query.substr(at, end - at);
      if (pair.starts_with(name + "=")) return decode(pair.substr(name.size() + 1));
      at = end + 1;
    }
    return "";
  }

  // Whether the signature's key and time are acceptable.
  std::optional<Response> turned_away(const net::HttpRequest& request) const {
    if (accepts_any_key) return std::nullopt;
    const std::string credential = "Credential=" + wanted_key + "/";
    if (header(request, "authorization").find(credential) == std::string::npos) return refusal(400, "ExpiredToken");
    const int64_t now = base::wall_millis() + clock_ahead_ms;
    const std::string date = header(request, "x-amz-date");  // 20260131T123456Z
    const auto signed_at = io::parse_s3_time(date.substr(0, 4) + "-" + date.substr(4, 2) + "-" + date.substr(6, 5) + ":" + date.substr(11, 2) +
                                             ":" + date.substr(13, 2) + "Z");
    if (signed_at && std::abs(*signed_at - now) < 15 * 60'000) return std::nullopt;
    return refusal(403, "RequestTimeTooSkewed", {{"date", http_time(now)}});
  }
  // The weekday is not looked at.
  static std::string http_time(int64_t millis) {
    static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::string text = base::format_utc(millis * 1000);  // 2026-01-31T12:34:56.789Z
    return "Thu, " + text.substr(8, 2) + " " + kMonths[std::stoi(text.substr(5, 2)) - 1] + " " + text.substr(0, 4) + " " + text.substr(11, 8) +
           " GMT";
  }
  static std::string without_escapes(std::string text) {
    for (const auto& [escape, plain] : std::initializer_list<std::pair<std::string, std::string>>{
             {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#9;", "\t"}, {"&#10;", "\n"}, {"&#13;", "\r"}, {"&amp;", "&"}}) {
      for (size_t at = 0; (at = text.find(escape, at)) != std::string::npos; at += plain.size()) text.replace(at, escape.size(), plain);
    }
    return text;
  }

  Response serve(const net::HttpRequest& request) override {
    if (const auto refused = turned_away(request)) return *refused;
    const std::string target = request.url.substr(request.url.find('/', 8) + 1);
    const size_t mark = std::min(target.find('?'), target.size());
    const std::string name = decode(target.substr(0, mark));
    const std::string query = mark < target.size() ? target.substr(mark + 1) : "";
    if (request.method == "GET" && query.find("list-type=2") != std::string::npos) return list(name, query);
    if (request.method == "POST" && query == "uploads=") return begin(name);
    if (request.method == "POST" && query == "delete=") return remove_many(name, std::string(request.body));
    const std::string upload = parameter(query, "uploadId");
    if (request.method == "PUT" && !upload.empty()) return put_part(upload, std::stoi(parameter(query, "partNumber")), request);
    if (request.method == "POST" && !upload.empty()) return complete(name, upload, request);
    if (request.method == "DELETE" && !upload.empty()) return uploads_.erase(upload) != 0 ? answer(204) : refusal(404, "NoSuchUpload");
    if (request.method == "PUT") return put_object(name, request);
    if (request.method == "DELETE") return objects_.erase(name), answer(204);
    return read(name, request);
  }

  Response put_object(const std::string& name, const net::HttpRequest& request) {
    const std::string checksum = io::crc32c_base64(io::crc32c(request.body));
    if (header(request, "x-amz-checksum-crc32c") != checksum) return refusal(400, "BadDigest");
    if (header(request, "if-none-match") == "*" && objects_.contains(name)) return refusal(taken_status, "PreconditionFailed");
    store(name, std::string(request.body), checksum);
    return answer(200);
  }
  void store(const std::string& name, std::string bytes, const std::string& checksum) {
    if (stores_one_byte_less && !bytes.empty()) bytes.pop_back();
    objects_[name] = {bytes, checksum, etag_of(bytes), reads_until_known};
  }
  Response begin(const std::string& name) {
    const std::string id = "upload+" + std::to_string(++last_upload_) + "/=";
    uploads_[id] = {name, {}};
    return answer(200, "<InitiateMultipartUploadResult><UploadId>" + id + "</UploadId></InitiateMultipartUploadResult>");
  }
  Response put_part(const std::string& upload, int number, const net::HttpRequest& request) {
    if (!uploads_.contains(upload)) return refusal(404, "NoSuchUpload");
    if (header(request, "x-amz-checksum-crc32c") != io::crc32c_base64(io::crc32c(request.body))) return refusal(400, "BadDigest");
    uploads_[upload].parts[number] = std::string(request.body);
    return answer(200, "", {{"etag", etag_of(request.body)}});
  }
  Response complete(const std::string& name, const std::string& upload, const net::HttpRequest& request) {
    if (!uploads_.contains(upload)) return refusal(404, "NoSuchUpload");
    if (std::exchange(fails_late_once, false)) return answer(200, "<Error><Code>InternalError</Code></Error>");
    if (header(request, "if-none-match") == "*" && objects_.contains(name)) return refusal(taken_status, "PreconditionFailed");
    std::string bytes;
    io::Crc32cOfParts checksum;
    for (const auto& [number, part] : uploads_[upload].parts) {
      if (std::string(request.body).find(etag_of(part).substr(1, 5)) == std::string::npos) return refusal(400, "InvalidPart");
      if (number < static_cast<int>(uploads_[upload].parts.size()) && part.size() < least_part_bytes) return refusal(400, "EntityTooSmall");
      bytes += part;
      checksum.add(io::crc32c(part));
    }
    uploads_.erase(upload);
    store(name, std::move(bytes), checksum.text());
    return answer(200, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
  }

  Response read(const std::string& name, const net::HttpRequest& request) {
    const auto found = objects_.find(name);
    if (found == objects_.end() || found->second.hidden_reads-- > 0) return refusal(404, "NoSuchKey");
    const Object& object = found->second;
    net::HttpHeaders headers{{"etag", object.etag}, {"last-modified", http_time(object.modified_millis)}};
    if (reports_checksums) headers.emplace_back("x-amz-checksum-crc32c", object.checksum);
    if (request.method == "HEAD") {
      headers.emplace_back("content-length", std::to_string(object.bytes.size()));
      return {200, std::move(headers), ""};
    }
    const std::string wanted = header(request, "if-match");
    if (!wanted.empty() && wanted != object.etag) return refusal(412, "PreconditionFailed");
    const std::string range = header(request, "range").substr(6);
    const size_t first = std::stoull(range), last = std::stoull(range.substr(range.find('-') + 1));
    const std::string total = std::to_string(object.bytes.size());
    if (first >= object.bytes.size()) return refusal(416, "InvalidRange", {{"content-range", "bytes */" + total}});
    std::string bytes = object.bytes.substr(first, last - first + 1);
    headers.emplace_back("content-range", "bytes " + std::to_string(first) + "-" + std::to_string(first + bytes.size() - 1) + "/" + total);
    if (short_read_bytes > 0 && bytes.size() > short_read_bytes) bytes.resize(short_read_bytes);
    return answer(206, std::move(bytes), std::move(headers));
  }

  Response list(const std::string& bucket, const std::string& query) {
    const std::string prefix = bucket + "/" + parameter(query, "prefix");
    auto at = objects_.lower_bound(prefix);
    if (const std::string from = parameter(query, "continuation-token"); !from.empty()) at = objects_.upper_bound(from);
    std::string body, last;
    size_t listed = 0;
    for (; at != objects_.end() && at->first.starts_with(prefix) && listed < page_keys; ++at, ++listed) {
      last = at->first;
      std::string key = at->first.substr(bucket.size() + 1);
      if (lists_encoded) key = form_encoded(key);
      body += "<Contents><Key>" + key + "</Key><LastModified>" + base::format_utc(at->second.modified_millis * 1000) +
              "</LastModified><Size>" + std::to_string(at->second.bytes.size()) + "</Size></Contents>";
    }
    const bool goes_on = at != objects_.end() && at->first.starts_with(prefix);
    if (goes_on) body += "<IsTruncated>true</IsTruncated><NextContinuationToken>" + last + "</NextContinuationToken>";
    if (lists_encoded) body += "<EncodingType>url</EncodingType>";
    return answer(200, "<ListBucketResult>" + body + "</ListBucketResult>");
  }
  static std::string form_encoded(const std::string& key) {
    std::string encoded;
    for (const char c : net::percent_encode_path(key)) encoded += c;
    for (size_t at = 0; (at = encoded.find("%20", at)) != std::string::npos;) encoded.replace(at, 3, "+");
    return encoded;
  }
  Response remove_many(const std::string& bucket, const std::string& body) {
    if (body.find("<Quiet>true</Quiet>") == std::string::npos) return refusal(400, "MalformedXML");
    std::string failures;
    for (size_t at = 0; (at = body.find("<Key>", at)) != std::string::npos;) {
      at += 5;
      const std::string key = without_escapes(body.substr(at, body.find("</Key>", at) - at));
      if (key.find("stubborn") != std::string::npos) {
        failures += "<Error><Key>" + key + "</Key><Code>InternalError</Code><Message>try again</Message></Error>";
      } else {
        objects_.erase(bucket + "/" + key);
      }
    }
    return answer(200, "<DeleteResult>" + failures + "</DeleteResult>");
  }

  struct Upload {
    std::string name;
    std::map<int, std::string> parts;
  };
  std::map<std::string, Object> objects_;
  std::map<std::string, Upload> uploads_;
  int last_upload_ = 0;
};

}  // namespace frazil::conformance
