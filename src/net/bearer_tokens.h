// BearerTokens: where the `Authorization: Bearer` of requests comes from.
//
// A token is kept and shared; it is fetched anew at two thirds of its life, by one thread while the others go on with
// the one that still holds, and at once when there is none. Any thread; token() may block for a request to the token
// endpoint. Secrets and tokens never stand in errors or logs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/http_client.h"

namespace frazil::net {

class BearerTokens {
 public:
  virtual ~BearerTokens() = default;
  // kUnavailable: the endpoint cannot be reached now. kInvalid: it refuses the credential (its words in the message).
  virtual base::Result<std::string> token() = 0;
  // The server refused `token` (401, 419): the next token() fetches a new one, unless another was fetched since.
  virtual void refused(const std::string& token) = 0;
};

// A token that never changes.
std::shared_ptr<BearerTokens> make_fixed_token(std::string token);

// OAuth2 client credentials (RFC 6749 section 4.4).
struct ClientCredentials {
  std::string token_endpoint;  // absolute URL
  std::string client_id;       // empty: only the secret is sent, as Iceberg's `credential` without a colon means
  std::string client_secret;
  std::string scope = "catalog";
  std::map<std::string, std::string> extra;  // audience, resource
  int64_t default_life_ms = 3'600'000;       // when the answer names none
};
std::shared_ptr<BearerTokens> make_client_credentials(std::shared_ptr<HttpClient> http, ClientCredentials credentials);

// Google service account: a JSON key file; a signed assertion is exchanged at its token_uri (RFC 7523).
base::Result<std::shared_ptr<BearerTokens>> make_google_service_account(std::shared_ptr<HttpClient> http,
                                                                        const std::string& key_file,
                                                                        const std::string& scope);
// Google's metadata server; only when asked for.
std::shared_ptr<BearerTokens> make_google_metadata_tokens(std::shared_ptr<HttpClient> http,
                                                          std::string host = "metadata.google.internal");

}  // namespace frazil::net
