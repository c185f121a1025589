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
  has_suspects_ = !suspects_.empty();
  return is_first;
}

void LogTruncation::read_on(const clients::TopicPartition& partition) {
  if (!has_suspects_) return;
  base::Lock lock(mutex_);
  suspects_.erase(partition);
  has_suspects_ = !suspects_.empty();
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
