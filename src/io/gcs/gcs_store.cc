#include "io/gcs/gcs_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "io/crc32c.h"
#include "io/gcs/gcs_location.h"
#include "io/objects/range_answer.h"
#include "io/s3/s3_xml.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;
using nlohmann::json;

std::string text_of(const json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : std::string();
}

struct NamedObject {
  std::string name;
  StoredObject object;
};

// An object resource; nothing when it is none.
std::optional<NamedObject> object_of(const json& resource) {
  if (!resource.is_object()) return std::nullopt;
  NamedObject named;
  named.name = text_of(resource, "name");
  const std::optional<int64_t> bytes = number_of(text_of(resource, "size"));  // 64-bit numbers are written as text
  // An emulator leaves the size of an empty object out.
  if (named.name.empty() || (!bytes && resource.contains("size"))) return std::nullopt;
  named.object.bytes = bytes.value_or(0);
  named.object.modified_millis = parse_s3_time(text_of(resource, "updated")).value_or(0);
  named.object.checksum = text_of(resource, "crc32c");
  named.object.generation = text_of(resource, "generation");
  return named;
}

std::optional<StoredObject> object_of(const StoreAnswer& answer) {
  std::optional<NamedObject> named = object_of(json::parse(answer.response.body, nullptr, false));
  if (!named) return std::nullopt;
  return std::move(named->object);
}

// Whether the bytes are those of the whole object that the store's checksum speaks of; true when there is nothing to
// compare.
bool is_intact(const net::HttpResponse& response) {
  const std::string hashes = header_of(response, "x-goog-hash");
  const size_t at = hashes.find("crc32c=");
  if (at == std::string::npos || header_of(response, "x-goog-stored-content-encoding") == "gzip") return true;
  const size_t begin = at + 7;
  return hashes.substr(begin, std::min(hashes.find_first_of(", ", begin), hashes.size()) - begin) ==
         crc32c_base64(crc32c(response.body));
}

// How many bytes a session has, from "Range: bytes=0-524287"; without it, none.
int64_t persisted_bytes(const net::HttpResponse& response) {
  const std::string range = header_of(response, "range");
  const size_t dash = range.rfind('-');
  return dash == std::string::npos ? 0 : number_of(std::string_view(range).substr(dash + 1)).value_or(-1) + 1;
}

Error absent(const std::string& location) {
  return base::not_found("cannot read " + location + ": no such object");
}

std::string words_of(const char* what, const StoreAnswer& answer) {
  return std::string("the store answered ") + what + " with " + std::to_string(answer.response.status) +
         (answer.words.empty() ? "" : ": " + answer.words);
}

Error unexpected(const std::string& location, const char* what, const StoreAnswer& answer) {
  return base::unavailable(location + ": " + words_of(what, answer));
}

bool is_over(int status) { return status == 404 || status == 410 || status == 499; }

std::string why_gone(const StoreAnswer& answer) {
  if (is_over(answer.response.status)) return "the store knows the upload no more (ended by somebody, or too old)";
  return words_of("a write", answer);
}

// Of a request that makes an object visible.
Result<Publication> publication_of(const Result<StoreAnswer>& answer, const std::string& location) {
  if (!answer.ok()) return answer.error();
  if (answer->response.status == 412) return Publication{Publication::Kind::kTaken, {}, {}};
  if (!answer->is_success()) return Publication{Publication::Kind::kGone, {}, why_gone(*answer)};
  std::optional<StoredObject> object = object_of(*answer);
  if (!object) return Error(Code::kUnknownOutcome, location + ": the store's answer describes no object");
  return Publication{Publication::Kind::kStored, std::move(object), {}};
}

}  // namespace

// A resumable upload. One thread at a time.
class GcsStore::Parts : public ObjectParts {
 public:
  Parts(GcsStore& store, ObjectAddress at) : store_(store), at_(std::move(at)) {}
  Status begin(base::Interrupt& interrupt) override;
  Status send(const ObjectPart& part, base::Interrupt& interrupt) override;
  Result<Publication> publish(base::Interrupt&) override { return publication_; }
  std::string checksum() override { return crc32c_base64(checksum_); }
  void abandon() override;

 private:
  Result<StoreAnswer> send_chunk(const ObjectPart& part, base::Interrupt& interrupt);
  GcsRequest chunk_request(const ObjectPart& part, int64_t from) const;
  GcsRequest status_request(const ObjectPart& part) const;

  GcsStore& store_;  // whoever uploads holds it
  const ObjectAddress at_;
  std::string session_;
  uint32_t checksum_ = 0;  // of all chunks so far
  Result<Publication> publication_ = base::unavailable("the last chunk was not sent");
};

Status GcsStore::Parts::begin(base::Interrupt& interrupt) {
  const std::string body = json{{"name", at_.key}}.dump();
  GcsRequest request;
  request.method = "POST";
  request.target = store_.requests_->bucket_target(
      at_, "uploadType=resumable&name=" + net::percent_encode(at_.key) + "&ifGenerationMatch=0", true);
  request.what = describe("BEGIN", at_);
  request.headers = {{"content-type", "application/json"}, {"x-upload-content-type", "application/octet-stream"}};
  request.body = body;
  TRY_ASSIGN(const StoreAnswer answer, store_.requests_->send(request, interrupt));
  if (answer.response.status == 412) return Error(Code::kExists, at_.location + " exists already; it was not replaced");
  session_ = header_of(answer.response, "location");
  if (!answer.is_success() || session_.empty()) return unexpected(at_.location, "the beginning of an upload", answer);
  return {};
}

GcsRequest GcsStore::Parts::chunk_request(const ObjectPart& part, int64_t from) const {
  const int64_t end = part.offset + static_cast<int64_t>(part.bytes.size());
  GcsRequest request;
  request.method = "PUT";
  request.target = session_;
  request.is_session = true;
  request.what = describe("PUT", at_);
  request.body = part.bytes.substr(static_cast<size_t>(from - part.offset));
  const std::string range = from == end ? "*" : std::to_string(from) + "-" + std::to_string(end - 1);
  request.headers = {{"content-range", "bytes " + range + "/" + (part.is_last ? std::to_string(end) : "*")}};
  request.changes_something = part.is_last;
  return request;
}

GcsRequest GcsStore::Parts::status_request(const ObjectPart& part) const {
  GcsRequest request = chunk_request(part, part.offset);
  const int64_t end = part.offset + static_cast<int64_t>(part.bytes.size());
  request.body = {};
  request.headers = {{"content-range", "bytes */" + (part.is_last ? std::to_string(end) : "*")}};
  return request;
}

// 1. Send what the session lacks of the chunk.  2. Its answer says how far it is; without a clear one: wait, ask.  3.
// Until the chunk is in, or the session is over.
Result<StoreAnswer> GcsStore::Parts::send_chunk(const ObjectPart& part, base::Interrupt& interrupt) {
  GcsRequests& requests = *store_.requests_;
  const int64_t end = part.offset + static_cast<int64_t>(part.bytes.size());
  int64_t from = part.offset;
  bool is_asking = false;
  return requests.loop().run(describe("PUT", at_), chunk_request(part, from), interrupt, [&] {
    StoreTry tried = requests.try_once(is_asking ? status_request(part) : chunk_request(part, from), interrupt);
    const bool was_asking = std::exchange(is_asking, !tried.answer);
    if (!tried.answer || tried.answer->response.status != 308) return tried;
    const int64_t persisted = persisted_bytes(tried.answer->response);
    if (persisted == end && !part.is_last) return tried;
    StoreTry goes_on;
    goes_on.may_pass = persisted >= part.offset && persisted <= end;
    // A session that takes nothing is asked again like one that fails.
    goes_on.is_put_right = goes_on.may_pass && (was_asking || persisted > from);
    goes_on.failure = base::unavailable("the store's upload stays at byte " + std::to_string(persisted));
    if (goes_on.may_pass) from = persisted;
    return goes_on;
  });
}

Status GcsStore::Parts::send(const ObjectPart& part, base::Interrupt& interrupt) {
  checksum_ = crc32c(part.bytes, checksum_);
  const Result<StoreAnswer> answer = send_chunk(part, interrupt);
  if (part.is_last) {
    publication_ = publication_of(answer, at_.location);
    return {};
  }
  if (!answer.ok()) return answer.error();
  const int status = answer->response.status;
  if (status == 308) return {};
  if (status == 412) return Error(Code::kExists, at_.location + " exists already; it was not replaced");
  if (answer->is_success()) return base::corrupt(at_.location + ": the store ended the upload before its last chunk");
  return base::unavailable(at_.location + ": " + why_gone(*answer));
}

void GcsStore::Parts::abandon() {
  if (session_.empty()) return;
  GcsRequest request;
  request.method = "DELETE";
  request.target = session_;
  request.is_session = true;
  request.what = describe("END", at_);
  request.errand = Errand::kCleanUp;
  base::Interrupt none;
  // Sessions that stay are ended by the store after a week, and cost nothing.
  (void)store_.requests_->send(request, none);
}

GcsStore::GcsStore(std::unique_ptr<GcsRequests> requests)
    : requests_(std::move(requests)),
      limits_{"gcs", requests_->config().chunk_bytes, 1, requests_->config().upload_lanes} {}

Result<ObjectAddress> GcsStore::address_of(const std::string& location) const {
  TRY_ASSIGN(GcsLocation parsed, parse_gcs_location(location));
  return ObjectAddress{std::move(parsed.bucket), std::move(parsed.object), location};
}

std::unique_ptr<ObjectParts> GcsStore::parts_of(const ObjectAddress& at) { return std::make_unique<Parts>(*this, at); }

Result<StoredObject> GcsStore::look(const ObjectAddress& at, Errand errand, base::Interrupt& interrupt) {
  GcsRequest request;
  request.method = "GET";
  request.target = requests_->object_target(at);
  request.what = describe("LOOK", at);
  request.errand = errand;
  TRY_ASSIGN(const StoreAnswer answer, requests_->send(request, interrupt));
  if (answer.response.status == 404) return absent(at.location);
  if (!answer.is_success()) return unexpected(at.location, "a look", answer);
  std::optional<StoredObject> object = object_of(answer);
  if (!object) return base::corrupt(at.location + ": the store's answer describes no object");
  return *std::move(object);
}

Result<ObjectPiece> GcsStore::read_piece(const ObjectAddress& at, int64_t offset, int64_t length,
                                         const std::string& version, base::Interrupt& interrupt) {
  GcsRequest request;
  request.method = "GET";
  request.target = requests_->object_target(at, version.empty() ? "alt=media" : "alt=media&generation=" + version);
  request.what = describe("GET", at);
  request.expected_bytes = length;
  request.headers = {{"range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1)}};
  TRY_ASSIGN(StoreAnswer answer, requests_->send(request, interrupt));
  net::HttpResponse& response = answer.response;
  if (response.status == 404 && version.empty()) return absent(at.location);
  if (response.status == 404) return base::corrupt(at.location + ": the object was replaced while it was read");
  if (!answer.is_success() && response.status != 416) return unexpected(at.location, "a read", answer);
  const bool is_whole = response.status == 200 ||
                        (offset == 0 && static_cast<int64_t>(response.body.size()) == total_of(response));
  if (answer.is_success() && is_whole && !is_intact(response)) {
    return base::corrupt(at.location + ": the bytes differ from the store's checksum");
  }
  return piece_of(std::move(response), header_of(response, "x-goog-generation"), at.location, offset, length);
}

Result<ObjectPage> GcsStore::list_page(const ObjectAddress& prefix, const std::string& page) {
  GcsRequest request;
  request.method = "GET";
  request.target = requests_->bucket_target(
      prefix, "prefix=" + net::percent_encode(prefix.key) + "&maxResults=1000&fields=items(name%2Csize%2Cupdated)%2CnextPageToken" +
                  (page.empty() ? "" : "&pageToken=" + net::percent_encode(page)));
  request.what = describe("LIST", prefix);
  base::Interrupt none;
  TRY_ASSIGN(const StoreAnswer answer, requests_->send(request, none));
  if (!answer.is_success()) return unexpected(request.what, "a list", answer);
  const json listed = json::parse(answer.response.body, nullptr, false);
  if (!listed.is_object()) return base::corrupt(request.what + ": the store's answer is no list");
  ObjectPage found;
  for (const json& item : listed.contains("items") ? listed["items"] : json::array()) {
    std::optional<NamedObject> named = object_of(item);
    if (!named) return base::corrupt(request.what + ": the store lists something that is no object");
    found.entries.push_back({std::move(named->name), named->object.bytes, named->object.modified_millis});
  }
  found.next = text_of(listed, "nextPageToken");
  return found;
}

Status GcsStore::remove(const ObjectAddress& at, const std::string& generation, Errand errand,
                        base::Interrupt& interrupt) {
  GcsRequest request;
  request.method = "DELETE";
  request.target = requests_->object_target(at, generation.empty() ? "" : "ifGenerationMatch=" + generation);
  request.what = describe("DELETE", at);
  request.changes_something = true;
  request.errand = errand;
  TRY_ASSIGN(const StoreAnswer answer, requests_->send(request, interrupt));
  const int status = answer.response.status;
  if (answer.is_success() || status == 404 || (status == 412 && !generation.empty())) return {};
  return unexpected(at.location, "a removal", answer);
}

Status GcsStore::remove_all(const std::vector<ObjectAddress>& objects) {
  base::Interrupt none;
  for (const ObjectAddress& at : objects) TRY(remove(at, "", Errand::kWork, none));
  return {};
}

Result<Publication> GcsStore::put(const ObjectAddress& at, std::string_view bytes, base::Interrupt& interrupt) {
  GcsRequest request;
  request.method = "POST";
  request.target = requests_->bucket_target(
      at, "uploadType=media&name=" + net::percent_encode(at.key) + "&ifGenerationMatch=0", true);
  request.what = describe("PUT", at);
  request.headers = {{"content-type", "application/octet-stream"}};
  request.body = bytes;
  request.changes_something = true;
  return publication_of(requests_->send(request, interrupt), at.location);
}

}  // namespace frazil::io
