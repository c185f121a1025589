// RequestLoop: one operation on a store, told as one answer: tried again as far as that is right.
//
//  - With full jitter, within the operation's time and the endpoint's RetryBudget, and not before the store's Retry-After.
//  - At once, where the reason of a refusal is gone (renewed credentials, a clock that was put right).
//  - A failure after which the store may have done what was asked makes the outcome unknown, when that matters and no later
//    try got an answer.
// The tries themselves are their store's. Any thread; run() blocks. Errors, beside those of a try that cannot pass:
// kUnavailable when time ended the tries (kCancelled when an interrupt did) and nothing can have happened,
// kUnknownOutcome when it can.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/objects/object_store.h"
#include "io/objects/retry_budget.h"
#include "net/http_client.h"

namespace frazil::io {

// What every request of a store has; each store adds how it is addressed.
struct StoreRequest {
  std::string method;
  net::HttpHeaders headers;
  std::string_view body;
  int64_t expected_bytes = 0;      // of the answer, as far as known: longer ones have more time
  bool changes_something = false;  // a lost answer matters
  Errand errand = Errand::kWork;
};

// What came of the tries, and is for the caller to read.
struct StoreAnswer {
  net::HttpResponse response;
  std::string code;                   // the store's, of statuses other than 2xx: "NoSuchUpload"
  std::string words;                  // the store's, printable, without secrets
  std::vector<std::string> secrets;   // of the request: whoever shows words of the answer leaves them out
  bool is_success() const { return response.status >= 200 && response.status < 300; }
};

// What came of one try: an answer, or a failure.
struct StoreTry {
  std::optional<StoreAnswer> answer;
  std::optional<base::Error> failure;
  bool may_pass = false;      // trying again can help
  bool is_put_right = false;  // the reason is gone: again at once
  bool may_have_acted = false;
  int64_t retry_after_ms = 0;
};

struct RetryLimits {
  int64_t request_timeout_ms = 30'000;
  int64_t retry_total_ms = 20'000;   // for one operation, all tries together
  int64_t retry_first_wait_ms = 50;  // at most; doubles up to 5 s
};

class RequestLoop {
 public:
  RequestLoop(RetryLimits limits, std::shared_ptr<net::HttpClient> http) : limits_(limits), http_(std::move(http)) {}
  const RetryLimits& limits() const { return limits_; }
  net::HttpClient& http() const { return *http_; }

  // `what`: "PUT s3://bucket/key", for messages.
  base::Result<StoreAnswer> run(const std::string& what, const StoreRequest& request, base::Interrupt& interrupt,
                                const std::function<StoreTry()>& try_once);
  // A request with url, headers, body and times set; its sender may add to it.
  net::HttpRequest http_request(const StoreRequest& request, std::string url, base::Interrupt& interrupt) const;

 private:
  // False when the wait ended since nobody waits for the operation any more.
  bool wait_until(base::MonoMicros time, base::Interrupt& interrupt) const;
  bool is_given_up(const base::Interrupt& interrupt) const;

  const RetryLimits limits_;
  const std::shared_ptr<net::HttpClient> http_;
  RetryBudget budget_;
};

// The failure of a request that got no answer.
StoreTry lost_try(const base::Error& error);
// Of the header, at most half a minute; 0 without one.
int64_t retry_after_ms(const net::HttpResponse& response);
// The header's value, or nothing.
std::string header_of(const net::HttpResponse& response, std::string_view name);
// A whole number that is not negative.
std::optional<int64_t> number_of(std::string_view text);

}  // namespace frazil::io
