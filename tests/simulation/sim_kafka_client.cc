#include "tests/simulation/sim_kafka_client.h"

#include <algorithm>

#include "base/clock.h"
#include "base/interrupt.h"

namespace frazil::simulation {

using clients::ClusterDescription;
using clients::FetchedBatch;
using clients::KafkaEvent;
using clients::KafkaEventKind;
using clients::OffsetAndEpoch;
using clients::OffsetSpec;
using clients::TopicPartition;
using Offsets = std::map<TopicPartition, int64_t>;

std::unique_ptr<clients::KafkaClient> SimKafka::make_client(std::shared_ptr<Life> life, std::string group) {
  return std::make_unique<SimKafkaClient>(*this, std::move(life), std::move(group));
}

base::Status SimKafkaClient::request(Phase phase) {
  TRY(life_->step(phase));
  base::io_point();
  if (chance(cluster_.faults_.kafka_failed)) {
    cluster_.tally_.add("KI8");
    return base::unavailable("the broker did not answer");
  }
  return life_->is_dead() ? life_->step(phase) : base::Status();
}

void SimKafkaClient::stall_now_and_then() {
  if (!chance(cluster_.faults_.stalled)) return;
  cluster_.tally_.add("stalls");
  base::Interrupt never;
  never.wait_until(base::deadline_after(between(1'000'000, 6'000'000)));
}

base::Status SimKafkaClient::connect(base::MonoMicros) { return request(Phase::kLoading); }

base::Result<ClusterDescription> SimKafkaClient::describe(const std::vector<std::string>& topics) {
  TRY(request(Phase::kLoading));
  base::Lock lock(cluster_.mutex_);
  ClusterDescription description;
  description.cluster_id = cluster_.cluster_id_;
  for (const std::string& name : topics) {
    const auto found = cluster_.topics_.find(name);
    if (found == cluster_.topics_.end()) continue;
    description.topics[name] = {found->second.id, static_cast<int32_t>(found->second.partitions.size())};
  }
  return description;
}

base::Result<std::vector<std::string>> SimKafkaClient::match_topics(const std::string&) {
  return base::unsupported("the simulated cluster matches no patterns");
}

base::Result<Offsets> SimKafkaClient::list_offsets(const std::vector<TopicPartition>& partitions, OffsetSpec spec) {
  TRY(request(Phase::kLoading));
  base::Lock lock(cluster_.mutex_);
  Offsets offsets;
  for (const TopicPartition& partition : partitions) {
    if (const PartitionLog* log = cluster_.find(partition)) {
      offsets[partition] = spec == OffsetSpec::kEarliest ? log->log_start : log->stable_end;
    }
  }
  return offsets;
}

base::Result<Offsets> SimKafkaClient::offsets_for_time(const std::vector<TopicPartition>& partitions, int64_t timestamp_ms) {
  TRY(request(Phase::kLoading));
  base::Lock lock(cluster_.mutex_);
  Offsets offsets;
  for (const TopicPartition& partition : partitions) {
    const PartitionLog* log = cluster_.find(partition);
    if (log == nullptr) continue;
    int64_t offset = log->log_start;
    while (offset < log->stable_end && log->entries[static_cast<size_t>(offset)].timestamp_ms < timestamp_ms) ++offset;
    offsets[partition] = offset;
  }
  return offsets;
}

base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> SimKafkaClient::committed(
    const std::vector<TopicPartition>& partitions) {
  TRY(request(Phase::kLoading));
  base::Lock lock(cluster_.mutex_);
  std::map<TopicPartition, std::pair<int64_t, std::string>> offsets;
  for (const TopicPartition& partition : partitions) {
    const auto found = group().offsets.find(partition);
    if (found != group().offsets.end()) offsets[partition] = found->second;
  }
  return offsets;
}

base::Status SimKafkaClient::subscribe(const std::vector<std::string>& topics) {
  TRY(request(Phase::kLoading));
  const base::MonoMicros now = base::mono_micros();
  base::Lock lock(cluster_.mutex_);
  subscribed_ = topics;
  member_ = cluster_.next_member_++;
  cluster_.join(group(), member_, topics, now);
  return {};
}

base::Status SimKafkaClient::add(const std::map<TopicPartition, OffsetAndEpoch>& positions,
                                 const std::map<TopicPartition, int>& lane_of) {
  TRY(request(Phase::kLoading));
  base::Lock lock(cluster_.mutex_);
  for (const auto& [partition, position] : positions) {
    reading_[partition] = {position.offset, position.leader_epoch, lane_of.at(partition), false};
    if (member_ != 0) group().readers[partition].insert(member_);
  }
  cluster_.changed_.notify_all();
  return {};
}

void SimKafkaClient::let_go(const TopicPartition& partition) {
  if (member_ != 0) group().readers[partition].erase(member_);
}

base::Status SimKafkaClient::remove(const std::vector<TopicPartition>& partitions) {
  base::Lock lock(cluster_.mutex_);
  for (const TopicPartition& partition : partitions) {
    reading_.erase(partition);
    let_go(partition);
  }
  cluster_.changed_.notify_all();
  return {};
}

base::Status SimKafkaClient::unassign() {
  base::Lock lock(cluster_.mutex_);
  for (const auto& [partition, reading] : reading_) let_go(partition);
  reading_.clear();
  cluster_.changed_.notify_all();
  return {};
}

void SimKafkaClient::note_given(const KafkaEvent& event) {
  if (event.kind == KafkaEventKind::kAssigned) given_.insert(event.partitions.begin(), event.partitions.end());
  if (event.kind != KafkaEventKind::kRevoked) return;
  for (const TopicPartition& partition : event.partitions) given_.erase(partition);
}

base::Result<KafkaEvent> SimKafkaClient::poll_control(base::MonoMicros deadline) {
  TRY(life_->step(Phase::kReading));
  stall_now_and_then();
  const base::MonoMicros now = base::mono_micros();
  base::Lock lock(cluster_.mutex_);
  while (!life_->is_dead()) {
    if (member_ != 0) cluster_.tend_group(group(), now);
    if (!events_.empty()) {
      KafkaEvent event = std::move(events_.front());
      events_.pop_front();
      return event;
    }
    if (member_ != 0) {
      const auto found = group().members.find(member_);
      if (found == group().members.end()) {  // the session has expired: what we had is lost, join again
        if (!reading_.empty()) cluster_.tally_.add("KM2");
        member_ = cluster_.next_member_++;
        cluster_.join(group(), member_, subscribed_, now);
        KafkaEvent lost{KafkaEventKind::kLost, {}, -1, "session expired"};
        lost.partitions.assign(given_.begin(), given_.end());
        given_.clear();
        return lost;
      }
      found->second.last_poll = now;
      if (!found->second.events.empty()) {
        KafkaEvent event = std::move(found->second.events.front());
        found->second.events.pop_front();
        note_given(event);
        return event;
      }
    }
    if (woken_.erase(clients::kControlLane) != 0) return KafkaEvent();
    if (!cluster_.changed_.wait_until(lock, deadline)) return KafkaEvent();
  }
  return life_->step(Phase::kReading).error();
}

base::Result<std::unique_ptr<FetchedBatch>> SimKafkaClient::fetch(int lane, int max_messages, int64_t,
                                                                  base::MonoMicros deadline) {
  TRY(life_->step(Phase::kReading));
  base::io_point();
  base::Lock lock(cluster_.mutex_);
  while (!life_->is_dead()) {
    if (woken_.erase(lane) != 0) return std::unique_ptr<FetchedBatch>();
    if (auto batch = next_batch(lane, max_messages)) return batch;
    if (!cluster_.changed_.wait_until(lock, deadline)) return std::unique_ptr<FetchedBatch>();
  }
  return life_->step(Phase::kReading).error();
}

std::unique_ptr<FetchedBatch> SimKafkaClient::next_batch(int lane, int max_messages) {
  std::vector<TopicPartition> ready;
  for (auto& [partition, reading] : reading_) {
    const PartitionLog* log = cluster_.find(partition);
    if (reading.lane != lane || log == nullptr) continue;
    if (!tell_when_lost(partition, reading, *log) && reading.next < log->stable_end) ready.push_back(partition);
  }
  if (ready.empty()) return nullptr;
  const TopicPartition& partition = ready[base::random_below(ready.size())];
  return take(partition, reading_[partition], std::min(max_messages, static_cast<int>(between(1, 8))));
}

// As the client library does it: the leader epoch of the position is validated before anything is fetched.
bool SimKafkaClient::tell_when_lost(const TopicPartition& partition, Reading& reading, const PartitionLog& log) {
  const int64_t parts_at = reading.leader_epoch < 0 ? reading.next : log.end_of_epoch(reading.leader_epoch);
  const bool is_outside = reading.next < log.log_start || reading.next > log.end();
  if (!is_outside && parts_at >= reading.next) return false;
  if (std::exchange(reading.is_lost, true)) return true;
  if (parts_at < reading.next && reading.leader_epoch < log.leader_epoch) {
    events_.push_back({KafkaEventKind::kLogTruncated, {partition}, parts_at, "the logs part"});
  } else {
    events_.push_back({KafkaEventKind::kOffsetOutOfRange, {partition}, reading.next, "offset out of range"});
  }
  cluster_.changed_.notify_all();
  return true;
}

std::unique_ptr<FetchedBatch> SimKafkaClient::take(const TopicPartition& partition, Reading& reading, int most) {
  const PartitionLog& log = *cluster_.find(partition);
  auto batch = std::make_unique<FetchedBatch>();
  auto values = std::make_shared<std::deque<std::string>>();
  batch->partition = partition;
  for (; most > 0 && reading.next < log.stable_end; --most, ++reading.next) {
    const LogEntry& entry = log.entries[static_cast<size_t>(reading.next)];
    reading.leader_epoch = entry.leader_epoch;
    if (entry.kind != LogEntry::Kind::kRecord) continue;
    clients::KafkaMessage& message = batch->messages.emplace_back();
    message.offset = reading.next;
    message.timestamp_ms = entry.timestamp_ms;
    message.leader_epoch = entry.leader_epoch;
    message.has_value = true;
    message.value = values->emplace_back(entry.value);
    batch->bytes += static_cast<int64_t>(entry.value.size());
  }
  batch->next_offset = reading.next;
  batch->is_at_end = reading.next == log.stable_end;
  batch->memory = values;
  return batch;
}

void SimKafkaClient::wake(int lane) {
  base::Lock lock(cluster_.mutex_);
  woken_.insert(lane);
  cluster_.changed_.notify_all();
}

base::Status SimKafkaClient::commit_offsets(const Offsets& offsets, const std::string& metadata) {
  TRY(request(Phase::kGroupOffsets));
  {
    base::Lock lock(cluster_.mutex_);
    if (!group().members.contains(member_)) return base::unavailable("the group does not know this member");
    for (const auto& [partition, offset] : offsets) group().offsets[partition] = {offset, metadata};
    cluster_.tally_.add("group offsets written");
  }
  return life_->step(Phase::kGroupOffsets);
}

void SimKafkaClient::close() {
  if (std::exchange(is_closed_, true) || life_->is_dead()) return;  // a crash leaves a group by its session alone
  const base::MonoMicros now = base::mono_micros();
  base::Lock lock(cluster_.mutex_);
  if (member_ != 0) cluster_.leave(group(), member_, now);
}

}  // namespace frazil::simulation
