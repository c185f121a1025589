// What catalogs do that write the metadata files themselves: what lies in the store, and what happens when the store or a
// rival gets in between. Services do this on their side.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "iceberg/catalog.h"
#include "tests/conformance/catalog_suite.h"

namespace frazil::conformance {
namespace {

using base::Code;
using iceberg::LoadedTable;
using iceberg::TableCommit;
using iceberg::TableId;
using iceberg::TableMetadata;

class MetadataFileCatalog : public CatalogConformance {
 protected:
  size_t metadata_files(const TableMetadata& table) {
    size_t count = 0;
    for (const auto& file : *place_.files->list(table.location + "/metadata/"))
      count += file.location.ends_with(".metadata.json");
    return count;
  }
};

TEST_P(MetadataFileCatalog, CreatesNoTableOverOneThatARivalCreated) {
  files_->before_next_close([&] { create(); });
  EXPECT_TRUE(fails_with(another()->create_table(orders_, sample_table()), Code::kExists));
  EXPECT_EQ(metadata_files(load()), 2u);
}

TEST_P(MetadataFileCatalog, NamesEachMetadataFileByItsVersion) {
  create();
  for (int version = 1; version <= 3; ++version) {
    const auto table = catalog().commit_table(orders_, set_property("v", std::to_string(version)));
    ASSERT_TRUE(is_ok(table));
    EXPECT_NE(table->metadata_location.find("/metadata/0000" + std::to_string(version) + "-"), std::string::npos);
    EXPECT_TRUE(is_ok(place_.files->read(table->metadata.metadata_log.back().metadata_file)));
  }
}

TEST_P(MetadataFileCatalog, LosesToARivalThatCommitsMeanwhile) {
  const TableMetadata empty = create().metadata;
  const auto rival = next_snapshot(empty);
  files_->before_next_close([&] { commit(append(empty, rival)); });
  const auto ours = catalog().commit_table(orders_, append(empty, next_snapshot(empty)));
  EXPECT_TRUE(fails_with(ours, Code::kConflict));
  EXPECT_EQ(load().current_snapshot_id, rival.snapshot_id);
  // The loser's metadata file is left alone: only orphan removal deletes.
  EXPECT_EQ(metadata_files(empty), 3u);
}

// Requirements hold on the version whose name is swapped, so even a commit without any is never laid over another.
TEST_P(MetadataFileCatalog, LosesToARivalEvenWithoutRequirements) {
  create();
  files_->before_next_close([&] { commit(set_property("rival", "1")); });
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, set_property("ours", "1")), Code::kConflict));
  EXPECT_FALSE(load().properties.contains("ours"));
  EXPECT_TRUE(load().properties.contains("rival"));
}

TEST_P(MetadataFileCatalog, LosesToARivalThatDropsOrReplacesTheTable) {
  create();
  files_->before_next_close([&] { EXPECT_TRUE(is_ok(another()->drop_table(orders_))); });
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, set_property("a", "b")), Code::kConflict));
  EXPECT_TRUE(fails_with(catalog().load_table(orders_), Code::kNotFound));
}

TEST_P(MetadataFileCatalog, RemovesForgottenMetadataFilesOnlyWhenTheTableAsks) {
  std::string first = create().metadata_location;
  ASSERT_TRUE(is_ok(another()->commit_table(orders_, set_property("write.metadata.previous-versions-max", "2"))));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(is_ok(another()->commit_table(orders_, set_property("n", std::to_string(i)))));
  EXPECT_TRUE(catalog().file_io()->stat(first).ok());
  ASSERT_TRUE(is_ok(another()->commit_table(orders_, set_property("write.metadata.delete-after-commit.enabled", "true"))));
  std::vector<std::string> locations;
  for (int i = 0; i < 5; ++i) {
    const auto committed = another()->commit_table(orders_, set_property("n", std::to_string(i)));
    ASSERT_TRUE(is_ok(committed));
    locations.push_back(committed->metadata_location);
  }
  EXPECT_FALSE(catalog().file_io()->stat(locations[0]).ok());
  EXPECT_FALSE(catalog().file_io()->stat(locations[1]).ok());
  for (size_t i = 2; i < 5; ++i) EXPECT_TRUE(catalog().file_io()->stat(locations[i]).ok()) << i;
  EXPECT_EQ(load(orders_).metadata_log.size(), 2U);
}

TEST_P(MetadataFileCatalog, ReportsANamedFileThatIsMissingAsCorrupt) {
  const LoadedTable created = create();
  ASSERT_TRUE(is_ok(place_.files->remove(created.metadata_location)));
  const auto loaded = catalog().load_table(orders_);
  EXPECT_TRUE(fails_with(loaded, Code::kCorrupt));
  EXPECT_NE(loaded.error().message().find(created.metadata_location), std::string::npos);
}

// Whatever fails in the store, the name has not moved: never unknown, never a conflict, and the next attempt succeeds.
TEST_P(MetadataFileCatalog, ChangesNothingWhenTheStoreFailsAtAnyOperation) {
  create();
  for (const FaultMoment moment : {FaultMoment::kBefore, FaultMoment::kAfter}) {
    int failures = 0;
    for (int operation = 1;; ++operation) {
      const TableMetadata before = load();
      plan_->fail_at(operation, moment);
      const auto done = catalog().commit_table(orders_, append(before, next_snapshot(before)));
      plan_->stop_failing();
      if (done.ok()) break;
      ++failures;
      ASSERT_LT(operation, 100);
      EXPECT_EQ(load().current_snapshot_id, before.current_snapshot_id);
      EXPECT_TRUE(fails_with(done, Code::kUnavailable));
    }
    EXPECT_GE(failures, 4);  // read, create, write, close
  }
}

TEST_P(MetadataFileCatalog, CreatesNothingWhenTheStoreFailsAtAnyOperation) {
  for (int operation = 1;; ++operation) {
    plan_->fail_at(operation, FaultMoment::kAfter);
    const auto done = catalog().create_table(orders_, sample_table());
    plan_->stop_failing();
    if (done.ok()) {
      EXPECT_GE(operation, 4);
      break;
    }
    ASSERT_LT(operation, 100);
    EXPECT_TRUE(fails_with(done, Code::kUnavailable));
    EXPECT_TRUE(fails_with(another()->load_table(orders_), Code::kNotFound));
  }
}

TEST_P(MetadataFileCatalog, WritesNoFileForACommitWhoseRequirementFails) {
  const TableMetadata table = create().metadata;
  TableCommit commit = set_property("a", "b");
  commit.requirements = {iceberg::AssertTableUuid{"00000000-0000-4000-8000-000000000000"}};
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, commit), Code::kConflict));
  EXPECT_EQ(metadata_files(table), 1u);
}

INSTANTIATE_TEST_SUITE_P(Catalogs, MetadataFileCatalog, testing::ValuesIn(metadata_file_catalogs()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace frazil::conformance
