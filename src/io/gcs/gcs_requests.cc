#include "io/gcs/gcs_requests.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "net/foreign_answer.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr int64_t kMaxWaitMs = 5'000;
constexpr int64_t kMaxRetryAfterMs = 30'000;
// Bodies slower than this are not worth waiting for.
constexpr int64_t kSlowestBytesPerMs = 64;
constexpr int64_t kAnswerRoom = 64LL << 20;
constexpr size_t kMaxWords = 400;

struct StoreError {
  std::string reason;
  std::string message;
};

// {"error": {"code": 403, "message": "…", "errors": [{"reason": "…"}]}}; anything else is the message.
StoreError read_error(const std::string& body, const std::vector<std::string>& secrets) {
  using nlohmann::json;
  const auto text = [](const json& object, const char* name) {
    return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                                                   : std::string();
  };
  const json document = json::parse(body, nullptr, false);
  StoreError error;
  if (document.is_object() && document.contains("error") && document["error"].is_object()) {
    const json& inner = document["error"];
    error.message = text(inner, "message");
    if (inner.contains("errors") && inner["errors"].is_array() && !inner["errors"].empty())
      error.reason = text(inner["errors"][0], "reason");
  } else {
    error.message = body;
  }
  error.message = net::tamed(error.message, secrets, kMaxWords);
  return error;
}

// What of a request must not show when the store repeats it. Whoever knows a session's id may write into it.
std::vector<std::string> secrets_of(const GcsRequest& request, const std::string& token) {
  static constexpr std::string_view kId = "upload_id=";
  const size_t at = request.is_session ? request.target.find(kId) : std::string::npos;
  if (at == std::string::npos) return {token};
  const size_t begin = at + kId.size();
  return {token, request.target.substr(begin, request.target.find_first_of("&#", begin) - begin)};
}

int64_t retry_after_ms(const net::HttpResponse& response) {
  const std::string* text = response.header("retry-after");
  int64_t seconds = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), seconds);
  return std::clamp<int64_t>(seconds, 0, kMaxRetryAfterMs / 1000) * 1000;
}

bool is_answer(int status, const StoreError& error) {
  if (status == 404) return error.message.find("bucket does not exist") == std::string::npos;
  return status < 300 || status == 304 || status == 308 || status == 410 || status == 412 || status == 416 ||
         status == 499;
}

bool passes(int status, const StoreError& error) {
  if (status == 403) return error.reason == "rateLimitExceeded" || error.reason == "userRateLimitExceeded";
  return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

GcsTry lost(const Error& error) {
  GcsTry tried;
  const Code code = error.code();
  tried.may_pass = code == Code::kUnavailable || code == Code::kUnknownOutcome || code == Code::kCancelled;
  // A request that was given up while it ran may have arrived as well.
  tried.may_have_acted = tried.may_pass && code != Code::kUnavailable;
  tried.failure = error;
  return tried;
}

}  // namespace

std::string describe(const std::string& method, const GcsLocation& at) {
  return method + " gs://" + at.bucket + "/" + base::valid_utf8_of(at.object);
}

GcsRequests::GcsRequests(GcsConfig config, std::shared_ptr<net::HttpClient> http,
                         std::shared_ptr<net::BearerTokens> tokens)
    : config_(std::move(config)), http_(std::move(http)), tokens_(std::move(tokens)) {}

std::string GcsRequests::with_project(std::string target) const {
  if (config_.user_project.empty()) return target;
  target += target.find('?') == target.npos ? '?' : '&';
  return target + "userProject=" + net::percent_encode(config_.user_project);
}

std::string GcsRequests::object_target(const GcsLocation& at, const std::string& query) const {
  return with_project("/storage/v1/b/" + net::percent_encode(at.bucket) + "/o/" + net::percent_encode(at.object) +
                      (query.empty() ? "" : "?" + query));
}

std::string GcsRequests::bucket_target(const GcsLocation& at, const std::string& query, bool is_upload) const {
  return with_project(std::string(is_upload ? "/upload" : "") + "/storage/v1/b/" + net::percent_encode(at.bucket) +
                      "/o?" + query);
}

base::Backoff GcsRequests::backoff(int64_t total_ms) const {
  return {config_.retry_first_wait_ms, kMaxWaitMs, total_ms > 0 ? total_ms : config_.retry_total_ms};
}

bool GcsRequests::wait(base::Backoff& backoff, const GcsTry& failed, base::Interrupt& interrupt) {
  const base::MonoMicros not_before = std::max(budget_.take(), base::deadline_after(failed.retry_after_ms * 1000));
  return backoff.wait(interrupt) && !interrupt.wait_until(not_before);
}

Result<GcsAnswer> GcsRequests::send(const GcsRequest& request, base::Interrupt& interrupt) {
  base::Backoff backoff = this->backoff(request.total_ms);
  bool is_unclear = false;
  while (true) {
    GcsTry tried = try_once(request, interrupt);
    if (tried.answer) {
      tried.answer->is_unclear = is_unclear;
      return *std::move(tried.answer);
    }
    is_unclear = is_unclear || tried.may_have_acted;
    const bool matters = is_unclear && request.changes_something;
    const Error& failure = *tried.failure;
    if (!tried.may_pass)
      return Error(matters ? Code::kUnknownOutcome : failure.code(), request.what + ": " + failure.message());
    base::log_debug("gcs_retry",
                    {{"request", request.what}, {"failure", failure.message()}, {"tries", backoff.tries() + 1}});
    if (!wait(backoff, tried, interrupt)) {
      return Error(matters ? Code::kUnknownOutcome : Code::kUnavailable,
                   request.what + ": " + failure.message() + "; given up after " + std::to_string(backoff.tries() + 1) +
                       " tries");
    }
  }
}

GcsTry GcsRequests::try_once(const GcsRequest& request, base::Interrupt& interrupt) {
  if (request.is_session || tokens_ == nullptr) return send_with(request, "", interrupt);
  for (bool is_second = false;; is_second = true) {
    const Result<std::string> token = tokens_->token();
    if (!token.ok()) {
      GcsTry tried;
      tried.may_pass = token.error().code() == Code::kUnavailable;
      tried.failure = token.error();
      return tried;
    }
    GcsTry tried = send_with(request, *token, interrupt);
    const bool is_refused = tried.answer && tried.answer->response.status == 401;
    if (!is_refused) return tried;
    tokens_->refused(*token);
    if (!is_second) continue;
    tried.failure = base::invalid("the store answered 401: " + tried.answer->words + "; check the credentials");
    tried.answer.reset();
    return tried;
  }
}

GcsTry GcsRequests::send_with(const GcsRequest& request, const std::string& token, base::Interrupt& interrupt) {
  net::HttpRequest http;
  http.method = request.method;
  http.url = request.is_session ? request.target : config_.host + request.target;
  http.headers = request.headers;
  if (!token.empty()) http.headers.emplace_back("authorization", "Bearer " + token);
  http.body = request.body;
  const auto moved = static_cast<int64_t>(request.body.size()) + request.expected_bytes;
  http.timeout_ms = config_.request_timeout_ms + moved / kSlowestBytesPerMs;
  if (request.total_ms > 0) http.timeout_ms = std::min(http.timeout_ms, request.total_ms);
  http.max_response_bytes = request.expected_bytes + kAnswerRoom;
  http.interrupt = &interrupt;
  Result<net::HttpResponse> sent = http_->send(http);
  return sent.ok() ? judge(request, std::move(sent).value(), secrets_of(request, token)) : lost(sent.error());
}

GcsTry GcsRequests::judge(const GcsRequest& request, net::HttpResponse response,
                          const std::vector<std::string>& secrets) const {
  const int status = response.status;
  const StoreError error = status >= 300 && status != 308 ? read_error(response.body, secrets) : StoreError{};
  GcsTry tried;
  if (is_answer(status, error) || (status == 401 && !request.is_session)) {
    tried.answer = GcsAnswer{std::move(response), error.message};
    return tried;
  }
  tried.may_pass = passes(status, error);
  tried.retry_after_ms = retry_after_ms(response);
  // Servers in between answer 5xx for what they have passed on.
  tried.may_have_acted = status >= 500;
  std::string words =
      "the store answered " + std::to_string(status) + (error.message.empty() ? "" : ": " + error.message);
  if (status == 401 || status == 403) words += "; check the credentials and what they may do to this bucket";
  if (status >= 300 && status < 400) words += "; redirects are not followed: check gcs.service.host";
  tried.failure = Error(tried.may_pass || status >= 500 ? Code::kUnavailable : Code::kInvalid, words);
  return tried;
}

}  // namespace frazil::io
