// SimKafkaClient: one process's client of SimKafka. See clients/kafka/kafka_client.h for what each call promises.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "clients/kafka/kafka_client.h"
#include "tests/simulation/sim_kafka.h"

namespace frazil::simulation {

class SimKafkaClient : public clients::KafkaClient {
 public:
  SimKafkaClient(SimKafka& cluster, std::shared_ptr<Life> life, std::string group)
      : cluster_(cluster), life_(std::move(life)), group_(std::move(group)) {}
  ~SimKafkaClient() override { close(); }

  base::Status connect(base::MonoMicros deadline) override;
  base::Result<clients::ClusterDescription> describe(const std::vector<std::string>& topics) override;
  base::Result<std::vector<std::string>> match_topics(const std::string& pattern) override;
  base::Result<std::map<clients::TopicPartition, int64_t>> list_offsets(const std::vector<clients::TopicPartition>& partitions,
                                                                       clients::OffsetSpec spec) override;
  base::Result<std::map<clients::TopicPartition, int64_t>> offsets_for_time(
      const std::vector<clients::TopicPartition>& partitions, int64_t timestamp_ms) override;
  base::Result<std::map<clients::TopicPartition, std::pair<int64_t, std::string>>> committed(
      const std::vector<clients::TopicPartition>& partitions) override;
  base::Status subscribe(const std::vector<std::string>& topics) override;
  base::Status add(const std::map<clients::TopicPartition, clients::OffsetAndEpoch>& positions,
                   const std::map<clients::TopicPartition, int>& lane_of) override;
  base::Status remove(const std::vector<clients::TopicPartition>& partitions) override;
  base::Status unassign() override;
  base::Result<clients::KafkaEvent> poll_control(base::MonoMicros deadline) override;
  base::Result<std::unique_ptr<clients::FetchedBatch>> fetch(int lane, int max_messages, int64_t max_bytes,
                                                             base::MonoMicros deadline) override;
  void wake(int lane) override;
  base::Status commit_offsets(const std::map<clients::TopicPartition, int64_t>& offsets, const std::string& metadata) override;
  void close() override;

 private:
  struct Reading {
    int64_t next = 0;
    int32_t leader_epoch = -1;  // of the record before
    int lane = 0;
    bool is_lost = false;  // out of range, or the logs part below: told once
  };

  // Before each request: life, the token, a fault now and then.
  base::Status request(Phase phase);
  void stall_now_and_then();
  // With the cluster's mutex held.
  SimKafka::Group& group() { return cluster_.groups_[group_]; }
  bool tell_when_lost(const clients::TopicPartition& partition, Reading& reading, const PartitionLog& log);
  std::unique_ptr<clients::FetchedBatch> next_batch(int lane, int max_messages);
  void note_given(const clients::KafkaEvent& event);
  void let_go(const clients::TopicPartition& partition);
  std::unique_ptr<clients::FetchedBatch> take(const clients::TopicPartition& partition, Reading& reading, int most);

  SimKafka& cluster_;
  const std::shared_ptr<Life> life_;
  const std::string group_;
  int64_t member_ = 0;  // 0: in no group
  std::vector<std::string> subscribed_;
  std::map<clients::TopicPartition, Reading> reading_;
  std::set<clients::TopicPartition> given_;  // by the group, begun or not
  std::deque<clients::KafkaEvent> events_;  // of reading, beside those of the group
  std::set<int> woken_;
  bool is_closed_ = false;
};

}  // namespace frazil::simulation
