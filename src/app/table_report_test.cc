#include "app/table_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "iceberg/catalog.h"
#include "io/memory_file_io.h"

namespace frazil::app {
namespace {

using nlohmann::json;

class OwedEntries : public testing::Test {
 protected:
  OwedEntries() : io_(io::make_memory_file_io()), catalog_(iceberg::make_memory_catalog("memory://lake", io_)) {
    EXPECT_TRUE(catalog_->create_namespace({"shop"}).ok());
    iceberg::CreateTable request;
    request.schema.fields.push_back({.id = 1, .name = "id", .type = *columnar::parse_type("long")});
    request.properties["frazil.orders"] = R"({"snapshot": 1, "epoch": 8})";
    request.properties["frazil.orders.owed"] =
        R"([{"epoch": 7, "table": "shop.bad", "manifest": "m7"}, {"epoch": 8, "table": "shop.bad", "manifest": "m8"}])";
    table_ = *catalog_->create_table({{"shop"}, "orders"}, request);
  }
  TableReport report(const LookAtTable& look) {
    const auto made = report_table(*io_, table_.metadata, table_.metadata_location, "shop.orders", look);
    EXPECT_TRUE(made.ok());
    return *made;
  }
  json pipeline(const LookAtTable& look) { return json::parse(report(look).json)["pipelines"][0]; }
  json owed(const LookAtTable& look) { return pipeline(look)["owed"]; }
  json owed_when(std::optional<OtherTable> seen) {
    return owed([seen](const std::string&, const std::string&) { return seen; });
  }

  std::shared_ptr<io::FileIO> io_;
  std::unique_ptr<iceberg::Catalog> catalog_;
  iceberg::LoadedTable table_;
};

TEST_F(OwedEntries, ThatWereAppliedAreNotShown) {
  const json left = owed([](const std::string& table, const std::string& pipeline) {
    return table == "shop.bad" && pipeline == "orders" ? std::optional(OtherTable{true, 7, 3, 1}) : std::nullopt;
  });
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0]["epoch"], 8);
  EXPECT_EQ(owed_when(OtherTable{true, 8, 0, 0}), json::array());
}

TEST_F(OwedEntries, AreShownWhenNobodyKnows) {
  EXPECT_EQ(owed_when(std::nullopt).size(), 2u);
  EXPECT_EQ(owed(nullptr).size(), 2u);
}

TEST_F(OwedEntries, OfATableThatIsGoneAreItsRowsButNotWhatWouldHaveToGo) {
  EXPECT_EQ(owed_when(OtherTable{}).size(), 2u);
  table_.metadata.properties["frazil.orders.owed"] = R"([{"epoch": 9, "table": "shop.bad", "void": [7, 8]}])";
  EXPECT_EQ(owed_when(OtherTable{}), json::array());
  EXPECT_EQ(owed_when(OtherTable{true, 8, 0, 0}).size(), 1u);
}

TEST_F(OwedEntries, StandBesideTheTablesOfThePipeline) {
  table_.metadata.properties["frazil.orders.tables"] = R"({"shop.bad": "u1", "shop.clicks": "u2", "shop.gone": "u3", "shop.far": "u4"})";
  const LookAtTable look = [](const std::string& table, const std::string&) -> std::optional<OtherTable> {
    if (table == "shop.far") return std::nullopt;
    return table == "shop.gone" ? OtherTable{} : OtherTable{true, 7, 9000, 4};
  };
  const json tables = pipeline(look)["tables"];
  ASSERT_EQ(tables.size(), 4u);
  EXPECT_EQ(tables[0], (json{{"table", "shop.bad"}, {"uuid", "u1"}, {"exists", true}, {"rows", 9000}, {"files", 4}, {"owed_epochs", {8}}}));
  EXPECT_EQ(tables[2]["exists"], false);
  EXPECT_TRUE(tables[3]["exists"].is_null());
  const std::string text = report(look).text;
  for (const char* line : {"  table     shop.bad: 9,000 rows in 4 files, owed 1 of epochs [8]\n", "shop.clicks: 9,000 rows in 4 files, owed nothing\n",
                           "shop.gone: does not exist, owed nothing\n", "shop.far: not looked at, owed nothing\n",
                           "  owed      shop.bad, epoch 8: files of m8\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace frazil::app
