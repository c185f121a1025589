// LogTruncation: tells records that Kafka lost after the table had them (an unclean leader election) from those that were only
// read ahead.
//
// When the leader-epoch check says that the logs part, what was read may be beyond what the table has. So the first time
// reading starts again at the table's position; if the logs part even before that, the table has records that Kafka lost.
// Events come to the control lane, progress is told by reader lanes.
#pragma once

#include <atomic>
#include <optional>
#include <set>

#include "base/sync.h"
#include "clients/kafka/kafka_client.h"
#include "engine/position.h"

namespace frazil::sources {

class LogTruncation {
 public:
  // True: start again at the table's positions and see. False: that was done already, and nothing could be read since.
  bool is_first_sign(const clients::TopicPartition& partition);
  // Something was read: what parted was beyond the table.
  void read_on(const clients::TopicPartition& partition);

 private:
  std::atomic<bool> has_suspects_{false};  // spares the lock on every batch
  base::Mutex mutex_;
  std::set<clients::TopicPartition> suspects_;
};

// The halt for logs that part below the table's position in `started_at`; nothing when the table has none there.
std::optional<base::Halt> truncated_below(const clients::KafkaEvent& event, const engine::SourcePositions& started_at);

}  // namespace frazil::sources
