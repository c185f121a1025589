#include "app/plan/worker_sizing.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

// 1,000 records of 1,000 bytes a second, a quarter of that in files; 16 Kafka partitions, 8 buckets, a commit every 10 s.
LoadFacts facts() {
  LoadFacts load;
  load.records_per_second = 1000;
  load.value_bytes_per_second = 1e6;
  load.file_bytes_per_record = 250;
  load.splits = 16;
  load.table_partitions = 8;
  load.commit_interval_ms = 10'000;
  load.target_file_bytes = 100'000'000;
  return load;
}

TEST(WorkerSizing, CountsFilesCommitsAndTimeOfOneWorker) {
  const WorkerSizing one = size_workers(facts(), 1);
  EXPECT_DOUBLE_EQ(one.files_per_commit, 8);
  EXPECT_DOUBLE_EQ(one.commits_per_day, 8640);
  EXPECT_DOUBLE_EQ(one.files_per_day, 69'120);
  EXPECT_DOUBLE_EQ(one.file_bytes, 312'500);                // 2.5 MB of an interval in 8 files
  EXPECT_DOUBLE_EQ(one.seconds_to_target.value(), 3200);    // 31,250 bytes a second in each bucket
  EXPECT_DOUBLE_EQ(one.snapshots_kept, 361);
}

TEST(WorkerSizing, MoreWorkersMakeMoreAndSmallerFiles) {
  const WorkerSizing one = size_workers(facts(), 1);
  const WorkerSizing four = size_workers(facts(), 4);
  EXPECT_DOUBLE_EQ(four.file_bytes, one.file_bytes / 4);
  EXPECT_DOUBLE_EQ(four.files_per_day, one.files_per_day * 4);
  EXPECT_DOUBLE_EQ(four.seconds_to_target.value(), one.seconds_to_target.value() * 4);
  EXPECT_DOUBLE_EQ(four.commits_per_day, one.commits_per_day * 4);
}

TEST(WorkerSizing, WorkersBeyondThePartitionsOfTheTopicDoNothing) {
  EXPECT_EQ(size_workers(facts(), 64).working, 16);
  EXPECT_DOUBLE_EQ(size_workers(facts(), 64).file_bytes, size_workers(facts(), 16).file_bytes);
}

TEST(WorkerSizing, CutsEarlyWhereMemoryFills) {
  LoadFacts load = facts();
  load.memory_bytes = 1'000'000;
  const WorkerSizing one = size_workers(load, 1);
  EXPECT_TRUE(one.cuts_early);
  EXPECT_NEAR(one.value_bytes_per_interval, 700'000, 1);
  EXPECT_GT(one.commits_per_day, size_workers(facts(), 1).commits_per_day);
  EXPECT_FALSE(size_workers(facts(), 1).cuts_early);
}

TEST(WorkerSizing, AQuietTopicHasNoFilesAndNoTime) {
  LoadFacts load = facts();
  load.records_per_second = load.value_bytes_per_second = 0;
  const WorkerSizing one = size_workers(load, 1);
  EXPECT_DOUBLE_EQ(one.files_per_day, 0);
  EXPECT_DOUBLE_EQ(one.commits_per_day, 0);
  EXPECT_FALSE(one.seconds_to_target);
}

TEST(WorkerSizing, FewRecordsTouchFewPartitions) {
  LoadFacts load = facts();
  load.records_per_second = 0.2;  // two in an interval
  EXPECT_DOUBLE_EQ(size_workers(load, 1).files_per_commit, 2);
  load.records_per_second = 0.01;  // one in ten intervals: only that one commits
  EXPECT_DOUBLE_EQ(size_workers(load, 1).commits_per_day, 864);
}

TEST(WorkerSizing, OfATableThatGetsAShareOfTheRows) {
  LoadFacts half = facts();
  half.share = 0.5;
  const WorkerSizing one = size_workers(half, 1);
  EXPECT_DOUBLE_EQ(one.files_per_commit, 8);
  EXPECT_DOUBLE_EQ(one.file_bytes, size_workers(facts(), 1).file_bytes / 2);
  EXPECT_DOUBLE_EQ(one.seconds_to_target.value(), 6400);
  EXPECT_DOUBLE_EQ(one.value_bytes_per_interval, size_workers(facts(), 1).value_bytes_per_interval) << "a worker holds the rows of all tables";
}

TEST(WorkerSizing, OfAPipelineSumsItsTables) {
  LoadFacts buckets = facts(), whole = facts();
  buckets.share = whole.share = 0.5;
  whole.table_partitions = 1;
  const WorkerSizing total = size_pipeline(facts(), {buckets, whole}, 2);
  EXPECT_DOUBLE_EQ(total.files_per_commit, 9);
  EXPECT_DOUBLE_EQ(total.commits_per_day, size_workers(facts(), 2).commits_per_day);
  EXPECT_DOUBLE_EQ(total.files_per_day, 9 * total.commits_per_day);
  EXPECT_DOUBLE_EQ(total.file_bytes * total.files_per_day, 1000.0 * 250 * 86'400);
  EXPECT_DOUBLE_EQ(total.seconds_to_target.value(), size_workers(buckets, 2).seconds_to_target.value());
}

}  // namespace
}  // namespace frazil::app
