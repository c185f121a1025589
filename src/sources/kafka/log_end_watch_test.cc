#include "sources/kafka/log_end_watch.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/clock.h"
#include "base/simulation.h"

namespace frazil::sources {

using clients::OffsetSpec;
using clients::TopicPartition;

constexpr int64_t kSecond = 1'000'000;

// Answers with one pair of ends for every partition, or not at all.
class EndsClient : public clients::KafkaClient {
 public:
  int64_t stable = 0, log_end = 0;
  bool answers = true;
  int questions = 0;

  base::Status connect(base::MonoMicros) override { return {}; }
  base::Result<clients::ClusterDescription> describe(const std::vector<std::string>&) override {
    if (!answers) return base::unavailable("timed out");
    return clients::ClusterDescription();
  }
  base::Result<std::vector<std::string>> match_topics(const std::string&) override { return std::vector<std::string>(); }
  base::Result<std::map<TopicPartition, int64_t>> list_offsets(const std::vector<TopicPartition>& partitions,
                                                               OffsetSpec spec) override {
    ++questions;
    if (!answers) return base::unavailable("timed out");
    std::map<TopicPartition, int64_t> offsets;
    for (const TopicPartition& partition : partitions) offsets[partition] = spec == OffsetSpec::kLogEnd ? log_end : stable;
    return offsets;
  }
  base::Result<std::map<TopicPartition, int64_t>> offsets_for_time(const std::vector<TopicPartition>& partitions, int64_t) override {
    return list_offsets(partitions, OffsetSpec::kLatest);
  }
  base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> committed(const std::vector<TopicPartition>&) override {
    return std::map<TopicPartition, std::pair<int64_t, std::string>>();
  }
  base::Status subscribe(const std::vector<std::string>&) override { return {}; }
  base::Status add(const std::map<TopicPartition, clients::OffsetAndEpoch>&, const std::map<TopicPartition, int>&) override { return {}; }
  base::Status remove(const std::vector<TopicPartition>&) override { return {}; }
  base::Status unassign() override { return {}; }
  base::Result<clients::KafkaEvent> poll_control(base::MonoMicros) override { return clients::KafkaEvent(); }
  base::Result<std::unique_ptr<clients::FetchedBatch>> fetch(int, int, int64_t, base::MonoMicros) override {
    return std::unique_ptr<clients::FetchedBatch>();
  }
  void wake(int) override {}
  base::Status commit_offsets(const std::map<TopicPartition, int64_t>&, const std::string&) override { return {}; }
  std::string last_error() const override { return answers ? "" : "b:9092: Connection refused"; }
  void close() override {}
};

// In virtual time, with patience of a minute.
class LogEndWatchTest : public ::testing::Test {
 protected:
  void in_virtual_time(const std::function<void()>& body) {
    base::Simulation simulation(1);
    simulation.run(body);
  }
  static void pass(int64_t micros) {
    base::Mutex mutex;
    base::CondVar never;
    base::Lock lock(mutex);
    const base::MonoMicros end = base::deadline_after(micros);
    while (base::mono_micros() < end) never.wait_until(lock, end);
  }
  // As the control lane does, once a second.
  void look(int64_t seconds) {
    for (int64_t i = 0; i < seconds; ++i) {
      lag = watch.lag(positions);
      pass(kSecond);
    }
  }

  EndsClient client;
  LogEndWatch watch{client, 60'000};
  engine::SourcePositions positions{"kafka", {}, {{"orders/0", "90@1"}}};
  std::vector<engine::SplitLag> lag;
};

TEST_F(LogEndWatchTest, CountsRecordsUpToTheStableEndAndAsksOnceASecond) {
  in_virtual_time([&] {
    client.stable = client.log_end = 100;
    watch.follow({{"orders", 0}, {"orders", 1}});
    for (int i = 0; i < 5; ++i) lag = watch.lag(positions);
  });
  ASSERT_EQ(lag.size(), 2u);
  EXPECT_EQ(lag[0].lag, 10);
  EXPECT_EQ(lag[1].lag, -1);
  EXPECT_EQ(client.questions, 2);  // stable ends and log ends
}

TEST_F(LogEndWatchTest, SaysSinceWhenTheClusterIsSilentAndWhy) {
  in_virtual_time([&] {
    client.stable = client.log_end = 100;
    watch.follow({{"orders", 0}});
    look(3);
    EXPECT_EQ(watch.health().disconnected_since, 0);
    client.answers = false;
    const base::MonoMicros before = base::mono_micros();
    look(20);
    const engine::SourceHealth health = watch.health();
    EXPECT_GE(health.disconnected_since, before);
    EXPECT_LE(health.disconnected_since, before + 2 * kSecond);
    EXPECT_NE(health.problem.find("Connection refused"), std::string::npos);
    EXPECT_EQ(lag[0].lag, 10);  // the last answer
    client.answers = true;
    look(2);
    EXPECT_EQ(watch.health().disconnected_since, 0);
    EXPECT_EQ(watch.health().problem, "");
  });
}

TEST_F(LogEndWatchTest, NoticesASilentClusterWithoutPartitions) {
  in_virtual_time([&] {
    client.answers = false;
    watch.follow({});
    look(2);
    EXPECT_NE(watch.health().disconnected_since, 0);
  });
}

TEST_F(LogEndWatchTest, ReportsATransactionThatStaysOpen) {
  in_virtual_time([&] {
    client.stable = 100;
    client.log_end = 107;
    watch.follow({{"orders", 0}});
    look(50);
    EXPECT_TRUE(watch.health().stuck.empty());
    look(30);
    const auto stuck = watch.health().stuck;
    ASSERT_EQ(stuck.size(), 1u);
    EXPECT_EQ(stuck[0].split, "orders/0");
    EXPECT_EQ(stuck[0].position, "100");
    EXPECT_EQ(stuck[0].waiting, 7);
    EXPECT_NE(stuck[0].reason.find("describe-producers --topic orders --partition 0"), std::string::npos);
    client.stable = 108;
    client.log_end = 108;
    look(30);
    EXPECT_TRUE(watch.health().stuck.empty());
  });
}

TEST_F(LogEndWatchTest, TakesATransactionAfterTheOtherForNoneThatHangs) {
  in_virtual_time([&] {
    client.log_end = 1'000'000;
    watch.follow({{"orders", 0}});
    for (int i = 0; i < 40; ++i) {
      client.stable = 100 + i;
      look(20);
      EXPECT_TRUE(watch.health().stuck.empty());
    }
  });
}

TEST_F(LogEndWatchTest, ForgetsPartitionsThatAreReadByOthersNow) {
  in_virtual_time([&] {
    client.stable = 100;
    client.log_end = 107;
    watch.follow({{"orders", 0}});
    look(90);
    EXPECT_EQ(watch.health().stuck.size(), 1u);
    watch.follow({{"orders", 1}});
    EXPECT_TRUE(watch.health().stuck.empty());
  });
}

}  // namespace frazil::sources
