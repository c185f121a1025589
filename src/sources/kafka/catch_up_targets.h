// CatchUpTargets: where the logs stood at the first start, for runs that end when they have caught up.
//
// note() by the control lane, is_reached() by any thread.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/sync.h"
#include "clients/kafka/kafka_client.h"
#include "engine/position.h"

namespace frazil::sources {

class CatchUpTargets {
 public:
  // Asks once; later calls keep what the first one found.
  base::Status note(clients::KafkaClient& client, const std::vector<clients::TopicPartition>& partitions);
  // A partition without a position counts from its log start.
  bool is_reached(const engine::SourcePositions& positions) const;

 private:
  struct Target {
    int64_t log_start = 0;
    int64_t end = 0;
  };
  mutable base::Mutex mutex_;
  std::optional<std::map<clients::TopicPartition, Target>> targets_;
};

}  // namespace frazil::sources
