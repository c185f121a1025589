// What the workers of one pipeline know and nobody else: by it they prove to each other who sent an epoch, and who a verdict.
//
// It is `commit.merge.secret`, or 64 hex digits in a file of the user's private folder, which the first worker makes and all of that
// user on the machine read. The key itself never travels: an epoch carries an HMAC-SHA-256 of its bytes, and so does the verdict, over
// the epoch's proof too, so that it answers this very epoch. An epoch that is sent again does no harm: it is stale. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::app {

// The key in a file of this folder, which is made if it is missing. kInvalid: others can read the file, or it holds no key;
// kUnavailable: the system refuses.
base::Result<std::string> merge_key_in(const std::string& folder);
// The same, in the private folder of this user (app/control/private_folder.h).
base::Result<std::string> merge_key_of_user();

// Value of the header Authorization.
std::string epoch_proof(std::string_view key, std::string_view epoch);
// Value of the header kVerdictProof.
inline constexpr char kVerdictProof[] = "frazil-proof";
std::string verdict_proof(std::string_view key, std::string_view epoch_proof, std::string_view verdict);

}  // namespace frazil::app
