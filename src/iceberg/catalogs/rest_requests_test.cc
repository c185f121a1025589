#include "iceberg/catalogs/rest_requests.h"

#include <gtest/gtest.h>

#include "iceberg/json_view.h"

namespace frazil::iceberg {
namespace {

const TableId kId{{"a", "b"}, "t"};

TEST(RestRequests, WritesEveryRequirement) {
  const TableCommit commit{.requirements = {AssertCreate{}, AssertTableUuid{"u"}, AssertRefSnapshotId{"main", std::nullopt},
                                            AssertRefSnapshotId{"tag", 9007199254740993}, AssertCurrentSchemaId{3}, AssertDefaultSpecId{4}},
                           .updates = {}};
  EXPECT_EQ(commit_to_json(kId, commit),
            R"({"identifier":{"namespace":["a","b"],"name":"t"},"requirements":[{"type":"assert-create"},)"
            R"({"type":"assert-table-uuid","uuid":"u"},{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null},)"
            R"({"type":"assert-ref-snapshot-id","ref":"tag","snapshot-id":9007199254740993},)"
            R"({"type":"assert-current-schema-id","current-schema-id":3},{"type":"assert-default-spec-id","default-spec-id":4}],"updates":[]})");
}

TEST(RestRequests, WritesEveryUpdate) {
  AddSnapshot add;
  add.snapshot.snapshot_id = 9007199254740993;
  add.snapshot.sequence_number = 2;
  add.snapshot.timestamp_ms = 5;
  add.snapshot.manifest_list = "s3://b/m.avro";
  add.snapshot.summary = {{"operation", "append"}};
  SetSnapshotRef tag{"frazil-x", {}};
  tag.ref.snapshot_id = 7;
  tag.ref.is_branch = false;
  tag.ref.max_ref_age_ms = INT64_MAX;
  columnar::Schema schema;
  schema.fields = {{.id = 5, .name = "x", .required = false, .type = columnar::Type::primitive(columnar::TypeId::kLong)}};
  const std::string json = commit_to_json(
      kId, {.requirements = {}, .updates = {add, tag, RemoveSnapshotRef{"old"}, RemoveSnapshots{{1, 2}}, SetProperties{{{"k", "it's \"v\""}}},
                                            RemoveProperties{{"gone"}}, AddSchema{schema}, SetCurrentSchema{-1}}});
  const auto document = JsonDocument::parse(json);
  ASSERT_TRUE(document.ok()) << json;
  const auto updates = document->root().array_member("updates");
  ASSERT_EQ(updates->size(), 8U);
  EXPECT_EQ(*(*updates)[0].member("snapshot").long_member("snapshot-id"), 9007199254740993);
  EXPECT_EQ((*updates)[1].dump(),
            R"({"action":"set-snapshot-ref","ref-name":"frazil-x","type":"tag","snapshot-id":7,"max-ref-age-ms":9223372036854775807})");
  EXPECT_EQ((*updates)[2].dump(), R"({"action":"remove-snapshot-ref","ref-name":"old"})");
  EXPECT_EQ((*updates)[3].dump(), R"({"action":"remove-snapshots","snapshot-ids":[1,2]})");
  EXPECT_EQ((*updates)[4].dump(), R"({"action":"set-properties","updates":{"k":"it's \"v\""}})");
  EXPECT_EQ((*updates)[5].dump(), R"({"action":"remove-properties","removals":["gone"]})");
  EXPECT_EQ(*(*updates)[6].text_member("action"), "add-schema");
  EXPECT_EQ(*(*updates)[6].int_member("last-column-id"), 5);
  EXPECT_EQ((*updates)[7].dump(), R"({"action":"set-current-schema","schema-id":-1})");
}

TEST(RestRequests, WritesTheOtherBodies) {
  EXPECT_EQ(transaction_to_json({{kId, {}}, {{{"a"}, "d"}, {}}}),
            R"({"table-changes":[{"identifier":{"namespace":["a","b"],"name":"t"},"requirements":[],"updates":[]},)"
            R"({"identifier":{"namespace":["a"],"name":"d"},"requirements":[],"updates":[]}]})");
  EXPECT_EQ(create_namespace_to_json({"a", "b"}), R"({"namespace":["a","b"],"properties":{}})");
  EXPECT_EQ(rename_to_json(kId, {{"c"}, "n"}),
            R"({"source":{"namespace":["a","b"],"name":"t"},"destination":{"namespace":["c"],"name":"n"}})");
  EXPECT_EQ(register_to_json("t", "s3://b/m.json"), R"({"name":"t","metadata-location":"s3://b/m.json"})");
  EXPECT_EQ(namespace_properties_to_json({{"k", "v"}}, {"r"}), R"({"removals":["r"],"updates":{"k":"v"}})");
}

TEST(RestRequests, CreatesWhatTheServerHasLaidOut) {
  CreateTable create;
  create.schema.fields = {{.id = 1, .name = "x", .required = true, .type = columnar::Type::primitive(columnar::TypeId::kLong)}};
  create.properties = {{"format-version", "2"}};
  EXPECT_EQ(create_table_to_json("t", create, true),
            R"({"name":"t","schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":true,"type":"long"}]},)"
            R"("partition-spec":{"spec-id":0,"fields":[]},"write-order":{"order-id":0,"fields":[]},"stage-create":true,)"
            R"("properties":{"format-version":"2"}})");
  TableMetadata staged;
  staged.table_uuid = "u";
  staged.location = "s3://b/t";
  staged.last_column_id = 1;
  staged.schemas.push_back(std::make_shared<const columnar::Schema>(create.schema));
  staged.specs.emplace_back();
  staged.sort_orders.emplace_back();
  const auto document = JsonDocument::parse(create_commit_to_json(kId, staged));
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->root().member("requirements").dump(), R"([{"type":"assert-create"}])");
  std::string actions;
  const auto updates = document->root().array_member("updates");
  for (const JsonView& update : *updates) actions += *update.text_member("action") + " ";
  EXPECT_EQ(actions, "assign-uuid upgrade-format-version add-schema set-current-schema add-spec set-default-spec add-sort-order "
                     "set-default-sort-order set-location set-properties ");
}

}  // namespace
}  // namespace frazil::iceberg
