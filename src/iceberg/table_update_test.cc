#include "iceberg/table_update.h"

#include <gtest/gtest.h>

#include "iceberg/new_table.h"

namespace frazil::iceberg {
namespace {

using columnar::Schema;
using columnar::Type;
using columnar::TypeId;

constexpr int64_t kNow = 1'700'000'000'000;

TableMetadata empty_table() {
  CreateTable request;
  request.schema.fields = {{1, "id", false, Type::primitive(TypeId::kLong), ""}};
  return new_table_metadata(request, "memory:///t", kNow).value();
}

Snapshot snapshot(int64_t id, int64_t sequence, std::optional<int64_t> parent = std::nullopt) {
  Snapshot result;
  result.snapshot_id = id;
  result.parent_snapshot_id = parent;
  result.sequence_number = sequence;
  result.timestamp_ms = kNow + sequence;
  result.manifest_list = "memory:///t/metadata/snap.avro";
  result.summary["operation"] = "append";
  return result;
}

SnapshotRef branch(int64_t id) { return {id, true, {}, {}, {}}; }
SnapshotRef tag(int64_t id) { return {id, false, {}, {}, {}}; }

// A chain 1 ← 2 ← ... ← count on main, one commit each.
TableMetadata table_with(int64_t count) {
  TableMetadata table = empty_table();
  for (int64_t id = 1; id <= count; ++id) {
    const auto parent = id > 1 ? std::optional(id - 1) : std::nullopt;
    table = apply(table, {AddSnapshot{snapshot(id, id, parent)}, SetSnapshotRef{"main", branch(id)}}, kNow + id).value();
  }
  return table;
}

base::Code code_of(const base::Result<TableMetadata>& result) { return result.ok() ? base::Code::kBug : result.error().code(); }

TEST(Requirements, SayWhatWasExpectedAndFound) {
  const TableMetadata table = table_with(2);
  EXPECT_TRUE(check({AssertTableUuid{table.table_uuid}, AssertRefSnapshotId{"main", 2}, AssertRefSnapshotId{"other", std::nullopt},
                     AssertCurrentSchemaId{0}, AssertDefaultSpecId{0}}, &table).ok());
  const auto stale = check({AssertRefSnapshotId{"main", 1}}, &table);
  EXPECT_EQ(stale.error().code(), base::Code::kConflict);
  EXPECT_EQ(stale.error().message(), "expected main at snapshot 1, found snapshot 2");
  for (const Requirement& wrong : std::vector<Requirement>{AssertCreate{}, AssertTableUuid{"x"}, AssertRefSnapshotId{"main", std::nullopt},
                                                           AssertRefSnapshotId{"other", 2}, AssertCurrentSchemaId{1}, AssertDefaultSpecId{1}}) {
    EXPECT_EQ(check({wrong}, &table).error().code(), base::Code::kConflict);
  }
}

TEST(Requirements, KnowATableThatIsNotThere) {
  EXPECT_TRUE(check({AssertCreate{}}, nullptr).ok());
  EXPECT_EQ(check({AssertTableUuid{"x"}}, nullptr).error().code(), base::Code::kConflict);
}

TEST(Updates, MoveMainAndItsLog) {
  const TableMetadata table = table_with(3);
  EXPECT_EQ(table.current_snapshot_id, 3);
  EXPECT_EQ(table.last_sequence_number, 3);
  ASSERT_EQ(table.snapshot_log.size(), 3U);
  EXPECT_EQ(table.snapshot_log[2].snapshot_id, 3);
  EXPECT_EQ(table.snapshot_log[2].timestamp_ms, kNow + 3);
}

TEST(Updates, LogOnlyTheLastOfTwoSnapshotsInOneUpdate) {
  const auto table = apply(table_with(1), {AddSnapshot{snapshot(2, 2, 1)}, SetSnapshotRef{"main", branch(2)},
                                           AddSnapshot{snapshot(3, 3, 2)}, SetSnapshotRef{"main", branch(3)}}, kNow).value();
  ASSERT_EQ(table.snapshot_log.size(), 2U);
  EXPECT_EQ(table.snapshot_log[1].snapshot_id, 3);
  EXPECT_EQ(table.snapshots.size(), 3U);
}

TEST(Updates, NeverLetTimeGoBack) {
  const auto table = apply(table_with(2), {SetProperties{{{"a", "b"}}}}, 5).value();
  EXPECT_EQ(table.last_updated_ms, kNow + 2);
  Snapshot late = snapshot(9, 9, 2);
  late.timestamp_ms = kNow + 1'000'000;
  EXPECT_EQ(apply(table, {AddSnapshot{late}}, 5)->last_updated_ms, kNow + 1'000'000);
}

TEST(Updates, RefuseUsedIdsAndSequenceNumbers) {
  const TableMetadata table = table_with(2);
  EXPECT_EQ(code_of(apply(table, {AddSnapshot{snapshot(2, 7)}}, kNow)), base::Code::kConflict);
  EXPECT_EQ(code_of(apply(table, {AddSnapshot{snapshot(7, 2)}}, kNow)), base::Code::kConflict);
  Snapshot nameless = snapshot(7, 7);
  nameless.summary.clear();
  EXPECT_EQ(code_of(apply(table, {AddSnapshot{nameless}}, kNow)), base::Code::kInvalid);
}

TEST(Updates, SetAndRemoveRefs) {
  TableMetadata table = apply(table_with(3), {SetSnapshotRef{"frazil-orders", tag(2)}}, kNow).value();
  EXPECT_EQ(table.refs.at("frazil-orders"), tag(2));
  EXPECT_EQ(table.current_snapshot_id, 3);
  table = apply(table, {RemoveSnapshotRef{"frazil-orders"}, RemoveSnapshotRef{"nosuch"}}, kNow).value();
  EXPECT_FALSE(table.refs.contains("frazil-orders"));
  EXPECT_EQ(code_of(apply(table, {SetSnapshotRef{"x", tag(99)}}, kNow)), base::Code::kInvalid);
  EXPECT_EQ(code_of(apply(table, {SetSnapshotRef{"main", tag(1)}}, kNow)), base::Code::kInvalid);
}

TEST(Updates, RollBackWithANewLogEntry) {
  const auto table = apply(table_with(3), {SetSnapshotRef{"main", branch(1)}}, kNow + 50).value();
  EXPECT_EQ(table.current_snapshot_id, 1);
  ASSERT_EQ(table.snapshot_log.size(), 4U);
  EXPECT_EQ(table.snapshot_log[3].snapshot_id, 1);
  EXPECT_EQ(table.snapshot_log[3].timestamp_ms, kNow + 50);
}

TEST(Updates, CutTheLogBehindRemovedSnapshots) {
  TableMetadata base = table_with(4);
  base.unknown_members["statistics"] = R"([{"snapshot-id":2,"statistics-path":"a"},{"snapshot-id":3,"statistics-path":"b"}])";
  const auto table = apply(base, {RemoveSnapshots{{2, 77}}}, kNow).value();
  EXPECT_EQ(table.snapshots.size(), 3U);
  ASSERT_EQ(table.snapshot_log.size(), 2U);  // the entry of 1 lies before a hole
  EXPECT_EQ(table.snapshot_log[0].snapshot_id, 3);
  EXPECT_EQ(table.unknown_members.at("statistics"), R"([{"snapshot-id":3,"statistics-path":"b"}])");
}

TEST(Updates, AppendAndExpireTogether) {
  const auto table = apply(table_with(3), {AddSnapshot{snapshot(4, 4, 3)}, SetSnapshotRef{"main", branch(4)}, RemoveSnapshots{{1, 2}}}, kNow).value();
  EXPECT_EQ(table.snapshots.size(), 2U);
  EXPECT_EQ(table.snapshot_log.size(), 2U);
  EXPECT_EQ(table.snapshot_log.back().snapshot_id, 4);
}

TEST(Updates, DoNotRemoveWhatARefNeeds) {
  EXPECT_EQ(code_of(apply(table_with(2), {RemoveSnapshots{{2}}}, kNow)), base::Code::kConflict);
  const auto tagged = apply(table_with(2), {SetSnapshotRef{"keep", tag(1)}}, kNow).value();
  EXPECT_EQ(code_of(apply(tagged, {RemoveSnapshots{{1}}}, kNow)), base::Code::kConflict);
}

TEST(Updates, ChangeProperties) {
  const auto table = apply(empty_table(), {SetProperties{{{"a", "1"}, {"b", "2"}, {"format-version", "2"}}}, RemoveProperties{{"a", "zz"}}}, kNow).value();
  EXPECT_EQ(table.properties, (Properties{{"b", "2"}}));
  EXPECT_EQ(code_of(apply(table, {SetProperties{{{"format-version", "3"}}}}, kNow)), base::Code::kUnsupported);
}

TEST(Updates, AddSchemasOnce) {
  Schema wider = *empty_table().current_schema();
  wider.fields.push_back({2, "extra", false, Type::primitive(TypeId::kString), ""});
  const auto table = apply(empty_table(), {AddSchema{wider}, SetCurrentSchema{-1}}, kNow).value();
  EXPECT_EQ(table.current_schema_id, 1);
  EXPECT_EQ(table.last_column_id, 2);
  const auto again = apply(table, {AddSchema{wider}, SetCurrentSchema{-1}}, kNow).value();
  EXPECT_EQ(again.schemas.size(), 2U);
  EXPECT_EQ(code_of(apply(table, {SetCurrentSchema{7}}, kNow)), base::Code::kInvalid);
  EXPECT_EQ(code_of(apply(table, {SetCurrentSchema{-1}}, kNow)), base::Code::kInvalid);
}

TEST(Updates, RefuseToWriteVersionOne) {
  TableMetadata table = empty_table();
  table.format_version = 1;
  EXPECT_EQ(code_of(apply(table, {}, kNow)), base::Code::kUnsupported);
}

}  // namespace
}  // namespace frazil::iceberg
