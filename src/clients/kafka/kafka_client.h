// KafkaClient: what Frazil needs of a Kafka client, and no more. Above it stand the Kafka source and its tests; below it
// librdkafka (librdkafka_client.cc), or a simulated cluster in tests/simulation.
//
// One client belongs to one worker. poll_control() is called by one lane, fetch(lane) by the reader lane of that number, the
// rest by any thread. No call waits beyond its deadline or, where none is given, beyond the client's request time-out. States of the
// brokers that pass by themselves are waited out on top of that, for `settle_ms`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sync.h"

namespace frazil::clients {

struct TopicPartition {
  std::string topic;
  int32_t partition = 0;
  auto operator<=>(const TopicPartition&) const = default;
};

struct OffsetAndEpoch {
  int64_t offset = 0;
  int32_t leader_epoch = -1;  // -1: unknown
};

struct TopicDescription {
  std::string id;  // base64 topic id, empty where the broker knows none
  int32_t partitions = 0;
};

struct ClusterDescription {
  std::string cluster_id;                           // empty where unknown
  std::map<std::string, TopicDescription> topics;   // a topic that does not exist is absent
};

struct KafkaHeader {
  std::string_view key;
  std::string_view value;
  bool has_value = false;
};

struct KafkaMessage {
  int64_t offset = 0;
  int64_t timestamp_ms = -1;  // -1: none
  int32_t leader_epoch = -1;
  bool has_key = false;
  bool has_value = false;
  std::string_view key;
  std::string_view value;
  std::vector<KafkaHeader> headers;
};

// Messages of one partition in offset order. `next_offset` is where reading goes on: after the last message, or beyond
// control records and aborted messages at the end of the partition (then `messages` may be empty).
struct FetchedBatch {
  TopicPartition partition;
  std::vector<KafkaMessage> messages;
  int64_t next_offset = 0;
  bool is_at_end = false;  // the end of the partition (last stable offset) was reached
  int64_t bytes = 0;       // of values
  std::shared_ptr<void> memory;  // keeps the views alive
};

// Who reads what in a consumer group, as the group's coordinator says.
struct GroupMember {
  std::string client_id;
  std::vector<TopicPartition> partitions;
};

enum class KafkaEventKind {
  kNone,
  kAssigned,         // the group gave us `partitions` beside those we have: add() them
  kRevoked,          // the group asks for `partitions` and waits: nothing is fetched of any partition until remove() answers
  kLost,             // the group has given `partitions` away already: answer with remove()
  kOffsetOutOfRange, // `partitions[0]` at `offset`: below log start or beyond log end
  kLogTruncated,     // `partitions[0]`: the leader-epoch check diverged; `offset` is where the logs part, or -1
  kTopicGone,        // `partitions[0].topic` (or one partition) is not known to the cluster any more
  kFatal,            // the client is of no more use; text says why
};

struct KafkaEvent {
  KafkaEventKind kind = KafkaEventKind::kNone;
  std::vector<TopicPartition> partitions;
  int64_t offset = -1;
  std::string text;
};

// For wake(): whoever waits in poll_control().
inline constexpr int kControlLane = -1;

// kLatest: last stable offset, where reading of committed records ends. kLogEnd: behind the last record, open transactions
// included.
enum class OffsetSpec { kEarliest, kLatest, kLogEnd };

class KafkaClient {
 public:
  virtual ~KafkaClient() = default;

  // Waits until the cluster answers, an authentication is refused for good, or the deadline: kUnavailable with the last error.
  virtual base::Status connect(base::MonoMicros deadline) = 0;
  virtual base::Result<ClusterDescription> describe(const std::vector<std::string>& topics) = 0;
  // Names of existing topics that match a regular expression (base/pattern.h) as a whole; internal topics are left out.
  virtual base::Result<std::vector<std::string>> match_topics(const std::string& pattern) = 0;
  virtual base::Result<std::map<TopicPartition, int64_t>> list_offsets(const std::vector<TopicPartition>& partitions,
                                                                      OffsetSpec spec) = 0;
  // First offset whose timestamp is >= timestamp_ms; the end of the log where there is none.
  virtual base::Result<std::map<TopicPartition, int64_t>> offsets_for_time(const std::vector<TopicPartition>& partitions,
                                                                          int64_t timestamp_ms) = 0;
  // Offsets committed by the group; absent where there are none. `metadata` of commit_offsets comes back in second.
  virtual base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> committed(
      const std::vector<TopicPartition>& partitions) = 0;

  virtual base::Status subscribe(const std::vector<std::string>& topics) = 0;
  // Starts fetching these partitions beside others, at these offsets. Partition → reader lane (0 .. lanes-1) is `lane_of`. None of
  // them is being fetched already.
  virtual base::Status add(const std::map<TopicPartition, OffsetAndEpoch>& positions,
                           const std::map<TopicPartition, int>& lane_of) = 0;
  // Stops fetching these partitions, those of them that are fetched at all. Nothing more of them comes. Answers kRevoked and kLost.
  virtual base::Status remove(const std::vector<TopicPartition>& partitions) = 0;
  // Stops fetching all partitions. Answers kRevoked and kLost, too.
  virtual base::Status unassign() = 0;

  // Rebalances and errors; returns kNone at the deadline.
  virtual base::Result<KafkaEvent> poll_control(base::MonoMicros deadline) = 0;
  // The next messages for a reader lane, or nullptr when there are none: at the deadline, and now and then before it. All messages
  // of a batch are of one partition.
  virtual base::Result<std::unique_ptr<FetchedBatch>> fetch(int lane, int max_messages, int64_t max_bytes,
                                                            base::MonoMicros deadline) = 0;
  // Makes a fetch() that waits on this lane return now, or poll_control() for lane kControlLane (any thread).
  virtual void wake(int lane) = 0;

  // Advisory: for lag tools. One request, bounded time. kConflict: the group is between two generations, or has gone on to the
  // next one without us.
  virtual base::Status commit_offsets(const std::map<TopicPartition, int64_t>& offsets, const std::string& metadata) = 0;
  // Members of this client's group. kUnsupported where the client or the brokers cannot tell.
  virtual base::Result<std::vector<GroupMember>> group_members() { return base::unsupported("this client does not ask for members of groups"); }
  // The last telling error of the connections, for messages; empty when there was none. Any thread.
  virtual std::string last_error() const { return ""; }
  // Leaves the group and closes.
  virtual void close() = 0;
};

struct KafkaClientConfig {
  std::map<std::string, std::string> properties;  // librdkafka names, already checked against the allow-list
  std::string group_id;                           // empty: no group
  std::string client_id = "frazil";
  int lanes = 1;
  int64_t settle_ms = 10'000;     // how long one question is asked again while the brokers are not ready for it
  bool allow_plaintext = false;  // brokers outside of this machine may be reached without TLS
};

base::Result<std::unique_ptr<KafkaClient>> make_librdkafka_client(const KafkaClientConfig& config);

}  // namespace frazil::clients
