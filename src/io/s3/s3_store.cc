#include "io/s3/s3_store.h"

#include <algorithm>
#include <climits>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/retry.h"
#include "io/crc32c.h"
#include "io/objects/range_answer.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Error;
using base::Result;
using base::Status;

constexpr size_t kRemembered = 10'000;
constexpr int64_t kLateNameMs = 5'000;
constexpr size_t kRemovalsOfARequest = 1'000;

S3Request request_for(const char* method, const ObjectAddress& at) {
  S3Request request;
  request.method = method;
  request.target = {at.bucket, at.key};
  return request;
}

Error absent(const std::string& location) { return base::not_found("cannot read " + location + ": no such object"); }

Error unexpected(const std::string& location, const char* what, const StoreAnswer& answer) {
  return base::unavailable(location + ": the store answered " + what + " with " + std::to_string(answer.response.status) +
                           (answer.code.empty() ? "" : " " + answer.code));
}

std::string why_gone(const StoreAnswer& answer) {
  if (answer.code == "NoSuchUpload") return "the store knows the upload no more (ended by somebody, or by a rule of the bucket)";
  return "the store answered a write with " + std::to_string(answer.response.status) + " " + answer.code;
}

}  // namespace

// A multipart upload. Parts are sent by several threads, so what is known of them is under a lock.
class S3Store::Parts : public ObjectParts {
 public:
  Parts(S3Store& store, ObjectAddress at) : store_(store), at_(std::move(at)) {}
  Status begin(base::Interrupt& interrupt) override;
  Status send(const ObjectPart& part, base::Interrupt& interrupt) override;
  Result<Publication> publish(base::Interrupt& interrupt) override;
  std::string checksum() override;
  void abandon() override;

 private:
  std::string upload_query();

  S3Store& store_;  // whoever uploads holds it
  const ObjectAddress at_;
  base::Mutex mutex_;
  std::string upload_id_;
  std::map<int, S3Part> sent_;
};

std::string S3Store::Parts::upload_query() {
  base::Lock lock(mutex_);
  return "uploadId=" + net::percent_encode(upload_id_);
}

Status S3Store::Parts::begin(base::Interrupt& interrupt) {
  S3Request request = request_for("POST", at_);
  request.query = "uploads=";
  request.headers = {{"content-type", "application/octet-stream"}, {"x-amz-checksum-algorithm", "CRC32C"}};
  TRY_ASSIGN(const StoreAnswer answer, store_.requests_->send(request, interrupt));
  if (!answer.is_success()) return unexpected(at_.location, "the beginning of an upload", answer);
  TRY_ASSIGN(std::string id, read_s3_upload_id(answer.response.body).in(at_.location));
  base::Lock lock(mutex_);
  upload_id_ = std::move(id);
  return {};
}

Status S3Store::Parts::send(const ObjectPart& part, base::Interrupt& interrupt) {
  S3Part sent;
  sent.bytes = static_cast<int64_t>(part.bytes.size());
  sent.checksum = crc32c(part.bytes);
  S3Request request = request_for("PUT", at_);
  request.query = "partNumber=" + std::to_string(part.number) + "&" + upload_query();
  request.body = part.bytes;
  request.headers = {{"x-amz-checksum-crc32c", crc32c_base64(sent.checksum)}};
  TRY_ASSIGN(const StoreAnswer answer, store_.requests_->send(request, interrupt));
  if (!answer.is_success()) return base::unavailable(at_.location + ": " + why_gone(answer));
  sent.etag = header_of(answer.response, "etag");
  if (sent.etag.empty()) return base::corrupt(at_.location + ": the store took a part and did not name it");
  base::Lock lock(mutex_);
  sent_[part.number] = std::move(sent);
  return {};
}

Result<Publication> S3Store::Parts::publish(base::Interrupt& interrupt) {
  std::vector<S3Part> parts;
  int64_t bytes = 0;
  {
    base::Lock lock(mutex_);
    for (const auto& [number, part] : sent_) {
      parts.push_back(part);
      bytes += part.bytes;
    }
  }
  const std::string body = write_s3_parts(parts);
  S3Request request = request_for("POST", at_);
  request.query = upload_query();
  request.body = body;
  request.may_fail_late = true;
  request.headers = {
      {"content-type", "application/xml"}, {"if-none-match", "*"}, {"x-amz-mp-object-size", std::to_string(bytes)}};
  return store_.publish(request, at_, interrupt);
}

std::string S3Store::Parts::checksum() {
  Crc32cOfParts parts;
  base::Lock lock(mutex_);
  for (const auto& [number, part] : sent_) parts.add(part.checksum);
  return parts.text();
}

void S3Store::Parts::abandon() {
  S3Request request = request_for("DELETE", at_);
  request.errand = Errand::kCleanUp;
  {
    base::Lock lock(mutex_);
    if (upload_id_.empty()) return;
  }
  request.query = upload_query();
  base::Interrupt none;
  const Result<StoreAnswer> answer = store_.requests_->send(request, none);
  if (!answer.ok()) {
    base::log_warn("store_upload_left_behind", {{"location", at_.location}, {"reason", answer.error().message()}});
  }
}

S3Store::S3Store(std::unique_ptr<S3Requests> requests)
    : requests_(std::move(requests)),
      limits_{"s3", requests_->config().part_bytes, INT_MAX, requests_->config().upload_lanes} {}

Result<ObjectAddress> S3Store::address_of(const std::string& location) const {
  TRY_ASSIGN(S3Location parsed, parse_s3_location(location));
  return ObjectAddress{std::move(parsed.bucket), std::move(parsed.key), location};
}

std::unique_ptr<ObjectParts> S3Store::parts_of(const ObjectAddress& at) { return std::make_unique<Parts>(*this, at); }

Result<StoreAnswer> S3Store::send_until_found(const S3Request& request, const std::string& location, base::Interrupt& interrupt) {
  base::Backoff backoff(requests_->config().retry_first_wait_ms, 1'000, kLateNameMs);
  while (true) {
    TRY_ASSIGN(StoreAnswer answer, requests_->send(request, interrupt));
    if (answer.response.status != 404) return answer;
    if (!is_remembered(location)) return absent(location);
    if (!backoff.wait(interrupt)) {
      forget(location);
      return absent(location);
    }
  }
}

Result<StoredObject> S3Store::look(const ObjectAddress& at, Errand errand, base::Interrupt& interrupt) {
  S3Request request = request_for("HEAD", at);
  request.headers = {{"x-amz-checksum-mode", "ENABLED"}};
  request.errand = errand;
  TRY_ASSIGN(const StoreAnswer answer, send_until_found(request, at.location, interrupt));
  if (!answer.is_success()) return unexpected(at.location, "a look", answer);
  const std::optional<int64_t> bytes = number_of(header_of(answer.response, "content-length"));
  if (!bytes) return base::corrupt(at.location + ": the store does not say how long the object is");
  StoredObject object;
  object.bytes = *bytes;
  object.modified_millis = parse_http_time(header_of(answer.response, "last-modified")).value_or(0);
  object.checksum = header_of(answer.response, "x-amz-checksum-crc32c");
  return object;
}

Result<ObjectPiece> S3Store::read_piece(const ObjectAddress& at, int64_t offset, int64_t length, const std::string& version,
                                        base::Interrupt& interrupt) {
  S3Request request = request_for("GET", at);
  request.expected_bytes = length;
  request.headers = {{"range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1)}};
  if (!version.empty()) request.headers.emplace_back("if-match", version);
  TRY_ASSIGN(StoreAnswer answer, send_until_found(request, at.location, interrupt));
  net::HttpResponse& response = answer.response;
  if (response.status == 412) return base::corrupt(at.location + ": the object was replaced while it was read");
  if (!answer.is_success() && response.status != 416) return unexpected(at.location, "a read", answer);
  return piece_of(std::move(response), header_of(response, "etag"), at.location, offset, length);
}

Result<ObjectPage> S3Store::list_page(const ObjectAddress& prefix, const std::string& page) {
  S3Request request = request_for("GET", {prefix.bucket, "", prefix.location});
  // Sorted by name, as the signature wants them.
  if (!page.empty()) request.query = "continuation-token=" + net::percent_encode(page) + "&";
  request.query += "encoding-type=url&list-type=2&max-keys=1000&prefix=" + net::percent_encode(prefix.key);
  base::Interrupt none;
  TRY_ASSIGN(const StoreAnswer answer, requests_->send(request, none));
  if (!answer.is_success()) return unexpected(prefix.location, "a list", answer);
  TRY_ASSIGN(S3ListPage listed, read_s3_list(answer.response.body));
  ObjectPage found;
  found.next = std::move(listed.next);
  for (S3Listed& file : listed.files) found.entries.push_back({std::move(file.key), file.bytes, file.modified_millis});
  return found;
}

Status S3Store::remove(const ObjectAddress& at, const std::string&, Errand errand, base::Interrupt& interrupt) {
  S3Request request = request_for("DELETE", at);
  request.changes_something = true;
  request.errand = errand;
  forget(at.location);
  TRY_ASSIGN(const StoreAnswer answer, requests_->send(request, interrupt));
  if (answer.is_success() || answer.response.status == 404) return {};
  return unexpected(at.location, "a removal", answer);
}

Status S3Store::remove_all(const std::vector<ObjectAddress>& objects) {
  std::map<std::string, std::vector<std::string>> keys_by_bucket;
  base::Interrupt none;
  for (const ObjectAddress& at : objects) {
    if (!fits_into_xml(at.key)) {
      TRY(remove(at, "", Errand::kWork, none));
      continue;
    }
    forget(at.location);
    keys_by_bucket[at.bucket].push_back(at.key);
  }
  for (const auto& [bucket, keys] : keys_by_bucket) {
    for (size_t from = 0; from < keys.size(); from += kRemovalsOfARequest) {
      const size_t to = std::min(from + kRemovalsOfARequest, keys.size());
      TRY(remove_batch(bucket, {keys.begin() + static_cast<ptrdiff_t>(from), keys.begin() + static_cast<ptrdiff_t>(to)}));
    }
  }
  return {};
}

Status S3Store::remove_batch(const std::string& bucket, const std::vector<std::string>& keys) {
  const std::string body = write_s3_delete(keys);
  S3Request request = request_for("POST", {bucket, "", ""});
  request.query = "delete=";
  request.body = body;
  request.changes_something = true;
  request.may_fail_late = true;
  request.headers = {{"content-type", "application/xml"}, {"x-amz-checksum-crc32c", crc32c_base64(crc32c(body))}};
  base::Interrupt none;
  TRY_ASSIGN(const StoreAnswer answer, requests_->send(request, none));
  if (!answer.is_success()) return unexpected("s3://" + bucket, "a removal", answer);
  TRY_ASSIGN(const std::vector<S3DeleteFailure> failures, read_s3_delete_failures(answer.response.body, answer.secrets));
  // One at a time, those that the store has not done have the tries of their own.
  for (const S3DeleteFailure& failure : failures) {
    if (failure.error.code == "NoSuchKey") continue;
    TRY(remove({bucket, failure.key, "s3://" + bucket + "/" + failure.key}, "", Errand::kWork, none));
  }
  return {};
}

Result<Publication> S3Store::put(const ObjectAddress& at, std::string_view bytes, base::Interrupt& interrupt) {
  S3Request request = request_for("PUT", at);
  request.body = bytes;
  request.headers = {{"content-type", "application/octet-stream"},
                     {"if-none-match", "*"},
                     {"x-amz-checksum-crc32c", crc32c_base64(crc32c(bytes))}};
  return publish(request, at, interrupt);
}

Result<Publication> S3Store::publish(const S3Request& asked, const ObjectAddress& at, base::Interrupt& interrupt) {
  S3Request request = asked;
  request.changes_something = true;
  TRY_ASSIGN(const StoreAnswer answer, requests_->send(request, interrupt));
  const int status = answer.response.status;
  if (status == 412 || status == 304) return Publication{Publication::Kind::kTaken, {}, {}};  // some stores say it with 304
  if (status == 404) return Publication{Publication::Kind::kGone, {}, why_gone(answer)};
  if (!answer.is_success()) return unexpected(at.location, "a write", answer);
  remember(at.location);
  return Publication{};
}

void S3Store::remember(const std::string& location) {
  base::Lock lock(mutex_);
  if (!written_.insert(location).second) return;
  order_.push_back(location);
  if (order_.size() <= kRemembered) return;
  written_.erase(order_.front());
  order_.pop_front();
}

void S3Store::forget(const std::string& location) {
  base::Lock lock(mutex_);
  written_.erase(location);
}

bool S3Store::is_remembered(const std::string& location) {
  base::Lock lock(mutex_);
  return written_.contains(location);
}

}  // namespace frazil::io
