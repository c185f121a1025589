#include "io/s3/s3_requests.h"

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/log.h"
#include "base/retry.h"
#include "base/utf8.h"
#include "net/aws_signature.h"
#include "net/foreign_answer.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr int64_t kMaxWaitMs = 5'000;
constexpr int64_t kMaxRetryAfterMs = 30'000;
// Bodies slower than this are not worth waiting for.
constexpr int64_t kSlowestBytesPerMs = 64;
constexpr int64_t kAnswerRoom = 1LL << 20;
constexpr int64_t kMaxListBytes = 64LL << 20;

bool one_of(const std::string& code, std::initializer_list<const char*> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

int64_t retry_after_ms(const net::HttpResponse& response) {
  const std::string* text = response.header("retry-after");
  int64_t seconds = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), seconds);
  return std::clamp<int64_t>(seconds, 0, kMaxRetryAfterMs / 1000) * 1000;
}

// What the request proved itself with, which some stores repeat.
std::vector<std::string> secrets_of(const net::AwsCredentials& credentials) {
  return {credentials.secret_access_key, credentials.session_token};
}

S3Error error_of(const net::HttpResponse& response, const net::AwsCredentials& credentials) {
  const std::vector<std::string> secrets = secrets_of(credentials);
  S3Error error = read_s3_error(response.body, secrets);
  const std::string* region = response.header("x-amz-bucket-region");
  if (error.region.empty() && region != nullptr) error.region = net::tamed(*region, secrets);
  return error;
}

std::string words_of(const net::HttpResponse& response, const S3Error& error) {
  std::string words = "the store answered " + std::to_string(response.status);
  if (!error.code.empty()) words += " " + error.code;
  if (!error.message.empty()) words += ": " + error.message;
  if (words.ends_with('.')) words.pop_back();
  return words;
}

}  // namespace

std::string describe(const S3Request& request) {
  return request.method + " s3://" + request.target.bucket + "/" + base::valid_utf8_of(request.target.key);
}

// What the tries of one send() have found so far.
struct S3Requests::Attempts {
  bool is_unclear = false;
  bool has_corrected_clock = false;
  bool has_renewed_credentials = false;
  std::string last_failure;
  int64_t retry_after_ms = 0;
};

Result<std::shared_ptr<S3Requests>> S3Requests::make(S3Config config, std::shared_ptr<net::HttpClient> http,
                                                     std::shared_ptr<net::AwsCredentialsProvider> credentials) {
  TRY_ASSIGN(S3Endpoint endpoint, S3Endpoint::make(config.endpoint, config.region, config.path_style));
  return std::shared_ptr<S3Requests>(
      new S3Requests(std::move(config), std::move(endpoint), std::move(http), std::move(credentials)));
}

S3Requests::S3Requests(S3Config config, S3Endpoint endpoint, std::shared_ptr<net::HttpClient> http,
                       std::shared_ptr<net::AwsCredentialsProvider> credentials)
    : config_(std::move(config)), endpoint_(std::move(endpoint)), http_(std::move(http)), credentials_(std::move(credentials)) {}

Result<S3Answer> S3Requests::send(const S3Request& request, base::Interrupt& interrupt) {
  const int64_t total_ms = request.total_ms > 0 ? request.total_ms : config_.retry_total_ms;
  base::Backoff backoff(config_.retry_first_wait_ms, kMaxWaitMs, total_ms);
  const base::MonoMicros deadline = base::deadline_after(total_ms * 1000);
  Attempts attempts;
  while (true) {
    // Who hands out credentials may be away for a while as the store may be.
    const Result<net::AwsCredentials> credentials = credentials_->get();
    Result<net::HttpResponse> sent = credentials.ok() ? send_once(request, *credentials, interrupt) : credentials.error();
    attempts.retry_after_ms = 0;
    if (sent.ok()) {
      has_answered_.store(true);
      S3Error error = sent->status >= 300 || request.may_fail_late ? error_of(*sent, *credentials) : S3Error{};
      if (sent->status < 300 && !error.code.empty()) sent->status = 500;
      const Verdict verdict = judge(*sent, error);
      if (verdict == Verdict::kAnswer) return S3Answer{*std::move(sent), std::move(error), attempts.is_unclear, secrets_of(*credentials)};
      if (is_put_right(verdict, *sent, *credentials, attempts)) continue;
      if (verdict != Verdict::kRetry) return failure(request, *sent, error, attempts);
      note_refusal(*sent, error, attempts);
    } else {
      TRY(note_loss(sent.error(), attempts).in(describe(request)));
      tell_first_loss(sent.error());
    }
    base::log_debug("s3_retry", {{"request", describe(request)}, {"failure", attempts.last_failure}, {"tries", backoff.tries() + 1}});
    const base::MonoMicros not_before = std::max(budget_.take(), base::deadline_after(attempts.retry_after_ms * 1000));
    if (not_before > deadline || !backoff.wait(interrupt) || interrupt.wait_until(not_before)) {
      const bool may_have_happened = attempts.is_unclear && request.changes_something;
      return Error(may_have_happened ? Code::kUnknownOutcome : Code::kUnavailable,
                   describe(request) + ": " + attempts.last_failure + "; given up after " + std::to_string(backoff.tries() + 1) + " tries");
    }
  }
}

bool S3Requests::is_put_right(Verdict verdict, const net::HttpResponse& response, const net::AwsCredentials& credentials,
                              Attempts& attempts) {
  if (verdict == Verdict::kRetryOnceForClock && !attempts.has_corrected_clock) {
    attempts.has_corrected_clock = true;
    return correct_clock(response);
  }
  if (verdict == Verdict::kRetryOnceForCredentials && !attempts.has_renewed_credentials) {
    attempts.has_renewed_credentials = true;
    credentials_->refused(credentials);
    return true;
  }
  return false;
}

void S3Requests::note_refusal(const net::HttpResponse& response, const S3Error& error, Attempts& attempts) {
  // Servers in between answer 5xx for what they have passed on.
  if (response.status >= 500) attempts.is_unclear = true;
  attempts.last_failure = words_of(response, error);
  attempts.retry_after_ms = retry_after_ms(response);
}

base::Status S3Requests::note_loss(const Error& error, Attempts& attempts) {
  const Code code = error.code();
  if (code != Code::kUnavailable && code != Code::kUnknownOutcome && code != Code::kCancelled) return error;
  // A request that was given up while it ran may have arrived as well.
  if (code != Code::kUnavailable) attempts.is_unclear = true;
  attempts.last_failure = error.message();
  return {};
}

// A wrong endpoint would else be silent until all tries are over.
void S3Requests::tell_first_loss(const Error& error) {
  if (error.code() == Code::kCancelled || has_answered_.load() || has_told_loss_.exchange(true)) return;
  base::log_warn("s3_not_reached", {{"endpoint", config_.endpoint.empty() ? config_.region : config_.endpoint},
                                    {"failure", error.message()},
                                    {"then", "tried again for " + std::to_string(config_.retry_total_ms / 1000) + " s"}});
}

Result<net::HttpResponse> S3Requests::send_once(const S3Request& request, const net::AwsCredentials& credentials,
                                                base::Interrupt& interrupt) {
  net::HttpRequest http;
  http.method = request.method;
  http.url = endpoint_.url(request.target.bucket, request.target.key, request.query);
  http.headers = request.headers;
  http.body = request.body;
  const auto moved = static_cast<int64_t>(request.body.size()) + request.expected_bytes;
  http.timeout_ms = config_.request_timeout_ms + moved / kSlowestBytesPerMs;
  if (request.total_ms > 0) http.timeout_ms = std::min(http.timeout_ms, request.total_ms);
  http.max_response_bytes = std::max(request.expected_bytes + kAnswerRoom, kMaxListBytes);
  http.interrupt = &interrupt;
  const std::string payload_hash = endpoint_.is_private() ? std::string(net::kUnsignedPayload) : net::sha256_hex(request.body);
  net::sign(http, credentials, {config_.region, "s3", false}, payload_hash, base::wall_millis() + clock_skew_ms_.load());
  return http_->send(http);
}

S3Requests::Verdict S3Requests::judge(const net::HttpResponse& response, const S3Error& error) const {
  const int status = response.status;
  const std::string& code = error.code;
  if (status < 300 || status == 304 || status == 412 || status == 416) return Verdict::kAnswer;
  if (status == 404) return code == "NoSuchBucket" ? Verdict::kFail : Verdict::kAnswer;
  if (code == "RequestTimeTooSkewed") return Verdict::kRetryOnceForClock;
  if (status == 401 || one_of(code, {"ExpiredToken", "ExpiredTokenException", "InvalidToken", "InvalidAccessKeyId", "TokenRefreshRequired"})) {
    return Verdict::kRetryOnceForCredentials;
  }
  if (one_of(code, {"RequestTimeout", "SlowDown", "BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch",
                    "ConditionalRequestConflict", "OperationAborted", "IncompleteBody"})) {
    return Verdict::kRetry;
  }
  const bool passes = status == 408 || status == 425 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
  return passes ? Verdict::kRetry : Verdict::kFail;
}

Error S3Requests::failure(const S3Request& request, const net::HttpResponse& response, const S3Error& error,
                          const Attempts& attempts) const {
  const std::string words = words_of(response, error);
  std::string advice;
  Code code = Code::kInvalid;
  if (!error.region.empty() && error.region != config_.region) {
    advice = "; the bucket is in region " + error.region + ": set s3.region";
  } else if (response.status == 403 || response.status == 401) {
    advice = "; check the credentials and what they may do to this bucket (listing too, or absent files look forbidden)";
  } else if (response.status >= 300 && response.status < 400) {
    advice = "; redirects are not followed: check s3.endpoint, s3.region and s3.path-style-access";
  } else if (response.status == 501) {
    code = Code::kUnsupported;
    advice = "; the store must know conditional writes (If-None-Match) and multipart uploads";
  } else if (response.status == 507) {
    code = Code::kExhausted;
  } else if (response.status >= 500) {
    code = Code::kUnavailable;
  }
  if (attempts.is_unclear && request.changes_something) code = Code::kUnknownOutcome;
  return Error(code, describe(request) + ": " + words + advice);
}

// The store's Date, once per send(): a second refusal is not about the clock.
bool S3Requests::correct_clock(const net::HttpResponse& response) {
  const std::string* date = response.header("date");
  const std::optional<int64_t> theirs = date == nullptr ? std::nullopt : parse_http_time(*date);
  if (!theirs) return false;
  const int64_t skew = *theirs - base::wall_millis();
  clock_skew_ms_.store(skew);
  base::log_warn("s3_clock_differs", {{"endpoint", config_.endpoint.empty() ? config_.region : config_.endpoint}, {"skew_ms", skew}});
  return true;
}

}  // namespace frazil::io
