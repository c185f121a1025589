#include "base/patience.h"

#include <gtest/gtest.h>

#include <optional>

namespace frazil::base {
namespace {

TEST(Patience, EndsWithTheStopWhenNobodyHoldsOn) {
  Interrupt stop;
  const auto patience = Patience::until(stop);
  EXPECT_FALSE(patience->over()->raised());
  stop.raise();
  EXPECT_TRUE(patience->over()->raised());
}

TEST(Patience, LastsAfterTheStopUntilTheLastHoldEnds) {
  Interrupt stop;
  const auto patience = Patience::until(stop);
  std::optional<Patience::Hold> first(std::in_place, patience), second(std::in_place, patience);
  stop.raise();
  first.reset();
  EXPECT_FALSE(patience->over()->raised());
  second.reset();
  EXPECT_TRUE(patience->over()->raised());
}

TEST(Patience, OutlastsHoldsThatEndBeforeTheStop) {
  Interrupt stop;
  const auto patience = Patience::until(stop);
  { Patience::Hold hold(patience); }
  EXPECT_FALSE(patience->over()->raised());
}

TEST(Patience, OfAStopThatCameBeforeIsOver) {
  Interrupt stop;
  stop.raise();
  EXPECT_TRUE(Patience::until(stop)->over()->raised());
}

}  // namespace
}  // namespace frazil::base
