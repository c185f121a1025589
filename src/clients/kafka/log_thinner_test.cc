#include "clients/kafka/log_thinner.h"

#include <gtest/gtest.h>

namespace frazil::clients {

constexpr char kRefused[] =
    "[thrd:localhost:9092/1]: localhost:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused (after 0ms in state "
    "CONNECT, 28 identical error(s) suppressed)";

TEST(LogThinner, WritesALineOnceAMinuteAndCountsTheOthers) {
  LogThinner thinner;
  EXPECT_TRUE(thinner.look_at("FAIL", kRefused, 0).is_written);
  for (int i = 1; i < 60; ++i) EXPECT_FALSE(thinner.look_at("FAIL", kRefused, i * 1'000'000).is_written) << i;
  const auto verdict = thinner.look_at("FAIL", kRefused, 60'000'000);
  EXPECT_TRUE(verdict.is_written);
  EXPECT_EQ(verdict.kept_back, 59);
  EXPECT_EQ(thinner.look_at("FAIL", kRefused, 120'000'000).kept_back, 0);
}

TEST(LogThinner, TellsBrokersAndKindsApart) {
  LogThinner thinner;
  EXPECT_TRUE(thinner.look_at("FAIL", kRefused, 0).is_written);
  EXPECT_TRUE(thinner.look_at("ERROR", kRefused, 0).is_written);
  EXPECT_TRUE(thinner.look_at("FAIL", "[thrd:localhost:9093/2]: localhost:9093/2: Connection refused", 0).is_written);
  EXPECT_TRUE(thinner.look_at("FAIL", "[thrd:localhost:9092/1]: localhost:9092/1: Authentication failed", 0).is_written);
}

TEST(LogThinner, LeavesOutWhatChangesWithEachRepetition) {
  EXPECT_EQ(repeated_part("broker b:9092: timed out after 17 ms (after 4ms in state UP)"),
            repeated_part("broker b:9092: timed out after 23 ms (after 99ms in state UP, 3 identical error(s) suppressed)"));
  EXPECT_NE(repeated_part("broker b:9092 is down"), repeated_part("broker b:9093 is down"));
  EXPECT_EQ(repeated_part("3/3 brokers are down"), repeated_part("2/3 brokers are down"));
}

TEST(LogThinner, KnowsTheLineOfATopicThatIsGone) {
  EXPECT_TRUE(tells_of_a_lost_topic("PARTCNT", "[thrd:main]: Topic orders partition count changed from 3 to 0"));
  EXPECT_FALSE(tells_of_a_lost_topic("PARTCNT", "[thrd:main]: Topic orders partition count changed from 3 to 10"));
  EXPECT_FALSE(tells_of_a_lost_topic("FAIL", "[thrd:main]: from 3 to 0"));
}

TEST(LogThinner, WritesEachLineThatItHasNotSeen) {
  LogThinner thinner;
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(thinner.look_at("FAIL", "line x" + std::to_string(i), i).is_written);
}

}  // namespace frazil::clients
