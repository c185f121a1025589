// The situations of a Kafka source that only an operator can decide, as halts with a stable code, an exact range and choices.
//
//   SOURCE_GAP              the table's position is below the log start (retention)         skip
//   SOURCE_BEHIND           the table's position is above the log end, same topic           continue | restart
//   SOURCE_TRUNCATED        Kafka lost records that the table has (leader epochs diverge)   continue
//   SOURCE_RECREATED        the topic id changed                                            restart
//   SOURCE_CLUSTER_CHANGED  the cluster id changed                                          same_offsets | start
//   SOURCE_GONE             the topic does not exist any more                               forget
//
// The token is left empty: it covers the table's snapshot, which a source does not know. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/halt.h"
#include "clients/kafka/kafka_client.h"
#include "engine/position.h"

namespace frazil::sources {

// Offsets [begin, end) of one partition that a halt is about.
struct OffsetSpan {
  clients::TopicPartition partition;
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const OffsetSpan&) const = default;
};

// Spans as "orders/0[100,150) orders/2[7,9)", in order of partition.
std::string spans_text(std::vector<OffsetSpan> spans);
std::optional<std::vector<OffsetSpan>> parse_spans(const std::string& text);

// `spans`: from the table's position to the log start.
base::Halt source_gap(const std::vector<OffsetSpan>& spans);
// `spans`: from the log end to the table's position.
base::Halt source_behind(const std::vector<OffsetSpan>& spans);
// `span`: from where the logs part to the table's position; begin = end when the point is not known.
base::Halt source_truncated(const OffsetSpan& span, const std::string& evidence);
base::Halt source_recreated(const std::string& topic, const std::string& old_id, const std::string& new_id);
base::Halt source_cluster_changed(const std::string& old_id, const std::string& new_id);
base::Halt source_gone(const std::string& topic);

// Moves `positions` by an answer to SOURCE_GAP, SOURCE_BEHIND=continue, SOURCE_TRUNCATED or SOURCE_GONE, which need no look at
// Kafka. kInvalid when the halt has no such choice or its range cannot be read.
base::Result<engine::SourcePositions> move_positions(const base::Halt& halt, const std::string& choice,
                                                     engine::SourcePositions positions);

}  // namespace frazil::sources
