#include "engine/worker.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/commit_lane.h"
#include "engine/epoch_clock.h"
#include "engine/reader_lane.h"
#include "engine/writer_lane.h"

namespace frazil::engine {
namespace {

constexpr int kEpochsInFlight = 3;
constexpr int64_t kLookMicros = 50'000;
constexpr int64_t kLagEveryMicros = 1'000'000;
constexpr int64_t kStopWithinMicros = 25'000'000;      // an ordered end after SIGTERM
constexpr int64_t kReassignWithinMicros = 20'000'000;  // open work is committed within this, or read again
constexpr int64_t kConnectSliceMicros = 5'000'000;     // then a stop is looked for
constexpr int64_t kUnavailablePauseMicros = 200'000;

bool is_unavailable(const base::Status& status) {
  return !status.ok() && status.error().code() == base::Code::kUnavailable;
}

}  // namespace

// One stretch of reading: owns the lanes, joins them all before it ends.
class Worker::Attempt {
 public:
  Attempt(Worker& worker, const SourcePositions& positions, int64_t started_micros);
  ~Attempt() { join(); }

  enum class End { kStopped, kReset };
  base::Result<End> run(base::Interrupt& stop);

 private:
  base::Status start_lanes();
  base::Result<std::optional<End>> look(base::Interrupt& stop);
  base::Status watch_source();
  void drain(base::MonoMicros deadline, End end);
  void cut(bool is_final);
  void show();
  void join();
  void stage(std::optional<AssembledEpoch> epoch);

  Worker& worker_;
  const SourcePositions positions_;
  AttemptState state_;
  EpochClock clock_;
  Exchange exchange_;
  EpochAssembly assembly_;
  CommitLane committer_;
  std::vector<std::unique_ptr<ReaderLane>> readers_;
  std::vector<std::unique_ptr<WriterLane>> writers_;
  std::vector<base::Lane> lanes_;
  std::optional<End> draining_for_;
  base::MonoMicros drain_deadline_ = base::kForever;
  base::MonoMicros next_show_ = 0;
};

Worker::Attempt::Attempt(Worker& worker, const SourcePositions& positions, int64_t started_micros)
    : worker_(worker),
      positions_(positions),
      clock_(worker.options_.commit_interval_ms * 1000, kEpochsInFlight),
      exchange_(worker.options_.writer_lanes),
      assembly_(worker.options_.reader_lanes, worker.options_.writer_lanes),
      committer_(worker.options_, worker.source_, worker.sink_.committer(), state_, worker.status_, positions,
                 started_micros) {}

void Worker::Attempt::stage(std::optional<AssembledEpoch> epoch) {
  if (epoch) committer_.inbox().push_always(std::move(*epoch));
}

base::Status Worker::Attempt::start_lanes() {
  const int readers = worker_.options_.reader_lanes;
  for (int lane = 0; lane < readers; ++lane) {
    TRY_ASSIGN(auto decoder, worker_.make_decoder_(lane));
    TRY_ASSIGN(auto router, worker_.sink_.make_router(lane, worker_.options_.writer_lanes));
    ReaderContext context{worker_.source_,
                          state_,
                          exchange_,
                          worker_.budget_,
                          worker_.status_,
                          [this](int64_t epoch, ReaderShare share) { stage(assembly_.deliver(epoch, std::move(share))); },
                          worker_.options_.pipeline,
                          worker_.options_.dead_letter_schema_id};
    readers_.push_back(std::make_unique<ReaderLane>(lane, std::move(context), std::move(decoder), std::move(router)));
  }
  for (int lane = 0; lane < worker_.options_.writer_lanes; ++lane) {
    WriterContext context{worker_.sink_, worker_.source_, state_, exchange_, worker_.budget_,
                          [this](int64_t epoch, std::vector<std::unique_ptr<Output>> outputs) {
                            stage(assembly_.deliver(epoch, std::move(outputs)));
                          }};
    writers_.push_back(std::make_unique<WriterLane>(lane, readers, std::move(context)));
  }
  TRY(worker_.source_.start(positions_, readers));
  for (size_t i = 0; i < readers_.size(); ++i) {
    lanes_.emplace_back("reader-" + std::to_string(i), [reader = readers_[i].get()] { reader->run(); });
  }
  for (size_t i = 0; i < writers_.size(); ++i) {
    lanes_.emplace_back("writer-" + std::to_string(i), [writer = writers_[i].get()] { writer->run(); });
  }
  lanes_.emplace_back("committer", [this] { committer_.run(); });
  return {};
}

base::Result<Worker::Attempt::End> Worker::Attempt::run(base::Interrupt& stop) {
  state_.set_positions(positions_);
  TRY(start_lanes());
  if (worker_.options_.until_caught_up && worker_.source_.is_caught_up(positions_)) state_.caught_up();
  while (true) {
    TRY_ASSIGN(const std::optional<End> end, look(stop));
    if (end) return *end;
    TRY(watch_source());
  }
}

base::Result<std::optional<Worker::Attempt::End>> Worker::Attempt::look(base::Interrupt& stop) {
  if (auto error = state_.error()) return *error;
  if (state_.is_reset()) return std::optional(End::kReset);
  const base::MonoMicros now = base::mono_micros();
  if ((stop.raised() || state_.is_caught_up()) && draining_for_ != End::kStopped) {
    drain(now + kStopWithinMicros, End::kStopped);
  }
  if (draining_for_ && state_.all_settled()) {
    show();
    return draining_for_;
  }
  if (draining_for_ && now >= drain_deadline_) {
    base::log_warn("drain_timed_out", {{"pipeline", worker_.options_.pipeline},
                                       {"meaning", "open work was dropped; it is read again from the table's positions"}});
    return draining_for_;
  }
  // A run until caught up need not wait for the interval when there is nothing left to read.
  const bool has_read_all = worker_.options_.until_caught_up && state_.idle_readers() == worker_.options_.reader_lanes;
  const EpochClock::Load load{state_.first_record(), worker_.budget_.is_pressed() || has_read_all, state_.in_flight()};
  if (!draining_for_ && clock_.should_cut(now, load)) cut(false);
  if (now >= next_show_) show();
  return std::optional<End>();
}

base::Status Worker::Attempt::watch_source() {
  const base::MonoMicros now = base::mono_micros();
  const EpochClock::Load load{state_.first_record(), false, state_.in_flight()};
  TRY_ASSIGN(const SourceEvent event, worker_.source_.poll_control(clock_.next_look(now, load, kLookMicros)));
  if (event == SourceEvent::kAssignmentChanged && !draining_for_) drain(now + kReassignWithinMicros, End::kReset);
  return {};
}

void Worker::Attempt::drain(base::MonoMicros deadline, End end) {
  const bool already = draining_for_.has_value();
  draining_for_ = end;
  drain_deadline_ = deadline;
  if (!already) cut(true);
}

void Worker::Attempt::cut(bool is_final) {
  state_.cut_epoch(is_final);
  worker_.source_.wake();
  worker_.budget_.wake();
}

void Worker::Attempt::show() {
  next_show_ = base::mono_micros() + kLagEveryMicros;
  worker_.status_.set_memory(worker_.budget_.used(), worker_.budget_.limit());
  worker_.status_.set_lag(worker_.source_.lag(state_.positions()));
}

void Worker::Attempt::join() {
  state_.abandon().raise();
  exchange_.close();
  committer_.inbox().close();
  worker_.budget_.wake();
  worker_.source_.wake();
  for (base::Lane& lane : lanes_) lane.join();
  worker_.source_.stop();
}

Worker::Worker(WorkerOptions options, Source& source, Sink& sink, DecoderFactory make_decoder, base::MemoryBudget& budget,
               PipelineStatus& status)
    : options_(std::move(options)),
      source_(source),
      sink_(sink),
      make_decoder_(std::move(make_decoder)),
      budget_(budget),
      status_(status) {}

Worker::~Worker() = default;

base::Status Worker::run(base::Interrupt& stop) {
  const int64_t started = base::wall_micros();
  const auto leave = [&](base::Status status) {
    source_.close();
    return status;
  };
  base::MonoMicros patience = base::deadline_after(options_.connect_timeout_ms * 1000);
  if (base::Status status = connect(patience, stop); !status.ok()) return leave(status);
  while (!stop.raised()) {
    auto positions = settle();
    if (is_unavailable(positions.status()) && base::mono_micros() < patience) {
      base::log_info("start_again", {{"pipeline", options_.pipeline}, {"answer", positions.error().message()}});
      stop.wait_until(base::deadline_after(kUnavailablePauseMicros));
      continue;
    }
    if (!positions.ok()) return leave(positions.status());
    base::Result<Attempt::End> end = Attempt::End::kStopped;
    {
      Attempt attempt(*this, *positions, started);
      status_.set_state("running");
      end = attempt.run(stop);
    }
    if (end.ok() && *end == Attempt::End::kStopped) break;
    if (!end.ok()) {
      auto answered = answer(end.error());
      if (!answered.ok()) return leave(answered.status());
    }
    // Two workers that contend for the same splits must not stay in step.
    stop.wait_until(base::deadline_after(static_cast<int64_t>(base::random_below(200'000))));
    patience = base::deadline_after(options_.connect_timeout_ms * 1000);
  }
  return leave({});
}

base::Status Worker::connect(base::MonoMicros deadline, base::Interrupt& stop) {
  while (!stop.raised()) {
    const base::Status status = source_.connect(std::min(deadline, base::deadline_after(kConnectSliceMicros)));
    if (!is_unavailable(status) || base::mono_micros() >= deadline) return status;
    stop.wait_until(std::min(deadline, base::deadline_after(kUnavailablePauseMicros)));
  }
  return {};
}

base::Result<SourcePositions> Worker::settle() {
  while (true) {
    TRY_ASSIGN(std::optional<SourcePositions> known, sink_.committer().open());
    if (!known) {
      TRY(sink_.committer().recognise(source_.last_mark()));
      TRY_ASSIGN(const SourcePositions start, source_.resolve_start());
      TRY_ASSIGN(known, sink_.committer().begin(start));
    }
    base::Status fits = source_.check(*known);
    if (fits.ok()) return *known;
    TRY(answer(fits.error()).status());
  }
}

base::Result<SourcePositions> Worker::answer(const base::Error& error) {
  // Halts of the table are answered by the committer's open(): it knows what they are about.
  if (error.halt() == nullptr || !error.halt()->code.starts_with("SOURCE_")) return error;
  base::Halt halt = *error.halt();
  if (halt.token.empty()) halt.token = base::halt_token(halt.code, halt.range, sink_.committer().head_snapshot_id());
  TRY_ASSIGN(const std::optional<std::string> choice, accepted_choice(options_.accepted, halt, options_.pipeline));
  if (!choice) return base::Error(std::move(halt));
  TRY_ASSIGN(const SourcePositions now, sink_.committer().reload());
  TRY_ASSIGN(const SourcePositions moved, source_.apply_choice(halt, *choice, now));
  return sink_.committer().decide(now, moved, Decision{halt.code, *choice, halt.range, options_.user});
}

}  // namespace frazil::engine
