#include "engine/attempt.h"

#include <algorithm>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"

namespace frazil::engine {
namespace {

base::Failpoint epoch_cut("epoch.cut", "an epoch was cut and its barriers are on their way");

constexpr int kEpochsInFlight = 3;
constexpr int64_t kLookMicros = 50'000;
constexpr int64_t kLagEveryMicros = 1'000'000;
constexpr int64_t kStopWithinMicros = 15'000'000;      // an ordered end after SIGTERM
constexpr int64_t kStartAgainWithinMicros = 20'000'000;  // open work is committed within this, or read again
constexpr int64_t kTableLookMicros = 2'000'000;         // how often a run until caught up looks what others have committed

}  // namespace

Attempt::Attempt(AttemptParts parts, const SourcePositions& positions, int64_t started_micros)
    : parts_(parts),
      positions_(positions),
      clock_(parts.options.commit_interval_ms * 1000, kEpochsInFlight),
      exchange_(parts.options.writer_lanes),
      assembly_(parts.options.reader_lanes, parts.options.writer_lanes),
      committer_(parts.options, parts.source, parts.sink.committer(), state_, parts.status, positions,
                 started_micros),
      changes_(parts.options.pipeline, parts.source, state_, committer_) {}

void Attempt::stage(std::optional<AssembledEpoch> epoch) {
  if (epoch) committer_.inbox().push_always(CommitTask{std::move(epoch)});
}

base::Status Attempt::start_lanes() {
  const int readers = parts_.options.reader_lanes;
  for (int lane = 0; lane < readers; ++lane) {
    std::vector<ReaderLane::Parts> intakes;
    for (int intake = 0; intake < parts_.sink.intakes(); ++intake) {
      TRY_ASSIGN(auto decoder, parts_.make_decoder(lane, intake));
      TRY_ASSIGN(auto router, parts_.sink.make_router(intake, lane, parts_.options.writer_lanes));
      intakes.push_back({std::move(decoder), std::move(router)});
    }
    ReaderContext context{parts_.source,
                          parts_.sink,
                          state_,
                          exchange_,
                          parts_.budget,
                          parts_.status,
                          [this](int64_t epoch, ReaderShare share) { stage(assembly_.deliver(epoch, std::move(share))); },
                          parts_.options.pipeline,
                          parts_.options.dead_letter_schema_id};
    readers_.push_back(std::make_unique<ReaderLane>(lane, std::move(context), std::move(intakes)));
  }
  for (int lane = 0; lane < parts_.options.writer_lanes; ++lane) {
    WriterContext context{parts_.sink, parts_.source, state_, exchange_, parts_.budget,
                          [this](int64_t epoch, std::vector<std::unique_ptr<Output>> outputs) {
                            stage(assembly_.deliver(epoch, std::move(outputs)));
                          }};
    writers_.push_back(std::make_unique<WriterLane>(lane, readers, std::move(context)));
  }
  TRY(parts_.source.start(positions_, readers));
  for (size_t i = 0; i < readers_.size(); ++i) {
    lanes_.emplace_back("reader-" + std::to_string(i), [reader = readers_[i].get()] { reader->run(); });
  }
  for (size_t i = 0; i < writers_.size(); ++i) {
    lanes_.emplace_back("writer-" + std::to_string(i), [writer = writers_[i].get()] { writer->run(); });
  }
  lanes_.emplace_back("committer", [this] { committer_.run(); });
  return {};
}

base::Result<Attempt::End> Attempt::run(base::Interrupt& stop) {
  base::log_info("reading_begins", {{"pipeline", parts_.options.pipeline}});
  state_.set_positions(positions_);
  state_.set_cut_interval_ms(std::max(parts_.options.commit_interval_ms, parts_.sink.committer().least_cut_interval_ms()));
  TRY(start_lanes());
  if (parts_.options.until_caught_up && parts_.source.is_caught_up(positions_)) state_.caught_up();
  while (true) {
    TRY_ASSIGN(const std::optional<End> end, look(stop));
    if (end) return *end;
    TRY(watch_source());
  }
}

base::Result<std::optional<Attempt::End>> Attempt::look(base::Interrupt& stop) {
  if (auto error = state_.error()) return *error;
  const base::MonoMicros now = base::mono_micros();
  TRY(changes_.tend(now, draining_for_.has_value()));
  if (state_.is_reset()) return std::optional(End::kReset);
  if ((stop.raised() || state_.is_caught_up()) && draining_for_ != End::kStopped) {
    drain(now + kStopWithinMicros, End::kStopped);
  }
  if (draining_for_ && state_.all_settled()) {
    show();
    return draining_for_;
  }
  if (draining_for_ && now >= drain_deadline_) {
    base::log_warn("drain_timed_out", {{"pipeline", parts_.options.pipeline},
                                       {"meaning", "open work was dropped; it is read again from the table's positions"}});
    return draining_for_;
  }
  clock_.set_interval(state_.cut_interval_ms() * 1000);
  // A run until caught up need not wait for the interval when there is nothing left to read.
  const bool has_read_all = parts_.options.until_caught_up && state_.idle_readers() == parts_.options.reader_lanes;
  const EpochClock::Load load{state_.first_record(), parts_.budget.is_pressed() || has_read_all, state_.in_flight()};
  if (!draining_for_ && clock_.should_cut(now, load)) cut(AttemptState::Cut::kPlain);
  if (has_read_all && !draining_for_) watch_table(now);
  if (now >= next_show_) show();
  return std::optional<End>();
}

base::Status Attempt::watch_source() {
  const base::MonoMicros now = base::mono_micros();
  const EpochClock::Load load{state_.first_record(), false, state_.in_flight()};
  TRY_ASSIGN(const SourceEvent event, parts_.source.poll_control(clock_.next_look(now, load, kLookMicros)));
  answer(event, now);
  return {};
}

void Attempt::answer(const SourceEvent& event, base::MonoMicros now) {
  switch (event.kind) {
    case SourceEvent::Kind::kNone:
      return;
    case SourceEvent::Kind::kSplitsAdded:
      return changes_.come(event.splits);
    case SourceEvent::Kind::kSplitsLeaving:
      return release(event);
    case SourceEvent::Kind::kSplitsLost:
      parts_.status.splits_lost();
      return state_.reset();
    case SourceEvent::Kind::kStartAgain:
      if (!draining_for_) drain(now + kStartAgainWithinMicros, End::kReset);
      return;
  }
}

// Readers must know which splits go before they see the cut.
void Attempt::release(const SourceEvent& event) {
  changes_.go(event);
  if (!draining_for_) cut(AttemptState::Cut::kComplete);
  changes_.end_with(state_.cut());
}

// A run until caught up may wait for splits that other workers read.
void Attempt::watch_table(base::MonoMicros now) {
  if (now < next_table_look_) return;
  next_table_look_ = now + kTableLookMicros;
  committer_.ask_positions();
}

void Attempt::drain(base::MonoMicros deadline, End end) {
  const bool already = draining_for_.has_value();
  draining_for_ = end;
  drain_deadline_ = deadline;
  if (!already) cut(AttemptState::Cut::kFinal);
}

void Attempt::cut(AttemptState::Cut kind) {
  state_.cut_epoch(kind);
  epoch_cut.pass_by();
  parts_.source.wake();
  parts_.budget.wake();
}

void Attempt::show() {
  next_show_ = base::mono_micros() + kLagEveryMicros;
  parts_.status.set_memory(parts_.budget.used(), parts_.budget.limit());
  parts_.status.set_lag(parts_.source.lag(state_.positions()));
  parts_.status.set_source_health(parts_.source.health());
}

void Attempt::join() {
  state_.abandon().raise();
  exchange_.close();
  committer_.inbox().close();
  parts_.budget.wake();
  parts_.source.wake();
  for (base::Lane& lane : lanes_) lane.join();
  parts_.source.stop();
}

}  // namespace frazil::engine
