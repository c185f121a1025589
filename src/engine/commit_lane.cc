#include "engine/commit_lane.h"

#include <algorithm>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "engine/ledger.h"

namespace frazil::engine {
namespace {

base::Failpoint confirm_after("confirm.after", "the source has confirmed its identity for an epoch", base::Code::kUnavailable);

constexpr int64_t kCatchUpAgeMicros = 60'000'000;  // records older than this at the start are no live rows

}  // namespace

CommitLane::CommitLane(const WorkerOptions& options, Source& source, Committer& committer, AttemptState& state,
                       PipelineStatus& status, SourcePositions positions, int64_t started_micros)
    : options_(options),
      source_(source),
      committer_(committer),
      state_(state),
      status_(status),
      positions_(std::move(positions)),
      started_micros_(started_micros) {}

void CommitLane::run() {
  while (!state_.is_abandoned() && !state_.is_reset()) {
    std::optional<AssembledEpoch> epoch = inbox_.pop(carry_deadline());
    if (!epoch && inbox_.is_closed()) return;
    if (!epoch) {
      if (base::Status status = commit_carried(); !status.ok()) return state_.fail(status.error());
      continue;
    }
    const int64_t number = epoch->staged.number;
    const bool is_final = state_.is_final(number);
    if (base::Status status = take(std::move(*epoch)); !status.ok()) state_.fail(status.error());
    state_.epoch_settled();
    base::log_debug("epoch_settled", {{"epoch", number}});
    source_.wake();
    if (is_final || state_.error()) return;
  }
}

bool CommitLane::may_carry(const StagedEpoch& epoch) const {
  if (epoch.rows != 0 || epoch.dead_letters || !epoch.outputs.empty()) return false;
  if (options_.until_caught_up || state_.is_final(epoch.number)) return false;
  return base::mono_micros() - carried_since_ < options_.position_interval_ms * 1000;
}

base::MonoMicros CommitLane::carry_deadline() const {
  if (carried_.empty()) return base::kForever;
  const int64_t interval = options_.position_interval_ms * 1000;
  return interval >= base::kForever - carried_since_ ? base::kForever : carried_since_ + interval;
}

base::Status CommitLane::commit_carried() {
  StagedEpoch alone;
  alone.ranges = std::move(carried_);
  carried_.clear();
  carried_since_ = base::kForever;
  return commit(alone);
}

base::Status CommitLane::take(AssembledEpoch epoch) {
  StagedEpoch& staged = epoch.staged;
  std::vector<Range> ranges = std::move(carried_);
  carried_.clear();
  for (const Range& range : staged.ranges) {
    if (range.begin != range.end || range.is_first) extend(ranges, range);
  }
  staged.ranges = std::move(ranges);
  if (staged.ranges.empty() && staged.rows == 0 && !staged.dead_letters) return {};
  if (carried_since_ == base::kForever) carried_since_ = base::mono_micros();
  if (may_carry(staged)) {
    carried_ = std::move(staged.ranges);
    return {};
  }
  carried_since_ = base::kForever;
  return commit(staged);
}

base::Status CommitLane::commit(StagedEpoch& epoch) {
  const base::MonoMicros begun = base::mono_micros();
  TRY(source_.confirm(positions_, epoch.ranges));
  TRY(confirm_after.pass());
  epoch.identity = source_.identity();
  TRY_ASSIGN(const CommitVerdict verdict, committer_.commit(epoch, state_.abandon()));
  positions_ = verdict.positions;
  state_.set_positions(positions_);
  if (verdict.kind != CommitVerdict::Kind::kDone) {
    base::log_warn("epoch_dropped", {{"pipeline", options_.pipeline},
                                     {"epoch", epoch.number},
                                     {"why", verdict.kind == CommitVerdict::Kind::kStale ? "stale" : "gap"},
                                     {"reason", verdict.reason},
                                     {"rows", epoch.rows}});
    status_.stale_epoch();
    state_.reset();
    return {};
  }
  done(verdict, epoch, static_cast<double>(base::mono_micros() - begun) / 1e6);
  return {};
}

void CommitLane::done(const CommitVerdict& verdict, const StagedEpoch& epoch, double seconds) {
  std::vector<int64_t> sizes;
  for (const auto& output : epoch.outputs) sizes.push_back(output->bytes());
  status_.committed(epoch.rows, epoch.dead_letters ? epoch.dead_letters->rows() : 0, sizes, seconds,
                    committer_.head_snapshot_id());
  if (verdict.is_merged) status_.merged_epoch();
  state_.note_commit();
  state_.set_cut_interval_ms(std::max(options_.commit_interval_ms, committer_.least_cut_interval_ms()));
  measure_freshness(epoch);
  source_.acknowledge(verdict.positions, committer_.mark());
  if (options_.on_commit) options_.on_commit(verdict, epoch, seconds);
  if (options_.until_caught_up && source_.is_caught_up(verdict.positions)) state_.caught_up();
}

void CommitLane::measure_freshness(const StagedEpoch& epoch) {
  const int64_t now = base::wall_micros();
  for (const RecordTimes& times : epoch.record_times) {
    const bool live = times.mean >= started_micros_ - kCatchUpAgeMicros;
    const auto age = [now](int64_t then) { return then < now ? static_cast<double>(now - then) / 1e6 : 0.0; };
    const int64_t third = times.rows / 3;
    status_.fresh(age(times.min), third, live);
    status_.fresh(age(times.max), third, live);
    status_.fresh(age(times.mean), times.rows - 2 * third, live);
  }
}

}  // namespace frazil::engine
