#include "base/simulation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/channel.h"
#include "base/clock.h"
#include "base/random.h"

namespace frazil::base {
namespace {

// Two lanes that append to one log, with waits between: the log is the interleaving.
std::string interleaving(uint64_t seed, uint64_t* hash = nullptr) {
  std::string log;
  Simulation simulation(seed);
  simulation.run([&] {
    Mutex mutex;
    const auto body = [&](char name) {
      for (int i = 0; i < 20; ++i) {
        io_point();
        Lock lock(mutex);
        log += name;
        simulation.note(std::string(1, name));
      }
    };
    Lane a("a", [&] { body('a'); });
    Lane b("b", [&] { body('b'); });
    a.join();
    b.join();
  });
  if (hash != nullptr) *hash = simulation.event_hash();
  return log;
}

TEST(Simulation, TheSeedDecidesTheInterleaving) {
  uint64_t first = 0;
  uint64_t again = 0;
  EXPECT_EQ(interleaving(7, &first), interleaving(7, &again));
  EXPECT_EQ(first, again);
  uint64_t other = 0;
  EXPECT_NE(interleaving(7), interleaving(8, &other));
  EXPECT_NE(first, other);
}

TEST(Simulation, VirtualTimeJumpsToTheNearestDeadline) {
  Simulation simulation(1);
  simulation.run([&] {
    Mutex mutex;
    CondVar never;
    const MonoMicros before = mono_micros();
    Lock lock(mutex);
    EXPECT_FALSE(never.wait_until(lock, before + 3'600'000'000));
    EXPECT_GE(mono_micros() - before, 3'600'000'000);
  });
}

TEST(Simulation, AChannelHandsOverEverythingInOrder) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<int> got;
    Simulation simulation(seed);
    simulation.run([&] {
      Channel<int> channel(2);
      Lane sender("sender", [&] {
        for (int i = 0; i < 30; ++i) EXPECT_TRUE(channel.push(i));
        channel.close();
      });
      while (auto value = channel.pop()) got.push_back(*value);
      sender.join();
    });
    ASSERT_EQ(got.size(), 30U);
    for (int i = 0; i < 30; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], i);
  }
}

TEST(Simulation, RandomNumbersComeFromTheSeed) {
  std::vector<std::string> uuids;
  for (int run = 0; run < 2; ++run) {
    Simulation simulation(42);
    simulation.run([&] { uuids.push_back(random_uuid()); });
  }
  EXPECT_EQ(uuids[0], uuids[1]);
}

TEST(SimulationDeathTest, ADeadlockIsReportedWithTheLanesThatWait) {
  EXPECT_DEATH(
      {
        Simulation simulation(1);
        simulation.run([] {
          Mutex mutex;
          CondVar never;
          Lock lock(mutex);
          never.wait(lock);
        });
      },
      "deadlock.*\n.*main");
}

}  // namespace
}  // namespace frazil::base
