// What every CatalogAdmin does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/catalog_suite.h"

namespace frazil::conformance {
namespace {

using base::Code;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::Properties;
using iceberg::TableId;

class CatalogAdminConformance : public CatalogConformance {
 protected:
  const TableId renamed_{{"db"}, "renamed"};
};

TEST_P(CatalogAdminConformance, RenamesATableWithAllThatItHolds) {
  const LoadedTable before = create();
  ASSERT_TRUE(is_ok(catalog().commit_table(orders_, append(before.metadata, next_snapshot(before.metadata)))));
  ASSERT_TRUE(is_ok(admin().rename_table(orders_, renamed_)));
  EXPECT_TRUE(fails_with(catalog().load_table(orders_), Code::kNotFound));
  const auto after = load(renamed_);
  EXPECT_EQ(after.table_uuid, before.metadata.table_uuid);
  EXPECT_EQ(after.location, before.metadata.location);
  EXPECT_EQ(after.snapshots.size(), 1u);
  EXPECT_EQ(*another()->list_tables({"db"}), std::vector{renamed_});
  ASSERT_TRUE(is_ok(catalog().commit_table(renamed_, append(after, next_snapshot(after)))));
  // The old name is free again.
  EXPECT_NE(create().metadata.table_uuid, after.table_uuid);
}

TEST_P(CatalogAdminConformance, RenamesIntoAnotherNamespace) {
  const LoadedTable before = create();
  ASSERT_TRUE(is_ok(catalog().create_namespace({"other"})));
  ASSERT_TRUE(is_ok(admin().rename_table(orders_, {{"other"}, "orders"})));
  EXPECT_EQ(load({{"other"}, "orders"}).table_uuid, before.metadata.table_uuid);
  EXPECT_TRUE(another()->list_tables({"db"})->empty());
}

TEST_P(CatalogAdminConformance, RefusesRenamesThatCannotBe) {
  const LoadedTable orders = create();
  const LoadedTable taken = create(renamed_);
  EXPECT_TRUE(fails_with(admin().rename_table(orders_, renamed_), Code::kExists));
  EXPECT_TRUE(fails_with(admin().rename_table({{"db"}, "absent"}, {{"db"}, "new"}), Code::kNotFound));
  EXPECT_TRUE(fails_with(admin().rename_table(orders_, {{"nowhere"}, "orders"}), Code::kNotFound));
  EXPECT_TRUE(fails_with(admin().rename_table(orders_, {{"db"}, ""}), Code::kInvalid));
  EXPECT_EQ(load().table_uuid, orders.metadata.table_uuid);
  EXPECT_EQ(load(renamed_).table_uuid, taken.metadata.table_uuid);
}

TEST_P(CatalogAdminConformance, RegistersAMetadataFileThatIsThere) {
  const LoadedTable before = create();
  if (place_.registers_faithfully) {
    ASSERT_TRUE(is_ok(catalog().drop_table(orders_)));
  }
  const auto registered = admin().register_table(renamed_, before.metadata_location);
  ASSERT_TRUE(is_ok(registered));
  const std::vector<TableId> tables = *another()->list_tables({"db"});
  EXPECT_NE(std::find(tables.begin(), tables.end(), renamed_), tables.end());
  if (!place_.registers_faithfully) return;
  EXPECT_EQ(registered->metadata.table_uuid, before.metadata.table_uuid);
  const auto after = load(renamed_);
  EXPECT_EQ(after.table_uuid, before.metadata.table_uuid);
  EXPECT_TRUE(is_ok(catalog().commit_table(renamed_, append(after, next_snapshot(after)))));
}

TEST_P(CatalogAdminConformance, RegistersNothingOverANameOrWithoutAFile) {
  const LoadedTable orders = create();
  const LoadedTable other = create(renamed_);
  EXPECT_TRUE(fails_with(admin().register_table(orders_, other.metadata_location), Code::kExists));
  EXPECT_EQ(load().table_uuid, orders.metadata.table_uuid);
  EXPECT_TRUE(fails_with(admin().register_table({{"nowhere"}, "t"}, other.metadata_location), Code::kNotFound));
  const auto without_file = admin().register_table({{"db"}, "t"}, other.metadata_location + ".absent");
  ASSERT_FALSE(without_file.ok());
  EXPECT_TRUE(without_file.error().code() == Code::kNotFound || without_file.error().code() == Code::kInvalid) << without_file.error().message();
  EXPECT_TRUE(fails_with(catalog().load_table({{"db"}, "t"}), Code::kNotFound));
}

TEST_P(CatalogAdminConformance, DropsOnlyNamespacesThatAreEmpty) {
  create();
  ASSERT_TRUE(is_ok(catalog().create_namespace({"a", "b"})));
  EXPECT_TRUE(fails_with(admin().drop_namespace({"db"}), Code::kInvalid));
  EXPECT_TRUE(fails_with(admin().drop_namespace({"absent"}), Code::kNotFound));
  ASSERT_TRUE(is_ok(catalog().drop_table(orders_)));
  EXPECT_TRUE(is_ok(admin().drop_namespace({"db"})));
  EXPECT_TRUE(is_ok(admin().drop_namespace({"a", "b"})));
  EXPECT_TRUE(is_ok(admin().drop_namespace({"a"})));
  EXPECT_TRUE(another()->list_namespaces()->empty());
  EXPECT_TRUE(fails_with(admin().drop_namespace({"db"}), Code::kNotFound));
  EXPECT_TRUE(is_ok(catalog().create_namespace({"db"})));
}

TEST_P(CatalogAdminConformance, KeepsPropertiesOfNamespaces) {
  ASSERT_TRUE(is_ok(admin().update_namespace_properties({"db"}, {{"owner", "it's \"me\""}, {"team", "x"}}, {})));
  ASSERT_TRUE(is_ok(admin().update_namespace_properties({"db"}, {{"owner", "you"}}, {"team", "absent"})));
  const auto properties = another()->admin()->namespace_properties({"db"});
  ASSERT_TRUE(is_ok(properties));
  EXPECT_EQ(properties->at("owner"), "you");
  EXPECT_FALSE(properties->contains("team"));
  EXPECT_TRUE(fails_with(admin().namespace_properties({"absent"}), Code::kNotFound));
  EXPECT_TRUE(fails_with(admin().update_namespace_properties({"absent"}, {{"a", "b"}}, {}), Code::kNotFound));
  EXPECT_TRUE(fails_with(admin().update_namespace_properties({"db"}, {{"a", "b"}}, {"a"}), Code::kInvalid));
}

std::vector<CatalogKind> all_catalogs() {
  std::vector<CatalogKind> kinds = metadata_file_catalogs();
  for (CatalogKind& kind : catalog_services()) kinds.push_back(std::move(kind));
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Catalogs, CatalogAdminConformance, testing::ValuesIn(all_catalogs()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace frazil::conformance
