#include "sinks/iceberg/handed_epoch.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/random.h"
#include "iceberg/table_properties.h"
#include "io/stored_files.h"
#include "sinks/iceberg/data_file_output.h"
#include "sinks/iceberg/data_file_writer.h"
#include "sinks/iceberg/marks.h"

namespace frazil::sinks {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr char kManifestEnd[] = "-handed.avro";  // no manifest of a snapshot ends so

Json ranges_json(const std::vector<engine::Range>& ranges) {
  Json all = Json::array();
  for (const engine::Range& range : ranges) {
    all.push_back({{"split", range.split}, {"begin", range.begin}, {"end", range.end}, {"first", range.is_first}});
  }
  return all;
}

Json times_json(const std::vector<engine::RecordTimes>& times) {
  Json all = Json::array();
  for (const engine::RecordTimes& one : times) all.push_back({one.min, one.mean, one.max, one.rows});
  return all;
}

// May throw what the JSON library throws; read_message() takes that.
HandedEpoch epoch_of(const Json& json) {
  HandedEpoch epoch;
  json.at("pipeline").get_to(epoch.pipeline);
  json.at("table").get_to(epoch.table_uuid);
  json.at("schema_id").get_to(epoch.schema_id);
  json.at("spec_id").get_to(epoch.spec_id);
  json.at("identity").get_to(epoch.identity);
  for (const Json& range : json.at("ranges")) {
    epoch.ranges.push_back({range.at("split").get<std::string>(), range.at("begin").get<std::string>(),
                            range.at("end").get<std::string>(), range.at("first").get<bool>()});
  }
  json.at("manifest").get_to(epoch.manifest);
  json.at("digest").get_to(epoch.digest);
  json.at("rows").get_to(epoch.rows);
  for (const Json& one : json.at("times")) {
    epoch.record_times.push_back({one.at(0).get<int64_t>(), one.at(1).get<int64_t>(), one.at(2).get<int64_t>(), one.at(3).get<int64_t>()});
  }
  return epoch;
}

base::Result<engine::CommitVerdict::Kind> kind_of(const std::string& name) {
  using Kind = engine::CommitVerdict::Kind;
  for (const Kind kind : {Kind::kDone, Kind::kStale, Kind::kGap, Kind::kUnfit}) {
    if (name == engine::verdict_name(kind)) return kind;
  }
  return base::invalid("no verdict: \"" + name + "\"");
}

// Gives what `read` makes of a message of this version.
template <typename T, typename Read>
base::Result<T> read_message(const std::string& message, const char* what, Read read) {
  const Json json = Json::parse(message, nullptr, false);
  if (!json.is_object()) return base::invalid(std::string(what) + " is no JSON object");
  try {
    if (const int version = json.at("v").get<int>(); version != kVersion) {
      return base::unsupported(std::string(what) + " is of version " + std::to_string(version));
    }
    return read(json);
  } catch (const Json::exception& error) {
    return base::invalid(std::string(what) + ": " + error.what());
  }
}

base::Status check_ranges(const std::vector<engine::Range>& ranges, const engine::PositionFormat& format) {
  if (ranges.empty()) return base::invalid("the epoch that was handed over has no ranges");
  std::set<engine::SplitId> splits;
  for (const engine::Range& range : ranges) {
    const engine::Relation relation = format.relate(range.begin, range.end);
    if (relation != engine::Relation::kAt && relation != engine::Relation::kBehind) {
      return base::invalid("\"" + range.begin + "\" to \"" + range.end + "\" is no range of " + range.split);
    }
    if (!splits.insert(range.split).second) return base::invalid("two ranges of " + range.split);
  }
  return {};
}

base::Status check_times(const HandedEpoch& epoch) {
  int64_t left = epoch.rows;
  for (const engine::RecordTimes& times : epoch.record_times) {
    const bool is_ordered = 0 <= times.min && times.min <= times.mean && times.mean <= times.max;
    if (!is_ordered || times.rows <= 0 || times.rows > left) return base::invalid("record times that are none, or of more rows than were handed over");
    left -= times.rows;
  }
  return {};
}

bool is_below(const std::string& location, const std::string& folder) {
  return location.starts_with(folder + "/") && location.find("/../") == std::string::npos;
}

// Only what a commit adds may be in it: anything else would be counted and left out.
base::Status check_entry(const iceberg::ManifestEntry& entry, const std::string& data_path, int64_t rows_left) {
  const iceberg::DataFile& file = entry.data_file;
  if (!is_below(file.file_path, data_path)) return base::invalid("names " + file.file_path + ", which is not below " + data_path);
  if (entry.status != iceberg::ManifestEntry::Status::kAdded || file.content != iceberg::FileContent::kData) {
    return base::invalid("names " + file.file_path + ", which is no new data file");
  }
  if (file.record_count <= 0 || file.record_count > rows_left) return base::invalid("has other rows than were handed over");
  return {};
}

}  // namespace

base::Status check_handed_epoch(const HandedEpoch& epoch, const engine::PositionFormat& format) {
  if (epoch.rows <= 0 || !epoch.manifest.ends_with(kManifestEnd)) {
    return base::invalid("an epoch without rows and their manifest is committed by its own worker");
  }
  TRY(check_ranges(epoch.ranges, format));
  return check_times(epoch);
}

std::string to_message(const HandedEpoch& epoch) {
  return Json{{"v", kVersion},
              {"pipeline", epoch.pipeline},
              {"table", epoch.table_uuid},
              {"schema_id", epoch.schema_id},
              {"spec_id", epoch.spec_id},
              {"identity", epoch.identity},
              {"ranges", ranges_json(epoch.ranges)},
              {"manifest", epoch.manifest},
              {"digest", epoch.digest},
              {"rows", epoch.rows},
              {"times", times_json(epoch.record_times)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<HandedEpoch> read_handed_epoch(const std::string& message) {
  return read_message<HandedEpoch>(message, "the epoch that was handed over",
                                   [](const Json& json) -> base::Result<HandedEpoch> { return epoch_of(json); });
}

base::Result<WrittenManifest> write_handed_manifest(io::FileIO& io, const iceberg::TableMetadata& metadata,
                                                    const engine::StagedEpoch& epoch) {
  if (epoch.outputs.empty()) return WrittenManifest{};
  TRY_ASSIGN(const iceberg::TableProperties properties, iceberg::read_table_properties(metadata.properties, metadata.location));
  std::vector<iceberg::DataFile> files;
  for (const auto& output : epoch.outputs) files.push_back(static_cast<const DataFileOutput&>(*output).file());
  const std::string location = properties.metadata_path + "/" + base::random_uuid() + kManifestEnd;
  TRY(iceberg::write_manifest(io, location, *metadata.current_schema(), metadata.default_spec(), base::random_snapshot_id(), files,
                              properties.avro)
          .status());
  TRY_ASSIGN(const std::string bytes, io.read(location));
  return WrittenManifest{location, positions_digest(bytes)};
}

base::Result<iceberg::Manifest> read_handed_manifest(io::FileIO& io, const iceberg::TableMetadata& metadata, const HandedEpoch& epoch) {
  TRY_ASSIGN(const iceberg::TableProperties properties, iceberg::read_table_properties(metadata.properties, metadata.location));
  if (!is_below(epoch.manifest, properties.metadata_path)) {
    return base::invalid("manifest " + epoch.manifest + " is not below " + properties.metadata_path);
  }
  TRY_ASSIGN(const std::string bytes, io.read(epoch.manifest));
  if (positions_digest(bytes) != epoch.digest) return base::invalid("manifest " + epoch.manifest + " is not the one that was handed over");
  TRY_ASSIGN(iceberg::Manifest manifest, iceberg::parse_manifest(bytes).in(epoch.manifest));
  TRY_ASSIGN(const WriteTarget target, make_write_target(metadata, metadata.current_schema(), metadata.default_spec()));
  int64_t rows_left = epoch.rows;
  std::vector<io::FileStatus> files;
  std::set<std::string> paths;
  for (const iceberg::ManifestEntry& entry : manifest.entries) {
    TRY(check_entry(entry, target.data_path, rows_left).in("manifest " + epoch.manifest));
    const iceberg::DataFile& file = entry.data_file;
    if (!paths.insert(file.file_path).second) return base::invalid("manifest " + epoch.manifest + " names " + file.file_path + " twice");
    rows_left -= file.record_count;
    files.push_back({file.file_path, file.file_size_in_bytes, 0});
  }
  if (rows_left != 0) {
    return base::invalid("manifest " + epoch.manifest + " has " + std::to_string(rows_left) + " rows fewer than were handed over");
  }
  // Its worker, left to itself, finds the same and reads the rows again.
  TRY_ASSIGN(const std::optional<std::string> damage, io::damage_among(io, files));
  if (damage) return base::invalid(*damage);
  return manifest;
}

std::string to_message(const engine::CommitVerdict& verdict, const engine::PositionFormat& format) {
  return Json{{"v", kVersion},
              {"verdict", engine::verdict_name(verdict.kind)},
              {"reason", verdict.reason},
              {"positions", Json::parse(format.encode(verdict.positions), nullptr, false)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<engine::CommitVerdict> read_verdict(const std::string& message, const engine::PositionFormat& format) {
  return read_message<engine::CommitVerdict>(message, "the verdict", [&](const Json& json) -> base::Result<engine::CommitVerdict> {
    engine::CommitVerdict verdict;
    TRY_ASSIGN(verdict.kind, kind_of(json.at("verdict").get<std::string>()));
    json.at("reason").get_to(verdict.reason);
    TRY_ASSIGN(verdict.positions, format.decode(json.at("positions").dump()));
    return verdict;
  });
}

}  // namespace frazil::sinks
