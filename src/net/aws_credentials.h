// AwsCredentials: who signs requests to S3 (and to catalogs with SigV4). Any thread; get() may block for a request.
//
// Providers keep what they got and renew it at two thirds of its life, one thread at a time. kNotFound: nothing to be
// had there, a chain asks the next; kInvalid: there is something and it is wrong; kUnavailable: try again later.
// Secrets never stand in errors or logs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"

namespace frazil::net {

struct AwsCredentials {
  std::string access_key_id;  // empty: anonymous, requests are not signed
  std::string secret_access_key;
  std::string session_token;  // may be empty
  int64_t expires_at_ms = 0;  // wall clock; 0: never
  bool is_anonymous() const { return access_key_id.empty(); }
};

class AwsCredentialsProvider {
 public:
  virtual ~AwsCredentialsProvider() = default;
  virtual base::Result<AwsCredentials> get() = 0;
  // The store refused these (expired, unknown key): the next get() asks anew where that can help.
  virtual void refused(const AwsCredentials& credentials) = 0;
};

std::shared_ptr<AwsCredentialsProvider> make_fixed_aws_credentials(AwsCredentials credentials);
// Renewed by a function of the owner, such as a catalog that vends them.
std::shared_ptr<AwsCredentialsProvider> make_renewed_aws_credentials(
    std::function<base::Result<AwsCredentials>()> fetch);

struct AwsChainConfig {
  std::map<std::string, std::string>
      environment;  // AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE,
                    // AWS_SHARED_CREDENTIALS_FILE, AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_SESSION_NAME,
                    // AWS_REGION, HOME
  std::string sts_endpoint;  // empty: https://sts.<region>.amazonaws.com
  std::string region = "us-east-1";
  bool instance_metadata = false;  // ask the instance (IMDSv2) last; off unless the configuration asks
  std::string instance_metadata_endpoint = "http://169.254.169.254";
};
// Environment, then the profile file, then web identity, then (if asked) instance metadata: the first that has any.
std::shared_ptr<AwsCredentialsProvider> make_aws_chain(AwsChainConfig config, std::shared_ptr<HttpClient> http);
// The variables above, of this process.
std::map<std::string, std::string> aws_environment();

}  // namespace frazil::net
