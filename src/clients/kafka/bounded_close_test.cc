#include "clients/kafka/bounded_close.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/clock.h"
#include "base/interrupt.h"

namespace frazil::clients {
namespace {

TEST(BoundedClose, WaitsForACallThatComesBack) {
  bool is_made = false;
  EXPECT_TRUE(finishes_within([&] { is_made = true; }, 20'000'000));
  EXPECT_TRUE(is_made);
}

TEST(BoundedClose, LeavesACallAloneThatDoesNotComeBack) {
  const auto goes_on = std::make_shared<base::Interrupt>();
  const base::MonoMicros begin = base::mono_micros();
  EXPECT_FALSE(finishes_within([goes_on] { goes_on->wait_until(base::kForever); }, 100'000));
  EXPECT_LT(base::mono_micros() - begin, 10'000'000);
  goes_on->raise();
}

}  // namespace
}  // namespace frazil::clients
