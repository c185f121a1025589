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
  json owed(const AppliedEpoch& applied) {
    const auto report = report_table(*io_, table_.metadata, table_.metadata_location, "shop.orders", applied);
    EXPECT_TRUE(report.ok());
    return json::parse(report->json)["pipelines"][0]["owed"];
  }

  std::shared_ptr<io::FileIO> io_;
  std::unique_ptr<iceberg::Catalog> catalog_;
  iceberg::LoadedTable table_;
};

TEST_F(OwedEntries, ThatWereAppliedAreNotShown) {
  const json left = owed([](const std::string& table, const std::string& pipeline) {
    return table == "shop.bad" && pipeline == "orders" ? std::optional<int64_t>(7) : std::nullopt;
  });
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0]["epoch"], 8);
  EXPECT_EQ(owed([](const std::string&, const std::string&) { return std::optional<int64_t>(8); }), json::array());
}

TEST_F(OwedEntries, AreShownWhenNobodyKnows) {
  EXPECT_EQ(owed([](const std::string&, const std::string&) { return std::optional<int64_t>(); }).size(), 2u);
  EXPECT_EQ(owed(nullptr).size(), 2u);
}

}  // namespace
}  // namespace frazil::app
