// One request to an OAuth2 token endpoint (RFC 6749 section 5), and its answer. Any thread; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/bearer_tokens.h"
#include "net/http_client.h"
#include "net/renewed.h"

namespace frazil::net {

struct TokenRequest {
  std::string endpoint;
  std::vector<std::pair<std::string, std::string>> parameters;  // sent as a form; empty ones are left out
  std::vector<std::string> secrets;                             // never shown, however the server repeats them
  int64_t default_life_ms = 3'600'000;                          // when the answer names none
};

// Errors as BearerTokens::token().
base::Result<Fetched<std::string>> fetch_token(HttpClient& http, const TokenRequest& request);
// The token of an answer with `access_token` and `expires_in`. `what` names the endpoint.
base::Result<Fetched<std::string>> token_of_answer(const HttpResponse& answer, const std::string& what,
                                                   const std::vector<std::string>& secrets, int64_t default_life_ms);

// Tokens by a function, kept and renewed as net/renewed.h says.
std::shared_ptr<BearerTokens> make_renewed_tokens(std::function<base::Result<Fetched<std::string>>()> fetch);

}  // namespace frazil::net
