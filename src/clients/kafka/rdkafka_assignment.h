// RdKafkaAssignment: which partitions librdkafka fetches for us, and our answers to its rebalances.
//
// librdkafka takes changes in one of two ways: differences where the group rebalances cooperatively (incremental_assign and
// incremental_unassign; also where there is no group), whole assignments where it rebalances eagerly. The wrong call is
// refused, and the group waits for an answer until it throws the member out. This class is the only one that makes these calls.
//
// What the group gives is answered at once, with nothing, since librdkafka holds back every partition until then; what is
// really fetched is added when its positions are known. What the group takes is answered by remove() or clear(), since the next
// owner begins to read after that. Belongs to the control lane.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "base/result.h"
#include "clients/kafka/rdkafka_handles.h"

namespace frazil::clients {

class RdKafkaAssignment {
 public:
  // The handle outlives this.
  explicit RdKafkaAssignment(rd_kafka_s* handle) : handle_(handle) {}

  // Partition → the queue that its messages go to.
  using Queues = std::map<TopicPartition, rd_kafka_queue_s*>;
  // Fetches these too, and compares their leader epochs.
  base::Status add(const std::map<TopicPartition, OffsetAndEpoch>& positions, const Queues& queues);
  base::Status remove(const std::vector<TopicPartition>& partitions);
  base::Status clear();

  // The group gave something. Answers, without fetching anything.
  base::Status take_note_of_given();
  // The group took something, and waits.
  void take_note_of_taken() { owes_answer_ = true; }

 private:
  bool is_eager() const;
  base::Status forward(const TopicPartition& partition, rd_kafka_queue_s* queue);
  base::Status settle(const rd_kafka_topic_partition_list_s& positions);
  base::Status begin(const rd_kafka_topic_partition_list_s& positions);
  base::Status end(const std::vector<TopicPartition>& partitions);

  rd_kafka_s* const handle_;
  std::set<TopicPartition> fetched_;
  bool owes_answer_ = false;
};

}  // namespace frazil::clients
