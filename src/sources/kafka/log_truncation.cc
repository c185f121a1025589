#include "sources/kafka/log_truncation.h"

#include <algorithm>

#include "base/check.h"
#include "sources/kafka/kafka_halts.h"
#include "sources/kafka/kafka_positions.h"

namespace frazil::sources {

bool LogTruncation::is_first_sign(const clients::TopicPartition& partition) {
  base::Lock lock(mutex_);
  const bool is_first = suspects_.insert(partition).second;
  if (!is_first) suspects_.erase(partition);
  if (looking_.contains(partition)) failed_.insert(partition);
  has_suspects_ = !suspects_.empty() || !looked_from_.empty();
  return is_first;
}

bool LogTruncation::may_look(const clients::TopicPartition& partition, int64_t offset) {
  base::Lock lock(mutex_);
  const auto missed = not_in_log_.find(partition);
  if (failed_.contains(partition) || (missed != not_in_log_.end() && missed->second == offset)) return false;
  looked_from_[partition] = offset;
  to_look_.insert(partition);
  has_suspects_ = true;
  return true;
}

void LogTruncation::not_in_log(const clients::TopicPartition& partition) {
  base::Lock lock(mutex_);
  if (looking_.contains(partition)) not_in_log_[partition] = looked_from_.at(partition);
}

clients::OffsetAndEpoch LogTruncation::read_from(const clients::TopicPartition& partition, const clients::OffsetAndEpoch& at) {
  base::Lock lock(mutex_);
  if (to_look_.erase(partition) == 0) {
    looking_.erase(partition);
    return at;
  }
  looking_.insert(partition);
  return {std::min(looked_from_.at(partition), at.offset), at.leader_epoch};
}

void LogTruncation::forget(const clients::TopicPartition& partition) {
  if (!has_suspects_) return;
  base::Lock lock(mutex_);
  suspects_.erase(partition);
  looked_from_.erase(partition);
  to_look_.erase(partition);
  looking_.erase(partition);
  failed_.erase(partition);
  not_in_log_.erase(partition);
  has_suspects_ = !suspects_.empty() || !looked_from_.empty();
}

std::optional<base::Halt> LogTruncation::record_below(const clients::FetchedBatch& fetched, const clients::OffsetAndEpoch& at) {
  if (!has_suspects_) return std::nullopt;
  base::Lock lock(mutex_);
  const auto parting = looked_from_.find(fetched.partition);
  if (parting == looked_from_.end()) return std::nullopt;
  const bool is_any = std::any_of(fetched.messages.begin(), fetched.messages.end(), [&](const clients::KafkaMessage& message) {
    return message.offset < at.offset && message.leader_epoch > at.leader_epoch;
  });
  if (!is_any) return std::nullopt;
  return source_truncated({fetched.partition, parting->second, at.offset},
                          "leader epoch " + std::to_string(at.leader_epoch) + " of the table ends there, and records of a later one follow");
}

std::optional<base::Halt> truncated_below(const clients::KafkaEvent& event, const engine::SourcePositions& started_at) {
  CHECK(!event.partitions.empty());
  const clients::TopicPartition& partition = event.partitions[0];
  const auto known = started_at.next.find(split_id(partition));
  const auto at = known == started_at.next.end() ? std::nullopt : parse_position(known->second);
  if (!at) return std::nullopt;
  const int64_t parting = event.offset >= 0 ? std::min(event.offset, at->offset) : at->offset;
  return source_truncated({partition, parting, at->offset},
                          "leader epoch " + std::to_string(at->leader_epoch) + " of the table ends there");
}

}  // namespace frazil::sources
