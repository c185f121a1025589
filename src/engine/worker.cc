#include "engine/worker.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/retry.h"
#include "engine/attempt.h"

namespace frazil::engine {
namespace {

constexpr int64_t kConnectSliceMicros = 5'000'000;  // then a stop is looked for
constexpr int64_t kUnavailablePauseMicros = 200'000;
constexpr int64_t kTroubleMinWaitMs = 200;
constexpr int64_t kTroubleMaxWaitMs = 30'000;
constexpr int kRefusedInRowAtMost = 3;

bool is_unavailable(const base::Status& status) {
  return !status.ok() && status.error().code() == base::Code::kUnavailable;
}

// What may be gone the next time: a store, catalog or broker that is away, full, slow, or did not answer.
bool is_passing(base::Code code) {
  return code == base::Code::kUnavailable || code == base::Code::kUnknownOutcome || code == base::Code::kExhausted ||
         code == base::Code::kConflict;
}

// What a store also says when credentials expire or an upload is swept away half-way. Damage is looked at again as well: bytes can be
// spoilt on their way.
bool is_refusal(base::Code code) { return code == base::Code::kInvalid || code == base::Code::kNotFound; }

}  // namespace

// How long attempts may fail in a row. Begins with the first failure, ends with a commit.
class Worker::Trouble {
 public:
  explicit Trouble(int64_t retry_for_ms) : backoff_(kTroubleMinWaitMs, kTroubleMaxWaitMs, retry_for_ms) {}
  bool allows(const AttemptFailure& failure) {
    const base::Code code = failure.error.code();
    if (is_passing(code)) return true;
    const bool is_worth_a_second_look = (failure.is_of_writer && is_refusal(code)) || code == base::Code::kCorrupt;
    return is_worth_a_second_look && ++refused_ <= kRefusedInRowAtMost;
  }
  bool wait(base::Interrupt& stop) { return backoff_.wait(stop); }
  int tries() const { return backoff_.tries(); }

 private:
  base::Backoff backoff_;
  int refused_ = 0;
};

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
  const base::Status status = run_attempts(stop);
  source_.close();
  return status;
}

base::Status Worker::run_attempts(base::Interrupt& stop) {
  const int64_t started = base::wall_micros();
  base::MonoMicros patience = base::deadline_after(options_.connect_timeout_ms * 1000);
  TRY(connect(patience, stop));
  std::optional<Trouble> trouble;
  while (!stop.raised()) {
    auto positions = settle();
    if (!positions.ok() && is_end_by_stop(positions.error(), stop)) return {};
    if (!positions.ok() && is_passing(positions.error().code()) && base::mono_micros() < patience) {
      tell_start_again(positions.error());
      status_.set_state("starting", positions.error().message());
      status_.set_source_health(source_.health());
      stop.wait_until(base::deadline_after(kUnavailablePauseMicros));
      continue;
    }
    if (!positions.ok() && positions.error().code() == base::Code::kCorrupt) {
      TRY(recover({positions.error(), false}, trouble, stop));
      continue;
    }
    if (!positions.ok()) return positions.status();
    tell_answers_without_halt();
    const std::optional<AttemptFailure> failure = run_attempt(*positions, started, trouble, stop);
    if (is_stopped_) return {};
    if (failure) TRY(recover(*failure, trouble, stop));
    // Two workers that contend for the same splits must not stay in step.
    stop.wait_until(base::deadline_after(static_cast<int64_t>(base::random_below(200'000))));
    // What has answered once is waited for longer than what never did.
    patience = base::deadline_after(std::max(options_.connect_timeout_ms, options_.retry_for_ms) * 1000);
  }
  return {};
}

std::optional<Worker::AttemptFailure> Worker::run_attempt(const SourcePositions& positions, int64_t started_micros,
                                                          std::optional<Trouble>& trouble, base::Interrupt& stop) {
  Attempt attempt({options_, source_, sink_, make_decoder_, budget_, status_}, positions, started_micros);
  status_.set_state("running");
  const base::Result<Attempt::End> end = [&] {
    const base::Patience::Hold hold(options_.patience);  // what is complete is still to be committed
    return attempt.run(stop);
  }();
  if (attempt.state().has_committed()) trouble.reset();
  is_stopped_ = end.ok() && *end == Attempt::End::kStopped;
  if (end.ok()) return std::nullopt;
  return AttemptFailure{end.error(), attempt.state().is_writer_failure()};
}

base::Status Worker::recover(const AttemptFailure& failure, std::optional<Trouble>& trouble, base::Interrupt& stop) {
  const base::Error& error = failure.error;
  if (error.halt() != nullptr) {
    const base::Status answered = answer(error).status();
    if (answered.ok() || !is_passing(answered.error().code())) return answered;
    return recover({answered.error(), false}, trouble, stop);  // the next attempt meets the halt again
  }
  if (is_end_by_stop(error, stop)) return {};
  if (!trouble) trouble.emplace(options_.retry_for_ms);
  if (stop.raised() || !trouble->allows(failure)) return error;
  status_.set_state("starting", error.message());
  base::log_warn("attempt_failed", {{"pipeline", options_.pipeline},
                                    {"in_a_row", trouble->tries() + 1},
                                    {"code", base::code_name(error.code())},
                                    {"why", error.message()},
                                    {"then", "open work is dropped and read again from the table's positions"}});
  if (trouble->wait(stop) || stop.raised()) return {};
  return error;
}

bool Worker::is_end_by_stop(const base::Error& error, base::Interrupt& stop) const {
  if (!stop.raised() || (!is_passing(error.code()) && error.code() != base::Code::kCancelled)) return false;
  base::log_warn("stopped_without_answer", {{"pipeline", options_.pipeline},
                                            {"code", base::code_name(error.code())},
                                            {"why", error.message()},
                                            {"meaning", "what was not committed is read again from the table's positions"}});
  return true;
}

void Worker::tell_start_again(const base::Error& error) {
  if (has_told_start_again_) {
    base::log_info("start_again", {{"pipeline", options_.pipeline}, {"answer", error.message()}});
  } else {
    base::log_warn("start_again", {{"pipeline", options_.pipeline}, {"answer", error.message()}});
  }
  has_told_start_again_ = true;
}

void Worker::tell_answers_without_halt() {
  if (std::exchange(has_started_, true)) return;
  const auto level = options_.is_accepted_for_others ? base::LogLevel::kInfo : base::LogLevel::kWarn;
  for (const AcceptedChoice& one : options_.accepted) {
    if (*one.is_asked_for) continue;
    base::log(level, "stale_accept_ignored",
              {{"pipeline", options_.pipeline}, {"code", one.code}, {"token", one.token}, {"why", "nothing is halted: the pipeline starts without an answer"}});
  }
}

base::Status Worker::connect(base::MonoMicros deadline, base::Interrupt& stop) {
  while (!stop.raised()) {
    const base::Status status = source_.connect(std::min(deadline, base::deadline_after(kConnectSliceMicros)));
    if (!is_unavailable(status) || base::mono_micros() >= deadline) return status;
    if (!has_told_start_again_) tell_start_again(status.error());
    stop.wait_until(std::min(deadline, base::deadline_after(kUnavailablePauseMicros)));
  }
  return {};
}

base::Result<SourcePositions> Worker::settle() {
  TRY_ASSIGN(const bool must_create, sink_.committer().must_create());
  if (must_create) {
    TRY(source_.resolve_start().status());
    const std::string mark = source_.last_mark();
    // Another worker may have made the table, and then left its mark, since the first look.
    TRY_ASSIGN(const bool is_still_missing, sink_.committer().must_create());
    if (is_still_missing) TRY(sink_.committer().recognise(mark));
  }
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
  const int64_t judged_on = sink_.committer().head_snapshot_id();
  TRY_ASSIGN(const SourcePositions now, sink_.committer().reload());
  // Another worker may have committed what the halt speaks of: to answer it now would move the positions back.
  if (sink_.committer().head_snapshot_id() != judged_on) return now;
  TRY_ASSIGN(const SourcePositions moved, source_.apply_choice(halt, *choice, now));
  return sink_.committer().decide(now, moved, Decision{halt.code, *choice, halt.range, options_.user});
}

}  // namespace frazil::engine
