#include "engine/ledger.h"

#include "base/check.h"

namespace frazil::engine {

Ledger::Judgement Ledger::judge(const std::vector<Range>& ranges) const {
  for (const Range& range : ranges) {
    const auto known = frontier_.next.find(range.split);
    if (known == frontier_.next.end()) {
      if (range.is_first) continue;
      return {Answer::kStale, range.split + " begins at " + range.begin + ", but the table knows no position of it"};
    }
    const std::string where = range.split + " begins at " + range.begin + ", the table is at " + known->second;
    switch (format_.relate(range.begin, known->second)) {
      case Relation::kAt: continue;
      case Relation::kBeyond: return {Answer::kGap, where};
      case Relation::kBehind:
      case Relation::kIncomparable: return {Answer::kStale, where};
    }
  }
  return {};
}

void Ledger::accept(const std::vector<Range>& ranges, const std::map<std::string, std::string>& identity) {
  CHECK(judge(ranges).answer == Answer::kAccept);
  for (const Range& range : ranges) frontier_.next[range.split] = range.end;
  for (const auto& [key, value] : identity) frontier_.identity[key] = value;
}

void extend(std::vector<Range>& ranges, const Range& next) {
  for (Range& range : ranges) {
    if (range.split != next.split) continue;
    CHECK(range.end == next.begin);
    range.end = next.end;
    return;
  }
  ranges.push_back(next);
}

}  // namespace frazil::engine
