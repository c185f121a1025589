// The Kafka source over a client that a test scripts: what no mock cluster can show.
#include "sources/kafka/kafka_source.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "base/clock.h"

namespace frazil::sources {

using clients::ClusterDescription;
using clients::FetchedBatch;
using clients::KafkaEvent;
using clients::KafkaEventKind;
using clients::OffsetAndEpoch;
using clients::OffsetSpec;
using clients::TopicPartition;
using engine::SourceEvent;
using engine::SourcePositions;

// What the cluster answers, and what the source asked of it.
struct Script {
  ClusterDescription cluster{.cluster_id = "c", .topics = {{"orders", {.id = "t", .partitions = 2}}}};
  int64_t log_start = 0;
  int64_t log_end = 1000;
  std::deque<std::unique_ptr<FetchedBatch>> batches;
  std::deque<KafkaEvent> events;
  std::map<TopicPartition, OffsetAndEpoch> assigned;
  std::map<TopicPartition, int64_t> committed;
  std::string metadata;
  std::map<TopicPartition, int> lane_of;
  int removals = 0;
  base::Status offsets_taken;
};

class ScriptedClient : public clients::KafkaClient {
 public:
  explicit ScriptedClient(Script& script) : script_(script) {}
  base::Status connect(base::MonoMicros) override { return {}; }
  base::Result<ClusterDescription> describe(const std::vector<std::string>&) override { return script_.cluster; }
  base::Result<std::vector<std::string>> match_topics(const std::string&) override {
    std::vector<std::string> names;
    for (const auto& [name, topic] : script_.cluster.topics) names.push_back(name);
    return names;
  }
  base::Result<std::map<TopicPartition, int64_t>> list_offsets(const std::vector<TopicPartition>& partitions,
                                                               OffsetSpec spec) override {
    std::map<TopicPartition, int64_t> offsets;
    for (const auto& partition : partitions) {
      offsets[partition] = spec == OffsetSpec::kEarliest ? script_.log_start : script_.log_end;
    }
    return offsets;
  }
  base::Result<std::map<TopicPartition, int64_t>> offsets_for_time(const std::vector<TopicPartition>& partitions,
                                                                   int64_t) override {
    return list_offsets(partitions, OffsetSpec::kLatest);
  }
  base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> committed(
      const std::vector<TopicPartition>&) override {
    std::map<TopicPartition, std::pair<int64_t, std::string>> offsets;
    for (const auto& [partition, offset] : script_.committed) offsets[partition] = {offset, script_.metadata};
    return offsets;
  }
  base::Status subscribe(const std::vector<std::string>&) override { return {}; }
  base::Status add(const std::map<TopicPartition, OffsetAndEpoch>& positions, const std::map<TopicPartition, int>& lanes) override {
    for (const auto& [partition, position] : positions) {
      EXPECT_FALSE(script_.assigned.contains(partition));
      script_.assigned[partition] = position;
      script_.lane_of[partition] = lanes.at(partition);
    }
    return {};
  }
  base::Status remove(const std::vector<TopicPartition>& partitions) override {
    ++script_.removals;
    for (const TopicPartition& partition : partitions) script_.assigned.erase(partition);
    return {};
  }
  base::Status unassign() override {
    script_.assigned.clear();
    return {};
  }
  base::Result<KafkaEvent> poll_control(base::MonoMicros) override {
    if (script_.events.empty()) return KafkaEvent();
    KafkaEvent event = std::move(script_.events.front());
    script_.events.pop_front();
    return event;
  }
  base::Result<std::unique_ptr<FetchedBatch>> fetch(int, int, int64_t, base::MonoMicros) override {
    if (script_.batches.empty()) return std::unique_ptr<FetchedBatch>();
    auto batch = std::move(script_.batches.front());
    script_.batches.pop_front();
    return batch;
  }
  void wake(int) override {}
  base::Status commit_offsets(const std::map<TopicPartition, int64_t>& offsets, const std::string& metadata) override {
    script_.committed = offsets;
    script_.metadata = metadata;
    return script_.offsets_taken;
  }
  void close() override {}

 private:
  Script& script_;
};

class KafkaSourceTest : public ::testing::Test {
 protected:
  std::unique_ptr<engine::Source> make_source(std::function<void(KafkaSourceConfig&)> change = {}) {
    KafkaSourceConfig config;
    config.topics = {"orders"};
    if (change) change(config);
    return make_kafka_source(config, std::make_unique<ScriptedClient>(script_));
  }

  void add_batch(int64_t first, int64_t last, int32_t epoch, int64_t next, int32_t partition = 0) {
    auto batch = std::make_unique<FetchedBatch>();
    batch->partition = {"orders", partition};
    for (int64_t offset = first; offset <= last; ++offset) {
      clients::KafkaMessage& message = batch->messages.emplace_back();
      message.offset = offset;
      message.leader_epoch = epoch;
      message.timestamp_ms = 5;
    }
    batch->next_offset = next;
    script_.batches.push_back(std::move(batch));
  }

  void add_event(KafkaEventKind kind, int64_t offset = -1) {
    KafkaEvent event;
    event.kind = kind;
    event.partitions = {{"orders", 0}};
    event.offset = offset;
    script_.events.push_back(event);
  }

  static SourcePositions at(const std::string& position) {
    return {.kind = "kafka",
            .identity = {{"cluster", "c"}, {"topic/orders", "t"}},
            .next = {{"orders/0", position}, {"orders/1", "0@-1"}}};
  }

  static std::string halt_of(const base::Status& status) {
    return status.ok() || status.error().halt() == nullptr ? "" : status.error().halt()->code + " " + status.error().halt()->range;
  }

  Script script_;
};

TEST_F(KafkaSourceTest, MakesRangesThatFollowEachOtherOverControlRecords) {
  auto source = make_source();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  add_batch(101, 103, 5, 104);
  add_batch(0, -1, 5, 106);  // the end, behind two control records
  const auto first = source->read(0, base::mono_micros());
  const auto second = source->read(0, base::mono_micros());
  ASSERT_TRUE(first.ok() && *first && second.ok() && *second);
  EXPECT_EQ((*first)->range, (engine::Range{.split = "orders/0", .begin = "100@4", .end = "104@5"}));
  EXPECT_EQ((*first)->records.size(), 3u);
  EXPECT_EQ((*first)->records[0].timestamp_micros, 5000);
  EXPECT_EQ((*first)->stream_id, "t");
  EXPECT_EQ((*second)->range, (engine::Range{.split = "orders/0", .begin = "104@5", .end = "106@5"}));
  EXPECT_TRUE((*second)->records.empty());
}

TEST_F(KafkaSourceTest, LeavesOutWhatItHasReadAlready) {
  auto source = make_source();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  add_batch(95, 102, 4, 103);
  const auto batch = source->read(0, base::mono_micros());
  ASSERT_TRUE(batch.ok() && *batch);
  EXPECT_EQ((*batch)->records.front().offset, 100);
  EXPECT_EQ((*batch)->range.begin, "100@4");
}

TEST_F(KafkaSourceTest, HaltsWhenARecordIsOfAnOlderLeaderThanThePosition) {
  auto source = make_source();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  add_batch(100, 101, 3, 102);
  EXPECT_EQ(halt_of(source->read(0, base::mono_micros()).status()), "SOURCE_TRUNCATED orders/0[100,100)");
}

TEST_F(KafkaSourceTest, CallsARecreatedTopicSoWhenItsRecordsBelongToAnOlderLeader) {
  auto source = make_source();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.cluster.topics["orders"].id = "t2";
  add_batch(100, 101, 0, 102);
  EXPECT_EQ(halt_of(source->read(0, base::mono_micros()).status()), "SOURCE_RECREATED orders t t2");
}

TEST_F(KafkaSourceTest, RemembersTheTableInTheMetadataOfGroupOffsets) {
  const auto in_group = [](KafkaSourceConfig& config) { config.group_id = "g"; };
  auto source = make_source(in_group);
  EXPECT_EQ(source->last_mark(), "");
  KafkaEvent event;
  event.kind = KafkaEventKind::kAssigned;
  event.partitions = {{"orders", 0}, {"orders", 1}};
  script_.events.push_back(event);
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  ASSERT_TRUE(source->add(source->poll_control(base::mono_micros())->splits, at("100@4")).ok());
  source->acknowledge(at("100@4"), "table-1");
  EXPECT_EQ(make_source(in_group)->last_mark(), "table-1");
  EXPECT_EQ(make_source()->last_mark(), "");
}

TEST_F(KafkaSourceTest, HaltsForADivergingLogOnlyWhenTheTablesOwnPositionDiverges) {
  auto source = make_source();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  add_event(KafkaEventKind::kLogTruncated, 80);
  const auto first = source->poll_control(base::mono_micros());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->kind, SourceEvent::Kind::kStartAgain);
  source->stop();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  add_event(KafkaEventKind::kLogTruncated, 80);
  EXPECT_EQ(source->poll_control(base::mono_micros())->kind, SourceEvent::Kind::kStartAgain);
  source->stop();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  EXPECT_EQ(script_.assigned.at({"orders", 0}).offset, 80);
  add_batch(83, 84, 5, 85);
  EXPECT_EQ(halt_of(source->read(0, base::mono_micros()).status()), "SOURCE_TRUNCATED orders/0[80,100)");
}

// A position moves over markers and aborted records too, and nobody tells the epoch of their leader.
TEST_F(KafkaSourceTest, TakesMarkersOfALaterLeaderBelowThePositionForNoLoss) {
  auto source = make_source();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(source->start(at("100@4"), 1).ok());
    add_event(KafkaEventKind::kLogTruncated, 98);
    EXPECT_EQ(source->poll_control(base::mono_micros())->kind, SourceEvent::Kind::kStartAgain);
    source->stop();
  }
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  EXPECT_EQ(script_.assigned.at({"orders", 0}).offset, 98);
  add_batch(100, 102, 5, 103);
  const auto batch = source->read(0, base::mono_micros());
  ASSERT_TRUE(batch.ok() && *batch != nullptr) << batch.error().message();
  EXPECT_EQ((*batch)->range.begin, "100@4");
  EXPECT_EQ((*batch)->range.end, "103@5");
}

TEST_F(KafkaSourceTest, LooksAgainWhenAnotherRestartCameBeforeAnythingWasRead) {
  auto source = make_source();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(source->start(at("100@4"), 1).ok());
    if (i == 2) {  // the look begins and ends without a word
      EXPECT_EQ(script_.assigned.at({"orders", 0}).offset, 98);
      source->stop();
      ASSERT_TRUE(source->start(at("100@4"), 1).ok());
    }
    add_event(KafkaEventKind::kLogTruncated, 98);
    const auto parted = source->poll_control(base::mono_micros());
    ASSERT_TRUE(parted.ok()) << parted.error().message();
    EXPECT_EQ(parted->kind, SourceEvent::Kind::kStartAgain);
    source->stop();
  }
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  EXPECT_EQ(script_.assigned.at({"orders", 0}).offset, 98);
}

TEST_F(KafkaSourceTest, HaltsForADivergingLogThatCannotBeLookedAt) {
  auto source = make_source();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(source->start(at("100@4"), 1).ok());
    add_event(KafkaEventKind::kLogTruncated, 80);
    EXPECT_EQ(source->poll_control(base::mono_micros())->kind, SourceEvent::Kind::kStartAgain);
    source->stop();
  }
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  add_event(KafkaEventKind::kLogTruncated, 80);
  EXPECT_EQ(halt_of(source->poll_control(base::mono_micros()).status()), "SOURCE_TRUNCATED orders/0[80,100)");
}

// Kafka names no offset below its log start; should a broker do so, or retention pass by in between, reading does not turn in circles.
TEST_F(KafkaSourceTest, HaltsForADivergingLogOnceTheSamePlaceOfItIsGoneTwice) {
  auto source = make_source();
  const auto part = [&](int64_t offset) {
    add_event(KafkaEventKind::kLogTruncated, offset);
    const auto event = source->poll_control(base::mono_micros());
    source->stop();
    return event.status();
  };
  const auto look_and_miss = [&](int64_t offset) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(source->start(at("100@4"), 1).ok());
      ASSERT_TRUE(part(offset).ok());
    }
    ASSERT_TRUE(source->start(at("100@4"), 1).ok());
    EXPECT_EQ(script_.assigned.at({"orders", 0}).offset, offset);
    add_event(KafkaEventKind::kOffsetOutOfRange, offset);
    ASSERT_EQ(source->poll_control(base::mono_micros())->kind, SourceEvent::Kind::kStartAgain);
    source->stop();
  };
  look_and_miss(80);
  look_and_miss(90);  // the log begins later now: looked at once more
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  ASSERT_TRUE(part(90).ok());
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  EXPECT_EQ(halt_of(part(90)), "SOURCE_TRUNCATED orders/0[90,100)");
}

TEST_F(KafkaSourceTest, HaltsForAGapWithItsExactRangeAndSkipsIt) {
  auto source = make_source();
  script_.log_start = 150;
  SourcePositions positions = at("100@4");
  positions.next["orders/1"] = "900@4";
  const base::Status status = source->start(positions, 1);
  EXPECT_EQ(halt_of(status), "SOURCE_GAP orders/0[100,150)");
  const auto moved = source->apply_choice(*status.error().halt(), "skip", positions);
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->next.at("orders/0"), "150@-1");
  EXPECT_TRUE(source->start(moved.value(), 1).ok());
}

TEST_F(KafkaSourceTest, ComparesIdsBeforeEachCommit) {
  auto source = make_source();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  const std::vector<engine::Range> ranges = {{.split = "orders/0", .begin = "100@4", .end = "110@4"}};
  EXPECT_TRUE(source->confirm(at("100@4"), ranges).ok());
  script_.cluster.topics["orders"].id = "t2";
  EXPECT_EQ(halt_of(source->confirm(at("100@4"), ranges)), "SOURCE_RECREATED orders t t2");
  script_.cluster.topics.clear();
  EXPECT_EQ(halt_of(source->confirm(at("100@4"), ranges)), "SOURCE_GONE orders");
  script_.cluster.cluster_id = "c2";
  EXPECT_EQ(halt_of(source->confirm(at("100@4"), ranges)), "SOURCE_CLUSTER_CHANGED c c2");
}

TEST_F(KafkaSourceTest, StartsANewPartitionAtItsLogStartWhateverTheStartMode) {
  auto source = make_source([](KafkaSourceConfig& config) {
    config.start = StartLatest{};
    config.discovery_interval_ms = 1;
  });
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.cluster.topics["orders"].partitions = 3;
  const auto deadline = base::deadline_after(30 * 1000000);
  SourceEvent event;
  while (event.kind == SourceEvent::Kind::kNone && base::mono_micros() < deadline) event = source->poll_control(deadline).value();
  ASSERT_EQ(event.kind, SourceEvent::Kind::kStartAgain);
  source->stop();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  EXPECT_EQ(script_.assigned.at({"orders", 2}).offset, 0);
  EXPECT_EQ(script_.assigned.at({"orders", 0}).offset, 100);
}

TEST_F(KafkaSourceTest, TellsThatATopicIsGoneBeforeItLooksAgain) {
  auto source = make_source([](KafkaSourceConfig& config) { config.discovery_interval_ms = 1; });
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.cluster.topics.clear();
  const auto deadline = base::deadline_after(30 * 1000000);
  testing::internal::CaptureStderr();
  SourceEvent event;
  while (event.kind == SourceEvent::Kind::kNone && base::mono_micros() < deadline) event = source->poll_control(deadline).value();
  EXPECT_EQ(event.kind, SourceEvent::Kind::kStartAgain);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("warn  kafka_topic_gone topic=orders"), std::string::npos);
}

TEST_F(KafkaSourceTest, ResolvesEachStartMode) {
  const auto next_of = [&](KafkaStart start) {
    auto source = make_source([&](KafkaSourceConfig& config) {
      config.start = start;
      config.group_id = "g";
    });
    const auto positions = source->resolve_start();
    return positions.ok() ? positions->next.at("orders/0") + " " + positions->next.at("orders/1") : positions.error().message();
  };
  script_.log_start = 10;
  EXPECT_EQ(next_of(StartEarliest{}), "10@-1 10@-1");
  EXPECT_EQ(next_of(StartLatest{}), "1000@-1 1000@-1");
  EXPECT_EQ(next_of(StartTimestamp{1}), "1000@-1 1000@-1");
  EXPECT_EQ(next_of(StartOffsets{{{"orders", {{1, 42}}}}}), "10@-1 42@-1");
  EXPECT_NE(next_of(StartOffsets{{{"orders", {{7, 42}}}}}).find("orders/7"), std::string::npos);
  EXPECT_NE(next_of(StartGroup{}).find("has committed no offsets"), std::string::npos);
  script_.committed = {{{"orders", 0}, 77}};
  EXPECT_EQ(next_of(StartGroup{}), "77@-1 10@-1");
}

static KafkaEvent group_event(KafkaEventKind kind, std::vector<int32_t> numbers) {
  KafkaEvent event;
  event.kind = kind;
  for (const int32_t number : numbers) event.partitions.push_back({"orders", number});
  return event;
}

static void join_group(KafkaSourceConfig& config) { config.group_id = "g"; }

TEST_F(KafkaSourceTest, ReadsWhatItsGroupGivesAtThePositionsThatWereLoadedForIt) {
  auto source = make_source(join_group);
  ASSERT_TRUE(source->start(at("100@4"), 2).ok());
  EXPECT_TRUE(script_.assigned.empty());
  script_.events.push_back(group_event(KafkaEventKind::kAssigned, {0, 1}));
  const SourceEvent given = source->poll_control(base::mono_micros()).value();
  EXPECT_EQ(given.kind, SourceEvent::Kind::kSplitsAdded);
  EXPECT_EQ(given.splits, (std::vector<engine::SplitId>{"orders/0", "orders/1"}));
  EXPECT_TRUE(script_.assigned.empty());
  ASSERT_TRUE(source->add(given.splits, at("170@4")).ok());
  EXPECT_EQ(script_.assigned.at({"orders", 0}).offset, 170);
  EXPECT_NE(script_.lane_of.at({"orders", 0}), script_.lane_of.at({"orders", 1}));
  script_.events.push_back(group_event(KafkaEventKind::kAssigned, {}));
  EXPECT_EQ(source->poll_control(base::mono_micros())->kind, SourceEvent::Kind::kNone);
}

TEST_F(KafkaSourceTest, JudgesADivergingLogAnewAfterThePartitionWasWithAnotherReader) {
  auto source = make_source(join_group);
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  for (const char* position : {"100@4", "120@4"}) {
    script_.events.push_back(group_event(KafkaEventKind::kAssigned, {0}));
    ASSERT_TRUE(source->add(source->poll_control(base::mono_micros())->splits, at(position)).ok());
    for (int i = 0; i < 2; ++i) {
      add_event(KafkaEventKind::kLogTruncated, 98);
      const auto parted = source->poll_control(base::mono_micros());
      ASSERT_TRUE(parted.ok()) << parted.error().message();
      EXPECT_EQ(parted->kind, SourceEvent::Kind::kStartAgain);
      source->stop();
      ASSERT_TRUE(source->start(at(position), 1).ok());
    }
    script_.events.push_back(group_event(KafkaEventKind::kRevoked, {0}));
    ASSERT_TRUE(source->release(source->poll_control(base::mono_micros())->splits).ok());
  }
}

TEST_F(KafkaSourceTest, GivesNothingMoreOfWhatItsGroupTakesAndGoesOnWithTheRest) {
  auto source = make_source(join_group);
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.events.push_back(group_event(KafkaEventKind::kAssigned, {0, 1}));
  ASSERT_TRUE(source->add(source->poll_control(base::mono_micros())->splits, at("100@4")).ok());
  script_.events.push_back(group_event(KafkaEventKind::kRevoked, {0}));
  const SourceEvent taken = source->poll_control(base::mono_micros()).value();
  EXPECT_EQ(taken.kind, SourceEvent::Kind::kSplitsLeaving);
  EXPECT_EQ(taken.splits, std::vector<engine::SplitId>{"orders/0"});
  EXPECT_LE(taken.deadline, base::deadline_after(30'000'000));
  add_batch(100, 105, 4, 106, 0);
  add_batch(0, 9, 4, 10, 1);
  const auto batch = source->read(0, base::deadline_after(1'000'000));
  ASSERT_TRUE(batch.ok() && *batch);
  EXPECT_EQ((*batch)->range.split, "orders/1");
  EXPECT_TRUE(script_.assigned.contains({"orders", 0}));  // until the work on it is committed
  source->acknowledge(at("106@4"), "t");
  EXPECT_EQ(script_.committed.at({"orders", 0}), 106);
  ASSERT_TRUE(source->release(taken.splits).ok());
  EXPECT_FALSE(script_.assigned.contains({"orders", 0}));
  EXPECT_TRUE(script_.assigned.contains({"orders", 1}));
  source->acknowledge(at("106@4"), "t");
  EXPECT_FALSE(script_.committed.contains({"orders", 0}));
}

TEST_F(KafkaSourceTest, GivesAHalfOfTheGroupsPatienceToWorkOnPartitionsThatGo) {
  auto source = make_source([](KafkaSourceConfig& config) {
    join_group(config);
    config.properties["max.poll.interval.ms"] = "8000";
  });
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.events.push_back(group_event(KafkaEventKind::kRevoked, {0}));
  const base::MonoMicros before = base::mono_micros();
  EXPECT_GE(source->poll_control(before)->deadline, before + 4'000'000);
  script_.events.push_back(group_event(KafkaEventKind::kRevoked, {0}));
  const base::MonoMicros deadline = source->poll_control(before)->deadline;
  EXPECT_LE(deadline, base::mono_micros() + 4'000'000);
}

TEST_F(KafkaSourceTest, AnswersTheGroupAtOnceWhenItTakesNothingOrHasTakenAllAlready) {
  auto source = make_source(join_group);
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.events.push_back(group_event(KafkaEventKind::kAssigned, {0, 1}));
  ASSERT_TRUE(source->add(source->poll_control(base::mono_micros())->splits, at("100@4")).ok());
  script_.events.push_back(group_event(KafkaEventKind::kRevoked, {}));
  EXPECT_EQ(source->poll_control(base::mono_micros())->kind, SourceEvent::Kind::kNone);
  EXPECT_EQ(script_.removals, 1);
  script_.events.push_back(group_event(KafkaEventKind::kLost, {0, 1}));
  EXPECT_EQ(source->poll_control(base::mono_micros())->kind, SourceEvent::Kind::kSplitsLost);
  EXPECT_TRUE(script_.assigned.empty());
  source->stop();
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  EXPECT_TRUE(script_.assigned.empty());
}

TEST_F(KafkaSourceTest, WaitsForABrokerThatDoesNotDescribeAGivenPartitionYet) {
  auto source = make_source(join_group);
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.events.push_back(group_event(KafkaEventKind::kAssigned, {0, 2}));
  const SourceEvent given = source->poll_control(base::mono_micros()).value();
  EXPECT_EQ(source->add(given.splits, at("100@4")).error().code(), base::Code::kUnavailable);
  EXPECT_TRUE(script_.assigned.empty());
  script_.cluster.topics["orders"].partitions = 3;
  ASSERT_TRUE(source->add(given.splits, at("100@4")).ok());
  EXPECT_EQ(script_.assigned.size(), 2u);
}

TEST_F(KafkaSourceTest, HaltsBeforeItReadsAGivenPartitionWhosePositionIsGone) {
  auto source = make_source(join_group);
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.events.push_back(group_event(KafkaEventKind::kAssigned, {0}));
  const SourceEvent given = source->poll_control(base::mono_micros()).value();
  script_.log_start = 150;
  EXPECT_EQ(halt_of(source->add(given.splits, at("100@4"))), "SOURCE_GAP orders/0[100,150)");
  EXPECT_TRUE(script_.assigned.empty());
}

TEST_F(KafkaSourceTest, StartsAgainWithWhatItsGroupHasLeftIt) {
  auto source = make_source(join_group);
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  script_.events.push_back(group_event(KafkaEventKind::kAssigned, {0, 1}));
  ASSERT_TRUE(source->add(source->poll_control(base::mono_micros())->splits, at("100@4")).ok());
  script_.events.push_back(group_event(KafkaEventKind::kRevoked, {0}));
  ASSERT_TRUE(source->poll_control(base::mono_micros()).ok());
  source->stop();  // before the work on it was committed
  ASSERT_TRUE(source->start(at("100@4"), 1).ok());
  EXPECT_EQ(script_.assigned.size(), 1u);
  EXPECT_TRUE(script_.assigned.contains({"orders", 1}));
}

TEST_F(KafkaSourceTest, KeepsTheIdentityOfTopicsThatItReadsNoLonger) {
  auto source = make_source();
  SourcePositions positions = at("100@4");
  positions.identity["topic/old"] = "o";
  positions.next["old/0"] = "5@0";
  ASSERT_TRUE(source->start(positions, 1).ok());
  EXPECT_EQ(source->identity().at("topic/old"), "o");
}

}  // namespace frazil::sources
