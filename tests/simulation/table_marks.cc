#include "tests/simulation/table_marks.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/simulation/lakehouse.h"
#include "tests/simulation/producer.h"

namespace frazil::simulation {
namespace {

using Json = nlohmann::json;

std::string value_of(const iceberg::Properties& properties, const std::string& key) {
  const auto found = properties.find(key);
  return found == properties.end() ? "" : found->second;
}

const std::string& property_key() {
  static const std::string key = std::string("frazil.") + kPipeline;
  return key;
}

void read_next(const std::string& text, TableMarks& marks) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  const Json& next = json["topics"][kTopic]["next"];
  const Json epochs = json["topics"][kTopic].value("leader_epoch", Json::array());
  for (size_t p = 0; p < next.size(); ++p) {
    if (next[p].is_number()) marks.next[static_cast<int32_t>(p)] = next[p].get<int64_t>();
    if (p < epochs.size() && epochs[p].is_number()) marks.leader_epoch[static_cast<int32_t>(p)] = epochs[p].get<int64_t>();
  }
}

void read_ranges(const std::string& text, TableMarks& marks) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(kTopic)) return;
  for (const auto& [partition, range] : json[kTopic].items()) {
    marks.ranges[std::atoi(partition.c_str())] = {range[0].get<int64_t>(), range[1].get<int64_t>()};
  }
}

void read_owed(const std::string& text, TableMarks& marks) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) return;
  for (const Json& entry : json) {
    OwedMark& owed = marks.owed.emplace_back();
    owed.epoch = entry.value("epoch", int64_t{0});
    owed.table = entry.value("table", "");
    owed.manifest = entry.value("manifest", "");
    if (entry.contains("void")) owed.void_epochs.emplace(entry["void"][0].get<int64_t>(), entry["void"][1].get<int64_t>());
  }
}

}  // namespace

std::optional<TableMarks> marks_of(const iceberg::Snapshot& snapshot) {
  if (value_of(snapshot.summary, "frazil.pipeline") != kPipeline) return std::nullopt;
  TableMarks marks;
  marks.snapshot_id = snapshot.snapshot_id;
  marks.epoch = std::atoll(value_of(snapshot.summary, "frazil.epoch").c_str());
  read_next(value_of(snapshot.summary, "frazil.positions"), marks);
  read_ranges(value_of(snapshot.summary, "frazil.ranges"), marks);
  read_owed(value_of(snapshot.summary, "frazil.owed"), marks);
  marks.is_decision = snapshot.summary.contains("frazil.accepted");
  return marks;
}

std::optional<TableMarks> newest_marks(const iceberg::TableMetadata& metadata, const KnownSnapshots& known) {
  for (std::optional<int64_t> id = metadata.current_snapshot_id; id;) {
    const auto snapshot = known.find(*id);
    if (snapshot == known.end()) break;
    if (auto marks = marks_of(snapshot->second)) return marks;
    id = snapshot->second.parent_snapshot_id;
  }
  return std::nullopt;
}

std::optional<int64_t> snapshot_of_property(const iceberg::TableMetadata& metadata) {
  const Json json = Json::parse(value_of(metadata.properties, property_key()), nullptr, false);
  if (!json.is_object() || !json.contains("snapshot")) return std::nullopt;
  return json["snapshot"].get<int64_t>();
}

std::optional<int64_t> snapshot_of_tag(const iceberg::TableMetadata& metadata) {
  const auto ref = metadata.refs.find(std::string("frazil-") + kPipeline);
  return ref == metadata.refs.end() ? std::nullopt : std::optional(ref->second.snapshot_id);
}

int64_t applied_of(const iceberg::TableMetadata& metadata) {
  const std::string key = property_key() + ".applied";
  int64_t applied = std::atoll(value_of(metadata.properties, key).c_str());
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    applied = std::max<int64_t>(applied, std::atoll(value_of(snapshot.summary, key).c_str()));
  }
  return applied;
}

}  // namespace frazil::simulation
