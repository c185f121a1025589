#include "io/s3/s3_upload.h"

#include <utility>

#include "base/log.h"
#include "io/crc32c.h"
#include "io/upload_failpoints.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// For taking back what nobody will ask for: not worth waiting long.
constexpr int64_t kCleanUpMs = 1'000;

Error exists(const std::string& location) { return Error(Code::kExists, location + " exists already; it was not replaced"); }
Error cancelled(const std::string& location) { return base::cancelled(location + " was given up while it was written"); }

S3Digest digest_of(std::string_view bytes) { return {{{static_cast<int64_t>(bytes.size()), crc32c(bytes)}}, false}; }

}  // namespace

S3Upload::S3Upload(std::shared_ptr<S3Objects> objects, S3File file) : objects_(std::move(objects)), file_(std::move(file)) {}

bool S3Upload::begin_task() {
  base::Lock lock(mutex_);
  if (is_cancelled_) return false;
  ++running_;
  return true;
}

void S3Upload::end_task() {
  base::Lock lock(mutex_);
  --running_;
  changed_.notify_all();
}

void S3Upload::finish(Status outcome) {
  base::Lock lock(mutex_);
  outcome_ = std::move(outcome);
  changed_.notify_all();
}

void S3Upload::put_whole(std::string_view bytes) {
  if (!begin_task()) return;
  const S3Digest digest = digest_of(bytes);
  {
    base::Lock lock(mutex_);
    digest_ = digest;
    is_publishing_ = true;
  }
  S3Request request;
  request.method = "PUT";
  request.target = file_.target;
  request.body = bytes;
  request.changes_something = true;
  request.headers = {{"content-type", "application/octet-stream"}, {"if-none-match", "*"}, {"x-amz-checksum-crc32c", digest.text()}};
  finish(send_whole(request, digest));
  end_task();
}

Status S3Upload::send_whole(const S3Request& request, const S3Digest& digest) {
  TRY(upload_before.pass());
  const Result<S3Answer> answer = objects_->requests().send(request, interrupt_);
  TRY(upload_mid.pass());
  TRY(judge(answer, digest));
  return upload_after.pass();
}

int S3Upload::add_part(bool is_last) {
  base::Lock lock(mutex_);
  is_sealed_ = is_last;
  parts_.emplace_back();
  ++missing_parts_;
  return static_cast<int>(parts_.size());
}

void S3Upload::put_part(int number, std::string_view bytes) {
  if (!begin_task()) return;
  Status status = begin_upload();
  S3Part part;
  if (status.ok()) {
    Result<S3Part> sent = send_part(number, bytes);
    status = sent.status();
    if (sent.ok()) part = *std::move(sent);
  }
  bool is_last = false;
  {
    base::Lock lock(mutex_);
    parts_[static_cast<size_t>(number) - 1] = std::move(part);
    if (failure_.ok()) failure_ = status;
    is_last = --missing_parts_ == 0 && is_sealed_;
  }
  if (is_last) finish(complete());
  end_task();
}

// The first part begins the upload; others that come meanwhile wait for its id.
Status S3Upload::begin_upload() {
  {
    base::Lock lock(mutex_);
    while (start_ == Start::kRunning) changed_.wait(lock);
    if (start_ == Start::kDone || !failure_.ok()) return failure_;
    start_ = Start::kRunning;
  }
  S3Request request;
  request.method = "POST";
  request.target = file_.target;
  request.query = "uploads=";
  request.headers = {{"content-type", "application/octet-stream"}, {"x-amz-checksum-algorithm", "CRC32C"}};
  Result<std::string> id = base::unavailable("");
  const Result<S3Answer> answer = objects_->requests().send(request, interrupt_);
  if (!answer.ok()) {
    id = answer.error();
  } else if (!answer->is_success()) {
    id = base::unavailable(file_.location + ": the store did not begin an upload: " + std::to_string(answer->response.status));
  } else {
    id = read_s3_upload_id(answer->response.body).in(file_.location);
  }
  base::Lock lock(mutex_);
  start_ = id.ok() ? Start::kDone : Start::kNone;
  if (id.ok()) upload_id_ = *id;
  if (failure_.ok()) failure_ = id.status();
  changed_.notify_all();
  return failure_;
}

Result<S3Part> S3Upload::send_part(int number, std::string_view bytes) {
  S3Part part;
  part.bytes = static_cast<int64_t>(bytes.size());
  part.checksum = crc32c(bytes);
  S3Request request;
  request.method = "PUT";
  request.target = file_.target;
  request.query = "partNumber=" + std::to_string(number) + "&uploadId=" + net::percent_encode(upload_id_);
  request.body = bytes;
  request.headers = {{"x-amz-checksum-crc32c", crc32c_base64(part.checksum)}};
  TRY_ASSIGN(const S3Answer answer, objects_->requests().send(request, interrupt_));
  if (!answer.is_success()) return not_known(answer);
  const std::string* etag = answer.response.header("etag");
  if (etag == nullptr) return base::corrupt(file_.location + ": the store took a part and did not name it");
  TRY(upload_mid.pass());
  part.etag = *etag;
  return part;
}

S3Digest S3Upload::digest_of_parts() {
  base::Lock lock(mutex_);
  digest_ = {{}, true};
  for (const S3Part& part : parts_) digest_.pieces.push_back({part.bytes, part.checksum});
  return digest_;
}

Status S3Upload::complete() {
  const Status failed = failure();
  if (!failed.ok()) {
    abort_upload();
    return failed;
  }
  const S3Digest digest = digest_of_parts();
  const std::string body = write_s3_parts(parts_);
  {
    base::Lock lock(mutex_);
    is_publishing_ = true;
  }
  S3Request request;
  request.method = "POST";
  request.target = file_.target;
  request.query = "uploadId=" + net::percent_encode(upload_id_);
  request.body = body;
  request.changes_something = true;
  request.may_fail_late = true;
  request.headers = {
      {"content-type", "application/xml"}, {"if-none-match", "*"}, {"x-amz-mp-object-size", std::to_string(digest.bytes())}};
  Status outcome = judge(objects_->requests().send(request, interrupt_), digest);
  if (!outcome.ok() && outcome.error().code() != Code::kUnknownOutcome) abort_upload();
  return outcome;
}

Status S3Upload::judge(const Result<S3Answer>& answer, const S3Digest& sent) {
  if (!answer.ok()) {
    if (answer.error().code() != Code::kUnknownOutcome) return answer.error();
    return look(sent, answer.error());
  }
  const int status = answer->response.status;
  // A name that is taken may be taken by ourselves: by an earlier try, or by a copy of this request. Some stores say it with 304.
  if (status == 412 || status == 304) return look(sent, exists(file_.location));
  if (status == 404) return look(sent, not_known(*answer));
  if (!answer->is_success()) return base::unavailable(file_.location + ": the store answered " + std::to_string(status));
  objects_->remember(file_.location);
  return check_size(sent);
}

Status S3Upload::check_size(const S3Digest& sent) {
  const Result<S3Object> object = objects_->look(file_, interrupt_);
  if (!object.ok()) return Error(Code::kUnknownOutcome, file_.location + ": the store took it, then: " + object.error().message());
  if (object->bytes == sent.bytes() && sent.agrees_with(*object).value_or(true)) return {};
  return base::corrupt(file_.location + ": " + std::to_string(sent.bytes()) + " bytes with checksum " + sent.text() +
                       " were sent, the store keeps " + std::to_string(object->bytes) + " with '" + object->checksum + "'");
}

Status S3Upload::look(const S3Digest& sent, const Error& otherwise) {
  const Result<bool> is_ours = objects_->matches(file_, sent, interrupt_);
  std::string finding = "not found";
  Status outcome = otherwise;
  if (is_ours.ok()) {
    finding = *is_ours ? "ours" : "another's";
    outcome = *is_ours ? Status() : Status(exists(file_.location));
  } else if (is_ours.error().code() != Code::kNotFound) {
    finding = "no answer";
    outcome = Error(Code::kUnknownOutcome, otherwise.message() + "; and looking: " + is_ours.error().message());
  }
  base::log_info("s3_looked_after_put", {{"location", file_.location}, {"reason", otherwise.message()}, {"found", finding}});
  return outcome;
}

Error S3Upload::not_known(const S3Answer& answer) const {
  if (answer.error.code == "NoSuchUpload") {
    return base::unavailable(file_.location + ": the store knows the upload no more (ended by somebody, or by a rule of the bucket)");
  }
  return base::unavailable(file_.location + ": the store answered a write with " + std::to_string(answer.response.status) + " " + answer.error.code);
}

Status S3Upload::failure() {
  base::Lock lock(mutex_);
  return failure_;
}

Status S3Upload::wait() {
  base::Lock lock(mutex_);
  while (!outcome_) {
    if (is_cancelled_) return cancelled(file_.location);
    changed_.wait(lock);
  }
  return *outcome_;
}

void S3Upload::cancel() {
  interrupt_.raise();
  bool is_ours = false, is_anothers = false, has_upload = false;
  {
    base::Lock lock(mutex_);
    if (std::exchange(is_cancelled_, true)) return;
    changed_.notify_all();
    while (running_ > 0) changed_.wait(lock);
    is_ours = outcome_ && outcome_->ok();
    is_anothers = outcome_ && !outcome_->ok() && outcome_->error().code() == Code::kExists;
    has_upload = start_ == Start::kDone && !is_ours && !is_anothers;
  }
  if (has_upload) abort_upload();
  if (is_publishing_ && !is_anothers) take_back(is_ours);
}

void S3Upload::take_back(bool is_known_to_be_ours) {
  base::Interrupt none;
  if (!is_known_to_be_ours) {
    const Result<S3Object> object = objects_->look(file_, none, kCleanUpMs);
    if (!object.ok() || object->bytes != digest_.bytes() || !digest_.agrees_with(*object).value_or(false)) return;
  }
  const Status removed = objects_->remove(file_, kCleanUpMs, none);
  if (!removed.ok()) base::log_warn("s3_left_behind", {{"location", file_.location}, {"reason", removed.error().message()}});
}

void S3Upload::abort_upload() {
  S3Request request;
  request.method = "DELETE";
  request.target = file_.target;
  request.total_ms = kCleanUpMs;
  {
    base::Lock lock(mutex_);
    if (upload_id_.empty()) return;
    request.query = "uploadId=" + net::percent_encode(upload_id_);
  }
  base::Interrupt none;
  const Result<S3Answer> answer = objects_->requests().send(request, none);
  if (!answer.ok()) base::log_warn("s3_upload_left_behind", {{"location", file_.location}, {"reason", answer.error().message()}});
}

}  // namespace frazil::io
