// What every Catalog does. A new implementation joins by one entry in the list at the end.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "iceberg/catalog.h"
#include "iceberg/catalogs/sqlite_database.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "tests/conformance/faulty_file_io.h"
#include "tests/conformance/hooked_file_io.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/scratch_folder.h"
#include "tests/conformance/table_samples.h"

namespace frazil::conformance {
namespace {

using base::Code;
using iceberg::Catalog;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::TableCommit;
using iceberg::TableId;
using iceberg::TableMetadata;

// One catalog, opened as often as a test likes. A catalog that lives in its object alone gives the same object again,
// and then `open` is called with the same FileIO.
struct CatalogPlace {
  std::function<std::shared_ptr<Catalog>(std::shared_ptr<io::FileIO>)> open;
  std::shared_ptr<io::FileIO> files;
  std::string warehouse;
  bool survives_its_object = false;
};

struct CatalogKind {
  std::string name;
  std::function<CatalogPlace()> make;
};
void PrintTo(const CatalogKind& kind, std::ostream* out) {
  *out << kind.name;
}

class CatalogConformance : public testing::TestWithParam<CatalogKind> {
 protected:
  CatalogConformance()
      : place_(GetParam().make()),
        plan_(std::make_shared<FaultPlan>()),
        files_(std::make_shared<HookedFileIO>(std::make_shared<FaultyFileIO>(place_.files, plan_))) {
    catalog_ = place_.open(files_);
    EXPECT_TRUE(is_ok(catalog_->create_namespace({"db"})));
  }

  Catalog& catalog() { return *catalog_; }
  std::shared_ptr<Catalog> another() { return place_.survives_its_object ? place_.open(files_) : catalog_; }

  LoadedTable create(const TableId& id = {{"db"}, "orders"}) {
    auto table = catalog().create_table(id, sample_table());
    EXPECT_TRUE(is_ok(table));
    return table.ok() ? *table : LoadedTable{};
  }
  TableMetadata load(const TableId& id = {{"db"}, "orders"}) {
    auto table = another()->load_table(id);
    EXPECT_TRUE(is_ok(table));
    return table.ok() ? table->metadata : TableMetadata{};
  }
  // Commits, and checks that the answer is what the next reader finds.
  TableMetadata commit(const TableCommit& commit) {
    const auto table = catalog().commit_table(orders_, commit);
    EXPECT_TRUE(is_ok(table));
    if (!table.ok()) return {};
    const auto loaded = another()->load_table(orders_);
    EXPECT_EQ(loaded->metadata_location, table->metadata_location);
    EXPECT_EQ(loaded->metadata.last_updated_ms, table->metadata.last_updated_ms);
    EXPECT_EQ(loaded->metadata.properties, table->metadata.properties);
    EXPECT_EQ(loaded->metadata.current_snapshot_id, table->metadata.current_snapshot_id);
    EXPECT_EQ(loaded->metadata.refs, table->metadata.refs);
    return table->metadata;
  }
  size_t metadata_files(const TableMetadata& table) {
    size_t count = 0;
    for (const auto& file : *place_.files->list(table.location + "/metadata/"))
      count += file.location.ends_with(".metadata.json");
    return count;
  }

  const TableId orders_{{"db"}, "orders"};
  CatalogPlace place_;
  std::shared_ptr<FaultPlan> plan_;
  std::shared_ptr<HookedFileIO> files_;
  std::shared_ptr<Catalog> catalog_;
};

TEST_P(CatalogConformance, KeepsNamespacesWithTheirParents) {
  EXPECT_TRUE(is_ok(catalog().create_namespace({"a", "b", "c"})));
  const auto found = another()->list_namespaces();
  ASSERT_TRUE(is_ok(found));
  EXPECT_EQ(*found, (std::vector<Namespace>{{"a"}, {"a", "b"}, {"a", "b", "c"}, {"db"}}));
  EXPECT_TRUE(fails_with(catalog().create_namespace({"db"}), Code::kExists));
  EXPECT_TRUE(fails_with(catalog().create_namespace({"a", "b"}), Code::kExists));
  EXPECT_TRUE(is_ok(catalog().create_namespace({"a", "x"})));
}

TEST_P(CatalogConformance, RefusesNamesThatNoCatalogCanHold) {
  EXPECT_TRUE(fails_with(catalog().create_namespace({}), Code::kInvalid));
  EXPECT_TRUE(fails_with(catalog().create_namespace({""}), Code::kInvalid));
  EXPECT_TRUE(fails_with(catalog().create_namespace({"a.b"}), Code::kInvalid));
  EXPECT_TRUE(fails_with(catalog().create_namespace({std::string("a\0b", 3)}), Code::kInvalid));
  EXPECT_TRUE(fails_with(catalog().create_table({{"db"}, ""}, sample_table()), Code::kInvalid));
  EXPECT_TRUE(fails_with(catalog().create_table({{"db"}, "a\nb"}, sample_table()), Code::kInvalid));
  EXPECT_TRUE(fails_with(catalog().create_table({{}, "a"}, sample_table()), Code::kInvalid));
}

TEST_P(CatalogConformance, CreatesATableBelowItsWarehouse) {
  const LoadedTable created = create();
  EXPECT_EQ(created.metadata.location, place_.warehouse + "/db/orders");
  EXPECT_TRUE(created.metadata_location.starts_with(created.metadata.location + "/metadata/00000-"))
      << created.metadata_location;
  EXPECT_TRUE(created.metadata_location.ends_with(".metadata.json")) << created.metadata_location;
  const TableMetadata loaded = load();
  EXPECT_EQ(loaded.table_uuid, created.metadata.table_uuid);
  EXPECT_EQ(loaded.format_version, 2);
  EXPECT_EQ(*loaded.current_schema(), *created.metadata.current_schema());
  EXPECT_EQ(loaded.current_schema()->fields.size(), 3u);
  ASSERT_EQ(loaded.default_spec().fields.size(), 1u);
  EXPECT_EQ(loaded.default_spec().fields[0].name, "id_bucket");
  EXPECT_FALSE(loaded.current_snapshot_id.has_value());
  EXPECT_EQ(*another()->list_tables({"db"}), std::vector{orders_});
}

TEST_P(CatalogConformance, TakesTheLocationOfTheRequest) {
  auto request = sample_table();
  request.location = place_.warehouse + "/elsewhere/";
  const auto created = catalog().create_table(orders_, request);
  ASSERT_TRUE(is_ok(created));
  EXPECT_EQ(load().location, place_.warehouse + "/elsewhere");
}

TEST_P(CatalogConformance, CreatesNoTableTwice) {
  const LoadedTable created = create();
  EXPECT_TRUE(fails_with(catalog().create_table(orders_, sample_table()), Code::kExists));
  EXPECT_EQ(load().table_uuid, created.metadata.table_uuid);
}

TEST_P(CatalogConformance, CreatesNoTableOverOneThatARivalCreated) {
  files_->before_next_close([&] { create(); });
  EXPECT_TRUE(fails_with(another()->create_table(orders_, sample_table()), Code::kExists));
  EXPECT_EQ(metadata_files(load()), 2u);
}

TEST_P(CatalogConformance, SaysWhatDoesNotExist) {
  const TableId absent{{"db"}, "absent"};
  const TableId nowhere{{"nowhere"}, "t"};
  EXPECT_TRUE(fails_with(catalog().load_table(absent), Code::kNotFound));
  EXPECT_TRUE(fails_with(catalog().load_table(nowhere), Code::kNotFound));
  EXPECT_TRUE(fails_with(catalog().commit_table(absent, set_property("a", "b")), Code::kNotFound));
  EXPECT_TRUE(fails_with(catalog().drop_table(absent), Code::kNotFound));
  EXPECT_TRUE(fails_with(catalog().create_table(nowhere, sample_table()), Code::kNotFound));
  EXPECT_TRUE(fails_with(catalog().list_tables({"nowhere"}), Code::kNotFound));
  EXPECT_NE(catalog().load_table(absent).error().message().find("db.absent"), std::string::npos);
}

TEST_P(CatalogConformance, DropsTheNameAndKeepsTheFiles) {
  const LoadedTable created = create();
  EXPECT_TRUE(is_ok(catalog().drop_table(orders_)));
  EXPECT_TRUE(fails_with(another()->load_table(orders_), Code::kNotFound));
  EXPECT_TRUE(another()->list_tables({"db"})->empty());
  EXPECT_TRUE(is_ok(place_.files->read(created.metadata_location)));
  EXPECT_NE(create().metadata.table_uuid, created.metadata.table_uuid);
}

TEST_P(CatalogConformance, SetsAndRemovesProperties) {
  create();
  commit(set_property("frazil.orders", R"({"snapshot":1,"text":"it's \"quoted\" ✓"})"));
  commit(set_property("other", "x"));
  const TableMetadata table = commit(
      {.requirements = {}, .updates = {iceberg::SetProperties{{{"more", "y"}}}, iceberg::RemoveProperties{{"other"}}}});
  EXPECT_EQ(table.property("frazil.orders"), R"({"snapshot":1,"text":"it's \"quoted\" ✓"})");
  EXPECT_EQ(table.property("more"), "y");
  EXPECT_FALSE(table.properties.contains("other"));
  EXPECT_EQ(table.metadata_log.size(), 3u);
}

TEST_P(CatalogConformance, NamesEachMetadataFileByItsVersion) {
  create();
  for (int version = 1; version <= 3; ++version) {
    const auto table = catalog().commit_table(orders_, set_property("v", std::to_string(version)));
    ASSERT_TRUE(is_ok(table));
    EXPECT_NE(table->metadata_location.find("/metadata/0000" + std::to_string(version) + "-"), std::string::npos);
    EXPECT_TRUE(is_ok(place_.files->read(table->metadata.metadata_log.back().metadata_file)));
  }
}

TEST_P(CatalogConformance, AppendsOnTheAssertedHeadOnly) {
  const TableMetadata empty = create().metadata;
  const TableMetadata one = commit(append(empty, next_snapshot(empty)));
  const TableMetadata two = commit(append(one, next_snapshot(one)));
  EXPECT_EQ(two.snapshots.size(), 2u);
  EXPECT_EQ(two.last_sequence_number, 2);
  EXPECT_EQ(two.snapshot_log.size(), 2u);
  for (const TableMetadata& stale : {empty, one}) {
    EXPECT_TRUE(fails_with(catalog().commit_table(orders_, append(stale, next_snapshot(two))), Code::kConflict));
  }
  EXPECT_EQ(load().current_snapshot_id, two.current_snapshot_id);
}

TEST_P(CatalogConformance, ChecksEveryRequirement) {
  const TableMetadata table = create().metadata;
  const std::vector<iceberg::Requirement> failing = {iceberg::AssertCreate{},
                                                     iceberg::AssertTableUuid{"00000000-0000-4000-8000-000000000000"},
                                                     iceberg::AssertRefSnapshotId{"main", 42},
                                                     iceberg::AssertRefSnapshotId{"frazil-orders", 42},
                                                     iceberg::AssertCurrentSchemaId{table.current_schema_id + 1},
                                                     iceberg::AssertDefaultSpecId{table.default_spec_id + 1}};
  for (const auto& requirement : failing) {
    TableCommit commit = set_property("a", "b");
    commit.requirements = {iceberg::AssertTableUuid{table.table_uuid}, requirement};
    EXPECT_TRUE(fails_with(catalog().commit_table(orders_, commit), Code::kConflict)) << requirement.index();
  }
  EXPECT_FALSE(load().properties.contains("a"));
  EXPECT_EQ(metadata_files(table), 1u);
}

TEST_P(CatalogConformance, RefusesASequenceNumberThatDoesNotGrow) {
  const TableMetadata empty = create().metadata;
  const TableMetadata one = commit(append(empty, next_snapshot(empty)));
  iceberg::Snapshot stale = next_snapshot(one);
  stale.sequence_number = one.last_sequence_number;
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, append(one, stale)), Code::kConflict));
}

TEST_P(CatalogConformance, MovesATagWithItsSnapshot) {
  const TableMetadata empty = create().metadata;
  const auto with_tag = [](const TableMetadata& table, std::optional<int64_t> tag_was) {
    const auto snapshot = next_snapshot(table);
    TableCommit commit = append(table, snapshot);
    commit.requirements.push_back(iceberg::AssertRefSnapshotId{"frazil-orders", tag_was});
    auto tag = move_tag("frazil-orders", snapshot.snapshot_id);
    tag.ref.max_ref_age_ms = INT64_MAX;
    commit.updates.push_back(tag);
    return commit;
  };
  const TableMetadata one = commit(with_tag(empty, std::nullopt));
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, with_tag(one, std::nullopt)), Code::kConflict));
  const TableMetadata two = commit(with_tag(one, one.current_snapshot_id));
  ASSERT_TRUE(two.refs.contains("frazil-orders"));
  EXPECT_EQ(two.refs.at("frazil-orders").snapshot_id, *two.current_snapshot_id);
  EXPECT_FALSE(two.refs.at("frazil-orders").is_branch);
  EXPECT_EQ(two.refs.at("frazil-orders").max_ref_age_ms, INT64_MAX);
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, with_tag(two, one.current_snapshot_id)), Code::kConflict));
  const TableMetadata gone = commit({.requirements = {}, .updates = {iceberg::RemoveSnapshotRef{"frazil-orders"}}});
  EXPECT_FALSE(gone.refs.contains("frazil-orders"));
}

TEST_P(CatalogConformance, ExpiresWhileItAppends) {
  const TableMetadata empty = create().metadata;
  const TableMetadata one = commit(append(empty, next_snapshot(empty)));
  const TableMetadata two = commit(append(one, next_snapshot(one)));
  const auto snapshot = next_snapshot(two);
  TableCommit both = append(two, snapshot);
  both.updates.push_back(iceberg::RemoveSnapshots{{*one.current_snapshot_id}});
  const TableMetadata three = commit(both);
  EXPECT_EQ(three.snapshots.size(), 2u);
  EXPECT_EQ(three.snapshot(*one.current_snapshot_id), nullptr);
  EXPECT_EQ(three.current_snapshot_id, snapshot.snapshot_id);
  EXPECT_EQ(three.last_sequence_number, 3);
  EXPECT_TRUE(is_ok(place_.files->read(three.metadata_log.back().metadata_file)));
}

TEST_P(CatalogConformance, TakesAnAppendAndAReplaceInOneUpdate) {
  const TableMetadata empty = create().metadata;
  const auto first = next_snapshot(empty);
  auto second = next_snapshot(empty);
  second.parent_snapshot_id = first.snapshot_id;
  second.sequence_number = first.sequence_number + 1;
  second.timestamp_ms = first.timestamp_ms + 1;
  second.summary["operation"] = "replace";
  TableCommit both = append(empty, first);
  both.updates.push_back(iceberg::AddSnapshot{second});
  both.updates.push_back(move_branch(second.snapshot_id));
  const TableMetadata table = commit(both);
  EXPECT_EQ(table.snapshots.size(), 2u);
  EXPECT_TRUE(table.is_ancestor(first.snapshot_id, second.snapshot_id));
  ASSERT_EQ(table.snapshot_log.size(), 1u);
  EXPECT_EQ(table.snapshot_log[0].snapshot_id, second.snapshot_id);
}

TEST_P(CatalogConformance, LosesToARivalThatCommitsMeanwhile) {
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
TEST_P(CatalogConformance, LosesToARivalEvenWithoutRequirements) {
  create();
  files_->before_next_close([&] { commit(set_property("rival", "1")); });
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, set_property("ours", "1")), Code::kConflict));
  EXPECT_FALSE(load().properties.contains("ours"));
  EXPECT_TRUE(load().properties.contains("rival"));
}

TEST_P(CatalogConformance, LosesToARivalThatDropsOrReplacesTheTable) {
  create();
  files_->before_next_close([&] { EXPECT_TRUE(is_ok(another()->drop_table(orders_))); });
  EXPECT_TRUE(fails_with(catalog().commit_table(orders_, set_property("a", "b")), Code::kConflict));
  EXPECT_TRUE(fails_with(catalog().load_table(orders_), Code::kNotFound));
}

TEST_P(CatalogConformance, LetsOneOfTwelveRacersWin) {
  TableMetadata table = create().metadata;
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> won{0}, lost{0};
    std::vector<base::Lane> racers;
    for (int i = 0; i < 12; ++i) {
      racers.emplace_back("racer", [&, mine = another()] {
        const auto done = mine->commit_table(orders_, append(table, next_snapshot(table)));
        if (done.ok())
          ++won;
        else if (fails_with(done, Code::kConflict))
          ++lost;
        else
          ADD_FAILURE() << done.error().message();
      });
    }
    for (base::Lane& racer : racers) racer.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(lost, 11);
    table = load();
    EXPECT_EQ(table.last_sequence_number, round + 1);
  }
}

TEST_P(CatalogConformance, LetsOneOfTwelveCreatorsWin) {
  std::atomic<int> won{0}, lost{0};
  std::vector<base::Lane> racers;
  for (int i = 0; i < 12; ++i) {
    racers.emplace_back("creator", [&, mine = another()] {
      const auto done = mine->create_table(orders_, sample_table());
      if (done.ok())
        ++won;
      else if (fails_with(done, Code::kExists))
        ++lost;
      else
        ADD_FAILURE() << done.error().message();
    });
  }
  for (base::Lane& racer : racers) racer.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 11);
}

TEST_P(CatalogConformance, KeepsOneHistoryUnderWritersThatReload) {
  create();
  std::vector<base::Lane> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back("writer", [&, mine = another()] {
      for (int done = 0; done < 6;) {
        const auto table = mine->load_table(orders_);
        ASSERT_TRUE(is_ok(table));
        const auto answer = mine->commit_table(orders_, append(table->metadata, next_snapshot(table->metadata)));
        if (answer.ok())
          ++done;
        else
          ASSERT_TRUE(fails_with(answer, Code::kConflict));
      }
    });
  }
  for (base::Lane& writer : writers) writer.join();
  const TableMetadata table = load();
  ASSERT_EQ(table.snapshots.size(), 24u);
  std::set<int64_t> sequence_numbers;
  for (const auto& snapshot : table.snapshots) {
    sequence_numbers.insert(snapshot.sequence_number);
    EXPECT_TRUE(table.is_ancestor(snapshot.snapshot_id, *table.current_snapshot_id));
  }
  EXPECT_EQ(*sequence_numbers.begin(), 1);
  EXPECT_EQ(*sequence_numbers.rbegin(), 24);
  EXPECT_EQ(sequence_numbers.size(), 24u);
}

TEST_P(CatalogConformance, TakesNamesAsTheyAre) {
  const std::vector<std::string> names = {"with space",
                                          "per%20cent",
                                          "what?",
                                          "a#b",
                                          "quote'\"",
                                          "emoji \xF0\x9F\xA7\x8A",
                                          "\xC3\xA4\xC3\xB6",
                                          "sl/ash",
                                          "under_score",
                                          "underXscore",
                                          std::string(200, 'n'),
                                          "..",
                                          "Case",
                                          "case",
                                          "'; DROP TABLE iceberg_tables; --"};
  for (const std::string& name : names) {
    const std::string ns = name == ".." ? "dots" : name;
    ASSERT_TRUE(is_ok(catalog().create_namespace({ns}))) << name;
    ASSERT_TRUE(is_ok(catalog().create_table({{ns}, name}, sample_table()))) << name;
  }
  std::set<std::string> locations;
  for (const std::string& name : names) {
    const TableId id{{name == ".." ? "dots" : name}, name};
    ASSERT_TRUE(is_ok(another()->commit_table(id, set_property("name", name))));
    const TableMetadata table = load(id);
    EXPECT_EQ(table.property("name"), name);
    EXPECT_TRUE(table.location.starts_with(place_.warehouse + "/"));
    EXPECT_EQ(table.location.substr(place_.warehouse.size()).find_first_of("?#%"), std::string::npos) << table.location;
    locations.insert(table.location);
    EXPECT_EQ(*another()->list_tables(id.ns), std::vector{id});
  }
  EXPECT_EQ(locations.size(), names.size());
}

TEST_P(CatalogConformance, RemovesForgottenMetadataFilesOnlyWhenTheTableAsks) {
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

TEST_P(CatalogConformance, KeepsTablesOfNestedNamespacesApart) {
  ASSERT_TRUE(is_ok(catalog().create_namespace({"db", "inner"})));
  const TableMetadata outer = create().metadata;
  const TableMetadata inner = create({{"db", "inner"}, "orders"}).metadata;
  EXPECT_NE(outer.location, inner.location);
  EXPECT_EQ(*catalog().list_tables({"db"}), std::vector{orders_});
  EXPECT_EQ(load({{"db", "inner"}, "orders"}).table_uuid, inner.table_uuid);
}

TEST_P(CatalogConformance, ReportsANamedFileThatIsMissingAsCorrupt) {
  const LoadedTable created = create();
  ASSERT_TRUE(is_ok(place_.files->remove(created.metadata_location)));
  const auto loaded = catalog().load_table(orders_);
  EXPECT_TRUE(fails_with(loaded, Code::kCorrupt));
  EXPECT_NE(loaded.error().message().find(created.metadata_location), std::string::npos);
}

// Whatever fails in the store, the name has not moved: never unknown, never a conflict, and the next attempt succeeds.
TEST_P(CatalogConformance, ChangesNothingWhenTheStoreFailsAtAnyOperation) {
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

TEST_P(CatalogConformance, CreatesNothingWhenTheStoreFailsAtAnyOperation) {
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

TEST_P(CatalogConformance, GivesItsFileIO) {
  const LoadedTable created = create();
  EXPECT_TRUE(is_ok(catalog().file_io()->read(created.metadata_location)));
}

TEST(ParseTableId, SplitsAtDots) {
  EXPECT_EQ(*iceberg::parse_table_id("shop.orders"), (TableId{{"shop"}, "orders"}));
  EXPECT_EQ(*iceberg::parse_table_id("a.b.orders"), (TableId{{"a", "b"}, "orders"}));
  EXPECT_EQ(iceberg::parse_table_id("a.b.orders")->text(), "a.b.orders");
  for (const char* wrong : {"", "orders", ".orders", "shop.", "a..b", "."}) {
    EXPECT_TRUE(fails_with(iceberg::parse_table_id(wrong), Code::kInvalid)) << wrong;
  }
}

CatalogPlace memory_place() {
  CatalogPlace place{.open = nullptr, .files = io::make_memory_file_io(), .warehouse = "memory://lake"};
  place.open = [](std::shared_ptr<io::FileIO> files) -> std::shared_ptr<Catalog> {
    return iceberg::make_memory_catalog("memory://lake/", std::move(files));
  };
  return place;
}

// `prepare` runs on the new database file before the catalog sees it.
CatalogPlace sqlite_place(const std::vector<std::string>& prepare) {
  auto folder = std::make_shared<ScratchFolder>();
  const std::string path = folder->path() + "/catalog.db";
  if (!prepare.empty()) {
    const auto database = iceberg::SqliteDatabase::open(path, {});
    EXPECT_TRUE(is_ok(database));
    for (const std::string& sql : prepare) EXPECT_TRUE(is_ok((*database)->query(sql)));
  }
  const std::string warehouse = folder->uri() + "/ware house";
  CatalogPlace place{
      .open = nullptr, .files = io::make_local_file_io(), .warehouse = warehouse, .survives_its_object = true};
  place.open = [folder, path, warehouse](std::shared_ptr<io::FileIO> files) -> std::shared_ptr<Catalog> {
    auto catalog = iceberg::open_sqlite_catalog(path, "lake", warehouse, std::move(files));
    EXPECT_TRUE(is_ok(catalog));
    return catalog.ok() ? std::move(catalog).value() : nullptr;
  };
  return place;
}

// The first layout of Java's JdbcCatalog.
const char kJavaTables[] =
    "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,table_namespace VARCHAR(255) NOT NULL,table_name "
    "VARCHAR(255) "
    "NOT NULL,metadata_location VARCHAR(1000),previous_metadata_location VARCHAR(1000),PRIMARY KEY (catalog_name, "
    "table_namespace, "
    "table_name))";

INSTANTIATE_TEST_SUITE_P(
    Catalogs, CatalogConformance,
    testing::Values(CatalogKind{"Memory", memory_place}, CatalogKind{"Sqlite", [] { return sqlite_place({}); }},
                    CatalogKind{"SqliteWithoutTypes", [] { return sqlite_place({kJavaTables}); }},
                    CatalogKind{"SqliteWriteAheadLog", [] { return sqlite_place({"PRAGMA journal_mode = WAL"}); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace frazil::conformance
