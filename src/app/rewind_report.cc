#include "app/rewind_report.h"

#include <nlohmann/json.hpp>

#include "app/config/units.h"
#include "base/clock.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSnapshotsShown = 20;

struct Amount {
  int64_t rows = 0;
  int64_t files = 0;
  std::string text() const { return format_count(rows) + " rows in " + format_count(files) + " files"; }
};

Amount undone_in_anchor(const sinks::RewindPlan& plan) {
  Amount amount;
  for (const sinks::UndoneSnapshot& one : plan.undone) {
    amount.rows += one.rows;
    amount.files += one.files;
  }
  return amount;
}

// Rows of all tables; dead letters are no rows.
Amount undone_in_all(const sinks::RewindPlan& plan) {
  Amount amount = undone_in_anchor(plan);
  for (const sinks::VoidedRows& one : plan.voided) {
    if (one.is_dead_letters) continue;
    amount.rows += one.rows;
    amount.files += one.files;
  }
  return amount;
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

Json to_json(const sinks::VoidedRows& one) {
  return {{"table", one.table}, {"exists", one.exists}, {"rows", one.rows}, {"files", one.files}, {"problem", one.problem}};
}

// The tables that lose rows: the anchor when it has any, and the others.
Json tables_json(const std::string& anchor, const sinks::RewindPlan& plan) {
  Json list = Json::array();
  const Amount own = undone_in_anchor(plan);
  if (own.files > 0) list.push_back({{"table", anchor}, {"exists", true}, {"rows", own.rows}, {"files", own.files}, {"problem", ""}});
  for (const sinks::VoidedRows& one : plan.voided) {
    if (!one.is_dead_letters) list.push_back(to_json(one));
  }
  return list;
}

Json dead_letters_json(const sinks::RewindPlan& plan) {
  for (const sinks::VoidedRows& one : plan.voided) {
    if (one.is_dead_letters) return to_json(one);
  }
  return nullptr;
}

std::string snapshot_text(const sinks::UndoneSnapshot& one) {
  const Amount amount{one.rows, one.files};
  return "    " + std::to_string(one.snapshot_id) + "  " + utc(one.timestamp_ms) + "  " + one.operation + " by " +
         (one.pipeline.empty() ? "others" : one.pipeline) + (one.files > 0 ? ", " + amount.text() : "") + "\n";
}

std::string undone_text(const sinks::RewindPlan& plan) {
  std::string text = "  undone: " + format_count(static_cast<int64_t>(plan.undone.size())) + " snapshots, " + undone_in_all(plan).text() + "\n";
  for (size_t i = 0; i < plan.undone.size() && i < kSnapshotsShown; ++i) text += snapshot_text(plan.undone[i]);
  if (plan.undone.size() > kSnapshotsShown) text += "    and " + std::to_string(plan.undone.size() - kSnapshotsShown) + " older ones\n";
  return text;
}

std::string voided_text(const sinks::VoidedRows& one, const std::string& epochs, bool is_dry_run) {
  const std::string name = "  " + std::string(one.is_dead_letters ? "dead letters, " : "") + "table " + one.table + ": ";
  if (!one.problem.empty()) return name + (is_dry_run ? "PROBLEM: " : "still owed that its rows go: ") + one.problem + "\n";
  if (!one.exists) return name + "does not exist, nothing to undo\n";
  if (one.files == 0) return name + "nothing to undo\n";
  const Amount amount{one.rows, one.files};
  return name + amount.text() + " of epochs " + epochs + (is_dry_run ? " would go\n" : " are gone\n");
}

std::string read_again_text(const sinks::RewindPlan& plan, const engine::PositionFormat& format) {
  std::string text;
  if (!plan.ranges.empty()) text += "  read again:\n";
  for (const engine::Range& range : plan.ranges) {
    text += "    " + range.split + "  from " + format.in_words(range.begin) + " up to " + format.in_words(range.end) + "\n";
  }
  for (const engine::SplitId& split : plan.from_start) text += "  read from its start: " + split + "\n";
  return text;
}

std::string changes_text(const sinks::RewindPlan& plan, const engine::PositionFormat& format, bool is_dry_run) {
  const std::string epochs = std::to_string(plan.target.epoch + 1) + " to " + std::to_string(plan.highest_epoch);
  std::string text = undone_text(plan);
  for (const sinks::VoidedRows& one : plan.voided) text += voided_text(one, epochs, is_dry_run);
  text += read_again_text(plan, format);
  if (!is_dry_run) text += "running workers notice with the next record; restart them if the topic is quiet\n";
  return text;
}

}  // namespace

RewindReport report_rewind(const PipelineConfig& pipeline, const sinks::RewindPlan& plan, const engine::PositionFormat& format, bool is_dry_run) {
  const Amount all = undone_in_all(plan);
  const bool is_there = plan.undone.empty();
  const std::string name = "pipeline " + pipeline.name + ", table " + pipeline.table.name + ": ";
  const Json json = {{"pipeline", pipeline.name}, {"table", pipeline.table.name}, {"dry_run", is_dry_run}, {"changed", !is_dry_run && !is_there},
                     {"target", {{"snapshot_id", plan.target.snapshot_id}, {"time", utc(plan.target_timestamp_ms)}, {"epoch", plan.target.epoch}}},
                     {"head", plan.head}, {"undone", undone_json(plan)}, {"rows", all.rows}, {"files", all.files},
                     {"tables", tables_json(pipeline.table.name, plan)}, {"dead_letters", dead_letters_json(plan)},
                     {"read_again", Json::parse(format.encode_ranges(plan.ranges), nullptr, false)}, {"read_from_start", plan.from_start},
                     {"void_epochs", is_there ? Json() : Json::array({plan.target.epoch + 1, plan.highest_epoch})}};
  std::string text = name + "is at that snapshot already, nothing to undo\n";
  if (!is_there) {
    text = name + (is_dry_run ? "would go" : "went") + " back to snapshot " + std::to_string(plan.target.snapshot_id) + " of " +
           utc(plan.target_timestamp_ms) + ", epoch " + std::to_string(plan.target.epoch) + "\n" + changes_text(plan, format, is_dry_run);
  }
  if (is_dry_run) text += "dry run: nothing was changed\n";
  return {text, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"};
}

}  // namespace frazil::app
