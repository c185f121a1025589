// Marks: the `frazil.*` entries that a pipeline writes into each of its snapshots, and where long ones go.
//
// Positions and ranges stand in the summary up to kInlineBytes together; above that the summary keeps a pointer with a digest
// and both stand in the Avro header of the snapshot's manifest list. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/position.h"
#include "engine/sink.h"
#include "iceberg/table_metadata.h"
#include "sinks/iceberg/owed.h"

namespace frazil::sinks {

inline constexpr const char* kPipelineKey = "frazil.pipeline";
inline constexpr const char* kEpochKey = "frazil.epoch";
inline constexpr const char* kPositionsKey = "frazil.positions";
inline constexpr const char* kRangesKey = "frazil.ranges";
inline constexpr const char* kOwedKey = "frazil.owed";
inline constexpr size_t kInlineBytes = 4096;

struct Marks {
  std::string pipeline;
  int64_t epoch = 0;
  std::string positions;  // JSON
  std::string ranges;     // JSON
  std::vector<OwedEntry> owed;
  std::vector<engine::RecordTimes> record_times;
  std::string decision;  // JSON of an operator's decision, or empty
};

struct PlacedMarks {
  iceberg::Properties summary;
  std::map<std::string, std::string> manifest_list_header;
};
PlacedMarks place(const Marks& marks);

// xxh128 in hex: ties a summary to the header of its manifest list.
std::string positions_digest(const std::string& positions);

// JSON of a decision, with the time it was taken at.
std::string encode_decision(const engine::Decision& decision, int64_t now_micros);
// The property `frazil.<name>.accepted`: the last 20 decisions, newest last.
std::string append_decision(const std::string& earlier, const std::string& decision);

}  // namespace frazil::sinks
