#include "clients/kafka/rdkafka_assignment.h"

#include <librdkafka/rdkafka.h>

#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "clients/kafka/rdkafka_admin.h"

namespace frazil::clients {

namespace {

// How long an assignment may take until its partitions can be sought.
constexpr int64_t kSettleMicros = 2000000;
constexpr int64_t kSettlePauseMicros = 10000;

base::Status status_of(rd_kafka_resp_err_t code, const char* what) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return kafka_error(code).in(what);
}

// Takes the error over.
base::Status status_of(rd_kafka_error_t* error, const char* what) {
  if (error == nullptr) return {};
  const base::Error failed = kafka_error(rd_kafka_error_code(error), rd_kafka_error_string(error));
  rd_kafka_error_destroy(error);
  return failed.in(what);
}

}  // namespace

// Asked each time: it is settled by the first rebalance, and again when the group is joined anew.
bool RdKafkaAssignment::is_eager() const {
  const char* protocol = rd_kafka_rebalance_protocol(handle_);
  return protocol != nullptr && std::string_view(protocol) == "EAGER";
}

base::Status RdKafkaAssignment::forward(const TopicPartition& partition, rd_kafka_queue_s* to) {
  RdKafkaQueue queue(rd_kafka_queue_get_partition(handle_, partition.topic.c_str(), partition.partition));
  if (!queue) return base::unavailable("no queue for " + partition.topic + "/" + std::to_string(partition.partition));
  rd_kafka_queue_forward(queue.get(), to);
  return {};
}

base::Status RdKafkaAssignment::begin(const rd_kafka_topic_partition_list_t& positions) {
  if (!is_eager()) return status_of(rd_kafka_incremental_assign(handle_, &positions), "assign partitions");
  // An eager group gives everything at once, after it took everything.
  if (!fetched_.empty()) return base::unavailable("the eager assignment is not empty yet");
  return status_of(rd_kafka_assign(handle_, &positions), "assign partitions");
}

base::Status RdKafkaAssignment::add(const std::map<TopicPartition, OffsetAndEpoch>& positions, const Queues& queues) {
  if (positions.empty()) return {};
  RdKafkaPartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(positions.size())));
  for (const auto& [partition, position] : positions) {
    TRY(forward(partition, queues.at(partition)));
    auto* entry = rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition);
    entry->offset = position.offset;
    rd_kafka_topic_partition_set_leader_epoch(entry, position.leader_epoch);
  }
  TRY(begin(*list));
  for (const auto& [partition, position] : positions) fetched_.insert(partition);
  TRY(settle(*list));
  // Where a partition was read before, its end took the forwarding away; what came meanwhile has waited.
  for (const auto& [partition, position] : positions) TRY(forward(partition, queues.at(partition)));
  return {};
}

// Waits until librdkafka reads the partitions, and compares their leader epochs: an assignment does not when the metadata is
// there already, a seek to the same place does. A partition that cannot be sought in time has an error of its own, which
// comes as an event.
base::Status RdKafkaAssignment::settle(const rd_kafka_topic_partition_list_t& positions) {
  const base::MonoMicros deadline = base::deadline_after(kSettleMicros);
  RdKafkaPartitionList left(rd_kafka_topic_partition_list_copy(&positions));
  base::Mutex mutex;
  base::CondVar never;
  while (left->cnt > 0 && base::mono_micros() < deadline) {
    TRY(status_of(rd_kafka_seek_partitions(handle_, left.get(), kRequestMillis), "compare leader epochs"));
    for (int i = left->cnt - 1; i >= 0; --i) {
      const auto code = left->elems[i].err;
      const bool is_not_ready = code == RD_KAFKA_RESP_ERR__STATE || code == RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS;
      if (!is_not_ready) rd_kafka_topic_partition_list_del_by_idx(left.get(), i);
    }
    if (left->cnt == 0) break;
    base::Lock lock(mutex);
    never.wait_until(lock, base::deadline_after(kSettlePauseMicros));
  }
  return {};
}

base::Status RdKafkaAssignment::end(const std::vector<TopicPartition>& partitions) {
  if (partitions.empty() && !std::exchange(owes_answer_, false)) return {};
  owes_answer_ = false;
  if (is_eager()) {
    fetched_.clear();
    return status_of(rd_kafka_assign(handle_, nullptr), "give partitions back");
  }
  for (const TopicPartition& partition : partitions) fetched_.erase(partition);
  const RdKafkaPartitionList list = partition_list(partitions);
  return status_of(rd_kafka_incremental_unassign(handle_, list.get()), "give partitions back");
}

base::Status RdKafkaAssignment::remove(const std::vector<TopicPartition>& partitions) {
  std::vector<TopicPartition> there;
  for (const TopicPartition& partition : partitions) {
    if (fetched_.contains(partition)) there.push_back(partition);
  }
  return end(there);
}

base::Status RdKafkaAssignment::clear() { return end({fetched_.begin(), fetched_.end()}); }

base::Status RdKafkaAssignment::take_note_of_given() {
  const RdKafkaPartitionList nothing(rd_kafka_topic_partition_list_new(0));
  if (!is_eager()) return status_of(rd_kafka_incremental_assign(handle_, nothing.get()), "answer the group");
  if (!fetched_.empty()) return {};  // nothing was taken before: what we have is the answer
  return status_of(rd_kafka_assign(handle_, nothing.get()), "answer the group");
}

}  // namespace frazil::clients
