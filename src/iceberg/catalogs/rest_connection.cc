#include "iceberg/catalogs/rest_connection.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/retry.h"
#include "iceberg/catalogs/commit_sent.h"
#include "iceberg/catalogs/rest_settings.h"

namespace frazil::iceberg {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int64_t kReadAgainMinMs = 100;
constexpr int64_t kReadAgainMaxMs = 2'000;

bool is_success(int status) { return (status >= 200 && status < 300) || status == 304; }
// AWS refuses an expired signature with 403.
bool is_refused_proof(int status, const RestIdentity& identity) {
  return status == 401 || status == 419 || (status == 403 && identity.aws != nullptr);
}

// A page of some server in between, in the place of what was asked for.
bool is_foreign(const RestRequest& request, const net::HttpResponse& response) {
  if (request.call != RestCall::kRead || response.status != 200) return false;
  const size_t first = response.body.find_first_not_of(" \t\r\n");
  return first == std::string::npos || response.body[first] != '{';
}

// Whatever became of the request for a token: the request itself has not been sent.
Error without_proof(const Error& error) {
  const Code code = error.code() == Code::kUnknownOutcome ? Code::kUnavailable : error.code();
  return Error(code, error.message()).in("logging in to the catalog");
}

}  // namespace

struct RestConnection::Proof {
  std::string token;
  net::AwsCredentials aws;
};

RestConnection::RestConnection(std::string base, std::shared_ptr<net::HttpClient> http, RestIdentity identity,
                               int64_t request_timeout_ms, int64_t read_retry_ms)
    : base_(std::move(base)),
      http_(std::move(http)),
      identity_(std::move(identity)),
      request_timeout_ms_(request_timeout_ms),
      read_retry_ms_(read_retry_ms) {}

Result<net::HttpResponse> RestConnection::send(const RestRequest& request) {
  if (request.call != RestCall::kRead || !request.is_tried_again) return send_once(request);
  base::Interrupt never;
  base::Interrupt& given_up = http_->given_up() != nullptr ? *http_->given_up() : never;
  base::Backoff backoff(kReadAgainMinMs, kReadAgainMaxMs, read_retry_ms_);
  while (true) {
    Result<net::HttpResponse> answer = send_once(request);
    if (answer.ok() || answer.error().code() != Code::kUnavailable) return answer;
    if (!backoff.wait(given_up)) return answer;
    base::log_debug("catalog_read_again", {{"path", request.path}, {"try", backoff.tries()}, {"why", answer.error().message()}});
  }
}

Result<net::HttpResponse> RestConnection::send_once(const RestRequest& request) {
  TRY(check_patience());
  TRY_ASSIGN(Proof proof, prove());
  std::vector<std::string> secrets = secrets_of(proof);
  Result<net::HttpResponse> answer = exchange(request, proof);
  if (answer.ok() && is_refused_proof(answer->status, identity_) && renew(proof, request)) {
    for (std::string& secret : secrets_of(proof)) secrets.push_back(std::move(secret));
    answer = exchange(request, proof);
  }
  if (!answer.ok()) return no_answer(request.call, answer.error());
  note_patience(*answer);
  if (!is_success(answer->status)) return refusal(request.call, *answer, secrets);
  if (is_foreign(request, *answer)) return unreadable(request.call, "it is no JSON");
  return answer;
}

Result<net::HttpResponse> RestConnection::exchange(const RestRequest& request, const Proof& proof) {
  net::HttpRequest http;
  http.method = request.method;
  http.url = base_ + request.path;
  http.headers = headers_;
  http.headers.emplace_back("Accept", "application/json");
  if (!request.body.empty()) http.headers.emplace_back("Content-Type", "application/json");
  http.headers.insert(http.headers.end(), request.headers.begin(), request.headers.end());
  if (!proof.token.empty()) http.headers.emplace_back("Authorization", "Bearer " + proof.token);
  http.body = request.body;
  http.timeout_ms = request_timeout_ms_;
  if (request.call == RestCall::kCommit) http.sent_point = &commit_sent;
  if (identity_.aws) net::sign(http, proof.aws, identity_.scope, net::sha256_hex(request.body), base::wall_millis());
  return http_->send(http);
}

Result<RestConnection::Proof> RestConnection::prove() {
  Proof proof;
  if (identity_.tokens) {
    Result<std::string> token = identity_.tokens->token();
    if (!token.ok()) return without_proof(token.error());
    proof.token = std::move(token).value();
  }
  if (identity_.aws) {
    Result<net::AwsCredentials> credentials = identity_.aws->get();
    if (!credentials.ok()) return without_proof(credentials.error());
    proof.aws = std::move(credentials).value();
  }
  return proof;
}

// True when there is another proof than the refused one.
bool RestConnection::renew(Proof& proof, const RestRequest& request) {
  if (identity_.tokens) identity_.tokens->refused(proof.token);
  if (identity_.aws) identity_.aws->refused(proof.aws);
  Result<Proof> next = prove();
  const bool is_new =
      next.ok() && (next->token != proof.token || next->aws.access_key_id != proof.aws.access_key_id ||
                    next->aws.session_token != proof.aws.session_token);
  base::log_info("catalog_login_refused", {{"path", request.path}, {"again", is_new ? "with a renewed token" : "no"}});
  if (is_new) proof = std::move(next).value();
  return is_new;
}

std::vector<std::string> RestConnection::secrets_of(const Proof& proof) const {
  std::vector<std::string> secrets{proof.token, proof.aws.secret_access_key, proof.aws.session_token};
  for (const auto& [name, value] : headers_) {
    if (is_secret_header(name)) secrets.push_back(value);
  }
  return secrets;
}

Status RestConnection::check_patience() {
  const int64_t left_ms = (not_before_.load() - base::mono_micros()) / 1000;
  if (left_ms <= 0) return {};
  return base::unavailable("the catalog asked for a pause, nothing is sent for another " + std::to_string(left_ms) + " ms");
}

void RestConnection::note_patience(const net::HttpResponse& response) {
  if (is_success(response.status)) return;
  const int64_t pause_ms = retry_after_ms(response);
  if (pause_ms == 0) return;
  not_before_.store(base::deadline_after(pause_ms * 1000));
  base::log_info("catalog_asks_for_a_pause", {{"status", response.status}, {"ms", pause_ms}});
}

}  // namespace frazil::iceberg
