#include "app/plan/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/config/units.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kAssumedShare = 0.25;  // of the values' bytes, in zstd-compressed Parquet
constexpr int64_t kAssumedBytesPerSnapshot = 1500;

std::string duration_text(std::optional<double> seconds) {
  if (!seconds) return "-";
  if (*seconds < 120) return fmt::format("{:.0f} s", *seconds);
  if (*seconds < 7200) return fmt::format("{:.0f} min", *seconds / 60);
  if (*seconds < 172'800) return fmt::format("{:.1f} h", *seconds / 3600);
  return fmt::format("{:.1f} days", *seconds / 86'400);
}

std::string rate_text(double per_second) { return per_second >= 100 ? fmt::format("{:.0f}", per_second) : fmt::format("{:.3g}", per_second); }

std::string joined(const std::vector<std::string>& words) { return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", ")); }

std::string topics_text(const PipelinePlan& plan) {
  const TopicFacts& topics = plan.topics;
  std::string text = fmt::format("  topics: {}: {} partitions, {} records\n", joined(topics.topics), topics.partitions, format_count(topics.records));
  for (const RateWindow& window : topics.windows) {
    text += fmt::format("  last {}: {} records, {} a second\n", duration_text(static_cast<double>(window.seconds)), format_count(window.records),
                        rate_text(window.per_second()));
  }
  if (topics.sampled_records > 0) {
    text += fmt::format("  values: {} on average, of {} records read\n", format_size(topics.bytes_per_record()), format_count(topics.sampled_records));
  }
  return text;
}

std::string table_text(const PipelinePlan& plan) {
  const TableFacts& table = plan.facts;
  std::string text;
  if (table.exists) {
    text = fmt::format("  table {}: exists: {} rows in {} files, {} snapshots, metadata {}\n", plan.table, format_count(table.rows),
                       format_count(table.files), format_count(table.snapshots), format_size(static_cast<double>(table.metadata_bytes)));
    for (const ColumnDifference& one : table.differences) {
      text += fmt::format("    column {}: table {}, schema {}\n", one.column, one.in_table.empty() ? "has it not" : one.in_table,
                          one.in_schema.empty() ? "has it not" : one.in_schema);
    }
  } else {
    text = fmt::format("  table {}: does not exist{}\n", plan.table, table.columns.empty() ? "" : ", would be created:");
    for (const auto& [name, type] : table.columns) text += "    " + name + " " + type + "\n";
  }
  text += fmt::format("  partitioned by: {}; an interval touches {}{}\n", joined(table.partition_by), table.is_touched_a_guess ? "at least " : "",
                      format_count(table.touched_partitions));
  if (!table.problem.empty()) text += "  PROBLEM: " + table.problem + "\n";
  return text;
}

std::string workers_text(const PipelinePlan& plan) {
  std::string text = fmt::format("  {:>7} {:>12} {:>12} {:>10} {:>18} {:>12} {:>14} {:>12}\n", "workers", "files/commit", "files/day", "file size",
                                 "time to " + format_size(static_cast<double>(plan.load.target_file_bytes)), "commits/day", "metadata.json", "in memory");
  for (const WorkerSizing& one : plan.workers) {
    text += fmt::format("  {:>7} {:>12.0f} {:>12} {:>10} {:>18} {:>12} {:>14} {:>12}{}{}\n", one.workers, one.files_per_commit,
                        format_count(static_cast<int64_t>(one.files_per_day)), format_size(one.file_bytes), duration_text(one.seconds_to_target),
                        format_count(static_cast<int64_t>(one.commits_per_day)), format_size(one.metadata_bytes),
                        format_size(one.value_bytes_per_interval), one.working < one.workers ? fmt::format("  {} without partitions", one.workers - one.working) : "",
                        one.cuts_early ? "  cuts early: memory" : "");
  }
  return text;
}

Json access_json(const PipelinePlan& plan) {
  Json list = Json::array();
  for (const auto* accesses : {&plan.topics.access, &plan.facts.access}) {
    for (const Access& one : *accesses) list.push_back({{"what", one.what}, {"allowed", one.problem.empty()}, {"problem", one.problem}});
  }
  return list;
}

Json to_json(const WorkerSizing& one) {
  return {{"workers", one.workers}, {"working", one.working}, {"files_per_commit", one.files_per_commit}, {"files_per_day", one.files_per_day},
          {"file_bytes", one.file_bytes}, {"seconds_to_target", one.seconds_to_target ? Json(*one.seconds_to_target) : Json()},
          {"commits_per_day", one.commits_per_day}, {"snapshots_kept", one.snapshots_kept}, {"metadata_bytes", one.metadata_bytes},
          {"metadata_bytes_per_day", one.metadata_bytes_per_day}, {"value_bytes_per_interval", one.value_bytes_per_interval},
          {"cuts_early", one.cuts_early}};
}

Json to_json(const PipelinePlan& plan) {
  Json windows = Json::array();
  for (const RateWindow& window : plan.topics.windows) {
    windows.push_back({{"seconds", window.seconds}, {"records", window.records}, {"per_second", window.per_second()}});
  }
  Json differences = Json::array();
  for (const ColumnDifference& one : plan.facts.differences) {
    differences.push_back({{"column", one.column}, {"table", one.in_table}, {"schema", one.in_schema}});
  }
  Json columns = Json::array();
  for (const auto& [name, type] : plan.facts.columns) columns.push_back({{"name", name}, {"type", type}});
  Json workers = Json::array();
  for (const WorkerSizing& one : plan.workers) workers.push_back(to_json(one));
  return {{"pipeline", plan.pipeline},
          {"topics", {{"names", plan.topics.topics}, {"partitions", plan.topics.partitions}, {"records", plan.topics.records}, {"windows", windows},
                      {"records_per_second", plan.load.records_per_second}, {"value_bytes_per_second", plan.load.value_bytes_per_second},
                      {"sampled_records", plan.topics.sampled_records}, {"bytes_per_record", plan.topics.bytes_per_record()}}},
          {"table", {{"name", plan.table}, {"exists", plan.facts.exists}, {"problem", plan.facts.problem}, {"differences", differences},
                     {"columns", columns}, {"partition_by", plan.facts.partition_by}, {"touched_partitions", plan.facts.touched_partitions},
                     {"is_touched_a_guess", plan.facts.is_touched_a_guess}, {"rows", plan.facts.rows}, {"files", plan.facts.files},
                     {"snapshots", plan.facts.snapshots}, {"metadata_bytes", plan.facts.metadata_bytes},
                     {"file_bytes_per_record", plan.load.file_bytes_per_record}, {"file_bytes_assumed", plan.is_file_size_assumed},
                     {"target_file_bytes", plan.load.target_file_bytes}}},
          {"access", access_json(plan)},
          {"workers", workers}};
}

}  // namespace

PipelinePlan make_plan(const PipelineConfig& config, TopicFacts topics, TableFacts table, int64_t memory_bytes, const std::vector<int>& workers) {
  PipelinePlan plan;
  plan.pipeline = config.name;
  plan.table = config.table.name;
  plan.load.records_per_second = topics.records_per_second();
  plan.load.value_bytes_per_second = plan.load.records_per_second * topics.bytes_per_record();
  plan.is_file_size_assumed = !table.file_bytes_per_record.has_value();
  plan.load.file_bytes_per_record = table.file_bytes_per_record.value_or(topics.bytes_per_record() * kAssumedShare);
  plan.load.splits = topics.partitions;
  plan.load.table_partitions = table.touched_partitions;
  plan.load.commit_interval_ms = config.commit.interval_ms;
  if (table.target_file_bytes > 0) plan.load.target_file_bytes = table.target_file_bytes;
  plan.load.history_keep_ms = config.history_keep_ms;
  plan.load.bytes_per_snapshot = table.bytes_per_snapshot > 0 ? table.bytes_per_snapshot : kAssumedBytesPerSnapshot;
  plan.load.metadata_bytes = std::max<int64_t>(0, table.metadata_bytes - table.snapshots * plan.load.bytes_per_snapshot);
  plan.load.memory_bytes = memory_bytes;
  for (const int count : workers) plan.workers.push_back(size_workers(plan.load, count));
  plan.topics = std::move(topics);
  plan.facts = std::move(table);
  return plan;
}

bool has_problem(const PipelinePlan& plan) {
  if (!plan.facts.problem.empty()) return true;
  for (const auto* accesses : {&plan.topics.access, &plan.facts.access}) {
    if (std::any_of(accesses->begin(), accesses->end(), [](const Access& one) { return !one.problem.empty(); })) return true;
  }
  return false;
}

std::string plan_as_text(const PipelinePlan& plan) {
  std::string text = "pipeline " + plan.pipeline + "\n" + topics_text(plan) + table_text(plan);
  text += fmt::format("  files: {} a row, {}\n", format_size(plan.load.file_bytes_per_record),
                      plan.is_file_size_assumed ? "assumed: a quarter of the values" : "as the table's files have it");
  text += fmt::format("  at {} records a second, a commit every {}:\n", rate_text(plan.load.records_per_second),
                      duration_text(static_cast<double>(plan.load.commit_interval_ms) / 1000));
  text += workers_text(plan);
  for (const auto* accesses : {&plan.topics.access, &plan.facts.access}) {
    for (const Access& one : *accesses) text += "  may " + one.what + ": " + (one.problem.empty() ? "yes" : "NO: " + one.problem) + "\n";
  }
  return text + "  not tried: whatever would change something (writing files, commits, joining the group)\n";
}

std::string plans_as_json(const std::vector<PipelinePlan>& plans) {
  Json list = Json::array();
  for (const PipelinePlan& plan : plans) list.push_back(to_json(plan));
  return Json{{"pipelines", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace frazil::app
