// LogTruncation: tells records that Kafka lost after the table had them (an unclean leader election) from those that were only
// read ahead.
//
// When the leader-epoch check says that the logs part, what was read may be beyond what the table has. So the first time
// reading starts again at the table's position; if the logs part even before that, the table may have records that Kafka lost.
//
// May: a position also moves over control records and aborted ones, whose leader epoch no client tells. Where a leader changed before
// them, the position's own epoch ends below it although nothing was lost. So what lies between is read once more: a record there
// is one that the table has passed without having it, so the log is another one. Nothing but markers there: all is well.
// Events come to the control lane, progress is told by reader lanes.
#pragma once

#include <atomic>
#include <map>
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
  // Where the table's position `at` is to be read from: below it, once, when may_look() has said so.
  clients::OffsetAndEpoch read_from(const clients::TopicPartition& partition, const clients::OffsetAndEpoch& at);
  // The logs part at `offset`, below the table's position. True: start again, read_from() begins there. False: they
  // parted there too, or cannot be read there. A look that another restart ended before anything was read is taken again.
  bool may_look(const clients::TopicPartition& partition, int64_t offset);
  // Where `partition` is read from lies outside its log: the log start has moved on, or the broker names an offset that it has not.
  void not_in_log(const clients::TopicPartition& partition);
  // While that is looked at: the halt, when `fetched` holds a record of a later leader below `at`.
  std::optional<base::Halt> record_below(const clients::FetchedBatch& fetched, const clients::OffsetAndEpoch& at);
  // Something was read, so what parted was beyond the table; or the partition went to another reader.
  void forget(const clients::TopicPartition& partition);

 private:
  std::atomic<bool> has_suspects_{false};  // spares the lock on every batch
  base::Mutex mutex_;
  std::set<clients::TopicPartition> suspects_;
  std::map<clients::TopicPartition, int64_t> looked_from_;  // until something beyond the table's position was read
  std::set<clients::TopicPartition> to_look_;               // among them, those whose reading has not begun
  std::set<clients::TopicPartition> looking_;               // those that are read from there now
  std::set<clients::TopicPartition> failed_;                // those whose log parted while that was so
  std::map<clients::TopicPartition, int64_t> not_in_log_;   // where they were to be looked at, and there was no log
};

// The halt for logs that part below the table's position in `started_at`; nothing when the table has none there.
std::optional<base::Halt> truncated_below(const clients::KafkaEvent& event, const engine::SourcePositions& started_at);

}  // namespace frazil::sources
