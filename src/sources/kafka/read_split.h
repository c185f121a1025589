// ReadSplit: one partition while it is read, and how its fetched messages become a batch of records.
//
// Belongs to its reader lane between start() and stop() of the source.
#pragma once

#include <memory>
#include <string>

#include "clients/kafka/kafka_client.h"
#include "engine/source.h"

namespace frazil::sources {

struct ReadSplit {
  engine::SplitId id;
  std::string topic_id;
  clients::OffsetAndEpoch next;
  bool is_first = false;  // the table knows no position, and no range was handed on yet
};

// The first new message whose leader epoch is older than that of a position before it: the log was cut or is another one.
// nullptr when there is none; points into `fetched`.
const clients::KafkaMessage* find_older_epoch(const ReadSplit& split, const clients::FetchedBatch& fetched);

// A batch that begins where the last one of `split` ended; nullptr when nothing is new. Moves `split` to its end.
std::unique_ptr<engine::RawBatch> to_raw_batch(ReadSplit& split, std::unique_ptr<clients::FetchedBatch> fetched);

}  // namespace frazil::sources
