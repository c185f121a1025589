#include "engine/ledger.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace frazil::engine {
namespace {

// Positions are decimal numbers; "?" compares with nothing.
class Numbers : public PositionFormat {
 public:
  std::string encode(const SourcePositions&) const override { return ""; }
  base::Result<SourcePositions> decode(const std::string&) const override { return SourcePositions{}; }
  std::string encode_ranges(const std::vector<Range>&) const override { return ""; }
  base::Result<std::vector<Range>> decode_ranges(const std::string&) const override { return std::vector<Range>{}; }
  Relation relate(const std::string& begin, const std::string& frontier) const override {
    if (begin == "?") return Relation::kIncomparable;
    const int b = std::atoi(begin.c_str());
    const int f = std::atoi(frontier.c_str());
    return b == f ? Relation::kAt : b < f ? Relation::kBehind : Relation::kBeyond;
  }
};

const Numbers kNumbers;
const SourcePositions kFrontier{"test", {{"cluster", "c"}}, {{"a", "10"}, {"b", "20"}}};

TEST(Ledger, AcceptsRangesThatBeginAtTheFrontier) {
  Ledger ledger(kNumbers, kFrontier);
  const std::vector<Range> ranges{{"a", "10", "15"}, {"b", "20", "20"}};
  EXPECT_EQ(ledger.judge(ranges).answer, Ledger::Answer::kAccept);
  ledger.accept(ranges, {{"topic/t", "id"}});
  EXPECT_EQ(ledger.frontier().next.at("a"), "15");
  EXPECT_EQ(ledger.frontier().next.at("b"), "20");
  EXPECT_EQ(ledger.frontier().identity.at("topic/t"), "id");
  EXPECT_EQ(ledger.frontier().identity.at("cluster"), "c");
}

TEST(Ledger, CallsARangeBehindTheFrontierStale) {
  const Ledger ledger(kNumbers, kFrontier);
  const auto judgement = ledger.judge({{"a", "9", "15"}});
  EXPECT_EQ(judgement.answer, Ledger::Answer::kStale);
  EXPECT_EQ(judgement.reason, "a begins at 9, the table is at 10");
}

TEST(Ledger, RejectsAGapBetweenEpochs) {
  const Ledger ledger(kNumbers, kFrontier);
  EXPECT_EQ(ledger.judge({{"a", "11", "15"}}).answer, Ledger::Answer::kGap);
}

TEST(Ledger, TakesAllOrNothing) {
  const Ledger ledger(kNumbers, kFrontier);
  EXPECT_EQ(ledger.judge({{"a", "10", "15"}, {"b", "19", "30"}}).answer, Ledger::Answer::kStale);
  EXPECT_EQ(ledger.judge({{"a", "10", "15"}, {"b", "21", "30"}}).answer, Ledger::Answer::kGap);
}

TEST(Ledger, AcceptsAnUnknownSplitFromItsOwnStartOnly) {
  Ledger ledger(kNumbers, kFrontier);
  EXPECT_EQ(ledger.judge({{"c", "3", "5", true}}).answer, Ledger::Answer::kAccept);
  EXPECT_EQ(ledger.judge({{"c", "3", "5", false}}).answer, Ledger::Answer::kStale);
  ledger.accept({{"c", "3", "5", true}}, {});
  EXPECT_EQ(ledger.judge({{"c", "3", "5", true}}).answer, Ledger::Answer::kStale);
  EXPECT_EQ(ledger.judge({{"c", "5", "6", true}}).answer, Ledger::Answer::kAccept);
}

TEST(Ledger, DropsWhatCannotBeCompared) {
  const Ledger ledger(kNumbers, kFrontier);
  EXPECT_EQ(ledger.judge({{"a", "?", "15"}}).answer, Ledger::Answer::kStale);
}

TEST(Ledger, AcceptsAnEpochWithoutRanges) {
  EXPECT_EQ(Ledger(kNumbers, kFrontier).judge({}).answer, Ledger::Answer::kAccept);
}

TEST(LedgerDeathTest, RefusesToAcceptWhatItRejected) {
  Ledger ledger(kNumbers, kFrontier);
  EXPECT_DEATH(ledger.accept({{"a", "9", "15"}}, {}), "broken invariant");
}

TEST(Ranges, JoinOnlyWhereTheyTouch) {
  std::vector<Range> ranges;
  extend(ranges, {"a", "1", "3", true});
  extend(ranges, {"b", "7", "8"});
  extend(ranges, {"a", "3", "9"});
  EXPECT_EQ(ranges, (std::vector<Range>{{"a", "1", "9", true}, {"b", "7", "8"}}));
  EXPECT_DEATH(extend(ranges, {"a", "10", "11"}), "broken invariant");
}

}  // namespace
}  // namespace frazil::engine
