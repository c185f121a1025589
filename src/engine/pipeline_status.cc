#include "engine/pipeline_status.h"

#include "base/clock.h"

namespace frazil::engine {

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
}

void PipelineStatus::set_state(const std::string& state, const std::string& detail, const std::string& halt_code) {
  base::Lock lock(mutex_);
  view_.state = state;
  view_.detail = detail;
  view_.halt_code = halt_code;
  const bool is_up = state == "starting" || state == "running" || state == "stopping";
  metrics_.gauge("frazil_up", "1 while the pipeline runs.", labels_).set(is_up ? 1 : 0);
  metrics_.gauge("frazil_halted", "1 when the pipeline waits for an operator's decision.", labels_)
      .set(state == "halted" ? 1 : 0);
}

void PipelineStatus::read(int64_t records, int64_t bytes) {
  base::Lock lock(mutex_);
  view_.records_read += records;
  view_.bytes_read += bytes;
  metrics_.counter("frazil_records_read_total", "Records read from the source.", labels_).add(records);
  metrics_.counter("frazil_bytes_read_total", "Bytes of record values read.", labels_).add(bytes);
}

void PipelineStatus::rejected(int64_t, int64_t tombstones, int64_t skipped) {
  base::Lock lock(mutex_);
  view_.tombstones += tombstones;
  view_.skipped += skipped;
  metrics_.counter("frazil_tombstones_total", "Null values skipped by policy.", labels_).add(tombstones);
  metrics_.counter("frazil_skipped_total", "Rejected records skipped by policy.", labels_).add(skipped);
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
  view_.rows_committed += rows;
  view_.dead_letters += dead_letters;
  view_.commits += 1;
  view_.files += static_cast<int64_t>(file_bytes.size());
  view_.file_bytes += total;
  view_.last_commit_micros = base::wall_micros();
  view_.last_snapshot_id = snapshot_id;
  metrics_.counter("frazil_rows_committed_total", "Rows in committed snapshots.", labels_).add(rows);
  metrics_.counter("frazil_dead_letters_total", "Records committed to the dead-letter table.", labels_).add(dead_letters);
  metrics_.counter("frazil_commits_total", "Commits accepted by the table.", labels_).add(1);
  metrics_.counter("frazil_files_total", "Data files committed.", labels_).add(static_cast<int64_t>(file_bytes.size()));
}

void PipelineStatus::fresh(double seconds, int64_t rows, bool live) {
  (live ? freshness_ : catch_up_freshness_).record(seconds, rows);
}

void PipelineStatus::stale_epoch() {
  base::Lock lock(mutex_);
  view_.stale_epochs += 1;
  metrics_.counter("frazil_stale_epochs_total", "Epochs dropped because another worker was faster.", labels_).add(1);
}

void PipelineStatus::set_lag(std::vector<SplitLag> lag) {
  base::Lock lock(mutex_);
  for (const SplitLag& split : lag) {
    base::Labels labels = labels_;
    labels["split"] = split.split;
    if (split.lag >= 0) {
      metrics_.gauge("frazil_lag_records", "Records up to the last stable end.", labels).set(static_cast<double>(split.lag));
    }
  }
  view_.lag = std::move(lag);
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
