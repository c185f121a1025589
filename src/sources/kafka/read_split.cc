#include "sources/kafka/read_split.h"

#include <algorithm>

#include "sources/kafka/kafka_positions.h"

namespace frazil::sources {

namespace {

void add_record(engine::RawBatch& batch, const clients::KafkaMessage& message) {
  engine::RawRecord& record = batch.records.emplace_back();
  record.key = message.key;
  record.value = message.value;
  record.has_key = message.has_key;
  record.has_value = message.has_value;
  record.offset = message.offset;
  record.timestamp_micros = message.timestamp_ms < 0 ? -1 : message.timestamp_ms * 1000;
  record.headers.reserve(message.headers.size());
  for (const clients::KafkaHeader& header : message.headers) {
    record.headers.push_back({header.key, header.value, header.has_value});
  }
  batch.bytes += static_cast<int64_t>(message.value.size());
}

}  // namespace

const clients::KafkaMessage* find_older_epoch(const ReadSplit& split, const clients::FetchedBatch& fetched) {
  int32_t newest = split.next.leader_epoch;
  for (const clients::KafkaMessage& message : fetched.messages) {
    if (message.offset < split.next.offset || message.leader_epoch < 0) continue;
    if (message.leader_epoch < newest) return &message;
    newest = message.leader_epoch;
  }
  return nullptr;
}

std::unique_ptr<engine::RawBatch> to_raw_batch(ReadSplit& split, std::unique_ptr<clients::FetchedBatch> fetched) {
  if (fetched->next_offset <= split.next.offset) return nullptr;
  auto batch = std::make_unique<engine::RawBatch>();
  batch->range = {.split = split.id, .begin = position_text(split.next), .end = "", .is_first = split.is_first};
  batch->stream = fetched->partition.topic;
  batch->stream_id = split.topic_id;
  batch->partition = fetched->partition.partition;
  batch->records.reserve(fetched->messages.size());
  for (const clients::KafkaMessage& message : fetched->messages) {
    if (message.offset < split.next.offset) continue;
    split.next = {message.offset + 1, std::max(message.leader_epoch, split.next.leader_epoch)};
    add_record(*batch, message);
  }
  split.next.offset = std::max(split.next.offset, fetched->next_offset);
  split.is_first = false;
  batch->range.end = position_text(split.next);
  batch->memory = std::move(fetched->memory);
  return batch;
}

}  // namespace frazil::sources
