#include "net/renewed.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/simulation.h"

namespace frazil::net {
namespace {

constexpr int64_t kSecond = 1'000'000;

void let_pass(int64_t micros) {
  base::Interrupt never;
  never.wait_until(base::deadline_after(micros));
}

void in_virtual_time(uint64_t seed, const std::function<void()>& body) {
  base::Simulation simulation(seed);
  simulation.run(body);
}

// Counts its fetches; the n-th value is n.
struct Source {
  int fetches = 0;
  int at_once = 0;
  int64_t life_ms = 60'000;
  int64_t delay_micros = 0;
  bool fails = false;

  base::Result<Fetched<int>> fetch() {
    EXPECT_EQ(++at_once, 1);
    ++fetches;
    const int value = fetches;
    if (delay_micros > 0) let_pass(delay_micros);
    --at_once;
    if (fails) return base::unavailable("away");
    return Fetched<int>{value, life_ms};
  }
  Renewed<int> renewed() {
    return Renewed<int>([this] { return fetch(); });
  }
};

TEST(Renewed, FetchesOnceAndAgainAtTwoThirdsOfItsLife) {
  in_virtual_time(1, [] {
    Source source;
    Renewed<int> renewed = source.renewed();
    EXPECT_EQ(*renewed.get(), 1);
    let_pass(39 * kSecond);
    EXPECT_EQ(*renewed.get(), 1);
    let_pass(2 * kSecond);
    EXPECT_EQ(*renewed.get(), 2);
    EXPECT_EQ(*renewed.get(), 2);
    EXPECT_EQ(source.fetches, 2);
  });
}

TEST(Renewed, KeepsForEverWhatHasNoEnd) {
  in_virtual_time(1, [] {
    Source source;
    source.life_ms = 0;
    Renewed<int> renewed = source.renewed();
    EXPECT_TRUE(renewed.get().ok());
    let_pass(1000LL * 86'400 * kSecond);
    EXPECT_EQ(*renewed.get(), 1);
  });
}

TEST(Renewed, GoesOnWithWhatHoldsWhenARenewalFails) {
  in_virtual_time(1, [] {
    Source source;
    Renewed<int> renewed = source.renewed();
    EXPECT_TRUE(renewed.get().ok());
    source.fails = true;
    let_pass(41 * kSecond);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(*renewed.get(), 1);
    EXPECT_EQ(source.fetches, 2) << "a failed renewal must not be repeated with each call";
    let_pass(11 * kSecond);
    EXPECT_EQ(*renewed.get(), 1);
    EXPECT_EQ(source.fetches, 3);
    let_pass(10 * kSecond);
    EXPECT_EQ(renewed.get().error().code(), base::Code::kUnavailable);
    source.fails = false;
    EXPECT_EQ(*renewed.get(), 5);
  });
}

TEST(Renewed, FetchesAnewWhatWasRefusedButNotWhatReplacedIt) {
  in_virtual_time(1, [] {
    Source source;
    Renewed<int> renewed = source.renewed();
    EXPECT_TRUE(renewed.get().ok());
    const auto refuse = [&](int value) { renewed.refused([&](int kept) { return kept == value; }); };
    refuse(1);
    EXPECT_EQ(*renewed.get(), 2);
    refuse(1);
    EXPECT_EQ(*renewed.get(), 2);
    EXPECT_EQ(source.fetches, 2);
  });
}

TEST(Renewed, LetsOneLaneFetchForAll) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    in_virtual_time(seed, [] {
      Source source;
      source.delay_micros = 2 * kSecond;
      Renewed<int> renewed = source.renewed();
      std::vector<base::Lane> lanes;
      for (int i = 0; i < 6; ++i) {
        lanes.emplace_back("asker", [&] {
          // First all wait for the one fetch; when it is due again, the others go on with what holds.
          EXPECT_EQ(*renewed.get(), 1);
          let_pass(45 * kSecond);
          const base::MonoMicros before = base::mono_micros();
          const int value = *renewed.get();
          EXPECT_TRUE(value == 1 ? base::mono_micros() - before < kSecond : value == 2);
        });
      }
      for (base::Lane& lane : lanes) lane.join();
      EXPECT_EQ(source.fetches, 2);
    });
  }
}

TEST(Renewed, TellsAllThatWaitWhenTheFetchFails) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    in_virtual_time(seed, [] {
      Source source;
      source.fails = true;
      source.delay_micros = 2 * kSecond;
      Renewed<int> renewed = source.renewed();
      std::vector<base::Lane> lanes;
      for (int i = 0; i < 4; ++i) {
        lanes.emplace_back("asker", [&] { EXPECT_FALSE(renewed.get().ok()); });
      }
      for (base::Lane& lane : lanes) lane.join();
      EXPECT_LE(source.fetches, 4);
    });
  }
}

}  // namespace
}  // namespace frazil::net
