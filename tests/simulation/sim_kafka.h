// SimKafka: a Kafka cluster in memory, as far as a reading client can tell it from a real one.
//
// Topics have ids, partitions logs with records, control records and aborted records, open transactions (the last stable
// offset stands still before them), leader epochs and a log start. Logs can lose their end (with a new leader epoch or without) and
// their beginning. A group has members, offsets that are kept, and rebalances, each eager (everybody gives everything back first)
// or cooperative (only what moves is taken). Mostly a partition is given when its last reader has let go or has left; in an
// impatient rebalance it is given at once. A member that does not poll for `kSessionMicros` is left out. Everything under one
// mutex; any lane.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "clients/kafka/kafka_client.h"
#include "tests/simulation/life.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/tally.h"

namespace frazil::simulation {

struct LogEntry {
  enum class Kind { kRecord, kAborted, kControl } kind = Kind::kRecord;
  std::string value;
  int32_t leader_epoch = 0;
  int64_t timestamp_ms = 0;
};

struct PartitionLog {
  std::vector<LogEntry> entries;  // offset = index
  int64_t log_start = 0;
  int64_t stable_end = 0;  // read_committed ends here
  int32_t leader_epoch = 0;

  int64_t end() const { return static_cast<int64_t>(entries.size()); }
  // Where records of leader epochs up to `epoch` end. Never below the log start, as a broker answers it: there begins the first
  // leader epoch that it still knows.
  int64_t end_of_epoch(int32_t epoch) const;
};

struct SimTopic {
  std::string id;
  std::vector<PartitionLog> partitions;
};

class SimKafka {
 public:
  static constexpr int64_t kSessionMicros = 3'000'000;

  SimKafka(Tally& tally, const Faults& faults) : tally_(tally), faults_(faults) {}

  void create_topic(const std::string& name, int partitions);
  void add_partition(const std::string& name);
  // The topic is deleted and made again, empty: another id, no error for those who read it.
  void recreate_topic(const std::string& name);
  // Appends records of one transaction or without one; `aborts` decides its end. Control records follow transactions.
  void append(const std::string& topic, int32_t partition, std::vector<std::string> values);
  void append_transaction(const std::string& topic, int32_t partition, std::vector<std::string> values, bool aborts,
                          base::MonoMicros open_until);
  void bump_leader_epoch(const std::string& topic, int32_t partition);
  // The log ends at `end` now; `is_election`: under a new leader epoch, so that readers can notice.
  void cut_log(const std::string& topic, int32_t partition, int64_t end, bool is_election);
  void remove_records_below(const std::string& topic, int32_t partition, int64_t log_start);
  void move_cluster();
  void forget_group_offsets();
  // Members are shared out anew, for no reason.
  void stir_groups();
  // Ends of all partitions of a topic: where a caught-up reader stands.
  std::map<clients::TopicPartition, int64_t> ends(const std::string& topic);
  // A copy, for the oracle.
  SimTopic topic(const std::string& name);

  // One for each process.
  std::unique_ptr<clients::KafkaClient> make_client(std::shared_ptr<Life> life, std::string group);

 private:
  friend class SimKafkaClient;
  struct Member {
    std::vector<std::string> topics;
    std::set<clients::TopicPartition> owned;
    std::deque<clients::KafkaEvent> events;
    base::MonoMicros last_poll = 0;
  };
  struct Group {
    std::map<int64_t, Member> members;
    base::MonoMicros share_at = base::kForever;
    bool is_impatient = false;
    std::map<clients::TopicPartition, int64_t> due;                 // partition → the member that is to get it
    std::map<clients::TopicPartition, std::set<int64_t>> readers;  // members that have not let go
    std::map<clients::TopicPartition, std::pair<int64_t, std::string>> offsets;
  };

  // All of these with the mutex held.
  void join(Group& group, int64_t member, std::vector<std::string> topics, base::MonoMicros now);
  void leave(Group& group, int64_t member, base::MonoMicros now);
  void start_rebalance(Group& group, base::MonoMicros now);
  void start_rebalances(base::MonoMicros now);
  void share_out(Group& group);
  void give_what_is_free(Group& group);
  void tend_group(Group& group, base::MonoMicros now);
  PartitionLog* find(const clients::TopicPartition& partition);

  Tally& tally_;
  const Faults& faults_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, SimTopic> topics_;
  int topics_made_ = 0;
  int64_t next_member_ = 1;
  std::string cluster_id_ = "simulated";
  std::map<std::string, Group> groups_;
};

}  // namespace frazil::simulation
