// AttemptState: what the lanes of one attempt share besides channels: the cut, splits that go, the first failure, and why it ends.
//
// An attempt is one stretch of reading from the table's positions: it ends when the worker stops, when an epoch was dropped
// and reading has to go back, or when something failed. Any lane.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "base/sync.h"
#include "engine/position.h"

namespace frazil::engine {

class AttemptState {
 public:
  // Epochs up to this number have been cut: readers end them.
  int64_t cut() const { return cut_.load(std::memory_order_acquire); }
  bool is_final(int64_t epoch) const { return epoch == final_epoch_.load(std::memory_order_acquire); }
  enum class Cut {
    kPlain,
    kComplete,  // whatever was read is committed with it: positions that moved without rows do not wait for rows
    kFinal,     // the last one of this attempt, and complete
  };
  // Ends the open epoch.
  void cut_epoch(Cut cut);
  bool is_complete(int64_t epoch) const { return epoch <= complete_epoch_.load(std::memory_order_acquire); }

  // A reader got something in `epoch`.
  void note_progress(int64_t epoch, base::MonoMicros now);
  // A reader waited and its source had nothing (+1), or has something again (-1).
  void note_idle(int change) { idle_readers_.fetch_add(change, std::memory_order_acq_rel); }
  int idle_readers() const { return idle_readers_.load(std::memory_order_acquire); }
  // When the open epoch got its first record, or kForever.
  base::MonoMicros first_record() const;

  // Epochs last this long; the sink may ask for longer ones after any commit.
  void set_cut_interval_ms(int64_t interval) { cut_interval_ms_.store(interval, std::memory_order_release); }
  int64_t cut_interval_ms() const { return cut_interval_ms_.load(std::memory_order_acquire); }

  void epoch_settled() { settled_.fetch_add(1, std::memory_order_acq_rel); }
  // Epochs settle in order: this one and all before it have.
  bool has_settled(int64_t epoch) const { return settled_.load(std::memory_order_acquire) >= epoch; }
  int in_flight() const { return static_cast<int>(cut() - settled_.load(std::memory_order_acquire)); }
  bool all_settled() const { return is_final(cut()) && in_flight() == 0; }

  // What the table says after the newest commit or look at it, for lag.
  void set_positions(SourcePositions positions);
  SourcePositions positions() const;

  // Splits that the source gives up. Told before the cut that ends them: what a reader still holds of them then was never
  // part of an epoch, and is dropped.
  void leave(const std::vector<SplitId>& splits);
  void left(const std::vector<SplitId>& splits);
  bool is_leaving(const SplitId& split) const;

  // The committer lane's answer to CommitLane::ask_positions(): empty when the table could not be reached.
  void answer_positions(int64_t ticket, std::optional<SourcePositions> positions);
  // True when the question of this number, or a later one, is answered; the answer goes to `positions`.
  bool take_answer(int64_t ticket, std::optional<SourcePositions>& positions);

  // The first failure wins. Lanes end soon after.
  void fail(base::Error error) { fail(std::move(error), false); }
  // The same, of a writer lane: a store refuses files also when credentials expire or uploads are swept away.
  void fail_writing(base::Error error) { fail(std::move(error), true); }
  bool is_writer_failure() const { return is_writer_failure_.load(std::memory_order_acquire); }
  void note_commit() { has_committed_.store(true, std::memory_order_release); }
  bool has_committed() const { return has_committed_.load(std::memory_order_acquire); }
  // Open work is dropped; reading starts again at the table's positions.
  void reset() { is_reset_.store(true, std::memory_order_release); }
  bool is_reset() const { return is_reset_.load(std::memory_order_acquire); }
  // The committed positions have reached the ends that the run waits for.
  void caught_up() { is_caught_up_.store(true, std::memory_order_release); }
  bool is_caught_up() const { return is_caught_up_.load(std::memory_order_acquire); }
  std::optional<base::Error> error() const;

  base::Interrupt& abandon() { return abandon_; }
  bool is_abandoned() const { return abandon_.raised(); }

 private:
  void fail(base::Error error, bool is_of_writer);

  std::atomic<int64_t> cut_{0};
  std::atomic<int64_t> final_epoch_{-1};
  std::atomic<int64_t> complete_epoch_{-1};
  std::atomic<int64_t> settled_{0};
  std::atomic<int> idle_readers_{0};
  std::atomic<bool> is_reset_{false};
  std::atomic<bool> is_caught_up_{false};
  std::atomic<bool> is_writer_failure_{false};
  std::atomic<bool> has_committed_{false};
  std::atomic<int64_t> cut_interval_ms_{0};
  base::Interrupt abandon_;
  mutable base::Mutex mutex_;
  base::MonoMicros first_record_ = base::kForever;
  SourcePositions positions_;
  std::set<SplitId> leaving_;
  int64_t answered_ticket_ = 0;
  std::optional<SourcePositions> answer_;
  std::optional<base::Error> error_;
};

}  // namespace frazil::engine
