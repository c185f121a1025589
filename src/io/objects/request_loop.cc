#include "io/objects/request_loop.h"

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"

namespace frazil::io {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr int64_t kMaxWaitMs = 5'000;
constexpr int64_t kCleanUpMs = 1'000;
constexpr int64_t kLookMicros = 100'000;
constexpr int64_t kMaxRetryAfterMs = 30'000;
// Bodies slower than this are not worth waiting for.
constexpr int64_t kSlowestBytesPerMs = 64;
constexpr int64_t kAnswerRoom = 64LL << 20;

// Full jitter: a random wait below a limit that doubles.
class Pauses {
 public:
  explicit Pauses(int64_t first_ms) : limit_ms_(std::max<int64_t>(first_ms, 1)) {}
  base::MonoMicros next() {
    const auto pause = static_cast<int64_t>(base::random_below(static_cast<uint64_t>(limit_ms_ * 1000) + 1));
    limit_ms_ = std::min(limit_ms_ * 2, kMaxWaitMs);
    return base::deadline_after(pause);
  }

 private:
  int64_t limit_ms_;
};

}  // namespace

Result<StoreAnswer> RequestLoop::run(const std::string& what, const StoreRequest& request, base::Interrupt& interrupt,
                                     const std::function<StoreTry()>& try_once) {
  const int64_t total_ms = request.errand == Errand::kCleanUp ? kCleanUpMs : limits_.retry_total_ms;
  const base::MonoMicros deadline = base::deadline_after(total_ms * 1000);
  Pauses pauses(limits_.retry_first_wait_ms);
  bool is_unclear = false;
  for (int tries = 1;; ++tries) {
    StoreTry tried = try_once();
    if (tried.answer) return *std::move(tried.answer);
    if (tried.is_put_right) continue;
    is_unclear = is_unclear || tried.may_have_acted;
    const bool matters = is_unclear && request.changes_something;
    const std::string reason = what + ": " + tried.failure->message();
    if (!tried.may_pass) return Error(matters ? Code::kUnknownOutcome : tried.failure->code(), reason);
    base::log_debug("store_retry", {{"request", what}, {"failure", tried.failure->message()}, {"tries", tries}});
    const base::MonoMicros not_before = std::max(budget_.take(), base::deadline_after(tried.retry_after_ms * 1000));
    const bool has_time = not_before <= deadline && base::mono_micros() < deadline;
    if (has_time && wait_until(std::max(std::min(pauses.next(), deadline), not_before), interrupt)) continue;
    const Code ended_by = is_given_up(interrupt) ? Code::kCancelled : Code::kUnavailable;
    return Error(matters ? Code::kUnknownOutcome : ended_by,
                 reason + "; given up after " + std::to_string(tries) + " tries");
  }
}

bool RequestLoop::is_given_up(const base::Interrupt& interrupt) const {
  return interrupt.raised() || (http_->given_up() != nullptr && http_->given_up()->raised());
}

bool RequestLoop::wait_until(base::MonoMicros time, base::Interrupt& interrupt) const {
  // The client's end is looked for now and then where it can come at all.
  const bool is_looked_for = http_->given_up() != nullptr;
  while (!is_given_up(interrupt)) {
    interrupt.wait_until(is_looked_for ? std::min(time, base::deadline_after(kLookMicros)) : time);
    if (base::mono_micros() >= time) return !is_given_up(interrupt);
  }
  return false;
}

net::HttpRequest RequestLoop::http_request(const StoreRequest& request, std::string url, base::Interrupt& interrupt) const {
  net::HttpRequest http;
  http.method = request.method;
  http.url = std::move(url);
  http.headers = request.headers;
  http.body = request.body;
  const auto moved = static_cast<int64_t>(request.body.size()) + request.expected_bytes;
  http.timeout_ms = limits_.request_timeout_ms + moved / kSlowestBytesPerMs;
  http.is_clean_up = request.errand == Errand::kCleanUp;
  if (http.is_clean_up) http.timeout_ms = std::min(http.timeout_ms, kCleanUpMs);
  http.max_response_bytes = request.expected_bytes + kAnswerRoom;
  http.interrupt = &interrupt;
  return http;
}

StoreTry lost_try(const Error& error) {
  StoreTry tried;
  tried.may_pass = error.code() == Code::kUnavailable || error.code() == Code::kUnknownOutcome;
  tried.may_have_acted = error.code() == Code::kUnknownOutcome;
  tried.failure = error;
  return tried;
}

int64_t retry_after_ms(const net::HttpResponse& response) {
  return std::min(number_of(header_of(response, "retry-after")).value_or(0), kMaxRetryAfterMs / 1000) * 1000;
}

std::string header_of(const net::HttpResponse& response, std::string_view name) {
  const std::string* value = response.header(name);
  return value == nullptr ? std::string() : *value;
}

std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace frazil::io
