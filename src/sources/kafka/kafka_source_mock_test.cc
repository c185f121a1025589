// The Kafka source over librdkafka and the embedded mock cluster.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "clients/kafka/kafka_producer.h"
#include "clients/kafka/mock_cluster.h"
#include "sources/kafka/kafka_source.h"

namespace frazil::sources {

using engine::SourceEvent;
using engine::SourcePositions;

static base::MonoMicros soon() { return base::deadline_after(30 * 1000000); }

class KafkaSourceMockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_ = clients::MockCluster::start().value();
    ASSERT_TRUE(cluster_->create_topic("orders", 3).ok());
    producer_ = clients::make_kafka_producer({.properties = {{"bootstrap.servers", cluster_->bootstrap_servers()}}}).value();
    for (int32_t partition = 0; partition < 3; ++partition) produce(partition, 100);
  }

  void produce(int32_t partition, int count) {
    std::vector<clients::ProducedRecord> records(static_cast<size_t>(count), {.partition = partition, .key = "", .value = "v"});
    ASSERT_TRUE(producer_->produce("orders", records, soon()).ok());
    ASSERT_TRUE(producer_->flush(soon()).ok());
  }

  std::unique_ptr<engine::Source> make_source(const std::string& group) {
    KafkaSourceConfig config;
    config.topics = {"orders"};
    config.group_id = group;
    config.properties = {{"bootstrap.servers", cluster_->bootstrap_servers()}};
    auto client = clients::make_librdkafka_client(kafka_client_config(config, 2)).value();
    auto source = make_kafka_source(config, std::move(client));
    EXPECT_TRUE(source->connect(soon()).ok());
    return source;
  }

  // Reads on both lanes until the positions are at the ends; every range must begin where its split's last one ended.
  void read_to_end(engine::Source& source, SourcePositions& positions, int64_t& records) {
    const auto deadline = soon();
    while (!source.is_caught_up(positions) && base::mono_micros() < deadline) {
      for (int lane = 0; lane < 2; ++lane) {
        const auto batch = source.read(lane, base::deadline_after(20000));
        ASSERT_TRUE(batch.ok()) << batch.error().message();
        if (!*batch) continue;
        ASSERT_EQ((*batch)->range.begin.substr(0, (*batch)->range.begin.find('@')),
                  positions.next[(*batch)->range.split].substr(0, positions.next[(*batch)->range.split].find('@')));
        positions.next[(*batch)->range.split] = (*batch)->range.end;
        records += static_cast<int64_t>((*batch)->records.size());
      }
    }
    EXPECT_TRUE(source.is_caught_up(positions));
  }

  std::unique_ptr<clients::MockCluster> cluster_;
  std::unique_ptr<clients::KafkaProducer> producer_;
};

TEST_F(KafkaSourceMockTest, ReadsAllPartitionsWithoutAGroup) {
  auto source = make_source("");
  auto positions = source->resolve_start();
  ASSERT_TRUE(positions.ok()) << positions.error().message();
  EXPECT_EQ(positions->next.size(), 3u);
  ASSERT_TRUE(source->start(positions.value(), 2).ok());
  int64_t records = 0;
  read_to_end(*source, positions.value(), records);
  EXPECT_EQ(records, 300);
  EXPECT_TRUE(source->confirm(positions.value(), {{.split = "orders/0", .begin = "0@-1", .end = "100@0"}}).ok());
  for (const engine::SplitLag& lag : source->lag(positions.value())) EXPECT_EQ(lag.lag, 0) << lag.split;
}

TEST_F(KafkaSourceMockTest, GoesOnFromThePositionsOfTheTableAndStartsNewPartitionsAtTheirLogStart) {
  auto source = make_source("");
  SourcePositions positions{.kind = "kafka", .identity = {}, .next = {{"orders/0", "90@0"}, {"orders/1", "100@0"}}};
  ASSERT_TRUE(source->start(positions, 2).ok());
  positions.next["orders/2"] = "0@-1";
  int64_t records = 0;
  read_to_end(*source, positions, records);
  EXPECT_EQ(records, 110);
  source->stop();
  // The same again, as after a stale epoch.
  positions.next = {{"orders/0", "40@0"}, {"orders/1", "100@0"}, {"orders/2", "100@0"}};
  ASSERT_TRUE(source->start(positions, 2).ok());
  records = 0;
  read_to_end(*source, positions, records);
  EXPECT_EQ(records, 60);
}

TEST_F(KafkaSourceMockTest, FollowsItsGroupAndWritesItsOffsets) {
  auto source = make_source("readers");
  auto positions = source->resolve_start();
  ASSERT_TRUE(positions.ok());
  ASSERT_TRUE(source->start(positions.value(), 2).ok());
  const auto deadline = soon();
  SourceEvent event;
  while (event.kind == SourceEvent::Kind::kNone && base::mono_micros() < deadline) {
    const auto polled = source->poll_control(deadline);
    ASSERT_TRUE(polled.ok());
    event = polled.value();
  }
  ASSERT_EQ(event.kind, SourceEvent::Kind::kSplitsAdded);
  ASSERT_TRUE(source->add(event.splits, positions.value()).ok());
  int64_t records = 0;
  read_to_end(*source, positions.value(), records);
  EXPECT_EQ(records, 300);
  source->acknowledge(positions.value(), "table-uuid");
  source->close();
  auto client = clients::make_librdkafka_client(
      {.properties = {{"bootstrap.servers", cluster_->bootstrap_servers()}}, .group_id = "readers"});
  const auto committed = client.value()->committed({{"orders", 0}, {"orders", 1}, {"orders", 2}});
  ASSERT_TRUE(committed.ok());
  EXPECT_EQ(committed->size(), 3u);
}

TEST_F(KafkaSourceMockTest, HaltsForAPositionBeyondTheLog) {
  auto source = make_source("");
  const SourcePositions positions{.kind = "kafka", .identity = {}, .next = {{"orders/0", "140@0"}}};
  const base::Status status = source->check(positions);
  ASSERT_FALSE(status.ok());
  ASSERT_NE(status.error().halt(), nullptr) << status.error().message();
  EXPECT_EQ(status.error().halt()->code, "SOURCE_BEHIND");
  EXPECT_EQ(status.error().halt()->range, "orders/0[100,140)");
  const auto moved = source->apply_choice(*status.error().halt(), "continue", positions);
  ASSERT_TRUE(moved.ok());
  EXPECT_TRUE(source->check(moved.value()).ok());
}

TEST_F(KafkaSourceMockTest, HaltsWhenTopicOrClusterAreOthers) {
  auto source = make_source("");
  auto positions = source->resolve_start().value();
  ASSERT_FALSE(positions.identity.at("topic/orders").empty());
  SourcePositions other_topic = positions;
  other_topic.identity["topic/orders"] = "another";
  const base::Status recreated = source->confirm(other_topic, {{.split = "orders/0", .begin = "0@0", .end = "1@0"}});
  ASSERT_FALSE(recreated.ok());
  EXPECT_EQ(recreated.error().halt()->code, "SOURCE_RECREATED");
  const auto restarted = source->apply_choice(*recreated.error().halt(), "", other_topic);
  ASSERT_TRUE(restarted.ok());
  EXPECT_EQ(restarted->identity, positions.identity);
  SourcePositions other_cluster = positions;
  other_cluster.identity["cluster"] = "another";
  EXPECT_EQ(source->check(other_cluster).error().halt()->code, "SOURCE_CLUSTER_CHANGED");
}

}  // namespace frazil::sources
