#include "clients/kafka/bounded_close.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"

namespace frazil::clients {
namespace {

struct Outcome {
  base::Mutex mutex;
  base::CondVar changed;
  bool is_there = false;
};

// Nobody can join a lane that does not end.
void abandon(base::Lane lane) {
  static base::Mutex mutex;
  static auto& abandoned = *new std::vector<base::Lane>;
  base::Lock lock(mutex);
  abandoned.push_back(std::move(lane));
}

}  // namespace

bool finishes_within(std::function<void()> call, int64_t micros) {
  const auto outcome = std::make_shared<Outcome>();
  base::Lane lane("kafka close", [outcome, call = std::move(call)] {
    call();
    base::Lock lock(outcome->mutex);
    outcome->is_there = true;
    outcome->changed.notify_all();
  });
  bool is_there = false;
  {
    const base::MonoMicros deadline = base::deadline_after(micros);
    base::Lock lock(outcome->mutex);
    while (!outcome->is_there && outcome->changed.wait_until(lock, deadline)) {
    }
    is_there = outcome->is_there;
  }
  is_there ? lane.join() : abandon(std::move(lane));
  return is_there;
}

}  // namespace frazil::clients
