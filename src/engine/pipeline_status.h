// PipelineStatus: what a pipeline is doing, for people, /status and /metrics. Written by the worker's lanes, read by any.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/sync.h"
#include "engine/commit_starvation.h"
#include "engine/source.h"

namespace frazil::engine {

struct StatusView {
  std::string pipeline;
  std::string state;  // starting, running, stopping, ended, halted, failed
  std::string detail; // last error or halt text
  std::string halt_code;
  int64_t started_micros = 0;
  int64_t records_read = 0;
  int64_t bytes_read = 0;  // of message values
  int64_t rows_committed = 0;
  int64_t dead_letters = 0;
  int64_t tombstones = 0;
  int64_t skipped = 0;
  int64_t empty_arrays = 0;
  int64_t unknown_fields = 0;
  int64_t duplicate_keys = 0;
  std::map<std::string, int64_t> rejects;  // records that gave no row, by code, as they were read (again)
  int64_t commits = 0;
  int64_t stale_epochs = 0;
  int64_t merged_epochs = 0;
  double commit_starved_seconds = 0;  // since the first commit that lost to those of others, none accepted since
  int64_t assignments_lost = 0;
  int64_t files = 0;
  int64_t file_bytes = 0;
  double file_bytes_p50 = 0;
  double freshness_p50 = 0, freshness_p95 = 0, freshness_p99 = 0;  // seconds, live rows
  int64_t freshness_rows = 0;
  double commit_seconds_p50 = 0, commit_seconds_p99 = 0;
  int64_t last_commit_micros = 0;
  int64_t last_snapshot_id = 0;
  int64_t memory_used = 0, memory_limit = 0;
  std::vector<SplitLag> lag;
  SourceHealth source;
};

class PipelineStatus {
 public:
  PipelineStatus(std::string pipeline, base::Metrics& metrics);
  void set_state(const std::string& state, const std::string& detail = "", const std::string& halt_code = "");
  void read(int64_t records, int64_t bytes);
  void rejected(int64_t dead_letters, int64_t tombstones, int64_t skipped);
  // One record that becomes a dead letter. True when it is the first of its code within a minute: that one is logged.
  bool reject(const std::string& code, int64_t now_micros);
  // What decoding passed over without harm.
  void passed_over(int64_t unknown_fields, int64_t duplicate_keys, int64_t empty_arrays);
  void committed(int64_t rows, int64_t dead_letters, const std::vector<int64_t>& file_bytes, double commit_seconds,
                 int64_t snapshot_id);
  // `seconds` from record time to commit, for `rows` rows; catch-up rows are counted apart.
  void fresh(double seconds, int64_t rows, bool live);
  // An epoch of this worker that another one has committed together with others.
  void merged_epoch();
  // An epoch was dropped because the table had moved on. True when none was told of within a minute: that one is logged as a warning.
  bool stale_epoch(int64_t now_micros);
  // The table took a commit of this worker.
  void commit_accepted();
  // A commit of this worker lost: the head had moved, or its records were committed already. True when that goes on for so long that it was
  // logged as a warning, once a minute at most.
  bool commit_lost();
  // Others may read our splits already: open work was dropped.
  void splits_lost();
  void set_lag(std::vector<SplitLag> lag);
  void set_source_health(SourceHealth health);
  void set_memory(int64_t used, int64_t limit);
  StatusView view() const;

 private:
  void count(const char* name, int64_t more);
  void show_starvation(base::MonoMicros now);

  mutable base::Mutex mutex_;
  StatusView view_;
  base::Labels labels_;
  base::Metrics& metrics_;
  base::Histogram& freshness_;
  base::Histogram& catch_up_freshness_;
  base::Histogram& commit_seconds_;
  base::Histogram& file_sizes_;
  CommitStarvation starvation_;
  int64_t stale_told_micros_ = 0;  // 0: never
  std::map<std::string, int64_t> reject_logged_micros_;  // by code: when one was told last
};

}  // namespace frazil::engine
