// S3Requests: one operation on the store, told as one answer: signed, tried again as far as that is right, judged.
//
//  - Tried again as io/objects/request_loop.h says: nothing sent, no whole answer, 408, 409 of a conflict that passes, 425, 429, 500, 502,
//    503, 504, bodies that arrived damaged, and credentials that cannot be had now.
//  - Once: a clock that differs from the store's (then the store's Date counts from there on), credentials that have expired (then new ones).
// Any thread; send() blocks. Errors, beside those of the loop: kInvalid with the store's own words (401, 403, 400, no such bucket),
// kUnsupported (501), kExhausted (507).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/objects/request_loop.h"
#include "io/s3/s3_file_io.h"
#include "io/s3/s3_location.h"
#include "io/s3/s3_xml.h"
#include "net/aws_credentials.h"
#include "net/http_client.h"

namespace frazil::io {

struct S3Request : StoreRequest {
  S3Location target;
  std::string query;
  bool may_fail_late = false;  // the store may say 200 first and an error in the body
};

class S3Requests {
 public:
  static base::Result<std::unique_ptr<S3Requests>> make(S3Config config, std::shared_ptr<net::HttpClient> http,
                                                        std::shared_ptr<net::AwsCredentialsProvider> credentials);

  // 2xx, 304, 404, 412 and 416 are answers; every other status became an error or another try.
  base::Result<StoreAnswer> send(const S3Request& request, base::Interrupt& interrupt);
  const S3Config& config() const { return config_; }

 private:
  enum class Verdict { kAnswer, kRetry, kRetryOnceForClock, kRetryOnceForCredentials, kFail };
  // What one send() does once.
  struct Once {
    bool has_corrected_clock = false;
    bool has_renewed_credentials = false;
  };

  S3Requests(S3Config config, S3Endpoint endpoint, std::shared_ptr<net::HttpClient> http,
             std::shared_ptr<net::AwsCredentialsProvider> credentials);
  StoreTry try_once(const S3Request& request, base::Interrupt& interrupt, Once& once);
  base::Result<net::HttpResponse> send_once(const S3Request& request, const net::AwsCredentials& credentials, base::Interrupt& interrupt);
  static Verdict judge(const net::HttpResponse& response, const S3Error& error);
  // True when the reason of the refusal is gone: try again at once.
  bool is_put_right(Verdict verdict, const net::HttpResponse& response, const net::AwsCredentials& credentials, Once& once);
  void tell_first_loss(const base::Error& error);
  base::Error failure(const net::HttpResponse& response, const S3Error& error) const;
  bool correct_clock(const net::HttpResponse& response);
  std::string endpoint_name() const { return config_.endpoint.empty() ? config_.region : config_.endpoint; }

  const S3Config config_;
  const S3Endpoint endpoint_;
  const std::shared_ptr<net::AwsCredentialsProvider> credentials_;
  RequestLoop loop_;
  std::atomic<int64_t> clock_skew_ms_{0};  // the store's clock minus ours
  std::atomic<bool> has_answered_{false};  // ever
  std::atomic<bool> has_told_loss_{false};
};

}  // namespace frazil::io
