#include "engine/split_changes.h"

#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "base/log.h"

namespace frazil::engine {
namespace {

base::Failpoint revoke_end("revoke.end", "work of partitions that were taken away is committed or dropped, they are not given back");

constexpr int64_t kTryAgainMicros = 500'000;

}  // namespace

void SplitChanges::come(const std::vector<SplitId>& splits) {
  coming_.insert(coming_.end(), splits.begin(), splits.end());
  ticket_ = 0;  // what the table said before is too old for them
  next_try_ = 0;
}

void SplitChanges::go(const SourceEvent& event) {
  std::erase_if(coming_, [&](const SplitId& split) {
    return std::find(event.splits.begin(), event.splits.end(), split) != event.splits.end();
  });
  deadline_ = going_.empty() ? event.deadline : std::min(deadline_, event.deadline);
  going_.insert(going_.end(), event.splits.begin(), event.splits.end());
  state_.leave(event.splits);
}

base::Status SplitChanges::tend(base::MonoMicros now, bool is_ending) {
  if (!going_.empty()) return tend_going(now);
  if (!coming_.empty() && !is_ending) return tend_coming(now);
  return {};
}

base::Status SplitChanges::tend_going(base::MonoMicros now) {
  const bool is_committed = state_.has_settled(last_epoch_);
  if (!is_committed && now < deadline_) return {};
  const std::vector<SplitId> splits = std::exchange(going_, {});
  revoke_end.pass_by();
  TRY(source_.release(splits));
  state_.left(splits);
  base::log_info("splits_released", {{"pipeline", pipeline_},
                                     {"splits", static_cast<int64_t>(splits.size())},
                                     {"first", splits.front()},
                                     {"committed", is_committed}});
  if (is_committed) return {};
  base::log_warn("release_timed_out", {{"pipeline", pipeline_},
                                       {"meaning", "open work was dropped; the partitions' new owner reads it again"}});
  state_.reset();
  return {};
}

base::Status SplitChanges::tend_coming(base::MonoMicros now) {
  if (ticket_ == 0) {
    if (now >= next_try_) ticket_ = committer_.ask_positions();
    return {};
  }
  std::optional<SourcePositions> positions;
  if (!state_.take_answer(ticket_, positions)) return {};
  ticket_ = 0;
  next_try_ = now + kTryAgainMicros;
  if (!positions) return {};
  const base::Status added = source_.add(coming_, *positions);
  if (!added.ok() && added.error().code() == base::Code::kUnavailable) {
    base::log_info("splits_not_yet_added", {{"pipeline", pipeline_}, {"why", added.error().message()}});
    return {};
  }
  TRY(added);
  base::log_info("splits_added", {{"pipeline", pipeline_},
                                  {"splits", static_cast<int64_t>(coming_.size())},
                                  {"first", coming_.front()}});
  coming_.clear();
  return {};
}

}  // namespace frazil::engine
