// What endpoints that hand out tokens and keys answer, told so that a reader learns what to do and no secret shows.
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"

namespace frazil::net {

// Fetching once more does no harm, so an unknown outcome is an endpoint that is not to be reached now.
base::Error endpoint_error(const base::Error& error);
// For an answer that is none of 2xx: kInvalid when asking again would be refused again, else kUnavailable. `words`: the
// server's own.
base::Error refusal(const std::string& what, int status, const std::string& words);
// The text with *** in the place of
//  - each of `secrets` as it is, percent-encoded (also '+' for a space), escaped as JSON or HTML, or in base64, alone or
//    after a name as in `Basic`. Those of fewer than 4 bytes stay: they would hide ordinary words;
//  - whatever word follows `Bearer`, `Basic`, `x-amz-security-token` or `Signature`, whoever's it is.
std::string without_secrets(std::string text, const std::vector<std::string>& secrets);
// Foreign words as errors and logs may show them: without_secrets(), on one line, valid UTF-8, no control characters, cut
// to `at_most` bytes between two characters. Always in this order, so that no half of a secret is left at the cut.
std::string tamed(std::string_view words, const std::vector<std::string>& secrets, size_t at_most = 400);
// Milliseconds since 1970 of "2026-01-31T12:34:56Z" (a fraction is cut); 0 for anything else.
int64_t parse_utc_ms(std::string_view text);
// "name=value&…", encoded, as forms are sent. Parameters with an empty value are left out.
std::string form(const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace frazil::net
