#include "engine/reader_lane.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "engine/dead_letters.h"
#include "engine/ledger.h"

namespace frazil::engine {
namespace {

constexpr int64_t kReadWaitMicros = 100'000;
constexpr int64_t kBytesPerRecord = 64;  // book-keeping of a record beside its bytes

}  // namespace

ReaderLane::ReaderLane(int lane, ReaderContext context, std::unique_ptr<Decoder> decoder, std::unique_ptr<Router> router)
    : lane_(lane), context_(std::move(context)), decoder_(std::move(decoder)), router_(std::move(router)) {
  staging_ = fresh_staging();
}

void ReaderLane::run() {
  bool is_done = false;
  while (!is_done && !context_.state.is_abandoned()) {
    if (base::Status status = step(is_done); !status.ok()) {
      context_.state.fail(status.error());
      context_.source.wake();
      return;
    }
  }
}

base::Status ReaderLane::step(bool& is_done) {
  if (epoch_ <= context_.state.cut()) {
    const bool is_final = context_.state.is_final(epoch_);
    TRY(end_epoch());
    is_done = is_final;
    return {};
  }
  if (pending_ == nullptr) TRY(read_more());
  if (pending_ == nullptr) return hand_over();  // idle: what is staged need not wait for more
  return decode_pending();
}

base::Status ReaderLane::end_epoch() {
  TRY(hand_over());
  context_.deliver(epoch_, std::move(share_));
  share_ = ReaderShare();
  for (int writer = 0; writer < context_.exchange.writers(); ++writer) {
    context_.exchange.to(writer).push_always(LaneMessage{lane_, epoch_, nullptr, {}, nullptr});
  }
  ++epoch_;
  return {};
}

base::Status ReaderLane::read_more() {
  TRY_ASSIGN(pending_, context_.source.read(lane_, base::deadline_after(kReadWaitMicros)));
  if (is_idle_ != (pending_ == nullptr)) {
    is_idle_ = pending_ == nullptr;
    context_.state.note_idle(is_idle_ ? 1 : -1);
  }
  if (pending_ != nullptr) {
    context_.status.read(static_cast<int64_t>(pending_->records.size()), pending_->bytes);
  }
  return {};
}

base::Status ReaderLane::decode_pending() {
  const auto records = static_cast<int64_t>(pending_->records.size());
  base::Lease lease = context_.budget.acquire(pending_->bytes + records * kBytesPerRecord + 1, base::kForever, [&] {
    return epoch_ <= context_.state.cut() || context_.state.is_abandoned();
  });
  if (lease.bytes() == 0) return {};  // the barrier comes first, or the end
  context_.state.note_progress(epoch_, base::mono_micros());
  DecodeCounts counts;
  int64_t rejected = 0;
  int64_t appended = 0;
  for (size_t first = 0; first < pending_->records.size();) {
    const int64_t room = std::max<int64_t>(1, kStagingRows - staging_->batch.rows());
    const size_t last = std::min(pending_->records.size(), first + static_cast<size_t>(room));
    std::vector<Rejected> rejects;
    const int64_t before = staging_->batch.rows();
    TRY(decoder_->decode(*pending_, first, last, staging_->batch, rejects, counts));
    appended += staging_->batch.rows() - before;
    rejected += static_cast<int64_t>(rejects.size());
    reject(rejects);
    first = last;
    if (staging_->batch.rows() >= kStagingRows) TRY(hand_over());
  }
  share_.rows += appended;
  note_times(appended);
  extend(share_.ranges, pending_->range);
  context_.status.rejected(rejected, counts.tombstones, counts.skipped);
  context_.status.passed_over(counts.unknown_fields, counts.duplicate_keys);
  pending_.reset();
  lease.resize(0);
  staging_lease_->resize(staging_->batch.bytes());
  if (staging_->batch.bytes() >= kStagingBytes) return hand_over();
  return {};
}

void ReaderLane::reject(const std::vector<Rejected>& rejects) {
  if (rejects.empty()) return;
  if (!share_.dead_letters) {
    share_.dead_letters.emplace(dead_letter_schema());
    share_.lease = context_.budget.lease_now(0);
  }
  const int64_t now = base::wall_micros();
  for (const Rejected& one : rejects) {
    if (context_.status.reject(one.code, now)) tell(one);
    append_dead_letter(*share_.dead_letters, *pending_, one, context_.pipeline, context_.dead_letter_schema_id, now);
  }
  share_.lease.resize(share_.dead_letters->bytes());
}

void ReaderLane::tell(const Rejected& rejected) const {
  const std::string place = pending_->stream + "/" + std::to_string(pending_->partition) + " offset " +
                            std::to_string(pending_->records[rejected.record].offset);
  base::log_warn("record rejected, the first of its code within a minute", {{"pipeline", context_.pipeline},
                                                                            {"at", place},
                                                                            {"code", rejected.code},
                                                                            {"field", rejected.field},
                                                                            {"reason", rejected.message}});
}

void ReaderLane::note_times(int64_t rows) {
  RecordTimes times{INT64_MAX, 0, INT64_MIN, 0};
  __int128 sum = 0;
  int64_t records = 0;
  for (const RawRecord& record : pending_->records) {
    if (record.timestamp_micros < 0) continue;
    times.min = std::min(times.min, record.timestamp_micros);
    times.max = std::max(times.max, record.timestamp_micros);
    sum += record.timestamp_micros;
    ++records;
  }
  if (records == 0 || rows == 0) return;
  times.mean = static_cast<int64_t>(sum / records);
  times.rows = rows;
  share_.record_times.push_back(times);
}

base::Status ReaderLane::hand_over() {
  if (staging_->batch.rows() == 0) return {};
  TRY_ASSIGN(std::vector<RoutedRows> routed, router_->route(staging_->batch));
  staging_lease_->resize(staging_->batch.bytes());
  std::vector<std::vector<RoutedRows>> by_lane(static_cast<size_t>(context_.exchange.writers()));
  for (RoutedRows& rows : routed) by_lane[static_cast<size_t>(rows.lane)].push_back(std::move(rows));
  for (size_t writer = 0; writer < by_lane.size(); ++writer) {
    if (by_lane[writer].empty()) continue;
    context_.exchange.to(static_cast<int>(writer)).push(LaneMessage{lane_, epoch_, staging_, std::move(by_lane[writer]), staging_lease_});
  }
  pool_.push_back(std::move(staging_));
  staging_ = fresh_staging();
  return {};
}

std::shared_ptr<RowsInFlight> ReaderLane::fresh_staging() {
  staging_lease_ = std::make_shared<base::Lease>(context_.budget.lease_now(0));
  for (auto& used : pool_) {
    if (used.use_count() != 1) continue;
    std::shared_ptr<RowsInFlight> again = std::move(used);
    used = std::move(pool_.back());
    pool_.pop_back();
    again->batch.clear();
    return again;
  }
  return std::make_shared<RowsInFlight>(decoder_->schema());
}

}  // namespace frazil::engine
