#include "io/objects/object_upload.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "io/crc32c.h"
#include "io/objects/object_reader.h"
#include "io/upload_failpoints.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

Error exists(const std::string& location) { return Error(Code::kExists, location + " exists already; it was not replaced"); }

}  // namespace

ObjectUpload::ObjectUpload(std::shared_ptr<ObjectStore> store, ObjectAddress at)
    : store_(std::move(store)), at_(std::move(at)), parts_(store_->parts_of(at_)) {}

bool ObjectUpload::begin_task() {
  base::Lock lock(mutex_);
  if (is_cancelled_) return false;
  ++running_;
  return true;
}

void ObjectUpload::end_task(int64_t bytes) {
  base::Lock lock(mutex_);
  --running_;
  under_way_ -= bytes;
  changed_.notify_all();
}

void ObjectUpload::finish(Status outcome) {
  base::Lock lock(mutex_);
  outcome_ = std::move(outcome);
  changed_.notify_all();
}

void ObjectUpload::put_whole(std::string_view bytes) {
  if (!begin_task()) return;
  const ObjectDigest digest = ObjectDigest::of(bytes);
  const auto count = static_cast<int64_t>(bytes.size());
  {
    base::Lock lock(mutex_);
    digest_ = digest;
    is_publishing_ = true;
    under_way_ += count;
  }
  finish(send_whole(bytes, digest));
  end_task(count);
}

Status ObjectUpload::send_whole(std::string_view bytes, const ObjectDigest& digest) {
  TRY(upload_before.pass());
  const Result<Publication> answer = store_->put(at_, bytes, interrupt_);
  TRY(upload_mid.pass());
  TRY(judge(answer, digest));
  return upload_after.pass();
}

bool ObjectUpload::add_part(std::string bytes, bool is_last) {
  const auto count = static_cast<int64_t>(bytes.size());
  const ObjectDigest::Piece piece{count, crc32c(bytes)};
  base::Lock lock(mutex_);
  const int at_once = store_->limits().parts_at_once;
  while (at_once == 1 && !is_last && !waiting_.empty() && !is_cancelled_) changed_.wait(lock);
  is_sealed_ = is_last;
  ++missing_parts_;
  pieces_.push_back(piece);
  waiting_.push_back({static_cast<int>(pieces_.size()), added_bytes_, std::move(bytes), is_last});
  added_bytes_ += count;
  under_way_ += count;
  if (tasks_ >= at_once) return false;
  ++tasks_;
  return true;
}

// The first that waits; nothing when there is none, and then the task that asked is over.
std::optional<ObjectUpload::Part> ObjectUpload::next_part() {
  base::Lock lock(mutex_);
  if (is_cancelled_) {
    for (const Part& part : waiting_) under_way_ -= static_cast<int64_t>(part.bytes.size());
    waiting_.clear();
  }
  changed_.notify_all();
  if (waiting_.empty()) {
    --tasks_;
    return std::nullopt;
  }
  ++running_;
  Part part = std::move(waiting_.front());
  waiting_.pop_front();
  return part;
}

// Where parts go one at a time, the lane goes on with the next; else each has a task of its own.
void ObjectUpload::run_parts() {
  while (const std::optional<Part> part = next_part()) {
    run_part(*part);
    end_task(static_cast<int64_t>(part->bytes.size()));
    if (store_->limits().parts_at_once == 1) continue;
    base::Lock lock(mutex_);
    --tasks_;
    return;
  }
}

void ObjectUpload::run_part(const Part& part) {
  if (part.is_last && store_->limits().parts_at_once == 1) {  // it may be what makes the object visible
    base::Lock lock(mutex_);
    is_publishing_ = failure_.ok();
  }
  Status sent = begin_parts();
  if (sent.ok()) sent = parts_->send({part.number, part.offset, part.bytes, part.is_last}, interrupt_);
  if (sent.ok()) sent = upload_mid.pass();
  bool is_complete = false;
  {
    base::Lock lock(mutex_);
    if (failure_.ok()) failure_ = sent;
    is_complete = --missing_parts_ == 0 && is_sealed_;
  }
  if (is_complete) finish(publish());
}

// The first part begins the upload; others that come meanwhile wait for it.
Status ObjectUpload::begin_parts() {
  {
    base::Lock lock(mutex_);
    while (start_ == Start::kRunning) changed_.wait(lock);
    if (start_ == Start::kDone || !failure_.ok()) return failure_;
    start_ = Start::kRunning;
  }
  const Status begun = parts_->begin(interrupt_);
  base::Lock lock(mutex_);
  start_ = begun.ok() ? Start::kDone : Start::kNone;
  if (failure_.ok()) failure_ = begun;
  changed_.notify_all();
  return failure_;
}

ObjectDigest ObjectUpload::digest_of_parts() {
  ObjectDigest digest{{}, parts_->checksum()};
  base::Lock lock(mutex_);
  digest.pieces = pieces_;
  digest_ = digest;
  is_publishing_ = true;
  return digest;
}

Status ObjectUpload::publish() {
  const Status failed = failure();
  if (!failed.ok()) {
    parts_->abandon();
    return failed;
  }
  const ObjectDigest digest = digest_of_parts();
  Status outcome = judge(parts_->publish(interrupt_), digest);
  if (!outcome.ok() && outcome.error().code() != Code::kUnknownOutcome) parts_->abandon();
  return outcome;
}

Status ObjectUpload::judge(const Result<Publication>& answer, const ObjectDigest& sent) {
  if (!answer.ok()) {
    if (answer.error().code() != Code::kUnknownOutcome) return answer.error();
    return look(sent, answer.error());
  }
  switch (answer->kind) {
    case Publication::Kind::kTaken: return look(sent, exists(at_.location));
    case Publication::Kind::kGone: return look(sent, base::unavailable(at_.location + ": " + answer->words));
    case Publication::Kind::kStored: break;
  }
  if (answer->object) return check(*answer->object, sent);
  const Result<StoredObject> object = store_->look(at_, Errand::kWork, interrupt_);
  if (!object.ok()) return Error(Code::kUnknownOutcome, at_.location + ": the store took it, then: " + object.error().message());
  return check(*object, sent);
}

Status ObjectUpload::check(const StoredObject& object, const ObjectDigest& sent) {
  if (sent.agrees_with(object).value_or(true)) {
    base::Lock lock(mutex_);
    generation_ = object.generation;
    return {};
  }
  return base::corrupt(at_.location + ": " + std::to_string(sent.bytes()) + " bytes with checksum " + sent.checksum +
                       " were sent, the store keeps " + std::to_string(object.bytes) + " with '" + object.checksum + "'");
}

// By the store's checksum, or by the bytes read back where it reports none that can be compared.
Result<bool> ObjectUpload::is_ours(const StoredObject& object, const ObjectDigest& sent) {
  if (const std::optional<bool> agrees = sent.agrees_with(object)) return *agrees;
  int64_t offset = 0;
  for (const ObjectDigest::Piece& piece : sent.pieces) {
    TRY_ASSIGN(const std::string bytes, read_object(*store_, at_, offset, piece.bytes, interrupt_));
    if (static_cast<int64_t>(bytes.size()) != piece.bytes || crc32c(bytes) != piece.checksum) return false;
    offset += piece.bytes;
  }
  return true;
}

Status ObjectUpload::look(const ObjectDigest& sent, const Error& otherwise) {
  const Result<StoredObject> object = store_->look(at_, Errand::kWork, interrupt_);
  const Result<bool> ours = object.ok() ? is_ours(*object, sent) : Result<bool>(object.error());
  std::string finding = "not found";
  Status outcome = otherwise;  // an unknown one stays so: a request that is late may still arrive
  if (ours.ok()) {
    finding = *ours ? "ours" : "another's";
    outcome = *ours ? Status() : Status(exists(at_.location));
    base::Lock lock(mutex_);
    if (*ours) generation_ = object->generation;
  } else if (ours.error().code() != Code::kNotFound) {
    finding = "no answer";
    outcome = Error(Code::kUnknownOutcome, otherwise.message() + "; and looking: " + ours.error().message());
  }
  base::log_info("store_looked_after_put",
                 {{"location", at_.location}, {"reason", otherwise.message()}, {"found", finding}});
  return outcome;
}

Status ObjectUpload::failure() {
  base::Lock lock(mutex_);
  return failure_;
}

Status ObjectUpload::wait() {
  base::Lock lock(mutex_);
  while (!outcome_) {
    if (is_cancelled_) return base::cancelled(at_.location + " was given up while it was written");
    changed_.wait(lock);
  }
  return *outcome_;
}

int64_t ObjectUpload::bytes_under_way() {
  base::Lock lock(mutex_);
  return under_way_;
}

void ObjectUpload::cancel() {
  interrupt_.raise();
  bool is_ours = false, is_anothers = false, has_parts = false, may_be_visible = false;
  {
    base::Lock lock(mutex_);
    if (std::exchange(is_cancelled_, true)) return;
    changed_.notify_all();
    while (running_ > 0) changed_.wait(lock);
    is_ours = outcome_ && outcome_->ok();
    is_anothers = outcome_ && !outcome_->ok() && outcome_->error().code() == Code::kExists;
    has_parts = start_ == Start::kDone && !is_ours && !is_anothers;
    may_be_visible = is_publishing_ && !is_anothers;
  }
  if (has_parts) parts_->abandon();
  if (may_be_visible) take_back(is_ours);
}

// Only what is known to be ours, by its generation or by all that the store says of its bytes.
void ObjectUpload::take_back(bool is_known_to_be_ours) {
  base::Interrupt none;
  std::string generation = generation_;
  if (!is_known_to_be_ours) {
    if (digest_.pieces.empty()) digest_of_parts();
    const Result<StoredObject> object = store_->look(at_, Errand::kCleanUp, none);
    if (!object.ok() || !digest_.agrees_with(*object).value_or(false)) return;
    generation = object->generation;
  }
  const Status removed = store_->remove(at_, generation, Errand::kCleanUp, none);
  if (!removed.ok()) {
    base::log_warn("store_left_behind", {{"location", at_.location}, {"reason", removed.error().message()}});
  }
}

}  // namespace frazil::io
