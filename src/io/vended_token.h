// A bearer token for a store that a catalog hands out with a table, and hands out anew.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/store_properties.h"
#include "net/bearer_tokens.h"

namespace frazil::io {

// Begins with the token of `properties` (gcs.oauth2.token, gcs.oauth2.token-expires-at in milliseconds, 0: never). `renew` is asked when two
// thirds of its life are over or the store refused it, by one thread at a time; while it fails, a token that still holds goes on.
std::shared_ptr<net::BearerTokens> make_vended_token(const StoreProperties& properties, RenewProperties renew);

}  // namespace frazil::io
