// A day of one-second commits: what a table remembers must not grow with it.
//
// Time is virtual: each commit writes a real Parquet file of one row and goes through the real committer, with expiry travelling
// along. FRAZIL_DAY_SECONDS sets the length (a day every night; here as long as it takes to see a bound).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "sinks/iceberg/committer_fixture.h"

namespace frazil::sinks {
namespace {

constexpr int64_t kKeptSeconds = 60;
constexpr int64_t kLookEverySeconds = 20;

// What one look at the table finds.
struct Weight {
  int64_t snapshots = 0;
  int64_t metadata_bytes = 0;
  int64_t metadata_log = 0;
  int64_t manifests = 0;
  int64_t metadata_files = 0;  // in the store: metadata.json, lists and manifests
};

int64_t day_seconds() {
  const char* set = std::getenv("FRAZIL_DAY_SECONDS");
  return set == nullptr ? 360 : std::atoll(set);
}

class LongDay : public CommitterTest {
 protected:
  LongDay() { config_.history_keep_ms = kKeptSeconds * 1000; }

  Weight weigh() {
    const auto loaded = catalog_->load_table(config_.table);
    EXPECT_TRUE(loaded.ok());
    const iceberg::TableMetadata& metadata = loaded->metadata;
    Weight weight;
    weight.snapshots = static_cast<int64_t>(metadata.snapshots.size());
    weight.metadata_bytes = catalog_->file_io()->stat(loaded->metadata_location)->bytes;
    weight.metadata_log = static_cast<int64_t>(metadata.metadata_log.size());
    weight.manifests = static_cast<int64_t>(iceberg::manifests_of(*catalog_->file_io(), *metadata.current_snapshot())->manifests.size());
    weight.metadata_files = static_cast<int64_t>(catalog_->file_io()->list(metadata.location + "/metadata/")->size());
    return weight;
  }

  void commit_for(IcebergCommitter& committer, int64_t from, int64_t to, std::vector<Weight>& weights) {
    base::Interrupt never;
    const base::MonoMicros begun = base::mono_micros();
    for (int64_t second = from; second < to; ++second) {
      never.wait_until(begun + (second - from + 1) * 1'000'000);
      ASSERT_EQ(commit(committer, second, second + 1).kind, engine::CommitVerdict::Kind::kDone);
      if (second % kLookEverySeconds == 0) weights.push_back(weigh());
    }
  }
};

Weight most(const std::vector<Weight>& weights, size_t from, size_t to) {
  Weight most;
  for (size_t i = from; i < to; ++i) {
    most.snapshots = std::max(most.snapshots, weights[i].snapshots);
    most.metadata_bytes = std::max(most.metadata_bytes, weights[i].metadata_bytes);
    most.metadata_log = std::max(most.metadata_log, weights[i].metadata_log);
    most.manifests = std::max(most.manifests, weights[i].manifests);
    most.metadata_files = std::max(most.metadata_files, weights[i].metadata_files);
  }
  return most;
}

TEST_F(LongDay, OfOneSecondCommitsLeavesTheMetadataBounded) {
  const int64_t seconds = day_seconds();
  in_virtual_time([&] {
    const auto one = begun();
    std::vector<Weight> weights;
    commit_for(*one, 0, seconds, weights);
    // The first third fills what is kept; from then on nothing may grow but the digits of numbers.
    const Weight before = most(weights, weights.size() / 3, weights.size() * 2 / 3);
    const Weight after = most(weights, weights.size() * 2 / 3, weights.size());
    std::printf("%lld commits: at most %lld snapshots, %lld bytes of metadata.json, %lld manifests, %lld files of metadata\n",
                static_cast<long long>(seconds), static_cast<long long>(after.snapshots),
                static_cast<long long>(after.metadata_bytes), static_cast<long long>(after.manifests),
                static_cast<long long>(after.metadata_files));
    EXPECT_LE(after.snapshots, kKeptSeconds + 5);
    EXPECT_LE(after.snapshots, before.snapshots + 2);
    EXPECT_LE(after.metadata_bytes, before.metadata_bytes * 21 / 20);
    EXPECT_LE(after.metadata_bytes, 1'000 * kKeptSeconds + 30'000);  // snapshots, and a hundred earlier files by name
    EXPECT_LE(after.metadata_log, 100);
    EXPECT_LE(after.manifests, 100 + 2 + seconds * 200 / 8'000'000);  // merged at a hundred, into files of 8 MB
    EXPECT_LE(after.metadata_files, before.metadata_files * 11 / 10 + 20);
    EXPECT_EQ(metadata(config_.table).current_snapshot()->summary.at("total-records"), std::to_string(seconds));
  });
}

}  // namespace
}  // namespace frazil::sinks
