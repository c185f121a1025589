#include "sources/kafka/log_end_watch.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "sources/kafka/kafka_positions.h"

namespace frazil::sources {

namespace {

using clients::OffsetSpec;
using clients::TopicPartition;

constexpr int64_t kRefreshMicros = 1'000'000;
constexpr int64_t kLongestPinLookMicros = 10'000'000;

std::string how_to_find_the_producer(const TopicPartition& partition) {
  return "a transaction is open since then and keeps what is behind it back; its producer: kafka-transactions.sh "
         "--bootstrap-server … describe-producers --topic " +
         partition.topic + " --partition " + std::to_string(partition.partition) + " (then abort)";
}

}  // namespace

LogEndWatch::LogEndWatch(clients::KafkaClient& client, int64_t patience_ms)
    : client_(client), patience_micros_(patience_ms * 1000) {}

void LogEndWatch::follow(std::vector<TopicPartition> partitions) {
  base::Lock lock(mutex_);
  partitions_ = std::move(partitions);
  next_refresh_ = 0;
  std::erase_if(pins_, [&](const auto& entry) {
    return std::find(partitions_.begin(), partitions_.end(), entry.first) == partitions_.end();
  });
}

void LogEndWatch::join(const std::vector<TopicPartition>& partitions) {
  std::vector<TopicPartition> all = followed();
  for (const TopicPartition& partition : partitions) {
    if (std::find(all.begin(), all.end(), partition) == all.end()) all.push_back(partition);
  }
  follow(std::move(all));
}

void LogEndWatch::leave(const std::vector<TopicPartition>& partitions) {
  std::vector<TopicPartition> rest = followed();
  std::erase_if(rest, [&](const TopicPartition& one) {
    return std::find(partitions.begin(), partitions.end(), one) != partitions.end();
  });
  follow(std::move(rest));
}

std::vector<TopicPartition> LogEndWatch::followed() const {
  base::Lock lock(mutex_);
  return partitions_;
}

void LogEndWatch::refresh() {
  std::vector<TopicPartition> partitions;
  bool is_pin_look = false;
  {
    base::Lock lock(mutex_);
    if (base::mono_micros() < next_refresh_) return;
    next_refresh_ = base::deadline_after(kRefreshMicros);
    partitions = partitions_;
    is_pin_look = patience_micros_ > 0 && base::mono_micros() >= next_pin_look_;
  }
  if (partitions.empty()) {
    // A worker without partitions wants to know as well whether anybody is there.
    const base::Status answered = client_.describe({}).status();
    note_answer(answered.ok() ? base::Result<Offsets>(Offsets()) : answered.error());
    return;
  }
  note_answer(client_.list_offsets(partitions, OffsetSpec::kLatest));
  if (is_pin_look) look_for_pins();
}

void LogEndWatch::note_answer(base::Result<Offsets> answer) {
  if (!answer.ok()) return note_silence(answer.error());
  note_life();
  base::Lock lock(mutex_);
  stable_ends_ = std::move(answer).value();
  next_refresh_ = base::deadline_after(kRefreshMicros);
}

void LogEndWatch::note_reply(const base::Status& status) {
  if (status.ok()) return note_life();
  if (status.error().code() == base::Code::kUnavailable) note_silence(status.error());
}

void LogEndWatch::note_silence(const base::Error& error) {
  const std::string last_error = client_.last_error();
  base::Lock lock(mutex_);
  next_refresh_ = base::deadline_after(kRefreshMicros);
  if (disconnected_since_ == 0) disconnected_since_ = base::mono_micros();
  problem_ = "Kafka does not answer: " + (last_error.empty() ? error.message() : last_error);
}

void LogEndWatch::note_life() {
  base::Lock lock(mutex_);
  if (std::exchange(disconnected_since_, 0) != 0) base::log_info("kafka_answers_again");
  problem_.clear();
}

void LogEndWatch::look_for_pins() {
  std::vector<TopicPartition> partitions;
  {
    base::Lock lock(mutex_);
    if (disconnected_since_ != 0) return;
    next_pin_look_ = base::deadline_after(std::min(kLongestPinLookMicros, patience_micros_ / 4));
    partitions = partitions_;
  }
  const auto log_ends = client_.list_offsets(partitions, OffsetSpec::kLogEnd);
  if (log_ends.ok()) note_pins(*log_ends);
}

bool LogEndWatch::is_stuck(const Pin& pin, base::MonoMicros now) const {
  return patience_micros_ > 0 && now - pin.since >= patience_micros_;
}

void LogEndWatch::note_pins(const Offsets& log_ends) {
  base::Lock lock(mutex_);
  const base::MonoMicros now = base::mono_micros();
  for (const auto& [partition, stable] : stable_ends_) {
    const auto log_end = log_ends.find(partition);
    if (log_end == log_ends.end()) continue;
    const auto known = pins_.find(partition);
    const bool was_reported = known != pins_.end() && known->second.is_reported;
    if (known != pins_.end() && (log_end->second <= stable || known->second.stable_offset != stable)) {
      if (was_reported) base::log_info("kafka_open_transaction_ended", {{"split", split_id(partition)}});
      pins_.erase(known);
    }
    if (log_end->second <= stable) continue;
    Pin& pin = pins_.try_emplace(partition, Pin{stable, 0, now, false}).first->second;
    pin.log_end = log_end->second;
    if (pin.is_reported || !is_stuck(pin, now)) continue;
    pin.is_reported = true;
    base::log_warn("kafka_open_transaction", {{"code", "LSO_STUCK"},
                                              {"split", split_id(partition)},
                                              {"last_stable_offset", stable},
                                              {"log_end", pin.log_end},
                                              {"seconds", (now - pin.since) / 1'000'000},
                                              {"text", how_to_find_the_producer(partition)}});
  }
}

std::vector<engine::SplitLag> LogEndWatch::lag(const engine::SourcePositions& positions) {
  refresh();
  base::Lock lock(mutex_);
  std::vector<engine::SplitLag> lags;
  for (const TopicPartition& partition : partitions_) {
    engine::SplitLag& lag = lags.emplace_back();
    lag.split = split_id(partition);
    lag.lag = -1;
    const auto known = positions.next.find(lag.split);
    if (known == positions.next.end()) continue;
    lag.position = known->second;
    const auto end = stable_ends_.find(partition);
    const auto position = parse_position(known->second);
    if (position && end != stable_ends_.end()) lag.lag = std::max<int64_t>(end->second - position->offset, 0);
  }
  return lags;
}

engine::SourceHealth LogEndWatch::health() const {
  base::Lock lock(mutex_);
  engine::SourceHealth health;
  health.disconnected_since = disconnected_since_;
  health.problem = problem_;
  const base::MonoMicros now = base::mono_micros();
  for (const auto& [partition, pin] : pins_) {
    if (!is_stuck(pin, now)) continue;
    health.stuck.push_back({.split = split_id(partition),
                            .position = std::to_string(pin.stable_offset),
                            .waiting = pin.log_end - pin.stable_offset,
                            .since = pin.since,
                            .reason = how_to_find_the_producer(partition)});
  }
  return health;
}

}  // namespace frazil::sources
