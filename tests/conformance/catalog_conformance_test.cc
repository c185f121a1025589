// What every Catalog does. A new implementation joins in catalog_places.cc.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "iceberg/catalog.h"
#include "io/location.h"
#include "tests/conformance/catalog_suite.h"

namespace frazil::conformance {
namespace {

using base::Code;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::TableCommit;
using iceberg::TableId;
using iceberg::TableMetadata;

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
  EXPECT_TRUE(io::canonical_location(created.metadata_location).starts_with(created.metadata.location + "/metadata/"))
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
  if (place_.keeps_files_of_dropped_tables) {
    EXPECT_TRUE(is_ok(catalog().file_io()->read(created.metadata_location)));
  }
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
  const std::vector<iceberg::Requirement> failing = {iceberg::AssertTableUuid{"00000000-0000-4000-8000-000000000000"},
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
}

TEST_P(CatalogConformance, RefusesToCreateByACommitWhatIsThere) {
  create();
  TableCommit commit = set_property("a", "b");
  commit.requirements = {iceberg::AssertCreate{}};
  EXPECT_FALSE(catalog().commit_table(orders_, commit).ok());
  EXPECT_FALSE(load().properties.contains("a"));
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
  EXPECT_TRUE(is_ok(catalog().file_io()->read(three.metadata_log.back().metadata_file)));
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
  EXPECT_EQ(won + lost, 12);
  EXPECT_GE(won, 1);
  if (place_.creates_atomically) {
    EXPECT_EQ(won, 1);
  }
  EXPECT_TRUE(is_ok(another()->load_table(orders_)));
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
  const auto namespace_of = [](const std::string& name) { return Namespace{name == ".." ? "dots" : name}; };
  for (const std::string& name : place_.table_names) {
    ASSERT_TRUE(is_ok(catalog().create_namespace(namespace_of(name)))) << name;
    ASSERT_TRUE(is_ok(catalog().create_table({namespace_of(name), name}, sample_table()))) << name;
  }
  std::set<std::string> locations;
  for (const std::string& name : place_.table_names) {
    const TableId id{namespace_of(name), name};
    ASSERT_TRUE(is_ok(another()->commit_table(id, set_property("name", name))));
    const TableMetadata table = load(id);
    EXPECT_EQ(table.property("name"), name);
    EXPECT_TRUE(table.location.starts_with(place_.warehouse + "/"));
    // Services lay out their tables as they like.
    if (place_.files) {
      EXPECT_EQ(table.location.substr(place_.warehouse.size()).find_first_of("?#%"), std::string::npos) << table.location;
    }
    locations.insert(table.location);
    EXPECT_EQ(*another()->list_tables(id.ns), std::vector{id});
  }
  EXPECT_EQ(locations.size(), place_.table_names.size());
}

TEST_P(CatalogConformance, KeepsTablesOfNestedNamespacesApart) {
  ASSERT_TRUE(is_ok(catalog().create_namespace({"db", "inner"})));
  const TableMetadata outer = create().metadata;
  const TableMetadata inner = create({{"db", "inner"}, "orders"}).metadata;
  EXPECT_NE(outer.location, inner.location);
  EXPECT_EQ(*catalog().list_tables({"db"}), std::vector{orders_});
  EXPECT_EQ(load({{"db", "inner"}, "orders"}).table_uuid, inner.table_uuid);
}

TEST_P(CatalogConformance, CommitsSeveralTablesByOneRequestOrSaysThatItCannot) {
  const TableId letters{{"db"}, "letters"};
  const TableMetadata first = create().metadata, second = create(letters).metadata;
  const auto both = [&](const TableMetadata& a, const TableMetadata& b) {
    return catalog().commit_tables({{orders_, append(a, next_snapshot(a))}, {letters, append(b, next_snapshot(b))}});
  };
  if (!place_.commits_several_tables) {
    EXPECT_TRUE(fails_with(both(first, second), Code::kUnsupported));
    EXPECT_TRUE(load().snapshots.empty());
    return;
  }
  ASSERT_TRUE(is_ok(both(first, second)));
  const TableMetadata one = load(), other = load(letters);
  EXPECT_EQ(one.snapshots.size(), 1u);
  EXPECT_EQ(other.snapshots.size(), 1u);
  EXPECT_TRUE(fails_with(both(one, second), Code::kConflict));
  EXPECT_EQ(load().snapshots.size(), 1u);
  EXPECT_EQ(load(letters).snapshots.size(), 1u);
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

std::vector<CatalogKind> all_catalogs() {
  std::vector<CatalogKind> kinds = metadata_file_catalogs();
  for (CatalogKind& kind : catalog_services()) kinds.push_back(std::move(kind));
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Catalogs, CatalogConformance, testing::ValuesIn(all_catalogs()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace frazil::conformance
