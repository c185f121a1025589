#include "engine/commit_lane.h"

#include <algorithm>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "engine/ledger.h"

namespace frazil::engine {
namespace {

base::Failpoint confirm_after("confirm.after", "the source has confirmed its identity for an epoch", base::Code::kUnavailable);

const char* likely_cause(CommitVerdict::Kind kind) {
  switch (kind) {
    case CommitVerdict::Kind::kGap:
      return "the table's positions were moved back, by frazil rewind or by a roll-back of the table: what lies behind them is read again";
    case CommitVerdict::Kind::kUnfit:
      return "the table or the store has changed, as the reason says: the same records are read again and written anew";
    default:
      return "another process had committed these records: once is normal when partitions change hands; again and again it means that "
             "this pipeline also runs under another group, or with group: none";
  }
}

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
  bool is_last = false;
  while (!is_last && !state_.is_abandoned() && !state_.is_reset() && !state_.error()) {
    std::optional<CommitTask> task = inbox_.pop(carry_deadline());
    if (!task && inbox_.is_closed()) return;
    const base::Status status = task ? work(*std::move(task), is_last) : commit_carried();
    if (!status.ok()) state_.fail(status.error());
    source_.wake();
  }
}

base::Status CommitLane::work(CommitTask task, bool& is_last) {
  if (!task.epoch) return look_at_table(task.ticket);
  const int64_t number = task.epoch->staged.number;
  is_last = state_.is_final(number);
  const base::Status status = take(*std::move(task.epoch));
  state_.epoch_settled();
  base::log_debug("epoch_settled", {{"epoch", number}});
  return status;
}

int64_t CommitLane::ask_positions() {
  inbox_.push_always(CommitTask{std::nullopt, ++last_ticket_});
  return last_ticket_;
}

base::Status CommitLane::look_at_table(int64_t ticket) {
  base::Result<SourcePositions> found = committer_.reload();
  const base::Code code = found.ok() ? base::Code::kBug : found.error().code();
  const bool is_away = code == base::Code::kUnavailable || code == base::Code::kExhausted || code == base::Code::kUnknownOutcome;
  if (!found.ok() && !is_away) return found.status();
  if (!found.ok()) {
    base::log_info("table_look_failed", {{"pipeline", options_.pipeline}, {"why", found.error().message()}});
    state_.answer_positions(ticket, std::nullopt);
    return {};
  }
  positions_ = *found;
  state_.set_positions(positions_);
  if (options_.until_caught_up && source_.is_caught_up(positions_)) state_.caught_up();
  state_.answer_positions(ticket, *std::move(found));
  return {};
}

bool CommitLane::may_carry(const StagedEpoch& epoch) const {
  if (epoch.rows != 0 || epoch.dead_letters || !epoch.outputs.empty()) return false;
  if (options_.until_caught_up || state_.is_complete(epoch.number)) return false;
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
    tell_dropped(verdict, epoch);
    state_.reset();
    return {};
  }
  done(verdict, epoch, static_cast<double>(base::mono_micros() - begun) / 1e6);
  return {};
}

// A stale one is normal when partitions change hands. Many mean that somebody else reads the same partitions.
void CommitLane::tell_dropped(const CommitVerdict& verdict, const StagedEpoch& epoch) {
  status_.commit_lost();
  const auto level = status_.stale_epoch(base::wall_micros()) ? base::LogLevel::kWarn : base::LogLevel::kInfo;
  base::log(level, "epoch_dropped",
            {{"pipeline", options_.pipeline},
             {"epoch", epoch.number},
             {"why", verdict_name(verdict.kind)},
             {"reason", verdict.reason},
             {"rows", epoch.rows},
             {"likely", likely_cause(verdict.kind)}});
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
