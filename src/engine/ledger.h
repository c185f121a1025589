// Ledger: decides which staged work may be committed. Pure: no clock, no I/O, no table.
//
// The rule: a worker's epoch is accepted only if every range begins where the table's positions end, all or nothing. Behind
// them it is stale (somebody else committed those rows), beyond them there is a gap (an earlier epoch is missing). A split
// that the table does not know is accepted from its own start only.
#pragma once

#include <string>
#include <vector>

#include "engine/position.h"

namespace frazil::engine {

class Ledger {
 public:
  // `format` outlives the ledger. `frontier`: what the table says, in the very metadata version that will be asserted.
  Ledger(const PositionFormat& format, SourcePositions frontier) : format_(format), frontier_(std::move(frontier)) {}

  enum class Answer { kAccept, kStale, kGap };
  struct Judgement {
    Answer answer = Answer::kAccept;
    std::string reason;  // names the split and both positions
  };
  Judgement judge(const std::vector<Range>& ranges) const;

  // Moves the frontier over ranges that were judged kAccept, and merges the identity that came with them.
  void accept(const std::vector<Range>& ranges, const std::map<std::string, std::string>& identity);

  // The first positions that no accepted epoch covers. A rejected worker starts here.
  const SourcePositions& frontier() const { return frontier_; }

 private:
  const PositionFormat& format_;
  SourcePositions frontier_;
};

// Joins a later range of the same split onto an earlier one; CHECKs that they touch.
void extend(std::vector<Range>& ranges, const Range& next);

}  // namespace frazil::engine
