#include "sources/kafka/kafka_source.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "sources/kafka/catch_up_targets.h"
#include "sources/kafka/kafka_choices.h"
#include "sources/kafka/kafka_halts.h"
#include "sources/kafka/kafka_positions.h"
#include "sources/kafka/kafka_splits.h"
#include "sources/kafka/log_end_watch.h"
#include "sources/kafka/log_truncation.h"
#include "sources/kafka/read_split.h"

namespace frazil::sources {

namespace {

using clients::FetchedBatch;
using clients::KafkaClient;
using clients::KafkaEvent;
using clients::KafkaEventKind;
using clients::OffsetAndEpoch;
using clients::OffsetSpec;
using clients::TopicPartition;
using engine::RawBatch;
using engine::SourceEvent;
using engine::SourcePositions;

base::Failpoint assign_loaded("assign.loaded", "positions of the assigned partitions are known, reading has not begun", base::Code::kUnavailable);
base::Failpoint revoke_start("revoke.start", "the group takes partitions away");
base::Failpoint group_offset_before("groupoffset.before", "an epoch is in the table, the group's offsets are not written");
base::Failpoint group_offset_after("groupoffset.after", "the group's offsets are written");

constexpr int kMessagesPerBatch = 8192;
constexpr int64_t kBytesPerBatch = 4 << 20;
constexpr int64_t kMaxPollMillis = 300'000;             // librdkafka's own value of max.poll.interval.ms
constexpr int64_t kReleaseMicrosAtMost = 30'000'000;
constexpr int64_t kTellWaitingMicros = 3'000'000;       // brokers give a new group its partitions after about as long
constexpr std::string_view kMarkPrefix = "frazil-table=";  // in the metadata of group offsets

SourceEvent start_again() { return {SourceEvent::Kind::kStartAgain, {}}; }

std::vector<engine::SplitId> split_ids(const std::vector<TopicPartition>& partitions) {
  std::vector<engine::SplitId> ids;
  for (const TopicPartition& partition : partitions) ids.push_back(split_id(partition));
  return ids;
}

// Half of the time that the group waits for a member which has to give partitions back; the next owner waits as long.
int64_t release_within(const KafkaSourceConfig& config) {
  const auto set = config.properties.find("max.poll.interval.ms");
  const int64_t whole_ms = set == config.properties.end() ? kMaxPollMillis : std::strtoll(set->second.c_str(), nullptr, 10);
  return std::min(whole_ms * 500, kReleaseMicrosAtMost);
}

class KafkaSource : public engine::Source {
 public:
  KafkaSource(KafkaSourceConfig config, std::unique_ptr<KafkaClient> client)
      : config_(std::move(config)), client_(std::move(client)), release_micros_(release_within(config_)), log_ends_(*client_, config_.open_transaction_warning_ms) {}
  ~KafkaSource() override { close(); }

  const engine::PositionFormat& format() const override { return kafka_position_format(); }
  base::Status connect(base::MonoMicros deadline) override { return client_->connect(deadline); }
  base::Result<SourcePositions> resolve_start() override;
  base::Status check(const SourcePositions& positions) override;
  base::Result<SourcePositions> apply_choice(const base::Halt& halt, const std::string& choice,
                                             const SourcePositions& positions) override {
    return apply_kafka_choice(*client_, config_, halt, choice, positions);
  }
  base::Status start(const SourcePositions& positions, int lanes) override;
  base::Result<std::unique_ptr<RawBatch>> read(int lane, base::MonoMicros deadline) override;
  void wake() override;
  void stop() override;
  base::Result<SourceEvent> poll_control(base::MonoMicros deadline) override;
  base::Status add(const std::vector<engine::SplitId>& splits, const SourcePositions& positions) override;
  base::Status release(const std::vector<engine::SplitId>& splits) override;
  base::Status confirm(const SourcePositions& positions, const std::vector<engine::Range>& ranges) override;
  std::map<std::string, std::string> identity() const override;
  void acknowledge(const SourcePositions& positions, const std::string& mark) override;
  std::string last_mark() override;
  base::Result<std::string> first_reader() override;
  bool is_caught_up(const SourcePositions& positions) override { return targets_.is_reached(positions); }
  std::vector<engine::SplitLag> lag(const SourcePositions& positions) override { return log_ends_.lag(positions); }
  engine::SourceHealth health() override { return log_ends_.health(); }
  void close() override;

 private:
  // Read by its reader lane; splits come and go by the control lane.
  struct ReadLane {
    base::Mutex mutex;
    std::map<TopicPartition, ReadSplit> splits;
  };

  bool has_group() const { return !config_.group_id.empty(); }
  base::Result<KafkaTopics> discover_and_check(const SourcePositions& positions);
  base::Status follow_group(const std::vector<std::string>& topics);
  void note_identity(const KafkaTopics& topics, const SourcePositions& positions);
  std::vector<TopicPartition> mine(const KafkaTopics& topics) const;
  base::Result<std::vector<TopicPartition>> still_ours(const std::vector<engine::SplitId>& splits, const KafkaTopics& topics) const;
  base::Status begin_reading(const std::vector<TopicPartition>& partitions, const SourcePositions& positions);
  base::Status fetch_from(const std::map<TopicPartition, OffsetAndEpoch>& offsets, const std::map<TopicPartition, int>& lane_of);
  ReadLane& emptiest_lane(int& number);
  void stop_reading(const std::vector<TopicPartition>& partitions);
  base::Result<std::map<TopicPartition, ReadSplit>> read_splits(const std::vector<TopicPartition>& partitions,
                                                               const SourcePositions& positions);
  base::Result<std::unique_ptr<RawBatch>> take_in(ReadLane& lane, std::unique_ptr<FetchedBatch> fetched);
  base::Result<SourceEvent> answer(const KafkaEvent& event);
  SourceEvent given(const KafkaEvent& event);
  base::Result<SourceEvent> taken(const KafkaEvent& event);
  base::Result<SourceEvent> lost(const KafkaEvent& event);
  base::Result<SourceEvent> truncated(const KafkaEvent& event);
  base::Error older_epoch(const TopicPartition& partition, const OffsetAndEpoch& at, const clients::KafkaMessage& message);
  base::Result<SourceEvent> look_for_changes();
  void tell_waiting();

  const KafkaSourceConfig config_;
  const std::unique_ptr<KafkaClient> client_;
  const int64_t release_micros_;  // how long work on partitions that go may take

  // Control lane only.
  std::vector<std::string> subscribed_;
  std::map<std::string, clients::TopicDescription> known_topics_;
  base::MonoMicros next_discovery_ = base::kForever;
  base::MonoMicros tell_waiting_at_ = base::kForever;
  std::optional<SourcePositions> started_at_;
  std::set<TopicPartition> assigned_;  // by the group

  std::vector<std::unique_ptr<ReadLane>> lanes_;  // made by start(), while nobody reads
  std::atomic<int> lane_count_{0};
  LogEndWatch log_ends_;
  LogTruncation truncation_;
  CatchUpTargets targets_;

  mutable base::Mutex mutex_;
  std::map<std::string, std::string> identity_;
  bool is_closed_ = false;
};

base::Result<SourcePositions> KafkaSource::resolve_start() {
  TRY_ASSIGN(const KafkaTopics topics, discover_topics(*client_, config_));
  TRY(require_topics(topics));
  return resolve_kafka_start(*client_, config_, topics);
}

base::Result<KafkaTopics> KafkaSource::discover_and_check(const SourcePositions& positions) {
  TRY_ASSIGN(KafkaTopics topics, discover_topics(*client_, config_, topics_of(positions)));
  TRY(check_identity(config_, topics, positions));
  TRY(require_topics(topics));
  TRY(check_offsets(*client_, topics, positions));
  return topics;
}

base::Status KafkaSource::check(const SourcePositions& positions) {
  const base::Status status = discover_and_check(positions).status();
  log_ends_.note_reply(status);
  return status;
}

base::Status KafkaSource::start(const SourcePositions& positions, int lanes) {
  TRY_ASSIGN(const KafkaTopics topics, discover_and_check(positions));
  note_identity(topics, positions);
  TRY(targets_.note(*client_, topics.partitions));
  known_topics_.clear();
  for (const std::string& name : topics.names) known_topics_[name] = topics.cluster.topics.at(name);
  started_at_ = positions;
  next_discovery_ = config_.discovery_interval_ms > 0 ? base::deadline_after(config_.discovery_interval_ms * 1000)
                                                      : base::kForever;
  if (has_group()) TRY(follow_group(topics.names));
  tell_waiting_at_ = has_group() && assigned_.empty() ? base::deadline_after(kTellWaitingMicros) : base::kForever;
  lanes_.clear();
  for (int lane = 0; lane < lanes; ++lane) lanes_.push_back(std::make_unique<ReadLane>());
  lane_count_ = lanes;
  return begin_reading(mine(topics), positions);
}

base::Status KafkaSource::add(const std::vector<engine::SplitId>& splits, const SourcePositions& positions) {
  TRY_ASSIGN(KafkaTopics topics, discover_topics(*client_, config_, topics_of(positions)));
  TRY(check_identity(config_, topics, positions));
  TRY_ASSIGN(topics.partitions, still_ours(splits, topics));
  TRY(check_offsets(*client_, topics, positions));
  note_identity(topics, positions);
  for (const TopicPartition& partition : topics.partitions) {
    known_topics_.try_emplace(partition.topic, topics.cluster.topics.at(partition.topic));
    const auto known = positions.next.find(split_id(partition));
    if (known != positions.next.end()) started_at_->next[known->first] = known->second;
  }
  return begin_reading(topics.partitions, positions);
}

// A broker may not know yet what the group has given. A topic that is gone has nothing to read.
base::Result<std::vector<TopicPartition>> KafkaSource::still_ours(const std::vector<engine::SplitId>& splits,
                                                                 const KafkaTopics& topics) const {
  std::vector<TopicPartition> partitions;
  for (const engine::SplitId& split : splits) {
    const auto partition = parse_split(split);
    if (!partition || !assigned_.contains(*partition)) continue;
    const auto topic = topics.cluster.topics.find(partition->topic);
    if (topic == topics.cluster.topics.end()) continue;
    if (partition->partition >= topic->second.partitions) return base::unavailable("Kafka does not describe " + split + " yet");
    partitions.push_back(*partition);
  }
  return partitions;
}

base::Status KafkaSource::release(const std::vector<engine::SplitId>& splits) {
  std::vector<TopicPartition> partitions;
  for (const engine::SplitId& split : splits) {
    if (const auto partition = parse_split(split)) partitions.push_back(*partition);
  }
  log_ends_.leave(partitions);
  return client_->remove(partitions);
}

// Keeps what the table says of topics that are not read any more.
void KafkaSource::note_identity(const KafkaTopics& topics, const SourcePositions& positions) {
  base::Lock lock(mutex_);
  const bool is_start = identity_.empty();
  identity_ = positions.identity;
  for (const auto& [key, id] : topics.identity) {
    if (!id.empty() || !identity_.contains(key)) identity_[key] = id;
    if (id.empty() && is_start) {
      base::log_warn("kafka_without_ids", {{"identity", key},
                                           {"text", "the brokers tell no id: a deleted and recreated topic cannot be noticed"}});
    }
  }
}

base::Status KafkaSource::follow_group(const std::vector<std::string>& topics) {
  if (topics == subscribed_) return {};
  TRY(client_->subscribe(topics));
  subscribed_ = topics;
  return {};
}

std::vector<TopicPartition> KafkaSource::mine(const KafkaTopics& topics) const {
  if (!has_group()) return topics.partitions;
  std::vector<TopicPartition> partitions;
  for (const TopicPartition& partition : assigned_) {
    if (std::binary_search(topics.partitions.begin(), topics.partitions.end(), partition)) partitions.push_back(partition);
  }
  return partitions;
}

base::Result<std::map<TopicPartition, ReadSplit>> KafkaSource::read_splits(const std::vector<TopicPartition>& partitions,
                                                                          const SourcePositions& positions) {
  std::map<TopicPartition, ReadSplit> splits;
  std::vector<TopicPartition> fresh;
  for (const TopicPartition& partition : partitions) {
    ReadSplit& split = splits[partition];
    split.id = split_id(partition);
    split.topic_id = known_topics_.at(partition.topic).id;
    const auto known = positions.next.find(split.id);
    split.is_first = known == positions.next.end();
    if (split.is_first) {
      fresh.push_back(partition);
    } else {
      split.next = parse_position(known->second).value_or(OffsetAndEpoch());  // check_offsets() has read it
    }
  }
  TRY_ASSIGN(const auto log_starts, client_->list_offsets(fresh, OffsetSpec::kEarliest));
  for (const TopicPartition& partition : fresh) {
    const auto log_start = log_starts.find(partition);
    if (log_start == log_starts.end()) return base::unavailable("Kafka did not tell the log start of " + split_id(partition));
    splits[partition].next = {log_start->second, -1};
    base::log_warn("kafka_new_partition", {{"split", split_id(partition)},
                                           {"offset", log_start->second},
                                           {"text", "keys may have moved to it from other partitions"}});
  }
  return splits;
}

base::Status KafkaSource::begin_reading(const std::vector<TopicPartition>& partitions, const SourcePositions& positions) {
  TRY_ASSIGN(auto splits, read_splits(partitions, positions));
  std::map<TopicPartition, OffsetAndEpoch> offsets;
  std::map<TopicPartition, int> lane_of;
  for (auto& [partition, split] : splits) {
    ReadLane& lane = emptiest_lane(lane_of[partition]);
    offsets[partition] = truncation_.read_from(partition, split.next);
    base::Lock lock(lane.mutex);
    lane.splits[partition] = std::move(split);
  }
  if (base::Status begun = fetch_from(offsets, lane_of); !begun.ok()) {
    stop_reading(partitions);
    (void)client_->remove(partitions);  // what was begun of them; the error that counts is the first
    return begun;
  }
  log_ends_.join(partitions);
  return {};
}

base::Status KafkaSource::fetch_from(const std::map<TopicPartition, OffsetAndEpoch>& offsets,
                                     const std::map<TopicPartition, int>& lane_of) {
  TRY(assign_loaded.pass());
  return offsets.empty() ? base::Status() : client_->add(offsets, lane_of);
}

KafkaSource::ReadLane& KafkaSource::emptiest_lane(int& number) {
  const auto fewest = std::min_element(lanes_.begin(), lanes_.end(), [](const auto& a, const auto& b) {
    return a->splits.size() < b->splits.size();
  });
  number = static_cast<int>(fewest - lanes_.begin());
  return **fewest;
}

// From here on read() gives nothing of them, whatever is still fetched.
void KafkaSource::stop_reading(const std::vector<TopicPartition>& partitions) {
  for (const auto& lane : lanes_) {
    base::Lock lock(lane->mutex);
    for (const TopicPartition& partition : partitions) lane->splits.erase(partition);
  }
}

base::Result<std::unique_ptr<RawBatch>> KafkaSource::read(int lane, base::MonoMicros deadline) {
  for (;;) {
    TRY_ASSIGN(auto fetched, client_->fetch(lane, kMessagesPerBatch, kBytesPerBatch, deadline));
    if (!fetched) return std::unique_ptr<RawBatch>();
    TRY_ASSIGN(auto batch, take_in(*lanes_[static_cast<size_t>(lane)], std::move(fetched)));
    if (batch || base::mono_micros() >= deadline) return batch;
  }
}

base::Result<std::unique_ptr<RawBatch>> KafkaSource::take_in(ReadLane& lane, std::unique_ptr<FetchedBatch> fetched) {
  const TopicPartition partition = fetched->partition;
  OffsetAndEpoch next;
  const clients::KafkaMessage* older = nullptr;
  std::unique_ptr<RawBatch> batch;
  {
    base::Lock lock(lane.mutex);
    const auto split = lane.splits.find(partition);
    if (split == lane.splits.end()) return batch;
    next = split->second.next;
    if (auto halt = truncation_.record_below(*fetched, next)) return base::Error(*std::move(halt));
    older = find_older_epoch(split->second, *fetched);
    if (older == nullptr) batch = to_raw_batch(split->second, std::move(fetched));
  }
  if (older != nullptr) return older_epoch(partition, next, *older);
  if (batch) truncation_.forget(partition);
  return batch;
}

// A record of an older leader epoch: the log was cut, unless the topic is another one altogether. That is asked first.
base::Error KafkaSource::older_epoch(const TopicPartition& partition, const OffsetAndEpoch& at,
                                     const clients::KafkaMessage& message) {
  const SourcePositions expected{"kafka", identity(), {{split_id(partition), position_text(at)}}};
  KafkaTopics topics;
  auto described = client_->describe({partition.topic});
  if (!described.ok()) return described.error();
  topics.cluster = std::move(described).value();
  if (base::Status same = check_identity(config_, topics, expected); !same.ok()) return same.error();
  return base::Error(source_truncated({partition, at.offset, at.offset},
                                      "the record at offset " + std::to_string(message.offset) + " has leader epoch " +
                                          std::to_string(message.leader_epoch) + ", the table's position has " +
                                          std::to_string(at.leader_epoch)));
}

void KafkaSource::wake() {
  for (int lane = 0; lane < lane_count_; ++lane) client_->wake(lane);
  client_->wake(clients::kControlLane);
}

void KafkaSource::stop() {
  if (const base::Status status = client_->unassign(); !status.ok()) {
    base::log_warn("kafka_unassign", {{"error", status.error().message()}});
  }
  log_ends_.follow({});
}

base::Result<SourceEvent> KafkaSource::poll_control(base::MonoMicros deadline) {
  if (base::mono_micros() >= tell_waiting_at_) tell_waiting();
  TRY_ASSIGN(const KafkaEvent event, client_->poll_control(std::min(deadline, next_discovery_)));
  if (event.kind != KafkaEventKind::kNone) return answer(event);
  if (base::mono_micros() < next_discovery_) return SourceEvent();
  next_discovery_ = base::deadline_after(config_.discovery_interval_ms * 1000);
  return look_for_changes();
}

void KafkaSource::tell_waiting() {
  tell_waiting_at_ = base::kForever;
  base::log_info("waits_for_partitions", {{"group", config_.group_id},
                                          {"why", "the group has given this worker none so far: a member that died keeps its own until its session "
                                                  "ends (session.timeout.ms), and no partition has two workers"}});
}

base::Result<SourceEvent> KafkaSource::answer(const KafkaEvent& event) {
  switch (event.kind) {
    case KafkaEventKind::kNone:
      return SourceEvent();
    case KafkaEventKind::kAssigned:
      return given(event);
    case KafkaEventKind::kRevoked:
      revoke_start.pass_by();
      return taken(event);
    case KafkaEventKind::kLost:
      revoke_start.pass_by();
      return lost(event);
    case KafkaEventKind::kOffsetOutOfRange:
      for (const TopicPartition& partition : event.partitions) truncation_.not_in_log(partition);
      [[fallthrough]];
    case KafkaEventKind::kTopicGone:
      // The next start() compares the table's positions with the cluster and halts with what it finds.
      base::log_warn("kafka_position_lost", {{"offset", event.offset}, {"text", event.text}});
      return start_again();
    case KafkaEventKind::kLogTruncated:
      return truncated(event);
    case KafkaEventKind::kFatal:
      return base::unavailable("the Kafka client cannot go on: " + event.text);
  }
  return SourceEvent();
}

SourceEvent KafkaSource::given(const KafkaEvent& event) {
  if (event.partitions.empty()) return {};
  tell_waiting_at_ = base::kForever;
  assigned_.insert(event.partitions.begin(), event.partitions.end());
  return {SourceEvent::Kind::kSplitsAdded, split_ids(event.partitions)};
}

base::Result<SourceEvent> KafkaSource::taken(const KafkaEvent& event) {
  for (const TopicPartition& partition : event.partitions) {
    assigned_.erase(partition);
    truncation_.forget(partition);  // once it comes back it is judged anew, from where it is then
    base::log_debug("kafka_partition_taken", {{"split", split_id(partition)}});
  }
  stop_reading(event.partitions);
  if (event.partitions.empty()) {
    TRY(client_->remove({}));  // an answer is due all the same
    return SourceEvent();
  }
  return SourceEvent{SourceEvent::Kind::kSplitsLeaving, split_ids(event.partitions), base::deadline_after(release_micros_)};
}

base::Result<SourceEvent> KafkaSource::lost(const KafkaEvent& event) {
  for (const TopicPartition& partition : event.partitions) {
    assigned_.erase(partition);
    truncation_.forget(partition);
  }
  stop_reading(event.partitions);
  log_ends_.leave(event.partitions);
  TRY(client_->remove(event.partitions));
  if (event.partitions.empty()) return SourceEvent();
  base::log_warn("kafka_partitions_lost",
                 {{"group", config_.group_id},
                  {"partitions", static_cast<int64_t>(event.partitions.size())},
                  {"text", "the group has given them to others, since this process did not answer in time; what was open is dropped"}});
  return SourceEvent{SourceEvent::Kind::kSplitsLost, split_ids(event.partitions)};
}

base::Result<SourceEvent> KafkaSource::truncated(const KafkaEvent& event) {
  CHECK(!event.partitions.empty());
  const TopicPartition& partition = event.partitions[0];
  if (truncation_.is_first_sign(partition)) {
    base::log_warn("kafka_log_truncated", {{"split", split_id(partition)}, {"text", event.text}});
    return start_again();
  }
  auto halt = started_at_ ? truncated_below(event, *started_at_) : std::nullopt;
  if (!halt || (event.offset >= 0 && truncation_.may_look(partition, event.offset))) return start_again();
  return base::Error(*std::move(halt));
}

// New partitions and, with a pattern, new topics.
base::Result<SourceEvent> KafkaSource::look_for_changes() {
  const auto topics = discover_topics(*client_, config_);
  if (!topics.ok()) {
    base::log_warn("kafka_discovery", {{"error", topics.error().message()}});
    return SourceEvent();
  }
  for (const std::string& name : topics->names) {
    const auto found = topics->cluster.topics.find(name);
    const auto known = known_topics_.find(name);
    const bool is_gone = found == topics->cluster.topics.end();
    const bool is_new = known == known_topics_.end();
    // A group's own metadata finds new partitions of topics that it follows.
    const bool has_grown = !is_gone && !is_new && !has_group() && found->second.partitions != known->second.partitions;
    const bool is_other = !is_gone && !is_new && found->second.id != known->second.id;
    if (is_gone) base::log_warn("kafka_topic_gone", {{"topic", name}, {"then", "looked at again; if it stays away, the pipeline halts with SOURCE_GONE"}});
    if (is_gone || is_new || has_grown || is_other) return start_again();
  }
  return topics->names.size() == known_topics_.size() ? SourceEvent() : start_again();
}

base::Status KafkaSource::confirm(const SourcePositions& positions, const std::vector<engine::Range>& ranges) {
  SourcePositions expected = positions;
  for (const auto& [key, id] : identity()) {
    auto& known = expected.identity[key];
    if (known.empty()) known = id;
  }
  expected.next.clear();
  for (const engine::Range& range : ranges) expected.next[range.split] = range.begin;
  KafkaTopics topics;
  TRY_ASSIGN(topics.cluster, client_->describe(topics_of(expected)));
  return check_identity(config_, topics, expected);
}

std::map<std::string, std::string> KafkaSource::identity() const {
  base::Lock lock(mutex_);
  return identity_;
}

// The mark rides in the metadata of group offsets: advisory, and gone when they expire.
std::string KafkaSource::last_mark() {
  if (!has_group()) return "";
  const auto topics = discover_topics(*client_, config_);
  if (!topics.ok()) return "";
  std::vector<TopicPartition> partitions;
  for (const auto& [topic, description] : topics->cluster.topics) {
    for (int32_t p = 0; p < description.partitions; ++p) partitions.push_back({topic, p});
  }
  const auto committed = client_->committed(partitions);
  if (!committed.ok()) return "";
  for (const auto& [partition, offset] : *committed) {
    if (offset.second.starts_with(kMarkPrefix)) return offset.second.substr(kMarkPrefix.size());
  }
  return "";
}

void KafkaSource::acknowledge(const SourcePositions& positions, const std::string& mark) {
  if (!has_group()) return;
  std::map<TopicPartition, int64_t> offsets;
  for (const TopicPartition& partition : log_ends_.followed()) {
    const auto known = positions.next.find(split_id(partition));
    if (known == positions.next.end()) continue;
    if (const auto position = parse_position(known->second)) offsets[partition] = position->offset;
  }
  base::log_debug("group_offsets_sent", {{"group", config_.group_id}});
  group_offset_before.pass_by();
  const base::Status status = client_->commit_offsets(offsets, std::string(kMarkPrefix) + mark);
  if (status.ok()) base::log_debug("group_offsets_written", {{"group", config_.group_id}});
  if (!status.ok() && status.error().code() == base::Code::kConflict) {
    // A rebalance is under way, or has left us out: the next commit, or the next owner's, writes them.
    base::log_info("group_offsets_not_taken", {{"group", config_.group_id}, {"answer", status.error().message()}});
    return;
  }
  if (!status.ok()) base::log_warn("kafka_group_offsets", {{"group", config_.group_id}, {"error", status.error().message()}});
  group_offset_after.pass_by();
}

base::Result<std::string> KafkaSource::first_reader() {
  if (!has_group()) return std::string();
  TRY_ASSIGN(const std::vector<clients::GroupMember> members, client_->group_members());
  std::optional<TopicPartition> first;
  std::string reader;
  for (const clients::GroupMember& member : members) {
    for (const TopicPartition& partition : member.partitions) {
      if (first && *first <= partition) continue;
      first = partition;
      reader = member.client_id;
    }
  }
  return reader;
}

void KafkaSource::close() {
  {
    base::Lock lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
  }
  client_->close();
}

}  // namespace

clients::KafkaClientConfig kafka_client_config(const KafkaSourceConfig& config, int lanes) {
  clients::KafkaClientConfig client{.properties = config.properties, .group_id = config.group_id, .client_id = config.client_id,
                                    .lanes = lanes, .allow_plaintext = config.allow_plaintext};
  if (config.discovery_interval_ms > 0) {
    // The group's leader finds new partitions by its metadata.
    client.properties.try_emplace("topic.metadata.refresh.interval.ms", std::to_string(std::max<int64_t>(
                                                                            config.discovery_interval_ms, 10)));
  }
  return client;
}

std::unique_ptr<engine::Source> make_kafka_source(KafkaSourceConfig config, std::unique_ptr<KafkaClient> client) {
  return std::make_unique<KafkaSource>(std::move(config), std::move(client));
}

}  // namespace frazil::sources
