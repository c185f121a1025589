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
  tally_.add("KI14");
  start_rebalances(now);
  changed_.notify_all();
}

void SimKafka::recreate_topic(const std::string& name) {
  base::Lock lock(mutex_);
  SimTopic& topic = topics_[name];
  topic.id = name + "-id-" + std::to_string(++topics_made_);
  for (PartitionLog& partition : topic.partitions) partition = PartitionLog();
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

int64_t PartitionLog::end_of_epoch(int32_t epoch) const {
  int64_t offset = end();
  while (offset > log_start && entries[static_cast<size_t>(offset - 1)].leader_epoch > epoch) --offset;
  return offset;
}

void SimKafka::cut_log(const std::string& topic, int32_t partition, int64_t end, bool is_election) {
  base::Lock lock(mutex_);
  PartitionLog& log = topics_[topic].partitions[static_cast<size_t>(partition)];
  log.entries.resize(static_cast<size_t>(end));
  log.stable_end = end;
  log.log_start = std::min(log.log_start, end);
  if (is_election) ++log.leader_epoch;
  changed_.notify_all();
}

void SimKafka::remove_records_below(const std::string& topic, int32_t partition, int64_t log_start) {
  base::Lock lock(mutex_);
  topics_[topic].partitions[static_cast<size_t>(partition)].log_start = log_start;
  changed_.notify_all();
}

void SimKafka::move_cluster() {
  base::Lock lock(mutex_);
  cluster_id_ = "simulated-elsewhere";
}

void SimKafka::forget_group_offsets() {
  base::Lock lock(mutex_);
  for (auto& [name, group] : groups_) {
    if (!group.offsets.empty()) tally_.add("KI15");
    group.offsets.clear();
  }
}

void SimKafka::stir_groups() {
  const base::MonoMicros now = base::mono_micros();
  base::Lock lock(mutex_);
  start_rebalances(now);
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

void SimKafka::join(Group& group, int64_t member, std::vector<std::string> topics, base::MonoMicros now) {
  Member& joined = group.members[member];
  joined.topics = std::move(topics);
  joined.last_poll = now;
  start_rebalance(group, now);
}

void SimKafka::leave(Group& group, int64_t member, base::MonoMicros now) {
  if (group.members.erase(member) != 0) start_rebalance(group, now);
}

void SimKafka::start_rebalances(base::MonoMicros now) {
  for (auto& [name, group] : groups_) start_rebalance(group, now);
}

void SimKafka::start_rebalance(Group& group, base::MonoMicros now) {
  if (group.members.empty()) return;
  const bool is_eager = chance(300);
  group.is_impatient = chance(300);
  tally_.add(is_eager ? "eager rebalances" : "cooperative rebalances");
  for (auto& [id, member] : group.members) {
    if (!is_eager || member.owned.empty()) continue;
    member.events.push_back({KafkaEventKind::kRevoked, {member.owned.begin(), member.owned.end()}, -1, "rebalance"});
    member.owned.clear();
  }
  group.due.clear();
  group.share_at = now + between(20'000, 1'200'000);
  changed_.notify_all();
}

void SimKafka::share_out(Group& group) {
  group.share_at = base::kForever;
  std::map<int64_t, std::set<TopicPartition>> shares;
  size_t turn = base::random_below(group.members.size());
  for (const auto& [name, topic] : topics_) {
    for (size_t i = 0; i < topic.partitions.size(); ++i) {
      auto member = group.members.begin();
      std::advance(member, static_cast<std::ptrdiff_t>(turn++ % group.members.size()));
      const TopicPartition partition{name, static_cast<int32_t>(i)};
      shares[member->first].insert(partition);
      if (!member->second.owned.contains(partition)) group.due[partition] = member->first;
    }
  }
  for (auto& [id, member] : group.members) {
    std::vector<TopicPartition> going;
    for (const TopicPartition& partition : member.owned) {
      if (!shares[id].contains(partition)) going.push_back(partition);
    }
    for (const TopicPartition& partition : going) member.owned.erase(partition);
    if (!going.empty()) member.events.push_back({KafkaEventKind::kRevoked, going, -1, "rebalance"});
  }
  give_what_is_free(group);
  changed_.notify_all();
}

void SimKafka::give_what_is_free(Group& group) {
  std::map<int64_t, std::vector<TopicPartition>> given;
  for (const auto& [partition, member] : group.due) {
    const std::set<int64_t>& readers = group.readers[partition];
    const bool is_free = std::none_of(readers.begin(), readers.end(), [&](int64_t id) { return group.members.contains(id); });
    if (group.is_impatient || is_free) given[member].push_back(partition);
  }
  for (const auto& [id, partitions] : given) {
    for (const TopicPartition& partition : partitions) group.due.erase(partition);
    const auto member = group.members.find(id);
    if (member == group.members.end()) continue;
    member->second.owned.insert(partitions.begin(), partitions.end());
    member->second.events.push_back({KafkaEventKind::kAssigned, partitions, -1, ""});
  }
}

void SimKafka::tend_group(Group& group, base::MonoMicros now) {
  std::vector<int64_t> silent;
  for (const auto& [id, member] : group.members) {
    if (member.last_poll + kSessionMicros < now) silent.push_back(id);
  }
  for (const int64_t id : silent) {
    tally_.add("sessions expired");
    leave(group, id, now);
  }
  if (group.share_at <= now && !group.members.empty()) share_out(group);
  give_what_is_free(group);
}

}  // namespace frazil::simulation
