// The client over librdkafka against the embedded mock cluster. What the mock cannot show (transactions, topic ids after a
// recreation, truncation) is tested on a real broker.
#include <gtest/gtest.h>

#include <set>

#include "base/clock.h"
#include "clients/kafka/kafka_client.h"
#include "clients/kafka/kafka_producer.h"
#include "clients/kafka/mock_cluster.h"

namespace frazil::clients {

static base::MonoMicros soon() { return base::deadline_after(30 * 1000000); }

template <typename T>
static T value_of(base::Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  return std::move(result).value();
}

// Exactly these, whatever was fetched before.
static base::Status assign(KafkaClient& client, const std::map<TopicPartition, OffsetAndEpoch>& positions,
                           const std::map<TopicPartition, int>& lane_of) {
  TRY(client.unassign());
  return client.add(positions, lane_of);
}

class LibrdkafkaClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_ = value_of(MockCluster::start());
    ASSERT_TRUE(cluster_->create_topic("orders", 3).ok());
    producer_ = value_of(make_kafka_producer({.properties = {{"bootstrap.servers", cluster_->bootstrap_servers()}}}));
    ASSERT_TRUE(producer_->connect(soon()).ok());
  }

  std::unique_ptr<KafkaClient> make_client(std::string group, int lanes, std::map<std::string, std::string> more = {}) {
    more["bootstrap.servers"] = cluster_->bootstrap_servers();
    more["fetch.wait.max.ms"] = "50";  // the mock takes all of it before it tells that a partition is at its end
    auto client = value_of(make_librdkafka_client({.properties = more, .group_id = std::move(group), .lanes = lanes}));
    EXPECT_TRUE(client->connect(soon()).ok());
    return client;
  }

  void produce(int32_t partition, const std::vector<std::string>& values, int64_t timestamp_ms = 0) {
    std::vector<ProducedRecord> records;
    for (const std::string& value : values) {
      records.push_back({.partition = partition, .key = "k", .value = value, .has_key = true, .timestamp_ms = timestamp_ms});
    }
    ASSERT_TRUE(producer_->produce("orders", records, soon()).ok());
    ASSERT_TRUE(producer_->flush(soon()).ok());
    ASSERT_EQ(producer_->stats().failed_records, 0) << producer_->stats().last_error;
  }

  // What a control lane does all the time: librdkafka fetches nothing while the group waits for an answer.
  virtual void answer_the_group() {}

  // Values of one partition until its end was reported at `end`.
  std::vector<std::string> read_until(KafkaClient& client, int lane, int32_t partition, int64_t end) {
    std::vector<std::string> values;
    const auto deadline = soon();
    while (base::mono_micros() < deadline) {
      answer_the_group();
      auto batch = value_of(client.fetch(lane, 100, 1 << 20, base::deadline_after(50'000)));
      if (!batch || batch->partition.partition != partition) continue;
      for (const KafkaMessage& message : batch->messages) values.emplace_back(message.value);
      if (batch->is_at_end && batch->next_offset >= end) return values;
    }
    ADD_FAILURE() << "the end " << end << " of partition " << partition << " was not reached";
    return values;
  }

  // Leader epochs of all messages of orders/0.
  std::vector<int32_t> read_epochs(KafkaClient& client) {
    EXPECT_TRUE(assign(client, {{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
    std::vector<int32_t> epochs;
    const auto deadline = soon();
    bool is_at_end = false;
    while (!is_at_end && base::mono_micros() < deadline) {
      const auto batch = value_of(client.fetch(0, 100, 1 << 20, deadline));
      if (!batch) continue;
      for (const KafkaMessage& message : batch->messages) epochs.push_back(message.leader_epoch);
      is_at_end = batch->is_at_end;
    }
    return epochs;
  }

  KafkaEvent event_of_kind(KafkaClient& client, KafkaEventKind kind) {
    const auto deadline = soon();
    while (base::mono_micros() < deadline) {
      KafkaEvent event = value_of(client.poll_control(deadline));
      if (event.kind == kind) return event;
    }
    ADD_FAILURE() << "no such event";
    return {};
  }

  std::unique_ptr<MockCluster> cluster_;
  std::unique_ptr<KafkaProducer> producer_;
};

TEST_F(LibrdkafkaClientTest, ReadsAssignedPartitionsOnTheirLanesFromTheGivenOffsets) {
  produce(0, {"a", "b", "c"});
  produce(1, {"x", "y"});
  auto client = make_client("", 2);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {1, -1}}, {{"orders", 1}, {0, -1}}}, {{{"orders", 0}, 0}, {{"orders", 1}, 1}}).ok());
  EXPECT_EQ(read_until(*client, 0, 0, 3), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(read_until(*client, 1, 1, 2), (std::vector<std::string>{"x", "y"}));
}

TEST_F(LibrdkafkaClientTest, StartsAgainElsewhereOnAnotherLane) {
  produce(0, {"a", "b", "c"});
  auto client = make_client("", 2);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {0, 0}}}, {{{"orders", 0}, 0}}).ok());
  EXPECT_EQ(read_until(*client, 0, 0, 3), (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {1, 0}}}, {{{"orders", 0}, 1}}).ok());
  EXPECT_EQ(read_until(*client, 1, 0, 3), (std::vector<std::string>{"b", "c"}));
  ASSERT_TRUE(client->unassign().ok());
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {2, 0}}}, {{{"orders", 0}, 0}}).ok());
  EXPECT_EQ(read_until(*client, 0, 0, 3), std::vector<std::string>{"c"});
}

TEST_F(LibrdkafkaClientTest, TellsNullFromEmpty) {
  const std::vector<ProducedRecord> records = {
      {.partition = 0, .key = "", .value = "", .has_key = true, .has_value = true},
      {.partition = 0, .key = "", .value = "", .has_key = false, .has_value = false},
  };
  ASSERT_TRUE(producer_->produce("orders", records, soon()).ok());
  ASSERT_TRUE(producer_->flush(soon()).ok());
  auto client = make_client("", 1);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  std::vector<std::pair<bool, bool>> seen;
  const auto deadline = soon();
  while (seen.size() < 2 && base::mono_micros() < deadline) {
    auto batch = value_of(client->fetch(0, 100, 1 << 20, deadline));
    if (!batch) continue;
    for (const KafkaMessage& message : batch->messages) seen.emplace_back(message.has_key, message.has_value);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<bool, bool>>{{true, true}, {false, false}}));
}

TEST_F(LibrdkafkaClientTest, CutsBatchesByMessagesAndBytes) {
  produce(0, std::vector<std::string>(50, std::string(1000, 'x')));
  auto client = make_client("", 1);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  int64_t next = 0;
  const auto deadline = soon();
  while (next < 50 && base::mono_micros() < deadline) {
    auto batch = value_of(client->fetch(0, 7, 3500, deadline));
    if (!batch || batch->messages.empty()) continue;
    EXPECT_LE(batch->messages.size(), 4u);
    EXPECT_EQ(batch->messages.front().offset, next);
    next = batch->next_offset;
  }
  EXPECT_EQ(next, 50);
}

TEST_F(LibrdkafkaClientTest, KeepsAFetchedBatchAliveAfterTheClientIsGone) {
  produce(0, {"kept"});
  auto client = make_client("", 1);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  std::unique_ptr<FetchedBatch> batch;
  const auto deadline = soon();
  while ((!batch || batch->messages.empty()) && base::mono_micros() < deadline) {
    batch = value_of(client->fetch(0, 10, 1 << 20, deadline));
  }
  client.reset();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->messages.at(0).value, "kept");
}

TEST_F(LibrdkafkaClientTest, ReportsAnOffsetBeyondTheLog) {
  produce(0, {"a"});
  auto client = make_client("", 1);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {700, -1}}}, {{{"orders", 0}, 0}}).ok());
  base::Result<std::unique_ptr<FetchedBatch>> nothing = client->fetch(0, 10, 1 << 20, base::deadline_after(100000));
  KafkaEvent event;
  const auto deadline = soon();
  while (event.kind == KafkaEventKind::kNone && base::mono_micros() < deadline) {
    nothing = client->fetch(0, 10, 1 << 20, base::deadline_after(100000));
    event = value_of(client->poll_control(base::deadline_after(0)));
  }
  EXPECT_EQ(event.kind, KafkaEventKind::kOffsetOutOfRange) << event.text;
  ASSERT_EQ(event.partitions.size(), 1u);
  EXPECT_EQ(event.partitions[0], (TopicPartition{"orders", 0}));
  EXPECT_EQ(event.offset, 700);
}

TEST_F(LibrdkafkaClientTest, ReportsALogThatPartsFromThePosition) {
  produce(0, {"a", "b", "c"});
  ASSERT_TRUE(cluster_->elect("orders", 0, 1).ok());
  produce(0, {"other d", "other e", "other f"});
  auto client = make_client("", 1);
  ASSERT_EQ(read_epochs(*client), (std::vector<int32_t>{0, 0, 0, 1, 1, 1}));
  // Somebody read five records under the first leader, of which the second knows three.
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {5, 0}}}, {{{"orders", 0}, 0}}).ok());
  KafkaEvent event;
  const auto deadline = soon();
  while (event.kind == KafkaEventKind::kNone && base::mono_micros() < deadline) {
    const auto batch = value_of(client->fetch(0, 10, 1 << 20, base::deadline_after(100000)));
    EXPECT_TRUE(!batch || batch->messages.empty());
    event = value_of(client->poll_control(base::deadline_after(0)));
  }
  EXPECT_EQ(event.kind, KafkaEventKind::kLogTruncated) << event.text;
  EXPECT_EQ(event.offset, 3);
}

TEST_F(LibrdkafkaClientTest, GoesOnAtAPositionWhoseEpochHolds) {
  produce(0, {"a", "b", "c"});
  auto client = make_client("", 1);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {3, 0}}}, {{{"orders", 0}, 0}}).ok());
  EXPECT_TRUE(read_until(*client, 0, 0, 3).empty());
  produce(0, {"d"});
  EXPECT_EQ(read_until(*client, 0, 0, 4), std::vector<std::string>{"d"});
}

TEST_F(LibrdkafkaClientTest, DescribesTopicsAndLeavesOutUnknownOnes) {
  auto client = make_client("", 1);
  const ClusterDescription cluster = value_of(client->describe({"orders", "missing"}));
  EXPECT_EQ(cluster.topics.size(), 1u);
  EXPECT_EQ(cluster.topics.at("orders").partitions, 3);
}

TEST_F(LibrdkafkaClientTest, ListsOffsets) {
  produce(2, {"a", "b"});
  auto client = make_client("", 1);
  const std::vector<TopicPartition> partitions = {{"orders", 0}, {"orders", 2}};
  EXPECT_EQ(value_of(client->list_offsets(partitions, OffsetSpec::kLatest)),
            (std::map<TopicPartition, int64_t>{{{"orders", 0}, 0}, {{"orders", 2}, 2}}));
  EXPECT_EQ(value_of(client->list_offsets(partitions, OffsetSpec::kEarliest)).at({"orders", 2}), 0);
}

TEST_F(LibrdkafkaClientTest, MatchesTopicsByTheWholeName) {
  ASSERT_TRUE(cluster_->create_topic("orders-eu", 1).ok());
  ASSERT_TRUE(cluster_->create_topic("__internal", 1).ok());
  auto client = make_client("", 1);
  EXPECT_EQ(value_of(client->match_topics("orders")), std::vector<std::string>{"orders"});
  EXPECT_EQ(value_of(client->match_topics(".*")), (std::vector<std::string>{"orders", "orders-eu"}));
  EXPECT_EQ(client->match_topics("(").status().error().code(), base::Code::kInvalid);
}

TEST_F(LibrdkafkaClientTest, GetsAllPartitionsOfItsGroupAndCommitsOffsets) {
  produce(1, {"a", "b"});
  auto client = make_client("readers", 1);
  ASSERT_TRUE(client->subscribe({"orders"}).ok());
  const KafkaEvent assigned = event_of_kind(*client, KafkaEventKind::kAssigned);
  ASSERT_EQ(assigned.partitions.size(), 3u);
  std::map<TopicPartition, OffsetAndEpoch> positions;
  std::map<TopicPartition, int> lanes;
  for (const TopicPartition& partition : assigned.partitions) {
    positions[partition] = {0, -1};
    lanes[partition] = 0;
  }
  ASSERT_TRUE(assign(*client, positions, lanes).ok());
  EXPECT_EQ(read_until(*client, 0, 1, 2), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(client->commit_offsets({{{"orders", 1}, 2}}, "frazil").ok());
  const auto committed = value_of(client->committed({{"orders", 0}, {"orders", 1}}));
  EXPECT_EQ(committed.size(), 1u);
  EXPECT_EQ(committed.at({"orders", 1}).first, 2);
}

TEST_F(LibrdkafkaClientTest, AddsAndRemovesPartitionsWhileOthersAreRead) {
  for (int32_t partition = 0; partition < 3; ++partition) produce(partition, {"a", "b", "c"});
  auto client = make_client("", 2);
  ASSERT_TRUE(client->add({{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  EXPECT_EQ(read_until(*client, 0, 0, 3).size(), 3u);
  ASSERT_TRUE(client->add({{{"orders", 1}, {1, -1}}, {{"orders", 2}, {0, -1}}}, {{{"orders", 1}, 0}, {{"orders", 2}, 1}}).ok());
  EXPECT_EQ(read_until(*client, 0, 1, 3), (std::vector<std::string>{"b", "c"}));
  ASSERT_TRUE(client->remove({{"orders", 1}, {"orders", 2}}).ok());
  produce(1, {"not for us"});
  produce(2, {"nor this"});
  produce(0, {"d"});
  EXPECT_EQ(read_until(*client, 0, 0, 4), std::vector<std::string>{"d"});
  EXPECT_EQ(value_of(client->fetch(1, 100, 1 << 20, base::deadline_after(100'000))), nullptr);
  // Another start on another lane.
  ASSERT_TRUE(client->add({{{"orders", 2}, {1, -1}}}, {{{"orders", 2}, 0}}).ok());
  EXPECT_EQ(read_until(*client, 0, 2, 4), (std::vector<std::string>{"b", "c", "nor this"}));
}

TEST_F(LibrdkafkaClientTest, ForgetsWhatItHadOfARemovedPartition) {
  produce(0, std::vector<std::string>(20, "x"));
  auto client = make_client("", 1);
  ASSERT_TRUE(client->add({{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  std::unique_ptr<FetchedBatch> first;
  const auto deadline = soon();
  while (!first && base::mono_micros() < deadline) first = value_of(client->fetch(0, 5, 1 << 20, deadline));
  ASSERT_TRUE(first);
  ASSERT_TRUE(client->remove({{"orders", 0}}).ok());
  ASSERT_TRUE(client->add({{{"orders", 0}, {2, -1}}}, {{{"orders", 0}, 0}}).ok());
  std::unique_ptr<FetchedBatch> again;
  while (!again && base::mono_micros() < deadline) again = value_of(client->fetch(0, 5, 1 << 20, deadline));
  ASSERT_TRUE(again && !again->messages.empty());
  EXPECT_EQ(again->messages.front().offset, 2);
}

TEST_F(LibrdkafkaClientTest, EndsAtOnceWhenItIsFenced) {
  constexpr int16_t kHeartbeat = 12, kFencedInstanceId = 82;
  auto client = make_client("fenced", 1, {{"group.instance.id", "same"}, {"session.timeout.ms", "6000"}, {"heartbeat.interval.ms", "100"}});
  ASSERT_TRUE(client->subscribe({"orders"}).ok());
  ASSERT_EQ(event_of_kind(*client, KafkaEventKind::kAssigned).partitions.size(), 3u);
  ASSERT_TRUE(client->add({{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  cluster_->fail_requests(kHeartbeat, kFencedInstanceId, 20);
  ASSERT_EQ(event_of_kind(*client, KafkaEventKind::kFatal).kind, KafkaEventKind::kFatal);
  const base::MonoMicros begin = base::mono_micros();
  client.reset();
  EXPECT_LT(base::mono_micros() - begin, 5'000'000);
}

// One member, then two, each doing at once what the group says. The mock lets a rebalance last a second less than the session, and may
// need several.
class TwoMembers : public LibrdkafkaClientTest {
 protected:
  struct Member {
    std::unique_ptr<KafkaClient> client;
    std::set<TopicPartition> has;
    std::set<TopicPartition> had;  // and gave back
  };
  void join(Member& member, const std::string& strategy) {
    member.client = make_client("pair", 1, {{"session.timeout.ms", "3000"}, {"heartbeat.interval.ms", "200"},
                                            {"partition.assignment.strategy", strategy}});
    ASSERT_TRUE(member.client->subscribe({"orders"}).ok());
  }
  static void follow(Member& member) {
    const KafkaEvent event = value_of(member.client->poll_control(base::deadline_after(10'000)));
    if (event.kind == KafkaEventKind::kAssigned) {
      EXPECT_TRUE(begin(*member.client, event.partitions).ok());
      member.has.insert(event.partitions.begin(), event.partitions.end());
    } else if (event.kind == KafkaEventKind::kRevoked || event.kind == KafkaEventKind::kLost) {
      EXPECT_TRUE(member.client->remove(event.partitions).ok());
      member.had.insert(event.partitions.begin(), event.partitions.end());
      for (const TopicPartition& partition : event.partitions) member.has.erase(partition);
    }
  }
  static base::Status begin(KafkaClient& client, const std::vector<TopicPartition>& partitions) {
    std::map<TopicPartition, OffsetAndEpoch> positions;
    std::map<TopicPartition, int> lanes;
    for (const TopicPartition& partition : partitions) {
      positions[partition] = {0, -1};
      lanes[partition] = 0;
    }
    return client.add(positions, lanes);
  }
  void answer_the_group() override {
    for (Member* member : {&first_, &second_}) {
      if (member->client) follow(*member);
    }
  }
  void share(const std::string& strategy) {
    join(first_, strategy);
    const auto deadline = soon();
    while (first_.has.size() < 3 && base::mono_micros() < deadline) answer_the_group();
    join(second_, strategy);
    while ((first_.has.empty() || second_.has.empty() || first_.has.size() + second_.has.size() != 3) && base::mono_micros() < deadline) {
      answer_the_group();
    }
    ASSERT_FALSE(first_.has.empty());
    ASSERT_FALSE(second_.has.empty());
    ASSERT_EQ(first_.has.size() + second_.has.size(), 3u);
  }
  // Of the first member.
  void expect_reads(const std::set<TopicPartition>& partitions) {
    for (const TopicPartition& partition : partitions) {
      produce(partition.partition, {"read"});
      EXPECT_EQ(read_until(*first_.client, 0, partition.partition, 1), std::vector<std::string>{"read"});
    }
  }

  Member first_, second_;
};

TEST_F(TwoMembers, OfACooperativeGroupGoOnWithWhatStays) {
  share("cooperative-sticky");
  EXPECT_EQ(first_.had, second_.has);
  expect_reads(first_.has);
}

TEST_F(TwoMembers, OfAnEagerGroupGiveEverythingBackFirst) {
  share("range");
  EXPECT_EQ(first_.had.size(), 3u);
  expect_reads(first_.has);
}

TEST_F(LibrdkafkaClientTest, WakesAWaitingFetchAndPoll) {
  auto client = make_client("", 1);
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  const auto start = base::mono_micros();
  client->wake(0);
  client->wake(kControlLane);
  EXPECT_TRUE(client->fetch(0, 10, 1 << 20, base::deadline_after(60 * 1000000)).ok());
  EXPECT_EQ(value_of(client->poll_control(base::deadline_after(60 * 1000000))).kind, KafkaEventKind::kNone);
  EXPECT_LT(base::mono_micros() - start, 50 * 1000000);
}

TEST_F(LibrdkafkaClientTest, GoesOnAfterTheBrokerWasAway) {
  produce(0, {"a"});
  auto client = make_client("", 1, {{"reconnect.backoff.max.ms", "200"}});
  ASSERT_TRUE(assign(*client, {{{"orders", 0}, {0, -1}}}, {{{"orders", 0}, 0}}).ok());
  EXPECT_EQ(read_until(*client, 0, 0, 1), std::vector<std::string>{"a"});
  ASSERT_TRUE(cluster_->set_broker_up(1, false).ok());
  ASSERT_TRUE(cluster_->set_broker_up(1, true).ok());
  produce(0, {"b"});
  EXPECT_EQ(read_until(*client, 0, 0, 2), std::vector<std::string>{"b"});
}

TEST_F(LibrdkafkaClientTest, GivesNoOffsetsWhileTheBrokerIsAway) {
  auto client = make_client("", 1);
  EXPECT_EQ(value_of(client->list_offsets({{"orders", 0}}, OffsetSpec::kLatest)).size(), 1u);
  ASSERT_TRUE(cluster_->set_broker_up(1, false).ok());
  const base::Status silent = client->list_offsets({{"orders", 0}}, OffsetSpec::kLatest).status();
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().code(), base::Code::kUnavailable) << silent.error().message();
}

// Of Kafka's protocol.
constexpr int16_t kListOffsets = 2, kOffsetFetch = 9;
constexpr int16_t kNotLeader = 6, kCoordinatorLoads = 14, kNotCoordinator = 16, kGroupRefused = 30;

TEST_F(LibrdkafkaClientTest, AsksAgainWhileACoordinatorIsNotReady) {
  auto client = make_client("g", 1);
  for (const int16_t state : {kNotCoordinator, kCoordinatorLoads}) {
    cluster_->fail_requests(kOffsetFetch, state, 3);
    const auto committed = client->committed({{"orders", 0}});
    EXPECT_TRUE(committed.ok()) << committed.error().message();
  }
}

TEST_F(LibrdkafkaClientTest, AsksAgainWhileAPartitionHasNoLeader) {
  produce(0, {"a", "b"}, 1000);
  auto client = make_client("g", 1);
  cluster_->fail_requests(kListOffsets, kNotLeader, 2);
  EXPECT_EQ(value_of(client->list_offsets({{"orders", 0}}, OffsetSpec::kLatest)).size(), 1u);
  cluster_->fail_requests(kListOffsets, kNotLeader, 2);
  EXPECT_EQ(value_of(client->offsets_for_time({{"orders", 0}}, 500)).size(), 1u);
}

TEST_F(LibrdkafkaClientTest, TakesARefusalForOneAtOnce) {
  auto client = make_client("g", 1);
  cluster_->fail_requests(kOffsetFetch, kGroupRefused, 1);
  const auto refused = client->committed({{"orders", 0}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("GROUP_AUTHORIZATION_FAILED"), std::string::npos) << refused.error().message();
  EXPECT_TRUE(client->committed({{"orders", 0}}).ok());
}

TEST_F(LibrdkafkaClientTest, GivesUpOnAStateThatDoesNotPassInTime) {
  auto client = value_of(make_librdkafka_client(
      {.properties = {{"bootstrap.servers", cluster_->bootstrap_servers()}}, .group_id = "g", .settle_ms = 300}));
  ASSERT_TRUE(client->connect(soon()).ok());
  cluster_->fail_requests(kOffsetFetch, kNotCoordinator, 1000);
  const auto refused = client->committed({{"orders", 0}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("NOT_COORDINATOR"), std::string::npos) << refused.error().message();
}

TEST(LibrdkafkaClient, NamesTheLastErrorWhenNoBrokerAnswers) {
  auto client = value_of(make_librdkafka_client({.properties = {{"bootstrap.servers", "127.0.0.1:1"}}, .group_id = ""}));
  const base::Status status = client->connect(base::deadline_after(1500000));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), base::Code::kUnavailable);
  EXPECT_NE(status.error().message().find("last error"), std::string::npos) << status.error().message();
}

TEST(LibrdkafkaClient, RefusesAPropertyWithoutRepeatingItsValue) {
  const auto client = make_librdkafka_client({.properties = {{"bootstrap.servers", "127.0.0.1:1"}, {"security.protocol", "s3cret"}}, .group_id = ""});
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().code(), base::Code::kInvalid);
  EXPECT_EQ(client.error().message().find("s3cret"), std::string::npos);
}

}  // namespace frazil::clients
