#include "engine/attempt_state.h"

#include "base/log.h"

namespace frazil::engine {

void AttemptState::cut_epoch(Cut cut) {
  base::Lock lock(mutex_);
  const int64_t next = cut_.load() + 1;
  if (cut == Cut::kFinal) final_epoch_.store(next, std::memory_order_release);
  if (cut != Cut::kPlain) complete_epoch_.store(next, std::memory_order_release);
  cut_.store(next, std::memory_order_release);
  first_record_ = base::kForever;
  base::log_debug("epoch_cut", {{"epoch", next}});
}

void AttemptState::note_progress(int64_t epoch, base::MonoMicros now) {
  base::Lock lock(mutex_);
  if (epoch <= cut_.load() || first_record_ != base::kForever) return;
  first_record_ = now;
  base::log_debug("epoch_opened", {{"epoch", epoch}});
}

base::MonoMicros AttemptState::first_record() const {
  base::Lock lock(mutex_);
  return first_record_;
}

void AttemptState::set_positions(SourcePositions positions) {
  base::Lock lock(mutex_);
  positions_ = std::move(positions);
}

SourcePositions AttemptState::positions() const {
  base::Lock lock(mutex_);
  return positions_;
}

void AttemptState::leave(const std::vector<SplitId>& splits) {
  base::Lock lock(mutex_);
  leaving_.insert(splits.begin(), splits.end());
}

void AttemptState::left(const std::vector<SplitId>& splits) {
  base::Lock lock(mutex_);
  for (const SplitId& split : splits) leaving_.erase(split);
}

bool AttemptState::is_leaving(const SplitId& split) const {
  base::Lock lock(mutex_);
  return leaving_.contains(split);
}

void AttemptState::answer_positions(int64_t ticket, std::optional<SourcePositions> positions) {
  base::Lock lock(mutex_);
  answered_ticket_ = ticket;
  answer_ = std::move(positions);
}

bool AttemptState::take_answer(int64_t ticket, std::optional<SourcePositions>& positions) {
  base::Lock lock(mutex_);
  if (answered_ticket_ < ticket) return false;
  positions = answer_;
  return true;
}

void AttemptState::fail(base::Error error, bool is_of_writer) {
  base::Lock lock(mutex_);
  if (error_) return;
  error_ = std::move(error);
  is_writer_failure_.store(is_of_writer, std::memory_order_release);
}

std::optional<base::Error> AttemptState::error() const {
  base::Lock lock(mutex_);
  return error_;
}

}  // namespace frazil::engine
