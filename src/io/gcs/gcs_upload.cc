#include "io/gcs/gcs_upload.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "io/crc32c.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// For taking back what nobody will ask for: not worth waiting long.
constexpr int64_t kCleanUpMs = 1'000;

Error exists(const std::string& location) {
  return Error(Code::kExists, location + " exists already; it was not replaced");
}

// How many bytes a session has, from "Range: bytes=0-524287"; without it, none.
int64_t persisted_bytes(const net::HttpResponse& response) {
  const std::string* range = response.header("range");
  const size_t dash = range == nullptr ? std::string::npos : range->rfind('-');
  if (dash == std::string::npos) return 0;
  int64_t last = -1;
  std::from_chars(range->data() + dash + 1, range->data() + range->size(), last);
  return last + 1;
}

}  // namespace

GcsUpload::GcsUpload(std::shared_ptr<GcsObjects> objects, GcsLocation at, std::string location)
    : objects_(std::move(objects)), at_(std::move(at)), location_(std::move(location)) {}

void GcsUpload::put_whole(std::string_view bytes) {
  {
    base::Lock lock(mutex_);
    if (is_cancelled_) return;
    is_running_ = may_be_visible_ = true;
    under_way_ = static_cast<int64_t>(bytes.size());
  }
  sent_ = {static_cast<int64_t>(bytes.size()), crc32c(bytes)};
  GcsRequest request;
  request.method = "POST";
  request.target = objects_->requests().bucket_target(
      at_, "uploadType=media&name=" + net::percent_encode(at_.object) + "&ifGenerationMatch=0", true);
  request.what = describe("PUT", at_);
  request.headers = {{"content-type", "application/octet-stream"}};
  request.body = bytes;
  request.changes_something = true;
  finish(judge(objects_->requests().send(request, interrupt_)));
  base::Lock lock(mutex_);
  is_running_ = false;
  under_way_ = 0;
  changed_.notify_all();
}

bool GcsUpload::add_chunk(std::string bytes, bool is_last) {
  base::Lock lock(mutex_);
  while (!is_last && !waiting_.empty() && !is_cancelled_) changed_.wait(lock);
  const auto count = static_cast<int64_t>(bytes.size());
  under_way_ += count;
  waiting_.push_back({std::move(bytes), added_bytes_, is_last});
  added_bytes_ += count;
  return !std::exchange(is_running_, true);
}

void GcsUpload::run_chunks() {
  while (true) {
    Chunk chunk;
    bool is_wanted = false;
    {
      base::Lock lock(mutex_);
      changed_.notify_all();
      if (waiting_.empty()) {
        is_running_ = false;
        return;
      }
      chunk = std::move(waiting_.front());
      waiting_.pop_front();
      may_be_visible_ = may_be_visible_ || (chunk.is_last && failure_.ok());
      is_wanted = failure_.ok() && !is_cancelled_;
    }
    const Status sent =
        is_wanted ? send_chunk(chunk) : Status(base::cancelled(location_ + " was given up while it was written"));
    base::Lock lock(mutex_);
    under_way_ -= static_cast<int64_t>(chunk.bytes.size());
    if (failure_.ok()) failure_ = sent;
    if (chunk.is_last) outcome_ = failure_;
    changed_.notify_all();
  }
}

Status GcsUpload::begin_session() {
  if (!session_.empty()) return {};
  const std::string body = nlohmann::json{{"name", at_.object}}.dump();
  GcsRequest request;
  request.method = "POST";
  request.target = objects_->requests().bucket_target(
      at_, "uploadType=resumable&name=" + net::percent_encode(at_.object) + "&ifGenerationMatch=0", true);
  request.what = describe("BEGIN", at_);
  request.headers = {{"content-type", "application/json"}, {"x-upload-content-type", "application/octet-stream"}};
  request.body = body;
  TRY_ASSIGN(const GcsAnswer answer, objects_->requests().send(request, interrupt_));
  if (answer.response.status == 412) return exists(location_);
  const std::string* session = answer.response.header("location");
  if (!answer.is_success() || session == nullptr) {
    return base::unavailable(location_ + ": the store began no upload: " + std::to_string(answer.response.status) +
                             " " + answer.words);
  }
  session_ = *session;
  return {};
}

GcsRequest GcsUpload::chunk_request(const Chunk& chunk, int64_t from) const {
  const int64_t end = chunk.offset + static_cast<int64_t>(chunk.bytes.size());
  GcsRequest request;
  request.method = "PUT";
  request.target = session_;
  request.is_session = true;
  request.what = describe("PUT", at_);
  request.body = std::string_view(chunk.bytes).substr(static_cast<size_t>(from - chunk.offset));
  const std::string range = from == end ? "*" : std::to_string(from) + "-" + std::to_string(end - 1);
  request.headers = {{"content-range", "bytes " + range + "/" + (chunk.is_last ? std::to_string(end) : "*")}};
  request.changes_something = chunk.is_last;
  return request;
}

GcsRequest GcsUpload::status_request(const Chunk& chunk) const {
  GcsRequest request = chunk_request(chunk, chunk.offset);
  const int64_t end = chunk.offset + static_cast<int64_t>(chunk.bytes.size());
  request.body = {};
  request.headers = {{"content-range", "bytes */" + (chunk.is_last ? std::to_string(end) : "*")}};
  return request;
}

Result<GcsUpload::Progress> GcsUpload::read_progress(const GcsAnswer& answer) const {
  const int status = answer.response.status;
  if (status == 308) return Progress{persisted_bytes(answer.response), false, {}};
  if (status == 412) return exists(location_);
  if (status == 404 || status == 410 || status == 499) {
    return base::unavailable(location_ + ": the store knows the upload no more (ended by somebody, or too old)");
  }
  if (!answer.is_success())
    return base::unavailable(location_ + ": the store answered " + std::to_string(status) + " " + answer.words);
  return Progress{0, true, answer};
}

// 1. Send what the session lacks of the chunk.  2. Its answer says how far it is; without a clear one: wait, ask.  3.
// Until the chunk is in.
Status GcsUpload::send_chunk(const Chunk& chunk) {
  TRY(begin_session());
  GcsRequests& requests = objects_->requests();
  const int64_t end = chunk.offset + static_cast<int64_t>(chunk.bytes.size());
  sent_ = {end, crc32c(chunk.bytes, sent_.checksum)};
  base::Backoff backoff = requests.backoff();
  int64_t from = chunk.offset;
  bool is_asking = false;
  bool is_unclear = false;
  while (true) {
    GcsTry tried = requests.try_once(is_asking ? status_request(chunk) : chunk_request(chunk, from), interrupt_);
    if (!tried.answer) {
      is_unclear = is_unclear || tried.may_have_acted;
      const std::string reason = describe("PUT", at_) + ": " + tried.failure->message();
      const bool goes_on = tried.may_pass && requests.wait(backoff, tried, interrupt_);
      if (!goes_on && chunk.is_last && is_unclear) return look(Error(Code::kUnknownOutcome, reason));
      if (!goes_on) return Error(tried.may_pass ? Code::kUnavailable : tried.failure->code(), reason);
      is_asking = true;
      continue;
    }
    Result<Progress> progress = read_progress(*tried.answer);
    if (!progress.ok()) return chunk.is_last ? look(progress.error()) : Status(progress.error());
    if (progress->is_complete && chunk.is_last) return judge(std::move(progress->answer));
    if (progress->is_complete) return base::corrupt(location_ + ": the store ended the upload before its last chunk");
    const int64_t bytes = progress->bytes;
    if (bytes < chunk.offset || bytes > end) {
      return base::unavailable(location_ + ": the store's upload is at " + std::to_string(bytes) +
                               ", outside of the chunk that was sent");
    }
    if (bytes == end && !chunk.is_last) return {};
    // A session that takes nothing is asked again like one that fails.
    if (!is_asking && bytes == from && !requests.wait(backoff, {}, interrupt_)) {
      return base::unavailable(location_ + ": the store takes no more bytes of the upload");
    }
    from = bytes;
    is_asking = false;
  }
}

Status GcsUpload::judge(const Result<GcsAnswer>& answer) {
  if (!answer.ok())
    return answer.error().code() == Code::kUnknownOutcome ? look(answer.error()) : Status(answer.error());
  // A name that is taken may be taken by ourselves: by an earlier try, or by a copy of this request.
  if (answer->response.status == 412) return look(exists(location_));
  if (!answer->is_success()) {
    return base::unavailable(location_ + ": the store answered " + std::to_string(answer->response.status) + " " +
                             answer->words);
  }
  const Result<GcsObject> object = read_gcs_object(answer->response.body);
  if (!object.ok()) return look(Error(Code::kUnknownOutcome, location_ + ": " + object.error().message()));
  generation_ = object->generation;
  return check(*object);
}

// By the store's checksum, or by the bytes read back when it has none.
bool GcsUpload::is_ours(const GcsObject& object) {
  if (object.bytes != sent_.bytes) return false;
  if (!object.checksum.empty()) return object.checksum == crc32c_base64(sent_.checksum);
  const Result<std::string> bytes = objects_->read(at_, location_, 0, object.bytes);
  return bytes.ok() && crc32c(*bytes) == sent_.checksum;
}

Status GcsUpload::check(const GcsObject& object) const {
  const std::string& checksum = object.checksum;
  if (object.bytes == sent_.bytes && (checksum.empty() || checksum == crc32c_base64(sent_.checksum))) return {};
  return base::corrupt(location_ + ": " + std::to_string(sent_.bytes) + " bytes with checksum " +
                       crc32c_base64(sent_.checksum) + " were sent, the store keeps " + std::to_string(object.bytes) +
                       " with '" + object.checksum + "'");
}

Status GcsUpload::look(const Error& otherwise) {
  const Result<GcsObject> object = objects_->look(at_, location_, interrupt_);
  std::string finding = "not found";
  Status outcome = otherwise;  // an unknown one stays so: a request that is late may still arrive
  if (object.ok()) {
    const bool ours = is_ours(*object);
    finding = ours ? "ours" : "another's";
    outcome = ours ? Status() : Status(exists(location_));
    if (ours) generation_ = object->generation;
  } else if (object.error().code() != Code::kNotFound) {
    finding = "no answer";
    outcome = Error(Code::kUnknownOutcome, otherwise.message() + "; and looking: " + object.error().message());
  }
  base::log_info("gcs_looked_after_put",
                 {{"location", location_}, {"reason", otherwise.message()}, {"found", finding}});
  return outcome;
}

void GcsUpload::finish(Status outcome) {
  base::Lock lock(mutex_);
  outcome_ = std::move(outcome);
  changed_.notify_all();
}

Status GcsUpload::failure() {
  base::Lock lock(mutex_);
  return failure_;
}

Status GcsUpload::wait() {
  base::Lock lock(mutex_);
  while (!outcome_) {
    if (is_cancelled_) return base::cancelled(location_ + " was given up while it was written");
    changed_.wait(lock);
  }
  return *outcome_;
}

int64_t GcsUpload::bytes_under_way() {
  base::Lock lock(mutex_);
  return under_way_;
}

void GcsUpload::cancel() {
  interrupt_.raise();
  bool may_be_ours = false;
  {
    base::Lock lock(mutex_);
    if (std::exchange(is_cancelled_, true)) return;
    changed_.notify_all();
    while (is_running_) changed_.wait(lock);
    may_be_ours = may_be_visible_ && !(outcome_ && !outcome_->ok() && outcome_->error().code() == Code::kExists);
  }
  if (may_be_ours) take_back();
  end_session();
}

// Only what is known to be ours, by its generation or by all that is known of its bytes.
void GcsUpload::take_back() {
  base::Interrupt none;
  if (generation_.empty()) {
    const Result<GcsObject> object = objects_->look(at_, location_, none, kCleanUpMs);
    if (!object.ok() || !is_ours(*object)) return;
    generation_ = object->generation;
  }
  const Status removed = objects_->remove(at_, location_, generation_, kCleanUpMs, none);
  if (!removed.ok())
    base::log_warn("gcs_left_behind", {{"location", location_}, {"reason", removed.error().message()}});
}

void GcsUpload::end_session() {
  if (session_.empty()) return;
  GcsRequest request;
  request.method = "DELETE";
  request.target = session_;
  request.is_session = true;
  request.what = describe("END", at_);
  request.total_ms = kCleanUpMs;
  base::Interrupt none;
  // Sessions that stay are ended by the store after a week, and cost nothing.
  (void)objects_->requests().send(request, none);
}

}  // namespace frazil::io
