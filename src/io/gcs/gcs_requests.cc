#include "io/gcs/gcs_requests.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "net/foreign_answer.h"
#include "net/url.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;

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

}  // namespace

std::string describe(const std::string& method, const ObjectAddress& at) {
  return method + " gs://" + at.bucket + "/" + base::valid_utf8_of(at.key);
}

GcsRequests::GcsRequests(GcsConfig config, std::shared_ptr<net::HttpClient> http,
                         std::shared_ptr<net::BearerTokens> tokens)
    : config_(std::move(config)),
      tokens_(std::move(tokens)),
      loop_({config_.request_timeout_ms, config_.retry_total_ms, config_.retry_first_wait_ms}, std::move(http)) {}

std::string GcsRequests::with_project(std::string target) const {
  if (config_.user_project.empty()) return target;
  target += target.find('?') == target.npos ? '?' : '&';
  return target + "userProject=" + net::percent_encode(config_.user_project);
}

std::string GcsRequests::object_target(const ObjectAddress& at, const std::string& query) const {
  return with_project("/storage/v1/b/" + net::percent_encode(at.bucket) + "/o/" + net::percent_encode(at.key) +
                      (query.empty() ? "" : "?" + query));
}

std::string GcsRequests::bucket_target(const ObjectAddress& at, const std::string& query, bool is_upload) const {
  return with_project(std::string(is_upload ? "/upload" : "") + "/storage/v1/b/" + net::percent_encode(at.bucket) +
                      "/o?" + query);
}

Result<StoreAnswer> GcsRequests::send(const GcsRequest& request, base::Interrupt& interrupt) {
  return loop_.run(request.what, request, interrupt, [&] { return try_once(request, interrupt); });
}

StoreTry GcsRequests::try_once(const GcsRequest& request, base::Interrupt& interrupt) {
  if (request.is_session || tokens_ == nullptr) return send_with(request, "", interrupt);
  for (bool is_second = false;; is_second = true) {
    const Result<std::string> token = tokens_->token();
    if (!token.ok()) return lost_try(token.error());
    StoreTry tried = send_with(request, *token, interrupt);
    const bool is_refused = tried.answer && tried.answer->response.status == 401;
    if (!is_refused) return tried;
    tokens_->refused(*token);
    if (!is_second) continue;
    tried.failure = base::invalid("the store answered 401: " + tried.answer->words + "; check the credentials");
    tried.answer.reset();
    return tried;
  }
}

StoreTry GcsRequests::send_with(const GcsRequest& request, const std::string& token, base::Interrupt& interrupt) {
  net::HttpRequest http =
      loop_.http_request(request, request.is_session ? request.target : config_.host + request.target, interrupt);
  if (!token.empty()) http.headers.emplace_back("authorization", "Bearer " + token);
  Result<net::HttpResponse> sent = loop_.http().send(http);
  return sent.ok() ? judge(request, std::move(sent).value(), secrets_of(request, token)) : lost_try(sent.error());
}

StoreTry GcsRequests::judge(const GcsRequest& request, net::HttpResponse response, std::vector<std::string> secrets) {
  const int status = response.status;
  StoreError error = status >= 300 && status != 308 ? read_error(response.body, secrets) : StoreError{};
  StoreTry tried;
  if (is_answer(status, error) || (status == 401 && !request.is_session)) {
    tried.answer = StoreAnswer{std::move(response), std::move(error.reason), std::move(error.message), std::move(secrets)};
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
