#include "engine/reader_lane.h"

#include <algorithm>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "engine/dead_letters.h"
#include "engine/ledger.h"

namespace frazil::engine {
namespace {

base::Failpoint poll_after("poll.after", "records were read and nothing is decoded yet", base::Code::kUnavailable);
base::Failpoint decode_mid("decode.mid", "a part of the records is decoded", base::Code::kUnavailable);

constexpr int64_t kReadWaitMicros = 100'000;
constexpr int64_t kBytesPerRecord = 64;  // book-keeping of a record beside its bytes

}  // namespace

ReaderLane::ReaderLane(int lane, ReaderContext context, std::vector<Parts> parts)
    : lane_(lane), context_(std::move(context)), intakes_(parts.size()) {
  for (size_t i = 0; i < parts.size(); ++i) {
    intakes_[i].parts = std::move(parts[i]);
    intakes_[i].parts.decoder->note_records(intakes_[i].records);  // intakes_ does not grow any more
    stage_afresh(intakes_[i]);
  }
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
  if (pending_ == nullptr) return hand_over_all();  // idle: what is staged need not wait for more
  return decode_pending();
}

base::Status ReaderLane::end_epoch() {
  TRY(hand_over_all());
  if (pending_ != nullptr && context_.state.is_leaving(pending_->range.split)) pending_.reset();
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
    TRY(poll_after.pass());
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
  Intake& intake = intakes_[static_cast<size_t>(context_.sink.intake_of(pending_->stream))];
  Gain gain;
  for (size_t first = 0; first < pending_->records.size();) {
    TRY_ASSIGN(first, decode_piece(intake, first, gain));
    TRY(decode_mid.pass());
    if (intake.staging->batch.rows() >= kStagingRows || intake.staging->batch.bytes() >= staging_bytes()) TRY(hand_over(intake));
  }
  share_.rows += gain.rows;
  note_times(gain.rows);
  extend(share_.ranges, pending_->range);
  context_.status.rejected(gain.rejected, gain.counts.tombstones, gain.counts.skipped);
  context_.status.passed_over(gain.counts.unknown_fields, gain.counts.duplicate_keys, gain.counts.empty_arrays);
  pending_.reset();
  lease.resize(0);
  intake.lease->resize(intake.staging->batch.bytes());
  return {};
}

// A lane stages a small part of what the process may hold.
int64_t ReaderLane::staging_bytes() const { return std::min(kStagingBytes, context_.budget.limit() / 8); }

base::Result<size_t> ReaderLane::decode_piece(Intake& intake, size_t first, Gain& gain) {
  columnar::Batch& batch = intake.staging->batch;
  const int64_t before = batch.rows();
  const int64_t room = std::max<int64_t>(1, kStagingRows - before);
  const size_t last = std::min(pending_->records.size(), first + static_cast<size_t>(room));
  std::vector<Rejected> rejects;
  intake.records.clear();
  TRY_ASSIGN(const size_t next, intake.parts.decoder->decode(*pending_, first, last, batch, rejects, gain.counts));
  TRY_ASSIGN(const int64_t left_out, settle_unwanted(intake, before, rejects, gain.counts));
  gain.rejected += static_cast<int64_t>(rejects.size());
  gain.rows += batch.rows() - before - left_out;
  reject(rejects);
  return next;
}

base::Result<int64_t> ReaderLane::settle_unwanted(Intake& intake, int64_t first, std::vector<Rejected>& rejects,
                                                  DecodeCounts& counts) {
  TRY_ASSIGN(std::vector<UnwantedRow> unwanted, intake.parts.router->look(intake.staging->batch, first));
  int64_t left_out = 0;
  int64_t rejected_to = first;  // rows before this one belong to records that are settled
  for (UnwantedRow& one : unwanted) {
    const auto index = static_cast<size_t>(one.row - first);
    const size_t record = intake.records[index];
    if (one.fate == UnwantedRow::Fate::kHalt) return unwanted_halt(one, record);
    if (one.row < rejected_to) continue;
    if (one.fate == UnwantedRow::Fate::kSkip) {
      ++counts.skipped;
      ++left_out;
      continue;
    }
    const auto [begin, end] = std::equal_range(intake.records.begin(), intake.records.end(), record);
    rejected_to = first + (end - intake.records.begin());
    intake.parts.router->leave_out(first + (begin - intake.records.begin()), rejected_to);
    left_out += end - begin;
    rejects.push_back({record, std::move(one.code), std::move(one.message), std::move(one.field)});
  }
  return left_out;
}

base::Error ReaderLane::unwanted_halt(const UnwantedRow& unwanted, size_t record) const {
  const std::string offset = std::to_string(pending_->records[record].offset);
  const std::string place = pending_->stream + "/" + std::to_string(pending_->partition);
  base::Halt halt;
  halt.code = "ROW_UNROUTED";
  halt.range = place + "[" + offset + "," + std::to_string(pending_->records[record].offset + 1) + ")";
  halt.text = "no table takes a row of the record at " + place + " offset " + offset + ": " + unwanted.message +
              ". Add a table for it to tables:, or set unrouted: to dead_letter or skip, and run again";
  return base::Error(std::move(halt));
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

base::Status ReaderLane::hand_over_all() {
  for (Intake& intake : intakes_) TRY(hand_over(intake));
  return {};
}

base::Status ReaderLane::hand_over(Intake& intake) {
  const columnar::Batch& batch = intake.staging->batch;
  if (batch.rows() == 0) return {};
  TRY_ASSIGN(std::vector<RoutedRows> routed, intake.parts.router->route(batch));
  intake.lease->resize(batch.bytes());
  std::vector<std::vector<RoutedRows>> by_lane(static_cast<size_t>(context_.exchange.writers()));
  for (RoutedRows& rows : routed) by_lane[static_cast<size_t>(rows.lane)].push_back(std::move(rows));
  for (size_t writer = 0; writer < by_lane.size(); ++writer) {
    if (by_lane[writer].empty()) continue;
    context_.exchange.to(static_cast<int>(writer))
        .push(LaneMessage{lane_, epoch_, intake.staging, std::move(by_lane[writer]), intake.lease});
  }
  intake.pool.push_back(std::move(intake.staging));
  stage_afresh(intake);
  return {};
}

void ReaderLane::stage_afresh(Intake& intake) {
  intake.lease = std::make_shared<base::Lease>(context_.budget.lease_now(0));
  for (auto& used : intake.pool) {
    if (used.use_count() != 1) continue;
    intake.staging = std::move(used);
    used = std::move(intake.pool.back());
    intake.pool.pop_back();
    intake.staging->batch.clear();
    return;
  }
  intake.staging = std::make_shared<RowsInFlight>(intake.parts.decoder->schema());
}

}  // namespace frazil::engine
