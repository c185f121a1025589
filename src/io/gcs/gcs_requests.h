// GcsRequests: one operation on the store, told as one answer: authorized, tried again as far as that is right, judged.
//
//  - Tried again, with full jitter, within retry_total_ms and the endpoint's RetryBudget: nothing sent, no whole
//    answer, 408, 429, 500, 502, 503, 504, 403 of a rate limit, a token that cannot be fetched now. `Retry-After` is
//    honoured.
//  - Once: a token that was refused (401), with a new one.
//  - An answer that was lost leaves a mark, is_unclear: a later "exists already" may speak of ourselves. The caller
//    looks.
// Any thread; send() and try_once() block. Errors: kInvalid with the store's own words (400, 401, 403, no such bucket),
// kUnavailable when time or interrupt ended the tries and nothing can have happened, kUnknownOutcome when it can.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "base/retry.h"
#include "io/gcs/gcs_file_io.h"
#include "io/gcs/gcs_location.h"
#include "io/s3/retry_budget.h"
#include "net/bearer_tokens.h"
#include "net/http_client.h"

namespace frazil::io {

struct GcsRequest {
  std::string method;
  // Path and query below the host; of an upload's session the whole URL, which carries its own permission.
  std::string target;
  bool is_session = false;
  std::string what;  // "GET gs://bucket/object", for messages
  net::HttpHeaders headers;
  std::string_view body;
  int64_t expected_bytes = 0;      // of the answer, as far as known: longer ones have more time
  bool changes_something = false;  // a lost answer matters: is_unclear, kUnknownOutcome
  int64_t total_ms = 0;            // for all tries; 0: the configuration's
};

// 2xx, 304, 308, 404, 410, 412, 416 and 499 are answers; every other status became an error or another try.
struct GcsAnswer {
  net::HttpResponse response;
  std::string words;        // the store's, of statuses other than 2xx
  bool is_unclear = false;  // an earlier try may have been carried out
  bool is_success() const { return response.status >= 200 && response.status < 300; }
};

// What came of one try.
struct GcsTry {
  std::optional<GcsAnswer> answer;
  std::optional<base::Error> failure;  // set exactly when there is no answer
  bool may_pass = false;               // the failure: trying again can help
  bool may_have_acted = false;         // the failure: the store may have done it
  int64_t retry_after_ms = 0;
};

class GcsRequests {
 public:
  GcsRequests(GcsConfig config, std::shared_ptr<net::HttpClient> http, std::shared_ptr<net::BearerTokens> tokens);

  base::Result<GcsAnswer> send(const GcsRequest& request, base::Interrupt& interrupt);
  GcsTry try_once(const GcsRequest& request, base::Interrupt& interrupt);
  base::Backoff backoff(int64_t total_ms = 0) const;
  // Waits before another try; false when there is none.
  bool wait(base::Backoff& backoff, const GcsTry& failed, base::Interrupt& interrupt);
  const GcsConfig& config() const { return config_; }

  // "/storage/v1/b/bucket/o/object" and its query.
  std::string object_target(const GcsLocation& at, const std::string& query = "") const;
  // "/storage/v1/b/bucket/o?query", or the same below "/upload".
  std::string bucket_target(const GcsLocation& at, const std::string& query, bool is_upload = false) const;

 private:
  GcsTry send_with(const GcsRequest& request, const std::string& token, base::Interrupt& interrupt);
  GcsTry judge(const GcsRequest& request, net::HttpResponse response, const std::vector<std::string>& secrets) const;
  std::string with_project(std::string target) const;

  const GcsConfig config_;
  const std::shared_ptr<net::HttpClient> http_;
  const std::shared_ptr<net::BearerTokens> tokens_;
  RetryBudget budget_;
};

// "GET gs://bucket/object", for messages.
std::string describe(const std::string& method, const GcsLocation& at);

}  // namespace frazil::io
