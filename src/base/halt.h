// A halt: a situation that cannot be continued without an operator's decision.
//
// The code is stable and documented; the text names the exact range; each choice carries a token that answers this halt
// and no later one (`frazil run FILE --accept CODE=choice@TOKEN`).
#pragma once

#include <string>
#include <vector>

namespace frazil::base {

struct HaltChoice {
  std::string name;     // "skip", "table", "source": the word after '='
  std::string meaning;  // what will happen to which range
};

struct Halt {
  std::string code;   // SOURCE_GAP, TABLE_ROLLED_BACK, ...
  std::string text;   // what happened, where, and what is at stake
  std::string range;  // the affected range in one stable line; part of the token
  std::string token;  // hash of code, range and snapshot
  std::vector<HaltChoice> choices;
};

// The token of a halt: 12 hex digits over code, range and the table's head snapshot id.
std::string halt_token(const std::string& code, const std::string& range, long long snapshot_id);

}  // namespace frazil::base
