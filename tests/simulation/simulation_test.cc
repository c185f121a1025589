// The simulation's own promises: a seed decides everything, and the simulated Kafka shows what a real one would.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/simulation.h"
#include "tests/simulation/sim_kafka.h"
#include "tests/simulation/world.h"

namespace frazil::simulation {
namespace {

using clients::KafkaEventKind;
using clients::TopicPartition;

TEST(Simulation, GivesTheSameEventsForTheSameSeed) {
  (void)run_world(7, false);  // some warnings are told once in a process
  const Outcome first = run_world(7, false);
  const Outcome second = run_world(7, false);
  EXPECT_EQ(first.event_hash, second.event_hash);
  EXPECT_EQ(first.tally, second.tally);
  EXPECT_NE(first.event_hash, run_world(8, false).event_hash);
  EXPECT_TRUE(first.problems.empty());
}

TEST(SimKafka, TellsWhoReadsBeyondTheEndOfALogThatWasCut) {
  Tally tally;
  const Faults faults;
  SimKafka kafka(tally, faults);
  base::Simulation simulation(3);
  simulation.run([&] {
    kafka.create_topic("t", 2);
    const TopicPartition cut{"t", 0}, restored{"t", 1};
    for (const int32_t partition : {0, 1}) kafka.append("t", partition, {"a", "b", "c", "d"});
    auto client = kafka.make_client(std::make_shared<Life>(tally), "");
    ASSERT_TRUE(client->add({{cut, {4, 0}}, {restored, {4, 0}}}, {{cut, 0}, {restored, 1}}).ok());
    kafka.cut_log("t", 0, 2, true);
    kafka.append("t", 0, {"x", "y", "z"});
    kafka.cut_log("t", 1, 3, false);
    for (const int lane : {0, 1}) EXPECT_EQ(client->fetch(lane, 100, 1 << 20, base::deadline_after(1'000'000)).value(), nullptr);
    const auto first = client->poll_control(base::deadline_after(1'000));
    EXPECT_EQ(first->kind, KafkaEventKind::kLogTruncated);
    EXPECT_EQ(first->offset, 2);
    EXPECT_EQ(client->poll_control(base::deadline_after(1'000))->kind, KafkaEventKind::kOffsetOutOfRange);
  });
}

TEST(SimKafka, HidesAbortedRecordsAndPassesOverControlRecords) {
  Tally tally;
  const Faults faults;
  SimKafka kafka(tally, faults);
  base::Simulation simulation(1);
  simulation.run([&] {
    kafka.create_topic("t", 1);
    kafka.append_transaction("t", 0, {"a", "b"}, true, base::mono_micros());
    kafka.append("t", 0, {"c"});
    auto client = kafka.make_client(std::make_shared<Life>(tally), "");
    const TopicPartition partition{"t", 0};
    ASSERT_TRUE(client->add({{partition, {0, -1}}}, {{partition, 0}}).ok());
    std::string values;
    int64_t next = 0;
    while (next < 4) {
      auto batch = client->fetch(0, 100, 1 << 20, base::deadline_after(1'000'000));
      ASSERT_TRUE(batch.ok() && *batch != nullptr);
      for (const auto& message : (*batch)->messages) values += std::string(message.value) + "@" + std::to_string(message.offset);
      next = (*batch)->next_offset;
    }
    EXPECT_EQ(values, "c@3");
  });
}

TEST(SimKafka, LeavesOutAMemberThatDoesNotPollAndGivesItsShareToTheOther) {
  Tally tally;
  const Faults faults;
  SimKafka kafka(tally, faults);
  base::Simulation simulation(2);
  simulation.run([&] {
    kafka.create_topic("t", 2);
    auto silent = kafka.make_client(std::make_shared<Life>(tally), "g");
    auto alive = kafka.make_client(std::make_shared<Life>(tally), "g");
    ASSERT_TRUE(silent->subscribe({"t"}).ok());
    ASSERT_TRUE(alive->subscribe({"t"}).ok());
    std::set<TopicPartition> share;
    const base::MonoMicros end = base::deadline_after(3 * SimKafka::kSessionMicros);
    while (base::mono_micros() < end) {
      auto event = alive->poll_control(base::deadline_after(100'000));
      ASSERT_TRUE(event.ok());
      for (const TopicPartition& partition : event->partitions) {
        event->kind == KafkaEventKind::kAssigned ? (void)share.insert(partition) : (void)share.erase(partition);
      }
    }
    EXPECT_EQ(share.size(), 2u);
    EXPECT_EQ(tally.count("sessions expired"), 1);
  });
}

}  // namespace
}  // namespace frazil::simulation
