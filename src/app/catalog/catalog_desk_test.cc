#include "app/catalog/catalog_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/memory_file_io.h"

namespace frazil::app {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// A catalog in which another writer is faster, or a reply is lost, as told.
class Unlucky : public iceberg::Catalog {
 public:
  explicit Unlucky(iceberg::Catalog& real) : real_(real) {}
  base::Status create_namespace(const iceberg::Namespace& ns) override { return real_.create_namespace(ns); }
  base::Result<std::vector<iceberg::Namespace>> list_namespaces() override { return real_.list_namespaces(); }
  base::Result<std::vector<iceberg::TableId>> list_tables(const iceberg::Namespace& ns) override {
    return real_.list_tables(ns);
  }
  base::Result<iceberg::LoadedTable> load_table(const iceberg::TableId& id) override { return real_.load_table(id); }
  base::Result<iceberg::LoadedTable> create_table(const iceberg::TableId& id,
                                                  const iceberg::CreateTable& request) override {
    return real_.create_table(id, request);
  }
  base::Result<iceberg::LoadedTable> commit_table(const iceberg::TableId& id,
                                                  const iceberg::TableCommit& commit) override {
    ++requests;
    if (fates.empty()) return real_.commit_table(id, commit);
    const base::Code fate = fates.back();
    fates.pop_back();
    if (fate == base::Code::kUnknownOutcome && is_applied) {
      if (auto applied = real_.commit_table(id, commit); !applied.ok()) return applied;
    }
    return base::Error(fate, "as told");
  }
  base::Status drop_table(const iceberg::TableId& id) override { return real_.drop_table(id); }
  std::shared_ptr<io::FileIO> file_io() override { return real_.file_io(); }

  std::vector<base::Code> fates;  // of the next commits, the last first
  bool is_applied = false;        // whether one of unknown outcome took place
  int requests = 0;

 private:
  iceberg::Catalog& real_;
};

class Desk : public testing::Test {
 protected:
  Desk()
      : catalog_(iceberg::make_memory_catalog("memory://lake", io::make_memory_file_io())),
        unlucky_(*catalog_),
        desk_(unlucky_, "made-up") {
    EXPECT_TRUE(desk_.create_namespace({"shop"}, {}).ok());
    request_.schema.fields.push_back({.name = "id", .required = true, .type = *columnar::parse_type("long")});
    request_.schema.fields.push_back({.name = "tags", .type = *columnar::parse_type("list<string>")});
    request_.partition_by = {"bucket(4, id)"};
    request_.properties = {{"write.parquet.compression-codec", "zstd"}};
  }
  std::string error_of(const base::Result<Answer>& answer) { return answer.ok() ? "" : answer.error().message(); }

  const iceberg::TableId orders_{{"shop"}, "orders"};
  std::unique_ptr<iceberg::Catalog> catalog_;
  Unlucky unlucky_;
  CatalogDesk desk_;
  TableRequest request_;
};

TEST_F(Desk, ShowsControlCharactersOfOthersInsteadOfSendingThem) {
  const std::string steering = "a\x1b]0;owned\x07\n\xc2\x9b" "b";
  request_.properties["comment"] = steering;
  ASSERT_TRUE(desk_.create_table(orders_, request_).ok());
  const auto properties = desk_.table_properties(orders_, {});
  const auto shown = desk_.show_table(orders_);
  ASSERT_TRUE(properties.ok() && shown.ok());
  for (const Answer& answer : {*properties, *shown}) {
    for (const std::string& text : {answer.text, answer.json}) {
      EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos) << text;
      EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
    }
    EXPECT_THAT(answer.text, HasSubstr("comment=a\\x1b]0;owned\\x07\\n\\x9bb\n"));
  }
}

TEST_F(Desk, CreatesATableAndShowsIt) {
  const auto created = desk_.create_table(orders_, request_);
  ASSERT_TRUE(created.ok()) << created.error().message();
  EXPECT_EQ(json::parse(created->json)["done"], "create-table");
  EXPECT_EQ(json::parse(desk_.tables({})->json), json::array({"shop.orders"}));
  EXPECT_EQ(desk_.tables({"shop"})->text, "shop.orders\n");
  EXPECT_EQ(desk_.namespaces()->text, "shop\n");
  const auto shown = json::parse(desk_.show_table(orders_)->json);
  EXPECT_EQ(shown["partition_spec"][0], "bucket(4, id)");
  EXPECT_EQ(shown["schema"][1]["type"], "list<string>");
  EXPECT_FALSE(shown.contains("files"));
  EXPECT_THAT(desk_.show_table(orders_)->text, HasSubstr("write.parquet.compression-codec=zstd"));
}

TEST_F(Desk, SaysThatANameIsOneOfANamespace) {
  ASSERT_TRUE(desk_.create_namespace({"shop", "europe"}, {}).ok());
  EXPECT_THAT(error_of(desk_.show_table({{"shop"}, "europe"})), HasSubstr("shop.europe is a namespace, not a table: add --namespace"));
  EXPECT_EQ(error_of(desk_.show_table({{"shop"}, "asia"})).find("--namespace"), std::string::npos);
}

TEST_F(Desk, RefusesWhatNoTableCanBe) {
  request_.partition_by = {"bucket(4, nothing)"};
  EXPECT_THAT(error_of(desk_.create_table(orders_, request_)), HasSubstr("--partition-by"));
  request_.partition_by.clear();
  request_.properties = {{"write.target-file-size-bytes", "big"}};
  EXPECT_THAT(error_of(desk_.create_table(orders_, request_)), HasSubstr("write.target-file-size-bytes"));
  EXPECT_EQ(desk_.show_table(orders_).error().code(), base::Code::kNotFound);
  EXPECT_EQ(desk_.drop_table(orders_).error().code(), base::Code::kNotFound);
}

TEST_F(Desk, ChangesPropertiesAgainWhenSomebodyWasFaster) {
  ASSERT_TRUE(desk_.create_table(orders_, request_).ok());
  unlucky_.fates = {base::Code::kConflict, base::Code::kConflict};
  const auto changed = desk_.table_properties(orders_, {{{"owner", "me"}}, {"write.parquet.compression-codec"}});
  ASSERT_TRUE(changed.ok()) << changed.error().message();
  const auto now = json::parse(changed->json);
  EXPECT_EQ(now["owner"], "me");
  EXPECT_FALSE(now.contains("write.parquet.compression-codec"));
  EXPECT_EQ(unlucky_.requests, 3);
}

TEST_F(Desk, LooksAfterALostReplyAndNeverRepeats) {
  ASSERT_TRUE(desk_.create_table(orders_, request_).ok());
  unlucky_.fates = {base::Code::kUnknownOutcome};
  unlucky_.is_applied = true;
  EXPECT_TRUE(desk_.table_properties(orders_, {{{"owner", "me"}}, {}}).ok());
  EXPECT_EQ(unlucky_.requests, 1);
  unlucky_.fates = {base::Code::kUnknownOutcome};
  unlucky_.is_applied = false;
  const auto lost = desk_.table_properties(orders_, {{{"owner", "you"}}, {}});
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code(), base::Code::kUnknownOutcome);
  EXPECT_EQ(unlucky_.requests, 2);
}

TEST_F(Desk, SendsNothingWhenPropertiesAreAsWished) {
  ASSERT_TRUE(desk_.create_table(orders_, request_).ok());
  EXPECT_TRUE(desk_.table_properties(orders_, {{{"write.parquet.compression-codec", "zstd"}}, {"absent"}}).ok());
  EXPECT_EQ(unlucky_.requests, 0);
}

TEST_F(Desk, LeavesThePositionsOfPipelinesAlone) {
  ASSERT_TRUE(desk_.create_table(orders_, request_).ok());
  EXPECT_THAT(error_of(desk_.table_properties(orders_, {{{"frazil.orders", "{}"}}, {}})),
              HasSubstr("belongs to a pipeline"));
  EXPECT_THAT(error_of(desk_.table_properties(orders_, {{}, {"frazil.orders.owed"}})),
              HasSubstr("belongs to a pipeline"));
  EXPECT_EQ(unlucky_.requests, 0);
}

TEST_F(Desk, NamesWhatIsLostWithATable) {
  request_.properties["frazil.orders"] = R"({"snapshot": 1})";
  request_.properties["frazil.gone"] = R"({"closed_by": "orders"})";
  request_.properties["frazil.orders.owed"] = "[]";
  ASSERT_TRUE(desk_.create_table(orders_, request_).ok());
  const auto weighed = desk_.weigh_drop(orders_);
  ASSERT_TRUE(weighed.ok());
  EXPECT_THAT(*weighed, HasSubstr("positions of pipeline orders. Its files stay"));
  const auto dropped = desk_.drop_table(orders_);
  ASSERT_TRUE(dropped.ok());
  EXPECT_THAT(json::parse(dropped->json)["metadata_location"].get<std::string>(), HasSubstr(".metadata.json"));
  EXPECT_EQ(desk_.tables({"shop"})->text, "");
}

TEST_F(Desk, SaysWhichCatalogCannot) {
  EXPECT_THAT(error_of(desk_.rename_table(orders_, {{"shop"}, "o"})),
              HasSubstr("a catalog of type made-up cannot rename tables"));
  EXPECT_EQ(desk_.drop_namespace({"shop"}).error().code(), base::Code::kUnsupported);
  EXPECT_EQ(desk_.register_table(orders_, "memory://x").error().code(), base::Code::kUnsupported);
  // With properties nothing is created that could not be finished.
  EXPECT_EQ(desk_.create_namespace({"other"}, {{"a", "b"}}).error().code(), base::Code::kUnsupported);
  EXPECT_EQ(desk_.namespaces()->text, "shop\n");
  EXPECT_EQ(json::parse(desk_.show_namespace({"shop"})->json)["properties"], nullptr);
}

TEST(CatalogWords, AreReadOrRefused) {
  EXPECT_EQ(*parse_namespace("a.b"), (iceberg::Namespace{"a", "b"}));
  EXPECT_FALSE(parse_namespace("").ok());
  EXPECT_FALSE(parse_namespace("a..b").ok());
  EXPECT_EQ((*parse_properties({"a=b=c", "d="}))["a"], "b=c");
  EXPECT_FALSE(parse_properties({"=b"}).ok());
  EXPECT_FALSE(parse_properties({"a"}).ok());
  EXPECT_FALSE(parse_properties({"a=1", "a=2"}).ok());
}

}  // namespace
}  // namespace frazil::app
