#include "engine/epoch_assembly.h"

#include <numeric>

namespace frazil::engine {
namespace {

void append_all(std::optional<columnar::Batch>& into, std::optional<columnar::Batch> from) {
  if (!from) return;
  if (!into) {
    into = std::move(from);
    return;
  }
  std::vector<int32_t> rows(static_cast<size_t>(from->rows()));
  std::iota(rows.begin(), rows.end(), 0);
  into->append_rows(*from, rows);
}

}  // namespace

std::optional<AssembledEpoch> EpochAssembly::deliver(int64_t epoch, ReaderShare share) {
  base::Lock lock(mutex_);
  Open& open = open_[epoch];
  StagedEpoch& staged = open.epoch.staged;
  for (Range& range : share.ranges) staged.ranges.push_back(std::move(range));
  append_all(staged.dead_letters, std::move(share.dead_letters));
  staged.record_times.insert(staged.record_times.end(), share.record_times.begin(), share.record_times.end());
  staged.rows += share.rows;
  open.epoch.leases.push_back(std::move(share.lease));
  return finish_if_complete(epoch);
}

std::optional<AssembledEpoch> EpochAssembly::deliver(int64_t epoch, std::vector<std::unique_ptr<Output>> outputs) {
  base::Lock lock(mutex_);
  for (auto& output : outputs) open_[epoch].epoch.staged.outputs.push_back(std::move(output));
  return finish_if_complete(epoch);
}

std::optional<AssembledEpoch> EpochAssembly::finish_if_complete(int64_t epoch) {
  Open& open = open_[epoch];
  if (++open.delivered < parts_) return std::nullopt;
  AssembledEpoch done = std::move(open.epoch);
  done.staged.number = epoch;
  open_.erase(epoch);
  return done;
}

}  // namespace frazil::engine
