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

std::string existing_text(const TableFacts& table) {
  std::string text = fmt::format("exists: {} rows in {} files, {} snapshots, metadata {}\n", format_count(table.rows), format_count(table.files),
                                 format_count(table.snapshots), format_size(static_cast<double>(table.metadata_bytes)));
  for (const ColumnDifference& one : table.differences) {
    text += fmt::format("    column {}: table {}, schema {}\n", one.column, one.in_table.empty() ? "has it not" : one.in_table,
                        one.in_schema.empty() ? "has it not" : one.in_schema);
  }
  return text;
}

std::string new_text(const TableFacts& table) {
  std::string text = fmt::format("does not exist{}\n", table.columns.empty() ? "" : ", would be created:");
  for (const auto& [name, type] : table.columns) text += "    " + name + " " + type + "\n";
  return text;
}

std::string problem_text(const std::string& problem) { return problem.empty() ? "" : "  PROBLEM: " + problem + "\n"; }

std::string table_text(const PlannedTable& planned) {
  const TableFacts& table = planned.facts;
  std::string text = "  table " + table.name + ": " + (table.exists ? existing_text(table) : new_text(table));
  text += fmt::format("  partitioned by: {}; an interval touches {}{}\n", joined(table.partition_by), table.is_touched_a_guess ? "at least " : "",
                      format_count(table.touched_partitions));
  text += problem_text(table.problem);
  return text + fmt::format("  files: {} a row, {}\n", format_size(planned.load.file_bytes_per_record),
                            planned.is_file_size_assumed ? "assumed: a quarter of the values" : "as the table's files have it");
}

bool is_among_tables(const PipelinePlan& plan) {
  return std::any_of(plan.tables.begin(), plan.tables.end(), [&](const PlannedTable& one) { return one.facts.name == plan.anchor.facts.name; });
}

// The tables of a pipeline with several, and what is not known of them.
std::string tables_text(const PipelinePlan& plan) {
  const TableFacts& anchor = plan.anchor.facts;
  std::string text = "  anchor " + anchor.name + ": ";
  if (is_among_tables(plan)) {
    text += "one of the tables\n";
  } else {
    text += anchor.exists ? fmt::format("exists: {} snapshots, metadata {}", format_count(anchor.snapshots),
                                        format_size(static_cast<double>(anchor.metadata_bytes)))
                          : std::string("does not exist, would be created");
    text += "; holds positions and no rows\n" + problem_text(anchor.problem);
  }
  for (const PlannedTable& table : plan.tables) text += table_text(table);
  text += problem_text(plan.problem);
  const std::string count = std::to_string(plan.tables.size());
  return text + (plan.goes_to_all ? "  ASSUMED: each of the " + count + " tables takes every row, which is the most that `route: all` can make\n"
                                  : "  ASSUMED: rows are spread evenly over the " + count + " tables; which table takes how many is not looked at\n");
}

std::string row_of_workers(const WorkerSizing& one) {
  return fmt::format("{:>7} {:>12.0f} {:>12} {:>10} {:>18}", one.workers, one.files_per_commit, format_count(static_cast<int64_t>(one.files_per_day)),
                     format_size(one.file_bytes), duration_text(one.seconds_to_target));
}

std::string head_of_workers(const std::string& target) {
  return fmt::format("{:>7} {:>12} {:>12} {:>10} {:>18}", "workers", "files/commit", "files/day", "file size", "time to " + target);
}

std::string target_of(const PlannedTable& table) { return format_size(static_cast<double>(table.load.target_file_bytes)); }

std::string workers_text(const PipelinePlan& plan) {
  std::string text = "  " + head_of_workers(plan.tables.empty() ? target_of(plan.anchor) : "target, all") +
                     fmt::format(" {:>12} {:>14} {:>12}\n", "commits/day", "metadata.json", "in memory");
  for (const WorkerSizing& one : plan.workers) {
    text += "  " + row_of_workers(one) +
            fmt::format(" {:>12} {:>14} {:>12}{}{}\n", format_count(static_cast<int64_t>(one.commits_per_day)), format_size(one.metadata_bytes),
                        format_size(one.value_bytes_per_interval),
                        one.working < one.workers ? fmt::format("  {} without partitions", one.workers - one.working) : "",
                        one.cuts_early ? "  cuts early: memory" : "");
  }
  for (const PlannedTable& table : plan.tables) {
    text += "  of these, table " + table.facts.name + ":\n  " + head_of_workers(target_of(table)) + "\n";
    for (const WorkerSizing& one : table.workers) text += "  " + row_of_workers(one) + "\n";
  }
  return text;
}

std::vector<Access> accesses(const PipelinePlan& plan) {
  std::vector<Access> all = plan.topics.access;
  const auto add = [&](const TableFacts& table) { all.insert(all.end(), table.access.begin(), table.access.end()); };
  if (!is_among_tables(plan)) add(plan.anchor.facts);
  for (const PlannedTable& table : plan.tables) add(table.facts);
  return all;
}

Json access_json(const PipelinePlan& plan) {
  Json list = Json::array();
  for (const Access& one : accesses(plan)) list.push_back({{"what", one.what}, {"allowed", one.problem.empty()}, {"problem", one.problem}});
  return list;
}

Json to_json(const WorkerSizing& one) {
  return {{"workers", one.workers}, {"working", one.working}, {"files_per_commit", one.files_per_commit}, {"files_per_day", one.files_per_day},
          {"file_bytes", one.file_bytes}, {"seconds_to_target", one.seconds_to_target ? Json(*one.seconds_to_target) : Json()},
          {"commits_per_day", one.commits_per_day}, {"snapshots_kept", one.snapshots_kept}, {"metadata_bytes", one.metadata_bytes},
          {"metadata_bytes_per_day", one.metadata_bytes_per_day}, {"value_bytes_per_interval", one.value_bytes_per_interval},
          {"cuts_early", one.cuts_early}};
}

Json to_json(const std::vector<WorkerSizing>& workers) {
  Json list = Json::array();
  for (const WorkerSizing& one : workers) list.push_back(to_json(one));
  return list;
}

Json to_json(const PlannedTable& table) {
  Json differences = Json::array();
  for (const ColumnDifference& one : table.facts.differences) {
    differences.push_back({{"column", one.column}, {"table", one.in_table}, {"schema", one.in_schema}});
  }
  Json columns = Json::array();
  for (const auto& [name, type] : table.facts.columns) columns.push_back({{"name", name}, {"type", type}});
  return {{"name", table.facts.name}, {"exists", table.facts.exists}, {"problem", table.facts.problem}, {"differences", differences},
          {"columns", columns}, {"partition_by", table.facts.partition_by}, {"touched_partitions", table.facts.touched_partitions},
          {"is_touched_a_guess", table.facts.is_touched_a_guess}, {"rows", table.facts.rows}, {"files", table.facts.files},
          {"snapshots", table.facts.snapshots}, {"metadata_bytes", table.facts.metadata_bytes},
          {"file_bytes_per_record", table.load.file_bytes_per_record}, {"file_bytes_assumed", table.is_file_size_assumed},
          {"target_file_bytes", table.load.target_file_bytes}};
}

Json topics_json(const PipelinePlan& plan) {
  Json windows = Json::array();
  for (const RateWindow& window : plan.topics.windows) {
    windows.push_back({{"seconds", window.seconds}, {"records", window.records}, {"per_second", window.per_second()}});
  }
  const LoadFacts& load = plan.anchor.load;
  return {{"names", plan.topics.topics}, {"partitions", plan.topics.partitions}, {"records", plan.topics.records}, {"windows", windows},
          {"records_per_second", load.records_per_second}, {"value_bytes_per_second", load.value_bytes_per_second},
          {"sampled_records", plan.topics.sampled_records}, {"bytes_per_record", plan.topics.bytes_per_record()}};
}

Json to_json(const PipelinePlan& plan) {
  Json json = {{"pipeline", plan.pipeline}, {"topics", topics_json(plan)}, {"table", to_json(plan.anchor)}};
  for (const PlannedTable& table : plan.tables) {
    Json one = to_json(table);
    one["share_of_rows_assumed"] = table.load.share;
    one["workers"] = to_json(table.workers);
    json["tables"].push_back(std::move(one));
  }
  if (!plan.tables.empty()) json["problem"] = plan.problem;
  json["access"] = access_json(plan);
  json["workers"] = to_json(plan.workers);
  return json;
}

PlannedTable plan_table(const PipelineConfig& config, const TopicFacts& topics, TableFacts facts, int64_t memory_bytes, double share) {
  PlannedTable table;
  LoadFacts& load = table.load;
  load.records_per_second = topics.records_per_second();
  load.share = share;
  load.value_bytes_per_second = load.records_per_second * topics.bytes_per_record();
  table.is_file_size_assumed = !facts.file_bytes_per_record.has_value();
  load.file_bytes_per_record = facts.file_bytes_per_record.value_or(topics.bytes_per_record() * kAssumedShare);
  load.splits = topics.partitions;
  load.table_partitions = facts.touched_partitions;
  load.commit_interval_ms = config.commit.interval_ms;
  if (facts.target_file_bytes > 0) load.target_file_bytes = facts.target_file_bytes;
  load.history_keep_ms = config.history_keep_ms;
  load.bytes_per_snapshot = facts.bytes_per_snapshot > 0 ? facts.bytes_per_snapshot : kAssumedBytesPerSnapshot;
  load.metadata_bytes = std::max<int64_t>(0, facts.metadata_bytes - facts.snapshots * load.bytes_per_snapshot);
  load.memory_bytes = memory_bytes;
  table.facts = std::move(facts);
  return table;
}

}  // namespace

PipelinePlan make_plan(const PipelineConfig& config, TopicFacts topics, ProbedTables tables, int64_t memory_bytes, const std::vector<int>& workers) {
  PipelinePlan plan;
  plan.pipeline = config.name;
  plan.goes_to_all = config.route_to_all;
  plan.problem = tables.problem;
  plan.anchor = plan_table(config, topics, std::move(tables.anchor), memory_bytes, 1);
  const double share = config.route_to_all || tables.targets.empty() ? 1 : 1.0 / static_cast<double>(tables.targets.size());
  std::vector<LoadFacts> loads;
  for (TableFacts& target : tables.targets) {
    plan.tables.push_back(plan_table(config, topics, std::move(target), memory_bytes, share));
    loads.push_back(plan.tables.back().load);
    for (const int count : workers) plan.tables.back().workers.push_back(size_workers(loads.back(), count));
  }
  for (const int count : workers) {
    plan.workers.push_back(loads.empty() ? size_workers(plan.anchor.load, count) : size_pipeline(plan.anchor.load, loads, count));
  }
  plan.topics = std::move(topics);
  return plan;
}

bool has_problem(const PipelinePlan& plan) {
  const auto has = [](const PlannedTable& table) { return !table.facts.problem.empty(); };
  if (!plan.problem.empty() || has(plan.anchor) || std::any_of(plan.tables.begin(), plan.tables.end(), has)) return true;
  const std::vector<Access> all = accesses(plan);
  return std::any_of(all.begin(), all.end(), [](const Access& one) { return !one.problem.empty(); });
}

std::string plan_as_text(const PipelinePlan& plan) {
  std::string text = "pipeline " + plan.pipeline + "\n" + topics_text(plan);
  text += plan.tables.empty() ? table_text(plan.anchor) : tables_text(plan);
  text += fmt::format("  at {} records a second, a commit every {}{}:\n", rate_text(plan.anchor.load.records_per_second),
                      duration_text(static_cast<double>(plan.anchor.load.commit_interval_ms) / 1000),
                      plan.tables.empty() ? "" : ", all tables together");
  text += workers_text(plan);
  for (const Access& one : accesses(plan)) text += "  may " + one.what + ": " + (one.problem.empty() ? "yes" : "NO: " + one.problem) + "\n";
  return text + "  not tried: whatever would change something (writing files, commits, joining the group)\n";
}

std::string plans_as_json(const std::vector<PipelinePlan>& plans) {
  Json list = Json::array();
  for (const PipelinePlan& plan : plans) list.push_back(to_json(plan));
  return Json{{"pipelines", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace frazil::app
