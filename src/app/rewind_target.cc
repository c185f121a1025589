#include "app/rewind_target.h"

#include <nlohmann/json.hpp>

#include "app/config/units.h"
#include "base/clock.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSnapshotsShown = 20;

base::Error bad(const std::string& text) {
  return base::invalid("--to \"" + text + "\": write snapshot:ID, time:2026-01-31T00:00:00Z or offsets:TOPIC/PARTITION=OFFSET,...");
}

base::Result<sinks::RewindTarget> parse_offsets(const std::string& text, std::string_view rest) {
  sinks::ToPositions positions;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const size_t equals = one.rfind('=');
    if (equals == std::string_view::npos || equals == 0) return bad(text);
    const auto offset = parse_integer(one.substr(equals + 1));
    if (!offset.ok() || *offset < 0) return bad(text);
    if (!positions.next.emplace(one.substr(0, equals), std::to_string(*offset)).second) {
      return base::invalid("--to \"" + text + "\" names " + std::string(one.substr(0, equals)) + " twice");
    }
  }
  if (positions.next.empty()) return bad(text);
  return sinks::RewindTarget(std::move(positions));
}

std::string utc(int64_t ms) { return base::format_utc(ms * 1000); }

Json undone_json(const sinks::RewindPlan& plan) {
  Json list = Json::array();
  for (const sinks::UndoneSnapshot& one : plan.undone) {
    list.push_back({{"snapshot_id", one.snapshot_id}, {"time", utc(one.timestamp_ms)}, {"operation", one.operation},
                    {"pipeline", one.pipeline.empty() ? Json() : Json(one.pipeline)}, {"rows", one.rows}, {"files", one.files}});
  }
  return list;
}

std::string undone_text(const sinks::RewindPlan& plan, int64_t rows, int64_t files) {
  std::string text = "  undone: " + format_count(static_cast<int64_t>(plan.undone.size())) + " snapshots, " + format_count(rows) + " rows in " +
                     format_count(files) + " files\n";
  for (size_t i = 0; i < plan.undone.size() && i < kSnapshotsShown; ++i) {
    const sinks::UndoneSnapshot& one = plan.undone[i];
    text += "    " + std::to_string(one.snapshot_id) + "  " + utc(one.timestamp_ms) + "  " + one.operation + " by " +
            (one.pipeline.empty() ? "others" : one.pipeline) + ", " + format_count(one.rows) + " rows in " + format_count(one.files) + " files\n";
  }
  if (plan.undone.size() > kSnapshotsShown) text += "    and " + std::to_string(plan.undone.size() - kSnapshotsShown) + " older ones\n";
  return text;
}

}  // namespace

base::Result<sinks::RewindTarget> parse_rewind_target(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "snapshot") {
    const auto id = parse_integer(rest);
    return id.ok() ? base::Result<sinks::RewindTarget>(sinks::ToSnapshot{*id}) : bad(text);
  }
  if (kind == "time") {
    const auto ms = parse_instant_ms(rest);
    return ms.ok() ? base::Result<sinks::RewindTarget>(sinks::ToTime{*ms}) : bad(text);
  }
  return kind == "offsets" ? parse_offsets(text, rest) : bad(text);
}

RewindReport report_rewind(const PipelineConfig& pipeline, const sinks::RewindPlan& plan, const engine::PositionFormat& format, bool is_dry_run) {
  int64_t rows = 0;
  int64_t files = 0;
  for (const sinks::UndoneSnapshot& one : plan.undone) {
    rows += one.rows;
    files += one.files;
  }
  const std::string ranges = format.encode_ranges(plan.ranges);
  const bool is_there = plan.undone.empty();
  Json json = {{"pipeline", pipeline.name}, {"table", pipeline.table.name}, {"dry_run", is_dry_run}, {"changed", !is_dry_run && !is_there},
               {"target", {{"snapshot_id", plan.target.snapshot_id}, {"time", utc(plan.target_timestamp_ms)}, {"epoch", plan.target.epoch}}},
               {"head", plan.head}, {"undone", undone_json(plan)}, {"rows", rows}, {"files", files},
               {"read_again", Json::parse(ranges, nullptr, false)}, {"read_from_start", plan.from_start},
               {"void_epochs", is_there ? Json() : Json::array({plan.target.epoch + 1, plan.highest_epoch})}};
  std::string text = "pipeline " + pipeline.name + ", table " + pipeline.table.name + ": " + (is_dry_run ? "would go" : "went") +
                     " back to snapshot " + std::to_string(plan.target.snapshot_id) + " of " + utc(plan.target_timestamp_ms) + ", epoch " +
                     std::to_string(plan.target.epoch) + "\n";
  if (is_there) {
    text = "pipeline " + pipeline.name + ", table " + pipeline.table.name + ": is at that snapshot already, nothing to undo\n";
  } else {
    text += undone_text(plan, rows, files) + "  read again: " + ranges + "\n";
    for (const engine::SplitId& split : plan.from_start) text += "  read from its start: " + split + "\n";
    text += "  dead letters of epochs " + std::to_string(plan.target.epoch + 1) + " to " + std::to_string(plan.highest_epoch) + " " +
            (is_dry_run ? "would go" : "are gone") + " from " + pipeline.dead_letters + "\n";
  }
  if (is_dry_run) text += "dry run: nothing was changed\n";
  return {text, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"};
}

}  // namespace frazil::app
