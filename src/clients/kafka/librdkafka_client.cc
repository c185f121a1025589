// KafkaClient over librdkafka.
//
// Queues: the consumer queue carries rebalances and errors to poll_control(); each assigned partition's queue is forwarded
// to the queue of its reader lane. Errors of a partition arrive there in order with its messages: those after which reading
// may not go on (a damaged batch that librdkafka would step over) end the lane, the others become control events.
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/pattern.h"
#include "clients/kafka/bounded_close.h"
#include "clients/kafka/kafka_client.h"
#include "clients/kafka/lane_inbox.h"
#include "clients/kafka/passing_states.h"
#include "clients/kafka/log_thinner.h"
#include "clients/kafka/queue_signal.h"
#include "clients/kafka/rdkafka_admin.h"
#include "clients/kafka/rdkafka_assignment.h"
#include "clients/kafka/rdkafka_connection.h"
#include "clients/kafka/rdkafka_handles.h"

namespace frazil::clients {

namespace {

constexpr int64_t kLongestWaitMicros = 1'000'000;
constexpr int64_t kCloseMicros = 10'000'000;
// A group that nobody joins: librdkafka's consumer wants a name.
constexpr char kNoGroup[] = "frazil-no-group";

// What a user cannot change, because what is read and committed depends on it.
const std::map<std::string, std::string>& forced_properties() {
  static const std::map<std::string, std::string> forced = {
      {"allow.auto.create.topics", "false"},
      {"auto.offset.reset", "error"},
      {"check.crcs", "true"},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "true"},
      {"isolation.level", "read_committed"},
  };
  return forced;
}

std::map<std::string, std::string> all_properties(const KafkaClientConfig& config) {
  std::map<std::string, std::string> properties = {
      // By default librdkafka pauses a second when its queue is full, and the reader starves.
      {"fetch.queue.backoff.ms", "20"},
      {"enable.metrics.push", "false"},
      // Also bounds what a batch unpacks to. zstd's buffer triples until it fits, so a third of this always does.
      {"receive.message.max.bytes", "536870912"},
  };
  const auto protocol = config.properties.find("group.protocol");
  if (protocol == config.properties.end() || protocol->second != "consumer") {
    // A killed worker's partitions are free after this; librdkafka's own default is 45 s. Heartbeats have a thread of their own.
    properties["session.timeout.ms"] = "10000";
    // Partitions that stay with their worker are read on while others change hands.
    properties["partition.assignment.strategy"] = "cooperative-sticky";
  }
  for (const auto& [name, value] : config.properties) properties[name] = value;
  for (const auto& [name, value] : forced_properties()) properties[name] = value;
  properties.try_emplace("client.id", config.client_id);
  properties["group.id"] = config.group_id.empty() ? kNoGroup : config.group_id;
  return properties;
}

// Errors after which a range must not be taken for read: the batch was skipped or cannot be unpacked.
bool is_damage(int code) {
  return code == RD_KAFKA_RESP_ERR__BAD_MSG || code == RD_KAFKA_RESP_ERR__BAD_COMPRESSION ||
         code == RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED || code == RD_KAFKA_RESP_ERR_INVALID_MSG ||
         code == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
}

// The group has another generation than the one that we commit for, or no place for us.
bool is_other_generation(int code) {
  return code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION || code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
         code == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS || code == RD_KAFKA_RESP_ERR_STALE_MEMBER_EPOCH ||
         code == RD_KAFKA_RESP_ERR_FENCED_MEMBER_EPOCH;
}

// "… broker end offset is 120 (offset leader epoch 5) …" → 120, or -1.
int64_t divergence_of(const std::string& text) {
  static constexpr std::string_view kMark = "broker end offset is ";
  const size_t at = text.find(kMark);
  return at == std::string::npos ? -1 : std::strtoll(text.c_str() + at + kMark.size(), nullptr, 10);
}

std::vector<TopicPartition> partitions_of(const rd_kafka_topic_partition_list_t& list) {
  std::vector<TopicPartition> partitions;
  for (int i = 0; i < list.cnt; ++i) partitions.push_back({list.elems[i].topic, list.elems[i].partition});
  return partitions;
}

// Of the first partition that failed, or 0.
int first_code(const rd_kafka_topic_partition_list_t& list) {
  for (int i = 0; i < list.cnt; ++i) {
    if (list.elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) return list.elems[i].err;
  }
  return 0;
}

class LibrdkafkaClient : public KafkaClient {
 public:
  LibrdkafkaClient(const KafkaClientConfig& config, std::shared_ptr<RdKafkaConnection> connection);
  ~LibrdkafkaClient() override { close(); }

  base::Status connect(base::MonoMicros deadline) override { return connection_->wait_until_connected(deadline); }
  base::Result<ClusterDescription> describe(const std::vector<std::string>& topics) override {
    return describe_cluster(handle(), topics);
  }
  base::Result<std::vector<std::string>> match_topics(const std::string& pattern) override;
  base::Result<std::map<TopicPartition, int64_t>> list_offsets(const std::vector<TopicPartition>& partitions,
                                                               OffsetSpec spec) override {
    PassingStates passing(settle_ms_, closed_);
    auto offsets = query_offsets(handle(), partitions, spec, passing);
    if (offsets.ok()) connection_->forget_troubles();
    return offsets;
  }
  base::Result<std::map<TopicPartition, int64_t>> offsets_for_time(const std::vector<TopicPartition>& partitions,
                                                                   int64_t timestamp_ms) override;
  base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> committed(
      const std::vector<TopicPartition>& partitions) override;
  base::Status subscribe(const std::vector<std::string>& topics) override;
  base::Status add(const std::map<TopicPartition, OffsetAndEpoch>& positions,
                   const std::map<TopicPartition, int>& lane_of) override;
  base::Status remove(const std::vector<TopicPartition>& partitions) override;
  base::Status unassign() override;
  base::Result<KafkaEvent> poll_control(base::MonoMicros deadline) override;
  base::Result<std::unique_ptr<FetchedBatch>> fetch(int lane, int max_messages, int64_t max_bytes,
                                                    base::MonoMicros deadline) override;
  void wake(int lane) override;
  base::Status commit_offsets(const std::map<TopicPartition, int64_t>& offsets, const std::string& metadata) override;
  base::Result<std::vector<GroupMember>> group_members() override {
    PassingStates passing(settle_ms_, closed_);
    return describe_group(handle(), group_id_, passing);
  }
  std::string last_error() const override { return connection_->last_error(); }
  void close() override;

 private:
  struct ReaderLane {
    explicit ReaderLane(rd_kafka_t* handle) : queue(rd_kafka_queue_new(handle)), signal(queue.get()) {}
    RdKafkaQueue queue;
    QueueSignal signal;
    std::atomic<int> claims{0};  // others that want the mutex: fetch() leaves it to them
    base::Mutex mutex;           // held by fetch() while it waits
    LaneInbox inbox;
    std::set<TopicPartition> fetched;  // messages of any other partition are late, and dropped
    int64_t average_bytes = 1024;
    std::string damage;
  };

  // A lane to ourselves: its reader is woken, and no message is on its way from librdkafka to the inbox.
  class HeldLane {
   public:
    explicit HeldLane(ReaderLane& lane) : lane_(claim(lane)), lock_(lane.mutex) {}
    ~HeldLane() { lane_.claims.fetch_sub(1); }

   private:
    static ReaderLane& claim(ReaderLane& lane) {
      lane.claims.fetch_add(1);
      lane.signal.raise();
      return lane;
    }
    ReaderLane& lane_;
    base::Lock lock_;
  };

  rd_kafka_t* handle() const { return connection_->handle(); }
  template <typename Ask>
  int until_settled(const RdKafkaPartitionList& list, const Ask& ask);
  void forget_fetched();
  void leave_group();
  int pull(ReaderLane& lane, int max_messages, int64_t max_bytes, base::MonoMicros deadline,
           std::vector<rd_kafka_message_t*>& messages);
  void sort_in(ReaderLane& lane, std::vector<rd_kafka_message_t*>& messages);
  void take_error(ReaderLane& lane, const rd_kafka_message_t& message);
  void add_event(KafkaEvent event);
  std::optional<KafkaEvent> next_event();
  std::optional<KafkaEvent> event_of(rd_kafka_event_t* event);
  std::optional<KafkaEvent> rebalance_of(rd_kafka_event_t* event);
  std::optional<KafkaEvent> error_of(int code, const std::string& text, const std::vector<TopicPartition>& partitions,
                                     int64_t offset);

  const std::string group_id_;
  const int64_t settle_ms_;
  base::Interrupt closed_;
  std::shared_ptr<RdKafkaConnection> connection_;
  RdKafkaQueue control_queue_;
  QueueSignal control_signal_;
  std::vector<std::unique_ptr<ReaderLane>> lanes_;
  RdKafkaAssignment assignment_;

  base::Mutex mutex_;
  std::deque<KafkaEvent> events_;
  bool control_woken_ = false;
  bool is_closed_ = false;
};

LibrdkafkaClient::LibrdkafkaClient(const KafkaClientConfig& config, std::shared_ptr<RdKafkaConnection> connection)
    : group_id_(config.group_id),
      settle_ms_(config.settle_ms),
      connection_(std::move(connection)),
      control_queue_(rd_kafka_queue_get_consumer(connection_->handle())),
      control_signal_(control_queue_.get()),
      assignment_(connection_->handle()) {
  rd_kafka_poll_set_consumer(handle());
  for (int lane = 0; lane < std::max(config.lanes, 1); ++lane) lanes_.push_back(std::make_unique<ReaderLane>(handle()));
}

base::Result<std::vector<std::string>> LibrdkafkaClient::match_topics(const std::string& pattern) {
  TRY_ASSIGN(const base::Pattern expression, base::Pattern::compile(pattern).in("topic pattern"));
  TRY_ASSIGN(const std::vector<std::string> all, list_topics(handle()));
  std::vector<std::string> matching;
  for (const std::string& topic : all) {
    if (topic.rfind("__", 0) == 0) continue;  // Kafka's own
    if (expression.matches(topic)) matching.push_back(topic);
  }
  std::sort(matching.begin(), matching.end());
  return matching;
}

// Asks until neither the answer nor a partition in it shows a passing state; the code of the answer.
template <typename Ask>
int LibrdkafkaClient::until_settled(const RdKafkaPartitionList& list, const Ask& ask) {
  PassingStates passing(settle_ms_, closed_);
  while (true) {
    const int code = ask();
    if (!passing.again(code != 0 ? code : first_code(*list))) return code;
  }
}

base::Result<std::map<TopicPartition, int64_t>> LibrdkafkaClient::offsets_for_time(
    const std::vector<TopicPartition>& partitions, int64_t timestamp_ms) {
  RdKafkaPartitionList list;
  const int code = until_settled(list, [&] {
    list = partition_list(partitions);
    for (int i = 0; i < list->cnt; ++i) list->elems[i].offset = timestamp_ms;
    return rd_kafka_offsets_for_times(handle(), list.get(), kRequestMillis);
  });
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("offsets for a timestamp");
  std::map<TopicPartition, int64_t> offsets;
  std::vector<TopicPartition> at_end;
  for (int i = 0; i < list->cnt; ++i) {
    const auto& entry = list->elems[i];
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(entry.err).in("offsets for a timestamp");
    if (entry.offset >= 0) {
      offsets[{entry.topic, entry.partition}] = entry.offset;
    } else {
      at_end.push_back({entry.topic, entry.partition});
    }
  }
  TRY_ASSIGN(const auto ends, list_offsets(at_end, OffsetSpec::kLatest));
  offsets.insert(ends.begin(), ends.end());
  return offsets;
}

base::Result<std::map<TopicPartition, std::pair<int64_t, std::string>>> LibrdkafkaClient::committed(
    const std::vector<TopicPartition>& partitions) {
  std::map<TopicPartition, std::pair<int64_t, std::string>> offsets;
  if (group_id_.empty()) return offsets;
  RdKafkaPartitionList list;
  const int code = until_settled(list, [&] {
    list = partition_list(partitions);
    return rd_kafka_committed(handle(), list.get(), kRequestMillis);
  });
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("committed offsets of group " + group_id_);
  for (int i = 0; i < list->cnt; ++i) {
    const auto& entry = list->elems[i];
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(entry.err).in("committed offsets of " + group_id_);
    if (entry.offset < 0) continue;
    const char* metadata = static_cast<const char*>(entry.metadata);
    offsets[{entry.topic, entry.partition}] = {
        entry.offset, metadata != nullptr ? std::string(metadata, entry.metadata_size) : std::string()};
  }
  return offsets;
}

base::Status LibrdkafkaClient::subscribe(const std::vector<std::string>& topics) {
  RdKafkaPartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
  for (const std::string& topic : topics) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  }
  const auto code = rd_kafka_subscribe(handle(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("subscribe");
  return {};
}

void LibrdkafkaClient::forget_fetched() {
  for (const auto& lane : lanes_) {
    const HeldLane held(*lane);
    lane->inbox.clear();
    lane->fetched.clear();
    lane->damage.clear();
  }
}

base::Status LibrdkafkaClient::add(const std::map<TopicPartition, OffsetAndEpoch>& positions,
                                   const std::map<TopicPartition, int>& lane_of) {
  RdKafkaAssignment::Queues queues;
  for (const auto& [partition, position] : positions) {
    const auto number = lane_of.find(partition);
    CHECK(number != lane_of.end() && number->second >= 0 && number->second < static_cast<int>(lanes_.size()));
    ReaderLane& lane = *lanes_[static_cast<size_t>(number->second)];
    queues[partition] = lane.queue.get();
    const HeldLane held(lane);
    lane.fetched.insert(partition);
  }
  return assignment_.add(positions, queues);
}

// librdkafka first: from then on it gives nothing of these partitions, whatever it still has.
base::Status LibrdkafkaClient::remove(const std::vector<TopicPartition>& partitions) {
  const base::Status removed = assignment_.remove(partitions);
  for (const auto& lane : lanes_) {
    const HeldLane held(*lane);
    for (const TopicPartition& partition : partitions) {
      if (lane->fetched.erase(partition) != 0) lane->inbox.drop(partition);
    }
  }
  return removed;
}

base::Status LibrdkafkaClient::unassign() {
  const base::Status cleared = assignment_.clear();
  forget_fetched();
  return cleared;
}

void LibrdkafkaClient::add_event(KafkaEvent event) {
  {
    base::Lock lock(mutex_);
    events_.push_back(std::move(event));
  }
  control_signal_.raise();
}

// What poll_control() answers at once: a waiting event, or kNone after a wake().
std::optional<KafkaEvent> LibrdkafkaClient::next_event() {
  base::Lock lock(mutex_);
  if (!events_.empty()) {
    KafkaEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  if (std::exchange(control_woken_, false)) return KafkaEvent();
  return std::nullopt;
}

base::Result<KafkaEvent> LibrdkafkaClient::poll_control(base::MonoMicros deadline) {
  for (;;) {
    if (auto event = next_event()) return *std::move(event);
    const RdKafkaEvent event(rd_kafka_queue_poll(control_queue_.get(), 0));
    if (event) {
      if (auto translated = event_of(event.get())) return *std::move(translated);
    } else if (base::mono_micros() >= deadline) {
      return KafkaEvent();
    } else {
      control_signal_.wait_until(std::min(deadline, base::deadline_after(kLongestWaitMicros)));
    }
    if (const std::string fatal = connection_->fatal_error(); !fatal.empty()) {
      return KafkaEvent{.kind = KafkaEventKind::kFatal, .partitions = {}, .offset = -1, .text = fatal};
    }
  }
}

std::optional<KafkaEvent> LibrdkafkaClient::event_of(rd_kafka_event_t* event) {
  if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE) return rebalance_of(event);
  if (rd_kafka_event_type(event) != RD_KAFKA_EVENT_ERROR) return std::nullopt;
  std::vector<TopicPartition> partitions;
  if (auto* partition = rd_kafka_event_topic_partition(event)) {
    partitions.push_back({partition->topic, partition->partition});
    rd_kafka_topic_partition_destroy(partition);
  }
  return error_of(rd_kafka_event_error(event), rd_kafka_event_error_string(event), partitions, -1);
}

std::optional<KafkaEvent> LibrdkafkaClient::rebalance_of(rd_kafka_event_t* event) {
  KafkaEvent translated;
  const bool is_given = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
  const bool is_lost = !is_given && rd_kafka_assignment_lost(handle()) != 0;
  translated.kind = is_given ? KafkaEventKind::kAssigned : is_lost ? KafkaEventKind::kLost : KafkaEventKind::kRevoked;
  if (const auto* list = rd_kafka_event_topic_partition_list(event)) translated.partitions = partitions_of(*list);
  base::log_info("kafka_rebalance", {{"group", group_id_},
                                     {"change", is_given ? "assigned" : is_lost ? "lost" : "revoked"},
                                     {"partitions", static_cast<int64_t>(translated.partitions.size())}});
  if (!is_given) {
    assignment_.take_note_of_taken();
  } else if (const base::Status answered = assignment_.take_note_of_given(); !answered.ok()) {
    base::log_warn("kafka_assign", {{"group", group_id_}, {"error", answered.error().message()}});
  }
  return translated;
}

// Errors that need an answer, as events; the others librdkafka retries by itself.
std::optional<KafkaEvent> LibrdkafkaClient::error_of(int code, const std::string& text,
                                                     const std::vector<TopicPartition>& partitions, int64_t offset) {
  KafkaEvent event{.kind = KafkaEventKind::kNone, .partitions = partitions, .offset = offset, .text = text};
  if (code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET && !partitions.empty()) {
    const bool is_truncated = text.find(rd_kafka_err2str(RD_KAFKA_RESP_ERR__LOG_TRUNCATION)) != std::string::npos;
    event.kind = is_truncated ? KafkaEventKind::kLogTruncated : KafkaEventKind::kOffsetOutOfRange;
    if (is_truncated) event.offset = divergence_of(text);
    return event;
  }
  if ((is_unknown_topic(code) || code == RD_KAFKA_RESP_ERR_INCONSISTENT_TOPIC_ID) && !partitions.empty()) {
    event.kind = KafkaEventKind::kTopicGone;
    return event;
  }
  const bool is_group_refused = code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED || (is_group_refused && !group_id_.empty())) {
    event.kind = KafkaEventKind::kFatal;
    return event;
  }
  if (!is_group_refused) {
    connection_->note_error(code, text);
    log_thinned(base::LogLevel::kWarn, "kafka_error", rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code)), text);
  }
  return std::nullopt;
}

// Waits for messages, then takes what is there, about `max_bytes` by the average of earlier messages.
int LibrdkafkaClient::pull(ReaderLane& lane, int max_messages, int64_t max_bytes, base::MonoMicros deadline,
                           std::vector<rd_kafka_message_t*>& messages) {
  const int64_t by_bytes = std::max<int64_t>(max_bytes / std::max<int64_t>(lane.average_bytes, 1), 1);
  messages.resize(static_cast<size_t>(std::clamp<int64_t>(max_messages, 1, by_bytes)));
  const auto take = [&] {
    const ssize_t count = rd_kafka_consume_batch_queue(lane.queue.get(), 0, messages.data(), messages.size());
    return static_cast<size_t>(std::max<ssize_t>(count, 0));
  };
  size_t count = take();
  if (count == 0) {
    lane.signal.wait_until(std::min(deadline, base::deadline_after(kLongestWaitMicros)));
    count = take();
  }
  messages.resize(count);
  return static_cast<int>(messages.size());
}

void LibrdkafkaClient::take_error(ReaderLane& lane, const rd_kafka_message_t& message) {
  const std::vector<TopicPartition> partitions =
      message.rkt != nullptr
          ? std::vector<TopicPartition>{{rd_kafka_topic_name(message.rkt), message.partition}}
          : std::vector<TopicPartition>();
  const std::string text = rd_kafka_message_errstr(&message);
  if (is_damage(message.err)) {
    lane.damage = (partitions.empty() ? std::string() : partitions[0].topic + "/" + std::to_string(message.partition)) +
                  " at offset " + std::to_string(message.offset) + ": " + text;
    return;
  }
  if (auto event = error_of(message.err, text, partitions, message.offset)) add_event(*std::move(event));
}

// Puts messages into the inbox; errors come in order with them, so nothing behind a damaged batch is handed on.
void LibrdkafkaClient::sort_in(ReaderLane& lane, std::vector<rd_kafka_message_t*>& messages) {
  const rd_kafka_topic_t* topic = nullptr;
  int32_t number = -1;
  bool is_fetched = true;  // the partition of `topic` and `number`, which most messages share with the one before
  for (rd_kafka_message_t* message : messages) {
    if (message->rkt != topic || message->partition != number) {
      topic = message->rkt;
      number = message->partition;
      is_fetched = topic == nullptr || lane.fetched.contains({rd_kafka_topic_name(topic), number});
    }
    if (is_fetched && lane.damage.empty()) {
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        lane.average_bytes += (static_cast<int64_t>(message->len) - lane.average_bytes) / 16;
        lane.inbox.add(message);
        continue;
      }
      if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        lane.inbox.add_end(*message);
      } else {
        take_error(lane, *message);
      }
    }
    rd_kafka_message_destroy(message);
  }
}

base::Result<std::unique_ptr<FetchedBatch>> LibrdkafkaClient::fetch(int lane_number, int max_messages, int64_t max_bytes,
                                                                    base::MonoMicros deadline) {
  CHECK(lane_number >= 0 && lane_number < static_cast<int>(lanes_.size()));
  ReaderLane& lane = *lanes_[static_cast<size_t>(lane_number)];
  if (lane.claims.load() > 0) return std::unique_ptr<FetchedBatch>();
  base::Lock lock(lane.mutex);
  if (lane.inbox.empty() && lane.damage.empty()) {
    std::vector<rd_kafka_message_t*> messages;
    if (pull(lane, max_messages, max_bytes, deadline, messages) == 0) return std::unique_ptr<FetchedBatch>();
    sort_in(lane, messages);
  }
  if (!lane.inbox.empty()) return lane.inbox.take(max_messages, max_bytes, connection_);
  if (!lane.damage.empty()) return base::corrupt("Kafka sent a batch that cannot be read, " + lane.damage);
  return std::unique_ptr<FetchedBatch>();
}

void LibrdkafkaClient::wake(int lane) {
  if (lane != kControlLane) {
    lanes_[lane]->signal.raise();
    return;
  }
  {
    base::Lock lock(mutex_);
    control_woken_ = true;
  }
  control_signal_.raise();
}

base::Status LibrdkafkaClient::commit_offsets(const std::map<TopicPartition, int64_t>& offsets,
                                              const std::string& metadata) {
  if (group_id_.empty() || offsets.empty()) return {};
  RdKafkaPartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& [partition, offset] : offsets) {
    auto* entry = rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition);
    entry->offset = offset;
    entry->metadata = rd_kafka_mem_malloc(handle(), metadata.size());
    entry->metadata_size = metadata.size();
    std::copy(metadata.begin(), metadata.end(), static_cast<char*>(entry->metadata));
  }
  RdKafkaQueue answer(rd_kafka_queue_new(handle()));
  const auto sent = rd_kafka_commit_queue(handle(), list.get(), answer.get(), nullptr, nullptr);
  if (sent != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(sent).in("commit offsets");
  const RdKafkaEvent event(rd_kafka_queue_poll(answer.get(), kRequestMillis));
  const auto code = event ? rd_kafka_event_error(event.get()) : RD_KAFKA_RESP_ERR__TIMED_OUT;
  if (is_other_generation(code)) return base::Error(base::Code::kConflict, rd_kafka_err2str(code)).in("commit offsets");
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code).in("commit offsets");
  return {};
}

// A client that broke for good has no group to leave.
void LibrdkafkaClient::leave_group() {
  if (!connection_->fatal_error().empty()) return;
  if (finishes_within([connection = connection_] { rd_kafka_consumer_close(connection->handle()); }, kCloseMicros)) return;
  base::log_warn("kafka_close_abandoned", {{"group", group_id_}, {"meaning", "the group takes this member for gone when its session ends"}});
}

void LibrdkafkaClient::close() {
  {
    base::Lock lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
  }
  closed_.raise();
  forget_fetched();
  leave_group();
  // What the lanes' queues still hold must go before the handle.
  for (const auto& lane : lanes_) {
    rd_kafka_message_t* messages[256];
    ssize_t count = 0;
    while ((count = rd_kafka_consume_batch_queue(lane->queue.get(), 0, messages, std::size(messages))) > 0) {
      std::for_each(messages, messages + count, rd_kafka_message_destroy);
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<KafkaClient>> make_librdkafka_client(const KafkaClientConfig& config) {
  TRY_ASSIGN(auto connection, RdKafkaConnection::open(RdKafkaConnection::Role::kConsumer, all_properties(config),
                                                      RD_KAFKA_EVENT_REBALANCE, config.allow_plaintext));
  return std::unique_ptr<KafkaClient>(std::make_unique<LibrdkafkaClient>(config, std::move(connection)));
}

}  // namespace frazil::clients
