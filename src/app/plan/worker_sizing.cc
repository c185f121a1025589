#include "app/plan/worker_sizing.h"

#include <algorithm>

namespace frazil::app {
namespace {

constexpr double kSecondsPerDay = 86'400;
constexpr double kPressedShare = 0.7;  // base/memory_budget.h

}  // namespace

WorkerSizing size_workers(const LoadFacts& facts, int workers) {
  WorkerSizing sizing;
  sizing.workers = workers;
  sizing.working = std::clamp(workers, 1, std::max(1, facts.splits));
  const double working = sizing.working;
  double seconds = static_cast<double>(facts.commit_interval_ms) / 1000;
  // Memory holds the values of an interval at most; a worker whose budget fills earlier cuts earlier.
  const double value_rate = facts.value_bytes_per_second / working;
  const double bound = kPressedShare * static_cast<double>(facts.memory_bytes);
  sizing.cuts_early = value_rate * seconds > bound;
  if (sizing.cuts_early) seconds = bound / value_rate;
  sizing.value_bytes_per_interval = value_rate * seconds;

  const double rows_per_second = facts.records_per_second * facts.share;
  const double records = rows_per_second / working * seconds;  // of one worker's epoch, for this table
  // An epoch without records makes no commit; one with fewer records than table partitions touches fewer of them.
  const double epochs_per_day = kSecondsPerDay / seconds * std::min(1.0, records);
  sizing.commits_per_day = epochs_per_day * working;
  sizing.files_per_commit = std::min(static_cast<double>(facts.table_partitions), std::max(1.0, records));
  if (records <= 0) sizing.files_per_commit = 0;
  sizing.files_per_day = sizing.files_per_commit * sizing.commits_per_day;
  const double file_bytes_per_day = rows_per_second * kSecondsPerDay * facts.file_bytes_per_record;
  if (sizing.files_per_day > 0) sizing.file_bytes = file_bytes_per_day / sizing.files_per_day;
  const double bytes_per_second = rows_per_second * facts.file_bytes_per_record / (working * static_cast<double>(facts.table_partitions));
  if (bytes_per_second > 0) sizing.seconds_to_target = static_cast<double>(facts.target_file_bytes) / bytes_per_second;

  sizing.snapshots_kept = 1 + sizing.commits_per_day * static_cast<double>(facts.history_keep_ms) / 1000 / kSecondsPerDay;
  sizing.metadata_bytes = static_cast<double>(facts.metadata_bytes) + sizing.snapshots_kept * static_cast<double>(facts.bytes_per_snapshot);
  sizing.metadata_bytes_per_day = sizing.metadata_bytes * sizing.commits_per_day;
  return sizing;
}

WorkerSizing size_pipeline(const LoadFacts& anchor, const std::vector<LoadFacts>& tables, int workers) {
  WorkerSizing total = size_workers(anchor, workers);
  total.files_per_commit = total.files_per_day = total.file_bytes = 0;
  total.seconds_to_target.reset();
  double bytes_per_day = 0;
  for (const LoadFacts& table : tables) {
    const WorkerSizing one = size_workers(table, workers);
    total.files_per_commit += one.files_per_commit;
    total.files_per_day += one.files_per_day;
    bytes_per_day += one.files_per_day * one.file_bytes;
    if (one.seconds_to_target) total.seconds_to_target = std::max(total.seconds_to_target.value_or(0), *one.seconds_to_target);
  }
  if (total.files_per_day > 0) total.file_bytes = bytes_per_day / total.files_per_day;
  return total;
}

}  // namespace frazil::app
