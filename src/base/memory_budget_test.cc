#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/simulation.h"

namespace frazil::base {
namespace {

bool never() { return false; }

TEST(MemoryBudget, CountsLeasesAndTakesThemBack) {
  MemoryBudget budget(100);
  {
    Lease lease = budget.acquire(60, kForever, never);
    EXPECT_EQ(budget.used(), 60);
    EXPECT_FALSE(budget.is_pressed());
    lease.resize(80);
    EXPECT_TRUE(budget.is_pressed());
    Lease other = budget.acquire(10, kForever, never);
    lease.merge(std::move(other));
    EXPECT_EQ(lease.bytes(), 90);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(MemoryBudget, GrantsOneAmountLargerThanItself) {
  MemoryBudget budget(10);
  const Lease lease = budget.acquire(1000, kForever, never);
  EXPECT_EQ(lease.bytes(), 1000);
}

TEST(MemoryBudget, AWaiterGivesUpWhenItIsWokenForSomethingElse) {
  Simulation simulation(3);
  simulation.run([] {
    MemoryBudget budget(100);
    const Lease held = budget.acquire(100, kForever, never);
    bool barrier_is_due = false;
    bool gave_up = false;
    Lane reader("reader", [&] {
      const Lease lease = budget.acquire(1, kForever, [&] { return barrier_is_due; });
      gave_up = lease.bytes() == 0;
    });
    io_point();
    barrier_is_due = true;
    budget.wake();
    reader.join();
    EXPECT_TRUE(gave_up);
    EXPECT_EQ(budget.used(), 100);
  });
}

TEST(MemoryBudget, NeverLeasesMoreThanItsLimitToWaiters) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Simulation simulation(seed);
    simulation.run([] {
      MemoryBudget budget(100);
      int64_t highest = 0;
      const auto body = [&] {
        for (int i = 0; i < 20; ++i) {
          const Lease lease = budget.acquire(40, kForever, never);
          highest = std::max(highest, budget.used());
          io_point();
        }
      };
      Lane a("a", body);
      Lane b("b", body);
      Lane c("c", body);
      a.join();
      b.join();
      c.join();
      EXPECT_EQ(highest, 80);
      EXPECT_EQ(budget.used(), 0);
    });
  }
}

TEST(MemoryBudget, TimesOutWithAnEmptyLease) {
  MemoryBudget budget(10);
  const Lease held = budget.acquire(10, kForever, never);
  EXPECT_EQ(budget.acquire(1, mono_micros() + 1000, never).bytes(), 0);
}

}  // namespace
}  // namespace frazil::base
