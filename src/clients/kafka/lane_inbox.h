// LaneInbox: messages that a reader lane has taken from librdkafka and not yet handed on, grouped by partition.
//
// librdkafka delivers partitions mixed; a FetchedBatch is of one. Order within a partition is kept. Not synchronised.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "clients/kafka/kafka_client.h"
#include "clients/kafka/rdkafka_connection.h"

struct rd_kafka_message_s;

namespace frazil::clients {

class LaneInbox {
 public:
  LaneInbox() = default;
  LaneInbox(const LaneInbox&) = delete;
  LaneInbox& operator=(const LaneInbox&) = delete;
  ~LaneInbox() { clear(); }

  bool empty() const { return runs_.empty(); }
  // Takes over a message without an error.
  void add(rd_kafka_message_s* message);
  // The end of a partition was reached at `offset`.
  void add_end(const rd_kafka_message_s& message);
  // The next batch: at least one message or end, at most `max_messages`, and no message more once `max_bytes` are reached.
  // `connection` is kept alive by the batch.
  std::unique_ptr<FetchedBatch> take(int max_messages, int64_t max_bytes, std::shared_ptr<RdKafkaConnection> connection);
  void clear();
  // Forgets what is of this partition.
  void drop(const TopicPartition& partition);

 private:
  struct Run {
    TopicPartition partition;
    std::vector<rd_kafka_message_s*> messages;
    size_t taken = 0;
    int64_t end_offset = -1;  // where the partition ended after the last message, -1: it did not
  };
  static void destroy(Run& run);
  Run& run_of(const rd_kafka_message_s& message);
  std::deque<Run> runs_;
};

}  // namespace frazil::clients
