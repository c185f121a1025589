#include "io/upload_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/simulation.h"

namespace frazil::io {
namespace {

// Virtual time: a task that "takes a second" takes none.
void pass_time(int64_t micros) {
  base::Mutex mutex;
  base::CondVar never;
  base::Lock lock(mutex);
  const base::MonoMicros end = base::deadline_after(micros);
  while (base::mono_micros() < end) never.wait_until(lock, end);
}

class UploadLanesTest : public testing::TestWithParam<int> {};

TEST_P(UploadLanesTest, NeverHoldsMoreThanItsBytesNorRunsMoreThanItsLanes) {
  base::Simulation simulation(static_cast<uint64_t>(GetParam()));
  std::atomic<int64_t> held{0}, most_held{0};
  std::atomic<int> running{0}, most_running{0}, done{0};
  simulation.run([&] {
    UploadLanes lanes("upload", 3, 100);
    for (int i = 0; i < 40; ++i) {
      lanes.submit(30, [&] {
        most_held = std::max<int64_t>(most_held, held += 30);
        most_running = std::max<int>(most_running, ++running);
        pass_time(1'000'000);
        held -= 30, --running, ++done;
      });
    }
  });
  EXPECT_EQ(done, 40) << "the destructor waits for all";
  EXPECT_LE(most_held, 90);
  EXPECT_EQ(most_running, 3);
}
INSTANTIATE_TEST_SUITE_P(Seeds, UploadLanesTest, testing::Range(1, 11));

TEST(UploadLanes, LetsAnOversizedTaskInAlone) {
  std::atomic<int> done{0};
  {
    UploadLanes lanes("upload", 2, 10);
    for (int i = 0; i < 5; ++i) lanes.submit(1000, [&] { ++done; });
  }
  EXPECT_EQ(done, 5);
}

TEST(UploadLanes, LetsGoOfWhatATaskHeldWhenItIsDone) {
  auto bytes = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = bytes;
  {
    UploadLanes lanes("upload", 1, 10);
    lanes.submit(10, [bytes = std::move(bytes)] {});
    lanes.submit(10, [&] { EXPECT_TRUE(watch.expired()); });
  }
}

}  // namespace
}  // namespace frazil::io
