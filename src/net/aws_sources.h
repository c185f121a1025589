// The places where AWS credentials may lie, one function each. kNotFound: nothing there; other errors as in
// aws_credentials.h. Any thread; those with an HttpClient may block.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "net/aws_credentials.h"
#include "net/http_client.h"

namespace frazil::net {

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
base::Result<AwsCredentials> credentials_of_environment(const AwsChainConfig& config);
// AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials, profile AWS_PROFILE or "default". Keys only: profiles that run a
// program, assume a role or sign in through a browser are refused by the name of what they use.
base::Result<AwsCredentials> credentials_of_profile(const AwsChainConfig& config);
// AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE (as Kubernetes sets them): the token is exchanged at STS, which answers
// in XML.
base::Result<AwsCredentials> credentials_of_web_identity(const AwsChainConfig& config, HttpClient& http);
// The role of this machine, by IMDSv2: a session token first, then the keys.
base::Result<AwsCredentials> credentials_of_instance(const AwsChainConfig& config, HttpClient& http);

}  // namespace frazil::net
