#include "sources/kafka/catch_up_targets.h"

#include <algorithm>
#include <utility>

#include "sources/kafka/kafka_positions.h"

namespace frazil::sources {

using clients::OffsetSpec;
using clients::TopicPartition;

base::Status CatchUpTargets::note(clients::KafkaClient& client, const std::vector<TopicPartition>& partitions) {
  {
    base::Lock lock(mutex_);
    if (targets_) return {};
  }
  TRY_ASSIGN(const auto log_starts, client.list_offsets(partitions, OffsetSpec::kEarliest));
  TRY_ASSIGN(const auto log_ends, client.list_offsets(partitions, OffsetSpec::kLatest));
  std::map<TopicPartition, Target> targets;
  for (const auto& [partition, end] : log_ends) {
    const auto log_start = log_starts.find(partition);
    targets[partition] = {log_start == log_starts.end() ? 0 : log_start->second, end};
  }
  base::Lock lock(mutex_);
  targets_ = std::move(targets);
  return {};
}

bool CatchUpTargets::is_reached(const engine::SourcePositions& positions) const {
  base::Lock lock(mutex_);
  if (!targets_) return false;
  return std::all_of(targets_->begin(), targets_->end(), [&](const auto& entry) {
    const auto known = positions.next.find(split_id(entry.first));
    const auto position = known == positions.next.end() ? std::nullopt : parse_position(known->second);
    return (position ? position->offset : entry.second.log_start) >= entry.second.end;
  });
}

}  // namespace frazil::sources
