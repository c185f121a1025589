#include "io/s3/s3_requests.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "net/aws_signature.h"
#include "net/foreign_answer.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;

bool one_of(const std::string& code, std::initializer_list<const char*> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// "PUT s3://bucket/key", for messages.
std::string describe(const S3Request& request) {
  return request.method + " s3://" + request.target.bucket + "/" + base::valid_utf8_of(request.target.key);
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

Result<std::unique_ptr<S3Requests>> S3Requests::make(S3Config config, std::shared_ptr<net::HttpClient> http,
                                                     std::shared_ptr<net::AwsCredentialsProvider> credentials) {
  TRY_ASSIGN(S3Endpoint endpoint, S3Endpoint::make(config.endpoint, config.region, config.path_style));
  return std::unique_ptr<S3Requests>(
      new S3Requests(std::move(config), std::move(endpoint), std::move(http), std::move(credentials)));
}

S3Requests::S3Requests(S3Config config, S3Endpoint endpoint, std::shared_ptr<net::HttpClient> http,
                       std::shared_ptr<net::AwsCredentialsProvider> credentials)
    : config_(std::move(config)),
      endpoint_(std::move(endpoint)),
      credentials_(std::move(credentials)),
      loop_({config_.request_timeout_ms, config_.retry_total_ms, config_.retry_first_wait_ms}, std::move(http)) {}

Result<StoreAnswer> S3Requests::send(const S3Request& request, base::Interrupt& interrupt) {
  Once once;
  return loop_.run(describe(request), request, interrupt, [&] { return try_once(request, interrupt, once); });
}

StoreTry S3Requests::try_once(const S3Request& request, base::Interrupt& interrupt, Once& once) {
  // Who hands out credentials may be away for a while as the store may be.
  const Result<net::AwsCredentials> credentials = credentials_->get();
  Result<net::HttpResponse> sent = credentials.ok() ? send_once(request, *credentials, interrupt) : credentials.error();
  if (!sent.ok()) {
    StoreTry lost = lost_try(sent.error());
    if (lost.may_pass) tell_first_loss(sent.error());
    return lost;
  }
  has_answered_.store(true);
  S3Error error = sent->status >= 300 || request.may_fail_late ? error_of(*sent, *credentials) : S3Error{};
  if (sent->status < 300 && !error.code.empty()) sent->status = 500;
  StoreTry tried;
  const Verdict verdict = judge(*sent, error);
  if (verdict == Verdict::kAnswer) {
    tried.answer = StoreAnswer{*std::move(sent), std::move(error.code), std::move(error.message), secrets_of(*credentials)};
    return tried;
  }
  tried.is_put_right = is_put_right(verdict, *sent, *credentials, once);
  tried.may_pass = verdict == Verdict::kRetry;
  // Servers in between answer 5xx for what they have passed on.
  tried.may_have_acted = tried.may_pass && sent->status >= 500;
  tried.retry_after_ms = retry_after_ms(*sent);
  tried.failure = tried.may_pass ? base::unavailable(words_of(*sent, error)) : failure(*sent, error);
  return tried;
}

bool S3Requests::is_put_right(Verdict verdict, const net::HttpResponse& response, const net::AwsCredentials& credentials, Once& once) {
  if (verdict == Verdict::kRetryOnceForClock && !std::exchange(once.has_corrected_clock, true)) return correct_clock(response);
  if (verdict == Verdict::kRetryOnceForCredentials && !std::exchange(once.has_renewed_credentials, true)) {
    credentials_->refused(credentials);
    return true;
  }
  return false;
}

// A wrong endpoint would else be silent until all tries are over.
void S3Requests::tell_first_loss(const Error& error) {
  if (has_answered_.load() || has_told_loss_.exchange(true)) return;
  base::log_warn("s3_not_reached", {{"endpoint", endpoint_name()},
                                    {"failure", error.message()},
                                    {"then", "tried again for " + std::to_string(config_.retry_total_ms / 1000) + " s"}});
}

Result<net::HttpResponse> S3Requests::send_once(const S3Request& request, const net::AwsCredentials& credentials,
                                                base::Interrupt& interrupt) {
  net::HttpRequest http =
      loop_.http_request(request, endpoint_.url(request.target.bucket, request.target.key, request.query), interrupt);
  const std::string payload_hash = endpoint_.is_private() ? std::string(net::kUnsignedPayload) : net::sha256_hex(request.body);
  net::sign(http, credentials, {config_.region, "s3", false}, payload_hash, base::wall_millis() + clock_skew_ms_.load());
  return loop_.http().send(http);
}

S3Requests::Verdict S3Requests::judge(const net::HttpResponse& response, const S3Error& error) {
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

Error S3Requests::failure(const net::HttpResponse& response, const S3Error& error) const {
  std::string advice;
  Code code = Code::kInvalid;
  if (!error.region.empty() && error.region != config_.region) {
    advice = "; the bucket is in region " + error.region + ": set s3.region";
  } else if (error.code == "RequestTimeTooSkewed") {
    advice = "; this machine's clock and the store's are too far apart: set it, and keep it by NTP (credentials are not the cause)";
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
  return Error(code, words_of(response, error) + advice);
}

// The store's Date, once per send(): a second refusal is not about the clock.
bool S3Requests::correct_clock(const net::HttpResponse& response) {
  const std::optional<int64_t> theirs = parse_http_time(header_of(response, "date"));
  if (!theirs) return false;
  const int64_t skew = *theirs - base::wall_millis();
  clock_skew_ms_.store(skew);
  base::log_warn("s3_clock_differs", {{"endpoint", endpoint_name()}, {"skew_ms", skew}});
  return true;
}

}  // namespace frazil::io
