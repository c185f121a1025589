#include "base/failpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/simulation.h"

namespace frazil::base {
namespace {

using testing::HasSubstr;

Failpoint alpha("test.alpha", "a place that can fail", Code::kUnknownOutcome);
Failpoint beta("test.beta", "a place that cannot");

class FailpointTest : public testing::Test {
 protected:
  void TearDown() override { disarm_failpoints(); }
};

std::string complaint(std::string_view text) {
  const Status status = arm_failpoints(text);
  return status.ok() ? "" : status.error().message();
}

TEST_F(FailpointTest, AreListedByNameWithTheirMeaning) {
  std::vector<std::string> names;
  for (const FailpointDoc& doc : all_failpoints()) names.push_back(doc.name + ": " + doc.meaning + (doc.can_fail ? " +" : ""));
  EXPECT_EQ(names, (std::vector<std::string>{"test.alpha: a place that can fail +", "test.beta: a place that cannot"}));
}

TEST_F(FailpointTest, DoNothingUntilArmed) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(alpha.pass().ok());
}

TEST_F(FailpointTest, FailAtTheHitThatWasAskedForAndNoOther) {
  ASSERT_TRUE(arm_failpoints("test.alpha=error@2").ok());
  EXPECT_TRUE(alpha.pass().ok());
  const Status second = alpha.pass();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), Code::kUnknownOutcome);
  EXPECT_THAT(second.error().message(), HasSubstr("test.alpha"));
  EXPECT_TRUE(alpha.pass().ok());
}

TEST_F(FailpointTest, WithAPlusFailAtEveryLaterPassToo) {
  ASSERT_TRUE(arm_failpoints("test.beta=delay:0,test.alpha=error@2+").ok());
  EXPECT_TRUE(alpha.pass().ok());
  EXPECT_FALSE(alpha.pass().ok());
  EXPECT_FALSE(alpha.pass().ok());
}

TEST_F(FailpointTest, CountFromTheMomentTheyAreArmed) {
  ASSERT_TRUE(arm_failpoints("test.alpha=error").ok());
  EXPECT_FALSE(alpha.pass().ok());
  ASSERT_TRUE(arm_failpoints("test.alpha=error").ok());
  EXPECT_FALSE(alpha.pass().ok());
}

TEST_F(FailpointTest, WaitAsLongAsTheDelaySays) {
  Simulation simulation(1);  // its time passes as it is told to
  simulation.run([] {
    ASSERT_TRUE(arm_failpoints("test.beta=delay:30000").ok());
    const MonoMicros begun = mono_micros();
    beta.pass_by();
    EXPECT_GE(mono_micros() - begun, 30'000'000);
    const MonoMicros second = mono_micros();
    beta.pass_by();
    EXPECT_LT(mono_micros() - second, 30'000'000) << "only the first hit waits";
  });
}

TEST_F(FailpointTest, KillTheProcessAndSayWhere) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  ASSERT_TRUE(arm_failpoints("test.beta=kill@3").ok());
  beta.pass_by();
  beta.pass_by();
  EXPECT_EXIT(beta.pass_by(), testing::KilledBySignal(SIGKILL), "failpoint_met name=test.beta action=kill hit=3");
}

TEST_F(FailpointTest, RefuseWhatIsNotUnderstoodAndArmNothing) {
  for (const char* text : {"test.alpha", "test.alpha=", "test.alpha=die", "test.alpha=kill@", "test.alpha=kill@0", "test.alpha=kill@x",
                           "test.alpha=delay", "test.alpha=delay:-1", "test.alpha=error,,", "=kill"}) {
    EXPECT_NE(complaint(text), "") << text;
  }
  EXPECT_THAT(complaint("test.alpha=error,test.gamma=kill"), HasSubstr("\"test.gamma\" does not exist"));
  EXPECT_THAT(complaint("test.alpha=error,test.alpha=kill"), HasSubstr("twice"));
  EXPECT_THAT(complaint("test.beta=error"), HasSubstr("cannot fail"));
  EXPECT_TRUE(alpha.pass().ok());
  EXPECT_EQ(complaint(""), "");
}

// The hash of a simulation in which two lanes pass a point, or do not.
uint64_t hash_of(bool passes) {
  Simulation simulation(7);
  simulation.run([&] {
    std::vector<Lane> lanes;
    for (int i = 0; i < 2; ++i) {
      lanes.emplace_back("lane", [&, i] {
        for (int turn = 0; turn < 20; ++turn) {
          io_point();
          if (passes) {
            EXPECT_TRUE(alpha.pass().ok());
          }
          log_info("turn", {{"lane", i}});
        }
      });
    }
    for (Lane& lane : lanes) lane.join();
  });
  return simulation.event_hash();
}

TEST_F(FailpointTest, LeaveTheOrderOfASimulationAsItWas) { EXPECT_EQ(hash_of(true), hash_of(false)); }

}  // namespace
}  // namespace frazil::base
