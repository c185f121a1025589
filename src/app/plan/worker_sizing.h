// Sizing of workers: what a rate of records, a table's partitions and a commit interval come to, by the number of workers. Pure.
//
// A worker reads whole Kafka partitions and writes one file for each table partition that its rows of an interval touch. More workers therefore
// mean more and smaller files: the same rows are spread over workers times partitions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace frazil::app {

// Measured or assumed; see plan_report for which is which.
struct LoadFacts {
  double records_per_second = 0;      // of the topics
  double share = 1;                   // of the records that become rows of this table
  double value_bytes_per_second = 0;  // of message values
  double file_bytes_per_record = 0;   // in Parquet
  int32_t splits = 0;                 // Kafka partitions
  int64_t table_partitions = 1;       // that the rows of one interval touch, at least
  int64_t commit_interval_ms = 5000;
  int64_t target_file_bytes = 512LL << 20;
  int64_t history_keep_ms = 3600 * 1000;
  int64_t bytes_per_snapshot = 1500;  // in metadata.json
  int64_t metadata_bytes = 0;         // of metadata.json without snapshots
  int64_t memory_bytes = 2LL << 30;   // budget of a process
};

struct WorkerSizing {
  int workers = 1;
  int working = 1;  // that have a partition to read: not more than there are partitions
  double files_per_commit = 0;  // of one worker
  double files_per_day = 0;     // of all
  double file_bytes = 0;        // of one file
  std::optional<double> seconds_to_target;  // for one file to gather the target size; nothing without a rate
  double commits_per_day = 0;
  double snapshots_kept = 0;
  double metadata_bytes = 0;             // of metadata.json in the long run
  double metadata_bytes_per_day = 0;     // written, since each commit writes it anew
  double value_bytes_per_interval = 0;   // that one worker holds at most when it cuts by the interval
  bool cuts_early = false;               // 70 % of the memory are reached before the interval is over
};

WorkerSizing size_workers(const LoadFacts& facts, int workers);
// Of a pipeline with several tables: files of all of them, the average size of a file, the time that the slowest table takes to its target size,
// and commits and metadata of the anchor, which has all records for its own.
WorkerSizing size_pipeline(const LoadFacts& anchor, const std::vector<LoadFacts>& tables, int workers);

}  // namespace frazil::app
