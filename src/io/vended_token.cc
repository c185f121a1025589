#include "io/vended_token.h"

#include <charconv>
#include <utility>

#include "base/clock.h"
#include "base/sync.h"

namespace frazil::io {
namespace {

using base::Result;

struct Token {
  std::string text;
  int64_t expires_at_ms = INT64_MAX;
};

Token token_of(const StoreProperties& properties) {
  Token token;
  if (const auto text = properties.find("gcs.oauth2.token"); text != properties.end()) token.text = text->second;
  if (const auto time = properties.find("gcs.oauth2.token-expires-at"); time != properties.end()) {
    int64_t at = 0;
    std::from_chars(time->second.data(), time->second.data() + time->second.size(), at);
    if (at > 0) token.expires_at_ms = at;
  }
  return token;
}

class VendedToken : public net::BearerTokens {
 public:
  VendedToken(const StoreProperties& properties, RenewProperties renew) : renew_(std::move(renew)) { adopt(token_of(properties)); }

  Result<std::string> token() override {
    {
      base::Lock lock(mutex_);
      const int64_t now = base::wall_millis();
      while (is_renewing_ && (is_refused_ || now >= token_.expires_at_ms)) changed_.wait(lock);
      if (is_renewing_ || (!is_refused_ && now < renew_at_ms_)) return token_.text;
      is_renewing_ = true;
    }
    const Result<StoreProperties> fresh = renew_();
    base::Lock lock(mutex_);
    is_renewing_ = false;
    changed_.notify_all();
    if (fresh.ok()) {
      adopt(token_of(*fresh));
    } else if (is_refused_ || base::wall_millis() >= token_.expires_at_ms) {
      return fresh.error();
    }
    return token_.text;
  }
  void refused(const std::string& token) override {
    base::Lock lock(mutex_);
    if (token == token_.text) is_refused_ = true;
  }

 private:
  void adopt(Token token) {
    const int64_t now = base::wall_millis();
    token_ = std::move(token);
    is_refused_ = false;
    renew_at_ms_ = token_.expires_at_ms == INT64_MAX ? INT64_MAX : now + (token_.expires_at_ms - now) * 2 / 3;
  }

  const RenewProperties renew_;
  base::Mutex mutex_;
  base::CondVar changed_;
  Token token_;
  int64_t renew_at_ms_ = 0;
  bool is_refused_ = false;
  bool is_renewing_ = false;
};

}  // namespace

std::shared_ptr<net::BearerTokens> make_vended_token(const StoreProperties& properties, RenewProperties renew) {
  return std::make_shared<VendedToken>(properties, std::move(renew));
}

}  // namespace frazil::io
