#include "sinks/iceberg/merge_desk.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace frazil::sinks {
namespace {

constexpr size_t kWaitingAtMost = 256;  // workers that wait at once

}  // namespace

MergeDesk::MergeDesk(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format,
                     int64_t window_ms)
    : committer_(config, catalog, format), window_micros_(window_ms * 1000), lane_("merge-desk", [this] { run(); }) {}

MergeDesk::~MergeDesk() {
  close();
  lane_.join();
}

void MergeDesk::close() {
  abandon_.raise();
  base::Lock lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

base::Result<engine::CommitVerdict> MergeDesk::submit(HandedEpoch epoch, base::MonoMicros deadline) {
  auto ticket = std::make_shared<Ticket>();
  ticket->epoch = std::move(epoch);
  base::Lock lock(mutex_);
  if (is_closed_ || waiting_.size() >= kWaitingAtMost) return base::unavailable("the worker that commits for all takes no more epochs");
  waiting_.push_back(ticket);
  changed_.notify_all();
  while (!ticket->outcome && !is_closed_) {
    if (changed_.wait_until(lock, deadline)) continue;
    if (ticket->outcome) break;
    if (!ticket->is_taken) std::erase(waiting_, ticket);
    return base::unavailable("no verdict in time from the worker that commits for all");
  }
  if (!ticket->outcome) return base::unavailable("the worker that commits for all is ending");
  return *ticket->outcome;
}

void MergeDesk::run() {
  while (true) {
    const Tickets batch = next_batch();
    if (batch.empty()) return;
    decide(batch);
  }
}

MergeDesk::Tickets MergeDesk::next_batch() {
  base::Lock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !is_closed_) changed_.wait(lock);
    const base::MonoMicros end = base::deadline_after(window_micros_);
    while (!is_closed_ && base::mono_micros() < end && waiting_.size() < kWaitingAtMost) changed_.wait_until(lock, end);
    if (is_closed_) return {};
    if (!waiting_.empty()) break;  // else all were taken back meanwhile
  }
  const Tickets batch(waiting_.begin(), waiting_.end());
  waiting_.clear();
  for (const auto& ticket : batch) ticket->is_taken = true;
  return batch;
}

void MergeDesk::decide(const Tickets& batch) {
  std::vector<HandedEpoch> epochs;
  for (const auto& ticket : batch) epochs.push_back(ticket->epoch);
  const base::Result<JointVerdicts> verdicts = committer_.commit(epochs, abandon_);
  if (!verdicts.ok()) base::log_info("merge_failed", {{"epochs", static_cast<int64_t>(epochs.size())}, {"why", verdicts.error().message()}});
  base::Lock lock(mutex_);
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i]->outcome = verdicts.ok() ? (*verdicts)[i] : base::unavailable(verdicts.error().message());
  }
  changed_.notify_all();
}

}  // namespace frazil::sinks
