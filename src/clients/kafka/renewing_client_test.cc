#include "clients/kafka/renewing_client.h"

#include <gtest/gtest.h>

#include <deque>

namespace frazil::clients {
namespace {

const TopicPartition kFirst{"orders", 0};
const TopicPartition kSecond{"orders", 1};

// What clients, one after the other, were asked.
struct Told {
  int made = 0;
  bool refuses = false;  // to make another
  std::vector<std::string> calls;
  std::deque<KafkaEvent> events;
};

class ToldClient : public KafkaClient {
 public:
  ToldClient(Told& told, int number) : told_(told), name_(std::to_string(number)) {}
  base::Status connect(base::MonoMicros) override { return {}; }
  base::Result<ClusterDescription> describe(const std::vector<std::string>&) override { return ClusterDescription{.cluster_id = name_, .topics = {}}; }
  base::Result<std::vector<std::string>> match_topics(const std::string&) override { return std::vector<std::string>(); }
  base::Result<std::map<TopicPartition, int64_t>> list_offsets(const std::vector<TopicPartition>&, OffsetSpec) override {
    return std::map<TopicPartition, int64_t>();
  }
  base::Result<std::map<TopicPartition, int64_t>> offsets_for_time(const std::vector<TopicPartition>&, int64_t) override {
    return std::map<TopicPartition, int64_t>();
  }
  base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> committed(const std::vector<TopicPartition>&) override {
    return std::map<TopicPartition, std::pair<int64_t, std::string>>();
  }
  base::Status subscribe(const std::vector<std::string>& topics) override { return tell("subscribe " + topics.at(0)); }
  base::Status add(const std::map<TopicPartition, OffsetAndEpoch>&, const std::map<TopicPartition, int>&) override { return tell("add"); }
  base::Status remove(const std::vector<TopicPartition>&) override { return tell("remove"); }
  base::Status unassign() override { return tell("unassign"); }
  base::Result<KafkaEvent> poll_control(base::MonoMicros) override {
    if (told_.events.empty()) return KafkaEvent();
    KafkaEvent event = std::move(told_.events.front());
    told_.events.pop_front();
    return event;
  }
  base::Result<std::unique_ptr<FetchedBatch>> fetch(int, int, int64_t, base::MonoMicros) override { return std::unique_ptr<FetchedBatch>(); }
  void wake(int) override {}
  base::Status commit_offsets(const std::map<TopicPartition, int64_t>&, const std::string&) override { return tell("commit"); }
  void close() override { (void)tell("close").ok(); }

 private:
  base::Status tell(const std::string& call) {
    told_.calls.push_back(name_ + " " + call);
    return {};
  }
  Told& told_;
  const std::string name_;
};

class RenewingClientTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = make_renewing_client([this]() -> base::Result<std::unique_ptr<KafkaClient>> {
      if (told_.refuses) return base::unavailable("no memory");
      return std::unique_ptr<KafkaClient>(std::make_unique<ToldClient>(told_, ++told_.made));
    });
    ASSERT_TRUE(made.ok());
    client_ = std::move(made).value();
    ASSERT_TRUE(client_->subscribe({"orders"}).ok());
  }
  KafkaEvent poll(KafkaEventKind kind, std::vector<TopicPartition> partitions = {}) {
    told_.events.push_back({.kind = kind, .partitions = std::move(partitions), .offset = -1, .text = "why"});
    return client_->poll_control(0).value();
  }

  Told told_;
  std::unique_ptr<KafkaClient> client_;
};

using Calls = std::vector<std::string>;

TEST_F(RenewingClientTest, KeepsAClientThatIsOfUse) {
  EXPECT_EQ(poll(KafkaEventKind::kAssigned, {kFirst}).kind, KafkaEventKind::kAssigned);
  ASSERT_TRUE(client_->unassign().ok());
  EXPECT_EQ(told_.calls, (Calls{"1 subscribe orders", "1 unassign"}));
}

TEST_F(RenewingClientTest, MakesAnotherAfterAFatalErrorAndSubscribesAsBefore) {
  EXPECT_EQ(poll(KafkaEventKind::kFatal).kind, KafkaEventKind::kFatal);
  EXPECT_EQ(told_.made, 1) << "while others may still fetch";
  ASSERT_TRUE(client_->unassign().ok());
  EXPECT_EQ(told_.calls, (Calls{"1 subscribe orders", "1 close", "2 subscribe orders"}));
  EXPECT_EQ(client_->describe({})->cluster_id, "2");
  ASSERT_TRUE(client_->unassign().ok());
  EXPECT_EQ(told_.calls.back(), "2 unassign");
}

TEST_F(RenewingClientTest, TellsThatWhatTheOldOneHadIsLost) {
  poll(KafkaEventKind::kAssigned, {kFirst, kSecond});
  poll(KafkaEventKind::kRevoked, {kSecond});
  poll(KafkaEventKind::kFatal);
  ASSERT_TRUE(client_->unassign().ok());
  const KafkaEvent lost = poll(KafkaEventKind::kAssigned, {kSecond});
  EXPECT_EQ(lost.kind, KafkaEventKind::kLost);
  EXPECT_EQ(lost.partitions, std::vector<TopicPartition>{kFirst});
  EXPECT_EQ(client_->poll_control(0)->kind, KafkaEventKind::kAssigned);
  EXPECT_EQ(client_->poll_control(0)->kind, KafkaEventKind::kNone);
}

TEST_F(RenewingClientTest, KeepsTheOldOneWhileNoneCanBeMade) {
  poll(KafkaEventKind::kFatal);
  told_.refuses = true;
  EXPECT_FALSE(client_->unassign().ok());
  EXPECT_EQ(client_->describe({})->cluster_id, "1");
  told_.refuses = false;
  ASSERT_TRUE(client_->unassign().ok());
  EXPECT_EQ(client_->describe({})->cluster_id, "2");
}

TEST_F(RenewingClientTest, ClosesOnceAndMakesNoneAfterwards) {
  poll(KafkaEventKind::kFatal);
  client_->close();
  client_->close();
  ASSERT_TRUE(client_->unassign().ok());
  EXPECT_EQ(told_.made, 1);
  EXPECT_EQ(told_.calls, (Calls{"1 subscribe orders", "1 close", "1 unassign"}));
}

}  // namespace
}  // namespace frazil::clients
