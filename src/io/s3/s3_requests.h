// S3Requests: one operation on the store, told as one answer: signed, retried as far as that is right, judged.
//
//  - Tried again, with full jitter, within retry_total_ms and the endpoint's RetryBudget: nothing sent, no whole answer, 408, 409 of a
//    conflict that passes, 429, 500, 502, 503, 504, and bodies that arrived damaged. `Retry-After` is honoured.
//  - Once: a clock that differs from the store's (then the store's Date counts from there on), credentials that have expired (then new ones).
//  - An answer that was lost leaves a mark, is_unclear: the store may have done what was asked, so a later "exists already" may speak of
//    ourselves. The caller looks.
// Any thread; send() blocks. Errors: kInvalid with the store's own words (401, 403, 400, no such bucket), kUnsupported (501), kExhausted (507),
// kUnavailable when time or interrupt ended the tries and nothing can have happened, kUnknownOutcome when it can.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/s3/retry_budget.h"
#include "io/s3/s3_file_io.h"
#include "io/s3/s3_location.h"
#include "io/s3/s3_xml.h"
#include "net/aws_credentials.h"
#include "net/http_client.h"

namespace frazil::io {

struct S3Request {
  std::string method;
  S3Location target;
  std::string query;
  net::HttpHeaders headers;
  std::string_view body;
  int64_t expected_bytes = 0;  // of the answer, as far as known: longer ones have more time
  bool changes_something = false;  // a lost answer matters: is_unclear, kUnknownOutcome
  bool may_fail_late = false;      // the store may say 200 first and an error in the body
  int64_t total_ms = 0;            // for all tries; 0: the configuration's
};

// 2xx, 304, 404, 412 and 416 are answers; every other status became an error or another try.
struct S3Answer {
  net::HttpResponse response;
  S3Error error;            // of statuses other than 2xx
  bool is_unclear = false;  // an earlier try may have been carried out
  std::vector<std::string> secrets = {};  // of the request: whoever shows words of the answer leaves them out
  bool is_success() const { return response.status >= 200 && response.status < 300; }
};

class S3Requests {
 public:
  static base::Result<std::shared_ptr<S3Requests>> make(S3Config config, std::shared_ptr<net::HttpClient> http,
                                                        std::shared_ptr<net::AwsCredentialsProvider> credentials);

  base::Result<S3Answer> send(const S3Request& request, base::Interrupt& interrupt);
  const S3Config& config() const { return config_; }

 private:
  enum class Verdict { kAnswer, kRetry, kRetryOnceForClock, kRetryOnceForCredentials, kFail };
  struct Attempts;

  S3Requests(S3Config config, S3Endpoint endpoint, std::shared_ptr<net::HttpClient> http,
             std::shared_ptr<net::AwsCredentialsProvider> credentials);
  base::Result<net::HttpResponse> send_once(const S3Request& request, const net::AwsCredentials& credentials, base::Interrupt& interrupt);
  Verdict judge(const net::HttpResponse& response, const S3Error& error) const;
  // True when the reason of the refusal is gone: try again at once.
  bool is_put_right(Verdict verdict, const net::HttpResponse& response, const net::AwsCredentials& credentials, Attempts& attempts);
  static void note_refusal(const net::HttpResponse& response, const S3Error& error, Attempts& attempts);
  void tell_first_loss(const base::Error& error);
  static base::Status note_loss(const base::Error& error, Attempts& attempts);
  base::Error failure(const S3Request& request, const net::HttpResponse& response, const S3Error& error, const Attempts& attempts) const;
  bool correct_clock(const net::HttpResponse& response);

  const S3Config config_;
  const S3Endpoint endpoint_;
  const std::shared_ptr<net::HttpClient> http_;
  const std::shared_ptr<net::AwsCredentialsProvider> credentials_;
  RetryBudget budget_;
  std::atomic<int64_t> clock_skew_ms_{0};  // the store's clock minus ours
  std::atomic<bool> has_answered_{false};  // ever
  std::atomic<bool> has_told_loss_{false};
};

// "PUT s3://bucket/key", for messages.
std::string describe(const S3Request& request);

}  // namespace frazil::io
