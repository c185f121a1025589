#include "net/bearer_tokens.h"

#include "base/failpoint.h"
#include "net/renewed.h"
#include "net/token_endpoint.h"

namespace frazil::net {

namespace {

using base::Result;

base::Failpoint token_refresh("token.refresh", "a token is about to be fetched", base::Code::kUnavailable);
base::Failpoint token_fetched("token.fetched", "a token was fetched and nobody has it yet", base::Code::kUnavailable);

class FixedToken : public BearerTokens {
 public:
  explicit FixedToken(std::string token) : token_(std::move(token)) {}
  Result<std::string> token() override { return token_; }
  void refused(const std::string&) override {}

 private:
  const std::string token_;
};

class RenewedTokens : public BearerTokens {
 public:
  explicit RenewedTokens(std::function<Result<Fetched<std::string>>()> fetch) : renewed_(std::move(fetch)) {}
  Result<std::string> token() override { return renewed_.get(); }
  void refused(const std::string& token) override {
    renewed_.refused([&](const std::string& kept) { return kept == token; });
  }

 private:
  Renewed<std::string> renewed_;
};

}  // namespace

std::shared_ptr<BearerTokens> make_fixed_token(std::string token) {
  return std::make_shared<FixedToken>(std::move(token));
}

std::shared_ptr<BearerTokens> make_renewed_tokens(std::function<Result<Fetched<std::string>>()> fetch) {
  return std::make_shared<RenewedTokens>(std::move(fetch));
}

std::shared_ptr<BearerTokens> make_client_credentials(std::shared_ptr<HttpClient> http, ClientCredentials credentials) {
  return make_renewed_tokens([http = std::move(http), credentials = std::move(credentials)]() -> Result<Fetched<std::string>> {
    TokenRequest request;
    request.endpoint = credentials.token_endpoint;
    request.parameters = {{"grant_type", "client_credentials"},
                          {"client_id", credentials.client_id},
                          {"client_secret", credentials.client_secret},
                          {"scope", credentials.scope}};
    request.parameters.insert(request.parameters.end(), credentials.extra.begin(), credentials.extra.end());
    request.secrets = {credentials.client_secret};
    request.default_life_ms = credentials.default_life_ms;
    TRY(token_refresh.pass());
    Result<Fetched<std::string>> fetched = fetch_token(*http, request);
    TRY(token_fetched.pass());
    return fetched;
  });
}

}  // namespace frazil::net
