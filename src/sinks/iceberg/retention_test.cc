#include "sinks/iceberg/retention.h"

#include "iceberg/table_metadata_json.h"
#include "sinks/iceberg/committer_fixture.h"

namespace frazil::sinks {
namespace {

constexpr const char* kMaxAge = "history.expire.max-snapshot-age-ms";
constexpr int64_t kFiveDaysMs = 432'000'000;

TEST(Retention, KnowsHowManySnapshotsATableWillHold) {
  iceberg::TableMetadata table;
  table.location = "memory://t";
  EXPECT_EQ(snapshots_in_the_long_run(table, 5000), std::nullopt);
  table.properties[kMaxAge] = "3600000";
  EXPECT_EQ(snapshots_in_the_long_run(table, 5000), 720);
  table.properties["history.expire.min-snapshots-to-keep"] = "5000";
  EXPECT_EQ(snapshots_in_the_long_run(table, 5000), 5000);
  table.properties["gc.enabled"] = "false";
  EXPECT_EQ(snapshots_in_the_long_run(table, 5000), std::nullopt);
}

TEST(Retention, OnlyAForeignTablesOwnRetentionIsTooMuch) {
  IcebergSinkConfig config;
  config.history_keep_ms = 604'800'000;
  config.commit_interval_ms = 1000;
  iceberg::TableMetadata table;
  table.location = "memory://t";
  table.properties[kMaxAge] = "604800000";
  EXPECT_FALSE(keeps_too_many(table, config));  // asked for by history.keep
  table.properties[kMaxAge] = "2000000";
  EXPECT_FALSE(keeps_too_many(table, config));
  table.properties[kMaxAge] = "2001000";
  EXPECT_TRUE(keeps_too_many(table, config));
  table.properties.clear();
  EXPECT_TRUE(keeps_too_many(table, config));
}

TEST(Retention, CutsStayAsConfiguredWhileTheFileIsSmall) {
  EXPECT_EQ(stretched_cut_ms({0, 1500}, kFiveDaysMs), 0);
  EXPECT_EQ(stretched_cut_ms({4'000'000, 1500}, kFiveDaysMs), 0);
}

TEST(Retention, WhatIsLeftIsSpreadOverTheTimeThatSnapshotsAreKept) {
  EXPECT_EQ(stretched_cut_ms({5'000'000, 1500}, kFiveDaysMs), kFiveDaysMs / 2000);
  EXPECT_EQ(stretched_cut_ms({5'000'000, 3000}, kFiveDaysMs), kFiveDaysMs / 1000);
  EXPECT_EQ(stretched_cut_ms({5'000'000, 1500}, 3'600'000), 1800);
  EXPECT_EQ(stretched_cut_ms({7'999'999, 1500}, kFiveDaysMs), kLongestCutMs);
  EXPECT_EQ(stretched_cut_ms({80'000'000, 1500}, 1000), kLongestCutMs);
}

// A table that somebody else expires after `keep_ms`, at the interval that the stretch gives; the largest size of its file.
int64_t largest_file(int64_t keep_ms, int64_t configured_ms, int64_t each) {
  std::deque<int64_t> made;
  int64_t largest = 0;
  for (int64_t now = 0; now < 3 * keep_ms;) {
    const auto bytes = static_cast<int64_t>(made.size()) * each;
    largest = std::max(largest, bytes);
    now += std::max(configured_ms, stretched_cut_ms({bytes, each}, keep_ms));
    while (!made.empty() && made.front() <= now - keep_ms) made.pop_front();
    made.push_back(now);
  }
  return largest;
}

TEST(Retention, TheFileStaysUnderEightMegabytes) {
  EXPECT_LT(largest_file(kFiveDaysMs, 1000, 1500), kMetadataBytesAtMost);
  EXPECT_LT(largest_file(kFiveDaysMs, 5000, 5000), kMetadataBytesAtMost);
  EXPECT_LT(largest_file(86'400'000, 1000, 800), kMetadataBytesAtMost);
  // At more than four million bytes it was stretched, not left alone.
  EXPECT_GT(largest_file(kFiveDaysMs, 1000, 1500), kMetadataBytesAtMost / 2);
}

class RetentionOfATable : public CommitterTest {
 protected:
  // A foreign table with `snapshots` of this pipeline, each `padding` bytes and more.
  iceberg::TableMetadata table_with(int snapshots, size_t padding) {
    iceberg::TableMetadata table = metadata(config_.table);
    table.properties.erase(kMaxAge);
    for (int i = 0; i < snapshots; ++i) {
      iceberg::Snapshot snapshot = *table.current_snapshot();
      snapshot.snapshot_id += i + 1;
      snapshot.summary["frazil.positions"] = std::string(padding, 'x');
      table.snapshots.push_back(snapshot);
    }
    return table;
  }
};

TEST_F(RetentionOfATable, MeasuresTheRealMetadata) {
  begun();
  const iceberg::TableMetadata small = table_with(10, 100);
  const iceberg::TableMetadata large = table_with(60, 3000);
  EXPECT_EQ(measure_growth(small, "orders").bytes, static_cast<int64_t>(iceberg::table_metadata_to_json(small)->size()));
  const int64_t each = measure_growth(large, "orders").bytes_per_snapshot;
  EXPECT_GT(each, 3000);
  EXPECT_LT(each, 5000);
  EXPECT_EQ(measure_growth(large, "somebody_else").bytes_per_snapshot, 1500);  // nothing to measure yet
}

TEST_F(RetentionOfATable, AsksForLongerEpochsOnlyWhenItIsNeeded) {
  begun();
  Retention retention(config_);
  retention.opened(table_with(100, 1000));
  EXPECT_EQ(retention.least_cut_ms(), 0);
  retention.opened(table_with(2500, 2000));
  EXPECT_GT(retention.least_cut_ms(), 60'000);
  // Somebody expires: the next commit measures again.
  retention.committed(table_with(100, 1000));
  EXPECT_EQ(retention.least_cut_ms(), 0);
  // Somebody sets the property to what Frazil is told to keep.
  iceberg::TableMetadata own = table_with(2500, 2000);
  own.properties[kMaxAge] = std::to_string(config_.history_keep_ms);
  retention.opened(own);
  EXPECT_EQ(retention.least_cut_ms(), 0);
}

TEST_F(RetentionOfATable, TheCommitterTellsTheEngine) {
  config_.create->properties[kMaxAge] = "432000000";
  const auto one = begun();
  EXPECT_EQ(one->least_cut_interval_ms(), 0);
  std::string note(4'200'000, 'x');
  ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::SetProperties{{{"note", note}}}}}).ok());
  const auto again = committer();
  ASSERT_TRUE(again->open().ok());
  EXPECT_GT(again->least_cut_interval_ms(), 5000);
  // It is measured again after every commit while it is stretched.
  ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::RemoveProperties{{"note"}}}}).ok());
  EXPECT_EQ(commit(*again, 0, 5).kind, engine::CommitVerdict::Kind::kDone);
  EXPECT_EQ(again->least_cut_interval_ms(), 0);
}

}  // namespace
}  // namespace frazil::sinks
