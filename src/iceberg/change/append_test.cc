#include "iceberg/change/append.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "iceberg/new_table.h"
#include "iceberg/scan.h"
#include "io/memory_file_io.h"

namespace frazil::iceberg {
namespace {

using columnar::Type;
using columnar::TypeId;

constexpr int64_t kNow = 1'700'000'000'000;

DataFile data_file(const std::string& name, int32_t bucket = 0, int64_t rows = 10) {
  DataFile file;
  file.file_path = "memory:///t/data/" + name;
  file.partition = {Literal(bucket)};
  file.record_count = rows;
  file.file_size_in_bytes = rows * 100;
  return file;
}

// A table and the commits that tests make to it.
struct Table {
  std::shared_ptr<io::FileIO> io = io::make_memory_file_io();
  TableMetadata metadata;
  int64_t next_id = 1;

  explicit Table(const Properties& properties = {}) {
    CreateTable request;
    request.schema.fields = {{1, "id", false, Type::primitive(TypeId::kLong), ""}};
    request.spec = parse_partition_spec({"bucket(4, id)"}, request.schema).value();
    request.properties = properties;
    metadata = new_table_metadata(request, "memory:///t", kNow).value();
  }

  void commit(const Snapshot& snapshot) {
    const auto after = apply(metadata, {AddSnapshot{snapshot}, SetSnapshotRef{"main", {snapshot.snapshot_id, true, {}, {}, {}}}}, kNow);
    ASSERT_TRUE(after.ok()) << after.error().message();
    metadata = *after;
  }

  void append(const std::vector<DataFile>& files) {
    Append change(io, next_id++);
    for (const DataFile& file : files) change.add(file, 0);
    const auto snapshot = change.prepare(metadata);
    ASSERT_TRUE(snapshot.ok()) << snapshot.error().message();
    commit(*snapshot);
  }

  std::map<std::string, LiveFile> live() {
    std::map<std::string, LiveFile> files;
    const auto found = live_files(*io, metadata, *metadata.current_snapshot_id);
    EXPECT_TRUE(found.ok()) << found.error().message();
    for (const LiveFile& file : *found) EXPECT_TRUE(files.emplace(file.file.file_path, file).second) << file.file.file_path;
    return files;
  }

  size_t manifest_count() { return manifests_of(*io, *metadata.current_snapshot())->manifests.size(); }
};

TEST(Append, MakesFilesVisibleWithTheirNumbers) {
  Table table;
  table.append({data_file("a"), data_file("b", 1, 5)});
  table.append({data_file("c", 2, 1)});
  const auto live = table.live();
  ASSERT_EQ(live.size(), 3U);
  EXPECT_EQ(live.at("memory:///t/data/a").sequence_number, 1);
  EXPECT_EQ(live.at("memory:///t/data/c").sequence_number, 2);
  EXPECT_EQ(live.at("memory:///t/data/c").added_snapshot_id, 2);
  const Properties& summary = table.metadata.current_snapshot()->summary;
  EXPECT_EQ(summary, (Properties{{"operation", "append"}, {"added-data-files", "1"}, {"added-records", "1"}, {"added-files-size", "100"},
                                 {"changed-partition-count", "1"}, {"total-data-files", "3"}, {"total-records", "16"},
                                 {"total-files-size", "1600"}, {"total-delete-files", "0"}, {"total-position-deletes", "0"},
                                 {"total-equality-deletes", "0"}}));
  EXPECT_EQ(table.metadata.current_snapshot()->parent_snapshot_id, 1);
  EXPECT_TRUE(table.metadata.current_snapshot()->manifest_list.starts_with("memory:///t/metadata/snap-2-1-"));
}

TEST(Append, WithoutFilesIsAnEmptySnapshotThatCarriesOn) {
  Table table;
  table.append({});
  EXPECT_EQ(table.manifest_count(), 0U);
  table.append({data_file("a")});
  table.append({});
  EXPECT_EQ(table.live().size(), 1U);
  EXPECT_EQ(table.metadata.current_snapshot()->summary.at("total-records"), "10");
  EXPECT_EQ(table.metadata.current_snapshot()->summary.at("changed-partition-count"), "0");
}

TEST(Append, CarriesSummaryAndListHeader) {
  Table table;
  Append change(table.io, 1);
  change.add(data_file("a"), 0);
  change.set_summary({{"frazil.epoch", "7"}});
  change.set_manifest_list_header({{"frazil.positions", "{\"v\":1}"}});
  const Snapshot snapshot = change.prepare(table.metadata).value();
  EXPECT_EQ(snapshot.summary.at("frazil.epoch"), "7");
  EXPECT_EQ(manifests_of(*table.io, snapshot)->header.at("frazil.positions"), "{\"v\":1}");
}

TEST(Append, RebasesOnWhatOthersCommittedWithTheSameManifest) {
  Table table;
  Append change(table.io, 100);
  change.add(data_file("mine"), 0);
  const Snapshot first = change.prepare(table.metadata).value();
  table.append({data_file("theirs")});
  const Snapshot second = change.prepare(table.metadata).value();
  EXPECT_NE(first.manifest_list, second.manifest_list);
  EXPECT_EQ(second.sequence_number, 2);
  EXPECT_EQ(manifests_of(*table.io, first)->manifests[0].manifest_path, manifests_of(*table.io, second)->manifests[0].manifest_path);
  table.commit(second);
  EXPECT_EQ(table.live().at("memory:///t/data/mine").sequence_number, 2);
  EXPECT_EQ(table.live().size(), 2U);
  EXPECT_EQ(table.metadata.current_snapshot()->summary.at("total-records"), "20");
}

TEST(Append, LeavesTotalsUntoldThatTheParentDoesNotTell) {
  Table table;
  table.append({data_file("a")});
  table.metadata.snapshots.back().summary = {{"operation", "append"}, {"total-records", "many"}};
  table.append({data_file("b")});
  EXPECT_FALSE(table.metadata.current_snapshot()->summary.contains("total-records"));
  EXPECT_FALSE(table.metadata.current_snapshot()->summary.contains("total-data-files"));
}

TEST(Append, KeepsTimeMovingForward) {
  Table table;
  table.metadata.last_updated_ms = INT64_C(9'000'000'000'000);
  table.append({});
  EXPECT_EQ(table.metadata.current_snapshot()->timestamp_ms, INT64_C(9'000'000'000'000));
  table.append({});
  EXPECT_EQ(table.metadata.current_snapshot()->timestamp_ms, INT64_C(9'000'000'000'001));
}

TEST(Append, RefusesAnUnknownSpec) {
  Table table;
  Append change(table.io, 1);
  change.add(data_file("a"), 5);
  EXPECT_EQ(change.prepare(table.metadata).error().code(), base::Code::kInvalid);
}

TEST(Append, AdoptsTheFilesOfAManifestWrittenEarlier) {
  Table table;
  const auto& schema = *table.metadata.current_schema();
  ASSERT_TRUE(write_manifest(*table.io, "memory:///owed.avro", schema, table.metadata.default_spec(), 55, {data_file("a"), data_file("b")}, {}).ok());
  Append change(table.io, 1);
  change.add_manifest_files(read_manifest(*table.io, "memory:///owed.avro").value(), 0);
  table.commit(change.prepare(table.metadata).value());
  EXPECT_EQ(table.live().size(), 2U);
  EXPECT_EQ(table.live().at("memory:///t/data/a").added_snapshot_id, 1);
}

TEST(ManifestMerge, WaitsForTheCountThenKeepsNumbersOfEveryFile) {
  Table table(Properties{{"commit.manifest.min-count-to-merge", "4"}});
  for (int i = 1; i <= 3; ++i) table.append({data_file(std::to_string(i))});
  EXPECT_EQ(table.manifest_count(), 3U);
  table.append({data_file("4")});
  EXPECT_EQ(table.manifest_count(), 1U);
  table.append({data_file("5")});
  EXPECT_EQ(table.manifest_count(), 2U);
  const auto live = table.live();
  ASSERT_EQ(live.size(), 5U);
  for (int i = 1; i <= 5; ++i) {
    const LiveFile& file = live.at("memory:///t/data/" + std::to_string(i));
    EXPECT_EQ(file.sequence_number, i);
    EXPECT_EQ(file.file_sequence_number, i);
    EXPECT_EQ(file.added_snapshot_id, i);
  }
}

TEST(ManifestMerge, MarksOldEntriesExistingAndOwnOnesAdded) {
  Table table(Properties{{"commit.manifest.min-count-to-merge", "2"}});
  table.append({data_file("1")});
  table.append({data_file("2")});
  const auto list = manifests_of(*table.io, *table.metadata.current_snapshot()).value();
  ASSERT_EQ(list.manifests.size(), 1U);
  EXPECT_EQ(list.manifests[0].added_files_count, 1);
  EXPECT_EQ(list.manifests[0].existing_files_count, 1);
  EXPECT_EQ(list.manifests[0].min_sequence_number, 1);
  EXPECT_EQ(list.manifests[0].sequence_number, 2);
}

TEST(ManifestMerge, IsOffWhenTheTableSaysSo) {
  Table table(Properties{{"commit.manifest.min-count-to-merge", "2"}, {"commit.manifest-merge.enabled", "false"}});
  for (int i = 0; i < 5; ++i) table.append({data_file(std::to_string(i))});
  EXPECT_EQ(table.manifest_count(), 5U);
}

TEST(ManifestMerge, StopsAtTheTargetSize) {
  Table table(Properties{{"commit.manifest.min-count-to-merge", "2"}, {"commit.manifest.target-size-bytes", "1"}});
  for (int i = 0; i < 5; ++i) table.append({data_file(std::to_string(i))});
  EXPECT_EQ(table.manifest_count(), 5U);
}

TEST(ManifestMerge, KeepsSpecsApart) {
  Table table(Properties{{"commit.manifest.min-count-to-merge", "2"}});
  table.append({data_file("1")});
  PartitionSpec plain;
  plain.spec_id = 1;
  table.metadata.specs.push_back(plain);
  DataFile unpartitioned = data_file("2");
  unpartitioned.partition.clear();
  Append change(table.io, table.next_id++);
  change.add(unpartitioned, 1);
  table.commit(change.prepare(table.metadata).value());
  EXPECT_EQ(table.manifest_count(), 2U);
  EXPECT_EQ(table.live().at("memory:///t/data/2").spec_id, 1);
}

TEST(ManifestMerge, IsDoneOnceForSeveralAttempts) {
  Table table(Properties{{"commit.manifest.min-count-to-merge", "2"}});
  table.append({data_file("1")});
  Append change(table.io, 100);
  change.add(data_file("2"), 0);
  const Snapshot first = change.prepare(table.metadata).value();
  const Snapshot second = change.prepare(table.metadata).value();
  EXPECT_EQ(manifests_of(*table.io, first)->manifests[0].manifest_path, manifests_of(*table.io, second)->manifests[0].manifest_path);
}

RC_GTEST_PROP(ManifestMerge, LosesAndDoublesNoFile, ()) {
  const auto min_count = *rc::gen::inRange(1, 5);
  const auto target = *rc::gen::inRange(1, 20'000);
  Table table(Properties{{"commit.manifest.min-count-to-merge", std::to_string(min_count)}, {"commit.manifest.target-size-bytes", std::to_string(target)}});
  std::map<std::string, int64_t> expected;
  const auto commits = *rc::gen::inRange(1, 8);
  for (int commit = 1; commit <= commits; ++commit) {
    std::vector<DataFile> files;
    const auto count = *rc::gen::inRange(0, 3);
    for (int i = 0; i < count; ++i) {
      files.push_back(data_file(std::to_string(commit) + "-" + std::to_string(i), i));
      expected[files.back().file_path] = commit;
    }
    table.append(files);
  }
  std::map<std::string, int64_t> found;
  for (const auto& [path, file] : table.live()) found[path] = file.sequence_number;
  RC_ASSERT(found == expected);
}

TEST(Delete, TakesFilesOutAndKeepsTheOthersNumbers) {
  Table table;
  table.append({data_file("a"), data_file("b")});
  table.append({data_file("c")});
  const auto snapshot = prepare_delete(table.io, table.metadata, 50,
                                       [](const DataFile& file, int64_t added) { return added == 1 && file.file_path.ends_with("a"); },
                                       {{"frazil.reason", "void"}});
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message();
  EXPECT_EQ(snapshot->summary.at("operation"), "delete");
  EXPECT_EQ(snapshot->summary.at("deleted-data-files"), "1");
  EXPECT_EQ(snapshot->summary.at("deleted-records"), "10");
  EXPECT_EQ(snapshot->summary.at("total-data-files"), "2");
  EXPECT_EQ(snapshot->summary.at("frazil.reason"), "void");
  table.commit(*snapshot);
  const auto live = table.live();
  ASSERT_EQ(live.size(), 2U);
  EXPECT_EQ(live.at("memory:///t/data/b").sequence_number, 1);
  EXPECT_EQ(live.at("memory:///t/data/b").added_snapshot_id, 1);
  table.append({data_file("d")});
  EXPECT_EQ(table.live().size(), 3U);
}

TEST(Delete, OfEverythingLeavesNoManifestForTheNextCommit) {
  Table table;
  table.append({data_file("a")});
  table.commit(prepare_delete(table.io, table.metadata, 50, [](const DataFile&, int64_t) { return true; }, {}).value());
  EXPECT_TRUE(table.live().empty());
  table.append({});
  EXPECT_EQ(table.manifest_count(), 0U);
}

// Snapshots 1 to `count`, a second apart, the newest at kNow.
TableMetadata history(int count, const Properties& properties = {}) {
  TableMetadata metadata = Table(properties).metadata;
  for (int id = 1; id <= count; ++id) {
    Snapshot snapshot;
    snapshot.snapshot_id = id;
    if (id > 1) snapshot.parent_snapshot_id = id - 1;
    snapshot.sequence_number = id;
    snapshot.timestamp_ms = kNow - (count - id) * 1000;
    metadata.snapshots.push_back(snapshot);
  }
  metadata.current_snapshot_id = count;
  metadata.refs["main"] = {count, true, {}, {}, {}};
  return metadata;
}

using Ids = std::vector<int64_t>;

TEST(Expiry, TakesTheOldestBeyondAgeAndCount) {
  EXPECT_EQ(expirable_snapshots(history(5), kNow, 2000, 1), (Ids{1, 2}));
  EXPECT_EQ(expirable_snapshots(history(5), kNow, 2000, 4), (Ids{1}));
  EXPECT_EQ(expirable_snapshots(history(5), kNow, 100'000, 1), Ids{});
  EXPECT_EQ(expirable_snapshots(history(5), kNow + 1'000'000, 0, 1), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(expirable_snapshots(history(5), kNow, INT64_MAX, 1), Ids{});
}

TEST(Expiry, SparesWhatRefsNeed) {
  TableMetadata metadata = history(5);
  metadata.refs["frazil-orders"] = {2, false, {}, {}, {}};
  EXPECT_EQ(expirable_snapshots(metadata, kNow, 0, 1), (Ids{1, 3, 4}));
  metadata.refs["side"] = {3, true, 2, 0, {}};
  EXPECT_EQ(expirable_snapshots(metadata, kNow, 0, 1), (Ids{1, 4}));
  metadata.refs["side"] = {3, true, {}, INT64_MAX, {}};
  EXPECT_EQ(expirable_snapshots(metadata, kNow, 0, 1), (Ids{4}));
}

TEST(Expiry, TakesStraysOnlyWhenOld) {
  TableMetadata metadata = history(3);
  Snapshot stray;
  stray.snapshot_id = 77;
  stray.parent_snapshot_id = 1;
  stray.sequence_number = 4;
  stray.timestamp_ms = kNow - 500;
  metadata.snapshots.push_back(stray);
  EXPECT_EQ(expirable_snapshots(metadata, kNow, 1000, 1), (Ids{1}));
  EXPECT_EQ(expirable_snapshots(metadata, kNow, 100, 1), (Ids{1, 2, 77}));
}

TEST(Expiry, DoesNothingWhereGarbageCollectionIsOff) {
  EXPECT_EQ(expirable_snapshots(history(5, {{"gc.enabled", "false"}}), kNow, 0, 1), Ids{});
  TableMetadata nonsense = history(5);
  nonsense.properties["gc.enabled"] = "perhaps";
  EXPECT_EQ(expirable_snapshots(nonsense, kNow, 0, 1), Ids{});
}

TEST(Expiry, JoinsAnAppendInOneUpdate) {
  Table table;
  for (int i = 1; i <= 3; ++i) table.append({data_file(std::to_string(i))});
  Append change(table.io, 4);
  const Snapshot snapshot = change.prepare(table.metadata).value();
  const auto gone = expirable_snapshots(table.metadata, INT64_C(9'000'000'000'000), 0, 1);
  EXPECT_EQ(gone, (Ids{1, 2}));
  table.metadata = apply(table.metadata, {AddSnapshot{snapshot}, SetSnapshotRef{"main", {4, true, {}, {}, {}}}, RemoveSnapshots{gone}}, kNow).value();
  EXPECT_EQ(table.metadata.snapshots.size(), 2U);
  EXPECT_EQ(table.live().size(), 3U);
}

}  // namespace
}  // namespace frazil::iceberg
