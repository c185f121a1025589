#include "tests/simulation/sim_kafka.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace frazil::simulation {

using clients::KafkaEvent;
using clients::KafkaEventKind;
using clients::TopicPartition;

void SimKafka::create_topic(const std::string& name, int partitions) {
  base::Lock lock(mutex_);
  SimTopic& topic = topics_[name];
  topic.id = name + "-id-" + std::to_string(++topics_made_);
  topic.partitions.assign(static_cast<size_t>(partitions), {});
  changed_.notify_all();
}

void SimKafka::add_partition(const std::string& name) {
  const base::MonoMicros now = base::mono_micros();
  base::Lock lock(mutex_);
  topics_[name].partitions.emplace_back();
  tally_.add("partitions added");
  start_rebalance(now);
  changed_.notify_all();
}

void SimKafka::recreate_topic(const std::string& name) {
  base::Lock lock(mutex_);
  SimTopic& topic = topics_[name];
  topic.id = name + "-id-" + std::to_string(++topics_made_);
  for (PartitionLog& partition : topic.partitions) partition = PartitionLog();
  tally_.add("topics recreated");
  changed_.notify_all();
}

void SimKafka::append(const std::string& topic, int32_t partition, std::vector<std::string> values) {
  const int64_t now_ms = base::wall_millis();
  base::Lock lock(mutex_);
  PartitionLog& log = topics_[topic].partitions[static_cast<size_t>(partition)];
  for (std::string& value : values) {
    log.entries.push_back({LogEntry::Kind::kRecord, std::move(value), log.leader_epoch, now_ms});
  }
  log.stable_end = static_cast<int64_t>(log.entries.size());
  changed_.notify_all();
}

void SimKafka::append_transaction(const std::string& topic, int32_t partition, std::vector<std::string> values, bool aborts,
                                  base::MonoMicros open_until) {
  const int64_t now_ms = base::wall_millis();
  base::Lock lock(mutex_);
  size_t first = 0;
  {
    PartitionLog& log = topics_[topic].partitions[static_cast<size_t>(partition)];
    first = log.entries.size();
    const auto kind = aborts ? LogEntry::Kind::kAborted : LogEntry::Kind::kRecord;
    for (std::string& value : values) log.entries.push_back({kind, std::move(value), log.leader_epoch, now_ms});
  }
  while (changed_.wait_until(lock, open_until)) {
  }
  PartitionLog& log = topics_[topic].partitions[static_cast<size_t>(partition)];
  if (log.entries.size() != first + values.size()) return;  // the topic was made anew meanwhile
  log.entries.push_back({LogEntry::Kind::kControl, "", log.leader_epoch, now_ms});
  log.stable_end = static_cast<int64_t>(log.entries.size());
  tally_.add(aborts ? "transactions aborted" : "transactions committed");
  changed_.notify_all();
}

void SimKafka::bump_leader_epoch(const std::string& topic, int32_t partition) {
  base::Lock lock(mutex_);
  ++topics_[topic].partitions[static_cast<size_t>(partition)].leader_epoch;
}

std::map<TopicPartition, int64_t> SimKafka::ends(const std::string& topic) {
  base::Lock lock(mutex_);
  std::map<TopicPartition, int64_t> ends;
  const SimTopic& found = topics_[topic];
  for (size_t i = 0; i < found.partitions.size(); ++i) {
    ends[{topic, static_cast<int32_t>(i)}] = found.partitions[i].stable_end;
  }
  return ends;
}

SimTopic SimKafka::topic(const std::string& name) {
  base::Lock lock(mutex_);
  return topics_[name];
}

PartitionLog* SimKafka::find(const TopicPartition& partition) {
  const auto topic = topics_.find(partition.topic);
  if (topic == topics_.end() || partition.partition < 0) return nullptr;
  const auto index = static_cast<size_t>(partition.partition);
  return index < topic->second.partitions.size() ? &topic->second.partitions[index] : nullptr;
}

// --- the group -------------------------------------------------------------------------------------------------------------

void SimKafka::join(int64_t member, std::vector<std::string> topics, base::MonoMicros now) {
  Member& joined = members_[member];
  joined.topics = std::move(topics);
  joined.last_poll = now;
  start_rebalance(now);
}

void SimKafka::leave(int64_t member, base::MonoMicros now) {
  if (members_.erase(member) != 0) start_rebalance(now);
}

void SimKafka::start_rebalance(base::MonoMicros now) {
  if (members_.empty()) return;
  tally_.add("rebalances");
  for (auto& [id, member] : members_) {
    if (!member.owned.empty()) member.events.push_back({KafkaEventKind::kRevoked, {}, -1, "rebalance"});
    member.owned.clear();
  }
  share_at_ = now + between(20'000, 1'200'000);
  changed_.notify_all();
}

void SimKafka::share_out() {
  share_at_ = base::kForever;
  std::vector<TopicPartition> partitions;
  for (const auto& [name, topic] : topics_) {
    for (size_t i = 0; i < topic.partitions.size(); ++i) partitions.push_back({name, static_cast<int32_t>(i)});
  }
  size_t turn = base::random_below(members_.size());
  for (const TopicPartition& partition : partitions) {
    auto member = members_.begin();
    std::advance(member, static_cast<std::ptrdiff_t>(turn++ % members_.size()));
    member->second.owned.insert(partition);
  }
  for (auto& [id, member] : members_) {
    member.events.push_back({KafkaEventKind::kAssigned, {member.owned.begin(), member.owned.end()}, -1, ""});
  }
  changed_.notify_all();
}

void SimKafka::tend_group(base::MonoMicros now) {
  std::vector<int64_t> silent;
  for (const auto& [id, member] : members_) {
    if (member.last_poll + kSessionMicros < now) silent.push_back(id);
  }
  for (const int64_t id : silent) {
    tally_.add("sessions expired");
    leave(id, now);
  }
  if (share_at_ <= now && !members_.empty()) share_out();
}

}  // namespace frazil::simulation
