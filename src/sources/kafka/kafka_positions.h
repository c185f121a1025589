// Kafka positions as text and JSON.
//
// A split is "<topic>/<partition>", a position "<next offset>@<leader epoch>" (-1: unknown). In a table:
//   {"v":1,"kind":"kafka","cluster":"<id or null>","topics":{"orders":{"id":"<id or null>","next":[120,98,null],
//    "leader_epoch":[5,5,null]}}}        next[p] is the first offset not yet in the table, null: not seen
//   {"orders":{"0":[100,120]}}           ranges
// Offsets alone decide what "begins at" means: the same place may be known with and without its epoch. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "clients/kafka/kafka_client.h"
#include "engine/position.h"

namespace frazil::sources {

inline constexpr char kClusterIdentity[] = "cluster";
// Key of SourcePositions::identity for a topic's id.
std::string topic_identity(const std::string& topic);

engine::SplitId split_id(const clients::TopicPartition& partition);
// Nothing when the text is no split of Kafka.
std::optional<clients::TopicPartition> parse_split(const engine::SplitId& split);

std::string position_text(const clients::OffsetAndEpoch& position);
// Reads "120@5", "120@-1" and "120".
std::optional<clients::OffsetAndEpoch> parse_position(const std::string& text);

// One for the process.
const engine::PositionFormat& kafka_position_format();

}  // namespace frazil::sources
