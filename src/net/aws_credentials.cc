#include "net/aws_credentials.h"

#include <cstdlib>

#include "base/clock.h"
#include "net/aws_sources.h"
#include "net/renewed.h"

namespace frazil::net {

namespace {

using base::Code;
using base::Result;

class FixedCredentials : public AwsCredentialsProvider {
 public:
  explicit FixedCredentials(AwsCredentials credentials) : credentials_(std::move(credentials)) {}
  Result<AwsCredentials> get() override { return credentials_; }
  void refused(const AwsCredentials&) override {}

 private:
  const AwsCredentials credentials_;
};

// What is over by this clock is used all the same, for a while: the store's word counts, and this clock may be wrong.
int64_t life_ms_of(const AwsCredentials& credentials) {
  constexpr int64_t kDoubtfulLifeMs = 60'000;
  if (credentials.expires_at_ms == 0) return 0;
  const int64_t life_ms = credentials.expires_at_ms - base::wall_millis();
  return life_ms > 0 ? life_ms : kDoubtfulLifeMs;
}

class RenewedCredentials : public AwsCredentialsProvider {
 public:
  explicit RenewedCredentials(std::function<Result<AwsCredentials>()> fetch)
      : renewed_([fetch = std::move(fetch)]() -> Result<Fetched<AwsCredentials>> {
          TRY_ASSIGN(AwsCredentials credentials, fetch());
          return Fetched<AwsCredentials>{credentials, life_ms_of(credentials)};
        }) {}
  Result<AwsCredentials> get() override { return renewed_.get(); }
  void refused(const AwsCredentials& credentials) override {
    renewed_.refused([&](const AwsCredentials& kept) {
      return kept.access_key_id == credentials.access_key_id &&
             kept.secret_access_key == credentials.secret_access_key && kept.session_token == credentials.session_token;
    });
  }

 private:
  Renewed<AwsCredentials> renewed_;
};

// The first source that has any; one that has wrong ones ends the search, lest a mistake silently picks another
// identity.
Result<AwsCredentials> first_of_chain(const AwsChainConfig& config, HttpClient& http) {
  const auto has_answer = [](const Result<AwsCredentials>& result) {
    return result.ok() || result.error().code() != Code::kNotFound;
  };
  auto found = credentials_of_environment(config);
  if (!has_answer(found)) found = credentials_of_profile(config);
  if (!has_answer(found)) found = credentials_of_web_identity(config, http);
  if (!has_answer(found) && config.instance_metadata) found = credentials_of_instance(config, http);
  if (has_answer(found)) return std::move(found).in("AWS credentials");
  return base::not_found(
      std::string("no AWS credentials: set s3.access-key-id and s3.secret-access-key, or AWS_ACCESS_KEY_ID and "
                  "AWS_SECRET_ACCESS_KEY, or a profile file, or a web identity") +
      (config.instance_metadata ? "; the instance metadata has none either" : ", or s3.instance-metadata: true"));
}

}  // namespace

std::shared_ptr<AwsCredentialsProvider> make_fixed_aws_credentials(AwsCredentials credentials) {
  return std::make_shared<FixedCredentials>(std::move(credentials));
}

std::shared_ptr<AwsCredentialsProvider> make_renewed_aws_credentials(std::function<Result<AwsCredentials>()> fetch) {
  return std::make_shared<RenewedCredentials>(std::move(fetch));
}

std::shared_ptr<AwsCredentialsProvider> make_aws_chain(AwsChainConfig config, std::shared_ptr<HttpClient> http) {
  return make_renewed_aws_credentials(
      [config = std::move(config), http = std::move(http)] { return first_of_chain(config, *http); });
}

std::map<std::string, std::string> aws_environment() {
  std::map<std::string, std::string> found;
  for (const char* name :
       {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_SESSION_NAME", "AWS_REGION", "HOME"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') found[name] = value;
  }
  return found;
}

}  // namespace frazil::net
