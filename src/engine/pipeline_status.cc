#include "engine/pipeline_status.h"

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace frazil::engine {
namespace {

constexpr int64_t kQuietMicros = 60'000'000;  // between two warnings of one kind
constexpr char kHaltedText[] = "1 when the pipeline waits for an operator's decision.";

struct CounterText {
  std::string_view name;
  std::string_view text;
};
constexpr CounterText kCounters[] = {
    {"frazil_records_read_total", "Records read from the source."},
    {"frazil_bytes_read_total", "Bytes of record values read."},
    {"frazil_rows_committed_total", "Rows in committed snapshots."},
    {"frazil_commits_total", "Commits accepted by the table."},
    {"frazil_files_total", "Data files committed."},
    {"frazil_dead_letters_total", "Records committed to the dead-letter table."},
    {"frazil_skipped_total", "Rejected records skipped by policy."},
    {"frazil_tombstones_total", "Null values skipped by policy."},
    {"frazil_empty_arrays_total", "Records that are an empty array: no row, and no fault."},
    {"frazil_stale_epochs_total", "Epochs dropped because the table was not what they were read for: another worker was faster, or its schema changed."},
    {"frazil_merged_epochs_total", "Epochs that another worker committed together with those of others."},
    {"frazil_assignments_lost_total", "Times that the consumer group gave this worker's partitions away without asking."},
    {"frazil_unknown_fields_total", "Fields of documents that no column takes."},
    {"frazil_duplicate_keys_total", "Keys that a document held twice; the last one counted."},
};

std::string_view text_of(std::string_view name) {
  for (const CounterText& counter : kCounters) {
    if (counter.name == name) return counter.text;
  }
  return "";
}

}  // namespace

PipelineStatus::PipelineStatus(std::string pipeline, base::Metrics& metrics)
    : labels_{{"pipeline", pipeline}},
      metrics_(metrics),
      freshness_(metrics.histogram("frazil_freshness_seconds", "Record time to readable, live rows.", labels_)),
      catch_up_freshness_(metrics.histogram("frazil_catch_up_age_seconds",
                                            "Record time to readable, rows that were old at the start.", labels_)),
      commit_seconds_(metrics.histogram("frazil_commit_seconds", "Duration of commits.", labels_)),
      file_sizes_(metrics.histogram("frazil_file_bytes", "Sizes of committed data files.", labels_)) {
  view_.pipeline = std::move(pipeline);
  view_.state = "starting";
  view_.started_micros = base::wall_micros();
  metrics.gauge("frazil_up", "1 while the pipeline runs.", labels_).set(1);
  metrics.gauge("frazil_halted", kHaltedText, labels_).set(0);
  // Counters that exist from the start can be told from those that went away.
  count("frazil_records_read_total", 0);
  count("frazil_bytes_read_total", 0);
  count("frazil_rows_committed_total", 0);
  count("frazil_commits_total", 0);
  count("frazil_files_total", 0);
  count("frazil_dead_letters_total", 0);
  count("frazil_skipped_total", 0);
  count("frazil_tombstones_total", 0);
  count("frazil_empty_arrays_total", 0);
  count("frazil_stale_epochs_total", 0);
  count("frazil_merged_epochs_total", 0);
  count("frazil_assignments_lost_total", 0);
  count("frazil_unknown_fields_total", 0);
  count("frazil_duplicate_keys_total", 0);
  show_starvation(base::mono_micros());
}

void PipelineStatus::count(const char* name, int64_t more) {
  metrics_.counter(name, std::string(text_of(name)), labels_).add(more);
}

void PipelineStatus::set_state(const std::string& state, const std::string& detail, const std::string& halt_code) {
  base::Lock lock(mutex_);
  view_.state = state;
  view_.detail = detail;
  view_.halt_code = halt_code;
  const bool is_up = state == "starting" || state == "running" || state == "stopping";
  metrics_.gauge("frazil_up", "1 while the pipeline runs.", labels_).set(is_up ? 1 : 0);
  metrics_.gauge("frazil_halted", kHaltedText, labels_)
      .set(state == "halted" ? 1 : 0);
}

void PipelineStatus::read(int64_t records, int64_t bytes) {
  base::Lock lock(mutex_);
  view_.records_read += records;
  view_.bytes_read += bytes;
  count("frazil_records_read_total", records);
  count("frazil_bytes_read_total", bytes);
}

void PipelineStatus::rejected(int64_t, int64_t tombstones, int64_t skipped) {
  base::Lock lock(mutex_);
  view_.tombstones += tombstones;
  view_.skipped += skipped;
  count("frazil_tombstones_total", tombstones);
  count("frazil_skipped_total", skipped);
}

bool PipelineStatus::reject(const std::string& code, int64_t now_micros) {
  base::Labels labels = labels_;
  labels["code"] = code;
  base::Lock lock(mutex_);
  view_.rejects[code] += 1;
  metrics_.counter("frazil_rejects_total", "Records that gave no row, by code, each time they are read.", labels).add(1);
  const auto told = reject_logged_micros_.find(code);
  if (told != reject_logged_micros_.end() && now_micros - told->second < kQuietMicros) return false;
  reject_logged_micros_[code] = now_micros;
  return true;
}

void PipelineStatus::passed_over(int64_t unknown_fields, int64_t duplicate_keys, int64_t empty_arrays) {
  base::Lock lock(mutex_);
  view_.unknown_fields += unknown_fields;
  view_.duplicate_keys += duplicate_keys;
  view_.empty_arrays += empty_arrays;
  count("frazil_unknown_fields_total", unknown_fields);
  count("frazil_duplicate_keys_total", duplicate_keys);
  count("frazil_empty_arrays_total", empty_arrays);
}

void PipelineStatus::committed(int64_t rows, int64_t dead_letters, const std::vector<int64_t>& file_bytes,
                               double commit_seconds, int64_t snapshot_id) {
  commit_seconds_.record(commit_seconds);
  int64_t total = 0;
  for (const int64_t bytes : file_bytes) {
    file_sizes_.record(static_cast<double>(bytes));
    total += bytes;
  }
  base::Lock lock(mutex_);
  starvation_.accepted();
  show_starvation(base::mono_micros());
  view_.rows_committed += rows;
  view_.dead_letters += dead_letters;
  view_.commits += 1;
  view_.files += static_cast<int64_t>(file_bytes.size());
  view_.file_bytes += total;
  view_.last_commit_micros = base::wall_micros();
  view_.last_snapshot_id = snapshot_id;
  count("frazil_rows_committed_total", rows);
  count("frazil_dead_letters_total", dead_letters);
  count("frazil_commits_total", 1);
  count("frazil_files_total", static_cast<int64_t>(file_bytes.size()));
  metrics_.gauge("frazil_last_commit_timestamp_seconds", "When the table last accepted a commit.", labels_)
      .set(static_cast<double>(view_.last_commit_micros) / 1e6);
}

void PipelineStatus::fresh(double seconds, int64_t rows, bool live) {
  (live ? freshness_ : catch_up_freshness_).record(seconds, rows);
}

void PipelineStatus::merged_epoch() {
  base::Lock lock(mutex_);
  view_.merged_epochs += 1;
  count("frazil_merged_epochs_total", 1);
}

bool PipelineStatus::stale_epoch(int64_t now_micros) {
  base::Lock lock(mutex_);
  view_.stale_epochs += 1;
  count("frazil_stale_epochs_total", 1);
  if (stale_told_micros_ != 0 && now_micros - stale_told_micros_ < kQuietMicros) return false;
  stale_told_micros_ = now_micros;
  return true;
}

void PipelineStatus::show_starvation(base::MonoMicros now) {
  view_.commit_starved_seconds = static_cast<double>(starvation_.micros(now)) / 1e6;
  metrics_.gauge("frazil_commit_starved_seconds", "For how long commits have lost to those of others, without one accepted.", labels_)
      .set(view_.commit_starved_seconds);
}

void PipelineStatus::commit_accepted() {
  base::Lock lock(mutex_);
  starvation_.accepted();
  show_starvation(base::mono_micros());
}

bool PipelineStatus::commit_lost() {
  base::Lock lock(mutex_);
  const base::MonoMicros now = base::mono_micros();
  const bool is_told = starvation_.lost(now);
  show_starvation(now);
  if (!is_told) return false;
  base::log_warn("commit_starved", {{"pipeline", view_.pipeline},
                                    {"seconds", starvation_.micros(now) / 1'000'000},
                                    {"lost", starvation_.losses()},
                                    {"likely", "others commit to the table all the time, or read the same records; nothing is lost or doubled, "
                                               "but nothing of this worker is committed either"}});
  return true;
}

void PipelineStatus::splits_lost() {
  base::Lock lock(mutex_);
  view_.assignments_lost += 1;
  count("frazil_assignments_lost_total", 1);
}

void PipelineStatus::set_lag(std::vector<SplitLag> lag) {
  base::Lock lock(mutex_);
  base::Labels labels = labels_;
  // What this worker does not read any more is another's to tell.
  for (const SplitLag& before : view_.lag) {
    const bool is_kept = std::any_of(lag.begin(), lag.end(), [&](const SplitLag& now) { return now.split == before.split; });
    labels["split"] = before.split;
    if (!is_kept) metrics_.forget_gauge("frazil_lag_records", labels);
  }
  for (const SplitLag& split : lag) {
    labels["split"] = split.split;
    if (split.lag >= 0) {
      metrics_.gauge("frazil_lag_records", "Records up to the last stable end.", labels).set(static_cast<double>(split.lag));
    }
  }
  view_.lag = std::move(lag);
}

void PipelineStatus::set_source_health(SourceHealth health) {
  base::Lock lock(mutex_);
  show_starvation(base::mono_micros());
  metrics_.gauge("frazil_source_connected", "1 while the source answers.", labels_).set(health.disconnected_since == 0 ? 1 : 0);
  metrics_.gauge("frazil_source_stuck_splits", "Splits whose records wait for an open transaction.", labels_)
      .set(static_cast<double>(health.stuck.size()));
  view_.source = std::move(health);
}

void PipelineStatus::set_memory(int64_t used, int64_t limit) {
  base::Lock lock(mutex_);
  view_.memory_used = used;
  view_.memory_limit = limit;
  metrics_.gauge("frazil_memory_used_bytes", "Bytes leased from the memory budget.").set(static_cast<double>(used));
  metrics_.gauge("frazil_memory_limit_bytes", "The memory budget.").set(static_cast<double>(limit));
}

StatusView PipelineStatus::view() const {
  StatusView view;
  {
    base::Lock lock(mutex_);
    view = view_;
  }
  view.file_bytes_p50 = file_sizes_.quantile(0.5);
  view.freshness_p50 = freshness_.quantile(0.5);
  view.freshness_p95 = freshness_.quantile(0.95);
  view.freshness_p99 = freshness_.quantile(0.99);
  view.freshness_rows = freshness_.count();
  view.commit_seconds_p50 = commit_seconds_.quantile(0.5);
  view.commit_seconds_p99 = commit_seconds_.quantile(0.99);
  return view;
}

}  // namespace frazil::engine
