#include "app/control/halt_desk.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/interrupt.h"

namespace frazil::app {
namespace {

base::Halt gap() {
  base::Halt halt;
  halt.code = "SOURCE_GAP";
  halt.range = "orders/0[10,25)";
  halt.token = "aaaabbbbcccc";
  halt.choices = {{"skip", "leave them out"}};
  return halt;
}

engine::AcceptedChoice skip() { return {"SOURCE_GAP", "", "aaaabbbbcccc"}; }

// Waits on a lane of its own until the desk lists the halt.
class Waiting {
 public:
  Waiting(HaltDesk& desk, std::string pipeline, base::Halt halt)
      : lane_("waits", [this, &desk, pipeline, halt] { answer = desk.wait(pipeline, halt); }) {
    while (!desk.waiting().contains(pipeline)) base::Interrupt().wait_until(base::deadline_after(1000));
  }
  void join() { lane_.join(); }
  std::optional<HaltAnswer> answer;

 private:
  base::Lane lane_;
};

TEST(HaltDesk, HandsTheAnswerToThePipelineThatWaits) {
  HaltDesk desk({"orders", "returns"});
  Waiting waiting(desk, "orders", gap());
  EXPECT_EQ(desk.waiting().at("orders").range, "orders/0[10,25)");
  const auto taken = desk.answer("orders", skip(), "anna");
  ASSERT_TRUE(taken.ok()) << taken.error().message();
  EXPECT_EQ(*taken, "skip");
  waiting.join();
  ASSERT_TRUE(waiting.answer);
  EXPECT_EQ(waiting.answer->choice.choice, "skip");
  EXPECT_EQ(waiting.answer->user, "anna");
  EXPECT_TRUE(desk.waiting().empty());
}

TEST(HaltDesk, RefusesWhatAnswersAnotherHalt) {
  HaltDesk desk({"orders", "returns"});
  EXPECT_EQ(desk.answer("nobody", skip(), "anna").error().code(), base::Code::kInvalid);
  EXPECT_EQ(desk.answer("returns", skip(), "anna").error().code(), base::Code::kConflict);
  Waiting waiting(desk, "orders", gap());
  EXPECT_EQ(desk.answer("orders", {"SOURCE_GAP", "skip", "ffffffffffff"}, "anna").error().code(), base::Code::kConflict);
  EXPECT_EQ(desk.answer("orders", {"SOURCE_GONE", "", "aaaabbbbcccc"}, "anna").error().code(), base::Code::kConflict);
  EXPECT_EQ(desk.answer("orders", {"SOURCE_GAP", "restart", "aaaabbbbcccc"}, "anna").error().code(), base::Code::kInvalid);
  EXPECT_TRUE(desk.waiting().contains("orders"));  // none of them was taken
  desk.close();
  waiting.join();
  EXPECT_FALSE(waiting.answer);
}

TEST(HaltDesk, TakesOneAnswerAndNoSecond) {
  HaltDesk desk({"orders", "returns"});
  Waiting waiting(desk, "orders", gap());
  EXPECT_TRUE(desk.answer("orders", skip(), "anna").ok());
  EXPECT_FALSE(desk.answer("orders", skip(), "bert").ok());
  waiting.join();
  EXPECT_EQ(waiting.answer->user, "anna");
}

TEST(HaltDesk, GivesUpWhenTheLastPipelineEnds) {
  HaltDesk desk({"orders", "returns"});
  Waiting waiting(desk, "orders", gap());
  desk.ended("returns", "ended");
  waiting.join();
  EXPECT_FALSE(waiting.answer);
  EXPECT_NE(desk.answer("orders", skip(), "anna").error().message().find("it is halted"), std::string::npos);
}

TEST(HaltDesk, GivesUpWhenAllHaveHalted) {
  HaltDesk desk({"orders", "returns"});
  Waiting waiting(desk, "orders", gap());
  EXPECT_FALSE(desk.wait("returns", gap()));
  waiting.join();
  EXPECT_FALSE(waiting.answer);
}

TEST(HaltDesk, WaitsForNothingWithOnePipelineOrWithoutChoices) {
  HaltDesk alone({"orders"});
  EXPECT_FALSE(alone.wait("orders", gap()));
  HaltDesk desk({"orders", "returns"});
  base::Halt gone = gap();
  gone.choices.clear();
  EXPECT_FALSE(desk.wait("orders", gone));
}

}  // namespace
}  // namespace frazil::app
