#include "clients/kafka/lane_inbox.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <utility>

namespace frazil::clients {

namespace {

// Frees its messages before the connection that they belong to.
struct HeldMessages {
  explicit HeldMessages(std::shared_ptr<RdKafkaConnection> owner) : connection(std::move(owner)) {}
  HeldMessages(const HeldMessages&) = delete;
  HeldMessages& operator=(const HeldMessages&) = delete;
  ~HeldMessages() {
    for (auto* message : messages) rd_kafka_message_destroy(message);
  }
  std::shared_ptr<RdKafkaConnection> connection;
  std::vector<rd_kafka_message_t*> messages;
};

void read_headers(rd_kafka_message_t* message, std::vector<KafkaHeader>& out) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    KafkaHeader& header = out.emplace_back();
    header.key = name;
    header.has_value = value != nullptr;
    if (header.has_value) header.value = {static_cast<const char*>(value), size};
  }
}

void read_message(rd_kafka_message_t* in, KafkaMessage& out) {
  out.offset = in->offset;
  out.leader_epoch = rd_kafka_message_leader_epoch(in);
  rd_kafka_timestamp_type_t type;
  const int64_t timestamp = rd_kafka_message_timestamp(in, &type);
  out.timestamp_ms = type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp;
  out.has_key = in->key != nullptr;
  if (out.has_key) out.key = {static_cast<const char*>(in->key), in->key_len};
  out.has_value = in->payload != nullptr;
  if (out.has_value) out.value = {static_cast<const char*>(in->payload), in->len};
  read_headers(in, out.headers);
}

}  // namespace

LaneInbox::Run& LaneInbox::run_of(const rd_kafka_message_s& message) {
  const char* topic = rd_kafka_topic_name(message.rkt);
  const auto is_same = [&](const Run& run) {
    return run.partition.partition == message.partition && run.partition.topic == topic;
  };
  if (!runs_.empty() && is_same(runs_.back())) return runs_.back();
  const auto found = std::find_if(runs_.begin(), runs_.end(), is_same);
  if (found != runs_.end()) return *found;
  Run& run = runs_.emplace_back();
  run.partition = {topic, message.partition};
  return run;
}

void LaneInbox::add(rd_kafka_message_s* message) {
  Run& run = run_of(*message);
  run.messages.push_back(message);
  run.end_offset = -1;
}

void LaneInbox::add_end(const rd_kafka_message_s& message) { run_of(message).end_offset = message.offset; }

std::unique_ptr<FetchedBatch> LaneInbox::take(int max_messages, int64_t max_bytes,
                                              std::shared_ptr<RdKafkaConnection> connection) {
  Run& run = runs_.front();
  auto batch = std::make_unique<FetchedBatch>();
  auto held = std::make_shared<HeldMessages>(std::move(connection));
  batch->partition = run.partition;
  const size_t left = std::min(run.messages.size() - run.taken, static_cast<size_t>(std::max(max_messages, 1)));
  batch->messages.reserve(left);
  held->messages.reserve(left);
  while (batch->messages.size() < left && (batch->messages.empty() || batch->bytes < max_bytes)) {
    rd_kafka_message_t* message = std::exchange(run.messages[run.taken++], nullptr);
    held->messages.push_back(message);
    read_message(message, batch->messages.emplace_back());
    batch->bytes += static_cast<int64_t>(message->len);
  }
  if (!batch->messages.empty()) batch->next_offset = batch->messages.back().offset + 1;
  if (run.taken == run.messages.size()) {
    batch->is_at_end = run.end_offset >= 0;
    if (batch->is_at_end) batch->next_offset = std::max(batch->next_offset, run.end_offset);
    runs_.pop_front();
  }
  batch->memory = std::move(held);
  return batch;
}

void LaneInbox::destroy(Run& run) {
  for (auto* message : run.messages) {
    if (message != nullptr) rd_kafka_message_destroy(message);
  }
  run.messages.clear();
}

void LaneInbox::drop(const TopicPartition& partition) {
  std::erase_if(runs_, [&](Run& run) {
    if (run.partition != partition) return false;
    destroy(run);
    return true;
  });
}

void LaneInbox::clear() {
  for (Run& run : runs_) destroy(run);
  runs_.clear();
}

}  // namespace frazil::clients
