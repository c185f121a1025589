#include "io/s3/s3_objects.h"

#include <algorithm>
#include <charconv>

#include "base/retry.h"
#include "io/crc32c.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

// Small enough to be repeated when it is cut, large enough that the store's first byte costs little.
constexpr int64_t kReadPieceBytes = 16LL << 20;
constexpr size_t kRemembered = 10'000;
constexpr int64_t kLateNameMs = 5'000;
constexpr int kShortReads = 5;  // in a row, without a byte

int64_t number_of(const std::string* text, int64_t otherwise) {
  if (text == nullptr) return otherwise;
  int64_t value = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text->data() + text->size() && value >= 0 ? value : otherwise;
}

std::string text_of(const std::string* header) { return header == nullptr ? std::string() : *header; }

// The number behind the '/' of "bytes 0-9/100" or "bytes */100"; -1 when there is none.
int64_t total_of(const net::HttpResponse& response) {
  const std::string range = text_of(response.header("content-range"));
  const size_t slash = range.find('/');
  if (slash == std::string::npos) return -1;
  const std::string total = range.substr(slash + 1);
  return number_of(&total, -1);
}

Error absent(const std::string& location) { return base::not_found("cannot read " + location + ": no such object"); }

}  // namespace

int64_t S3Digest::bytes() const {
  int64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.bytes;
  return sum;
}

std::string S3Digest::text() const {
  if (!is_in_parts) return crc32c_base64(pieces.empty() ? 0 : pieces[0].checksum);
  Crc32cOfParts parts;
  for (const Piece& piece : pieces) parts.add(piece.checksum);
  return parts.text();
}

std::optional<bool> S3Digest::agrees_with(const S3Object& object) const {
  const bool has_same_form = (object.checksum.find('-') != std::string::npos) == is_in_parts;
  if (object.checksum.empty() || !has_same_form) return std::nullopt;
  return object.checksum == text();
}

S3Objects::S3Objects(std::shared_ptr<S3Requests> requests) : requests_(std::move(requests)) {}

Result<S3Answer> S3Objects::send_until_found(const S3Request& request, const std::string& location, base::Interrupt& interrupt) {
  base::Backoff backoff(requests_->config().retry_first_wait_ms, 1'000, kLateNameMs);
  while (true) {
    TRY_ASSIGN(S3Answer answer, requests_->send(request, interrupt));
    if (answer.response.status != 404) return answer;
    if (!is_remembered(location)) return absent(location);
    if (!backoff.wait(interrupt)) {
      forget(location);
      return absent(location);
    }
  }
}

Result<S3Object> S3Objects::look(const S3File& file, base::Interrupt& interrupt, int64_t total_ms) {
  S3Request request;
  request.method = "HEAD";
  request.target = file.target;
  request.headers = {{"x-amz-checksum-mode", "ENABLED"}};
  request.total_ms = total_ms;
  TRY_ASSIGN(const S3Answer answer, send_until_found(request, file.location, interrupt));
  if (!answer.is_success()) return base::unavailable(file.location + ": the store answered a look with " + std::to_string(answer.response.status));
  S3Object object;
  object.bytes = number_of(answer.response.header("content-length"), -1);
  if (object.bytes < 0) return base::corrupt(file.location + ": the store does not say how long the object is");
  object.modified_millis = parse_http_time(text_of(answer.response.header("last-modified"))).value_or(0);
  object.checksum = text_of(answer.response.header("x-amz-checksum-crc32c"));
  return object;
}

Result<S3Objects::Piece> S3Objects::read_piece(const S3File& file, int64_t offset, int64_t length,
                                               const std::string& etag, base::Interrupt& interrupt) {
  S3Request request;
  request.method = "GET";
  request.target = file.target;
  request.expected_bytes = length;
  request.headers = {{"range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1)}};
  if (!etag.empty()) request.headers.emplace_back("if-match", etag);
  TRY_ASSIGN(S3Answer answer, send_until_found(request, file.location, interrupt));
  net::HttpResponse& response = answer.response;
  Piece piece;
  piece.etag = text_of(response.header("etag"));
  if (response.status == 412) return base::corrupt(file.location + ": the object was replaced while it was read");
  if (response.status == 416) {  // behind the end, which an empty object has at 0
    piece.total = std::max<int64_t>(total_of(response), 0);
    return piece;
  }
  if (!answer.is_success()) return base::unavailable(file.location + ": the store answered a read with " + std::to_string(response.status));
  piece.bytes = std::move(response.body);
  piece.total = total_of(response);
  if (response.status == 200) {  // the range was ignored: this is the object
    piece.total = static_cast<int64_t>(piece.bytes.size());
    piece.bytes = offset >= piece.total ? "" : piece.bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
  }
  if (piece.total < 0) return base::corrupt(file.location + ": the store sent a range without the object's size");
  if (static_cast<int64_t>(piece.bytes.size()) > length) return base::corrupt(file.location + ": the store sent more than was asked for");
  return piece;
}

Result<std::string> S3Objects::read(const S3File& file, int64_t offset, int64_t length,
                                    base::Interrupt& interrupt) {
  if (length == 0 || offset > INT64_MAX - kReadPieceBytes) {  // nothing to send, but a name to look for
    TRY(look(file, interrupt));
    return std::string();
  }
  std::string bytes, etag;
  int short_reads = 0;
  while (true) {
    const int64_t at = offset + static_cast<int64_t>(bytes.size());
    const int64_t wanted = std::min(length - static_cast<int64_t>(bytes.size()), kReadPieceBytes);
    TRY_ASSIGN(Piece piece, read_piece(file, at, wanted, etag, interrupt));
    const auto got = static_cast<int64_t>(piece.bytes.size());
    const int64_t due = std::clamp<int64_t>(piece.total - at, 0, wanted);
    bytes = bytes.empty() ? std::move(piece.bytes) : std::move(bytes) + piece.bytes;
    if (at + got >= piece.total || static_cast<int64_t>(bytes.size()) >= length) return bytes;
    // Fewer bytes than the answer announced: the rest is asked for.
    short_reads = got < due && got == 0 ? short_reads + 1 : 0;
    if (short_reads >= kShortReads) return base::unavailable(file.location + ": the store sends no bytes of the range at " + std::to_string(at));
    etag = std::move(piece.etag);
  }
}

Result<bool> S3Objects::matches(const S3File& file, const S3Digest& digest,
                                base::Interrupt& interrupt) {
  TRY_ASSIGN(const S3Object object, look(file, interrupt));
  if (object.bytes != digest.bytes()) return false;
  const std::optional<bool> agrees = digest.agrees_with(object);
  if (agrees) return *agrees;
  return reads_back(file, digest, interrupt);
}

Result<bool> S3Objects::reads_back(const S3File& file, const S3Digest& digest,
                                   base::Interrupt& interrupt) {
  int64_t offset = 0;
  for (const S3Digest::Piece& piece : digest.pieces) {
    TRY_ASSIGN(const std::string bytes, read(file, offset, piece.bytes, interrupt));
    if (static_cast<int64_t>(bytes.size()) != piece.bytes || crc32c(bytes) != piece.checksum) return false;
    offset += piece.bytes;
  }
  return true;
}

Status S3Objects::remove(const S3File& file, int64_t total_ms, base::Interrupt& interrupt) {
  S3Request request;
  request.method = "DELETE";
  request.target = file.target;
  request.changes_something = true;
  request.total_ms = total_ms;
  forget(file.location);
  TRY_ASSIGN(const S3Answer answer, requests_->send(request, interrupt));
  if (answer.is_success() || answer.response.status == 404) return {};
  return base::unavailable(file.location + ": the store answered a removal with " + std::to_string(answer.response.status));
}

void S3Objects::remember(const std::string& location) {
  base::Lock lock(mutex_);
  if (!written_.insert(location).second) return;
  order_.push_back(location);
  if (order_.size() <= kRemembered) return;
  written_.erase(order_.front());
  order_.pop_front();
}

void S3Objects::forget(const std::string& location) {
  base::Lock lock(mutex_);
  written_.erase(location);
}

bool S3Objects::is_remembered(const std::string& location) {
  base::Lock lock(mutex_);
  return written_.contains(location);
}

}  // namespace frazil::io
