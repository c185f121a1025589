// Pipelines of several tables, as their files are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/config_reader.h"
#include "app/sink_config.h"

namespace frazil::app {
namespace {

using ::testing::HasSubstr;

constexpr char kHead[] = R"yaml(name: shop
source:
  kafka:
    topics: [orders, clicks]
    properties:
      bootstrap.servers: 127.0.0.1:9092
decode:
  json:
    schema: [{name: id, type: long, required: true}, {name: kind, type: string}]
table:
  catalog: {type: sqlite, uri: /tmp/catalog.db, warehouse: /tmp/warehouse}
  create: {partition_by: ["bucket(4, id)"]}
)yaml";

ReadConfig read(const std::string& rest) {
  return read_config_text(kHead + rest, "p.yaml", {.overrides = {}, .missing = MissingReference::kError});
}

std::string problems_of(const std::string& rest) { return read(rest).problems.render(); }

TEST(Routing, AFileWithSeveralTablesNamesTheirAnchorAndDeadLetters) {
  const auto made = read(R"(
tables:
  - {name: shop.refunds, when: {topic: orders, field: kind, equals: refund}, create: {partition_by: [kind]}}
  - {name: shop.some, when: {field: kind, matches: "a.*|b.*"}}
  - {name: shop.clicks, when: {topic: clicks}}
  - {name: shop.rest}
route: all
unrouted: skip
)");
  ASSERT_EQ(made.problems.render(), "");
  const auto sink = sink_config(made.config.pipelines[0], "somebody");
  ASSERT_TRUE(sink.ok()) << sink.error().message();
  EXPECT_EQ(sink->table.text(), "shop.shop_positions");
  EXPECT_EQ(sink->dead_letters.text(), "shop.shop_dead_letters");
  EXPECT_EQ(sink->schema->fields[0].name, "pipeline");
  ASSERT_EQ(sink->targets.size(), 4u);
  EXPECT_EQ(sink->targets[0].when.equals, std::vector<std::string>{"refund"});
  EXPECT_EQ(sink->targets[0].create->partition_by, std::vector<std::string>{"kind"});
  EXPECT_EQ(sink->targets[1].when.matches, "a.*|b.*");
  EXPECT_EQ(sink->targets[3].create->partition_by, std::vector<std::string>{"bucket(4, id)"});
  EXPECT_TRUE(sink->route_to_all);
  EXPECT_EQ(sink->unrouted, engine::UnwantedRow::Fate::kSkip);
}

TEST(Routing, OneOfTheTablesMayBeTheAnchor) {
  const auto made = read("tables: [{name: shop.a, when: {field: kind, equals: [x, y]}}, {name: shop.b}]\nanchor: shop.b\n");
  ASSERT_EQ(made.problems.render(), "");
  const auto sink = sink_config(made.config.pipelines[0], "somebody");
  EXPECT_EQ(sink->table.text(), "shop.b");
  EXPECT_EQ(sink->schema->fields.size(), 2u);
  EXPECT_EQ(sink->create->partition_by.size(), 1u);
}

TEST(Routing, TopicsMayHaveSchemasOfTheirOwn) {
  const auto made = read(R"(
tables:
  - {name: shop.clicks, when: {topic: clicks}, schema: [{name: id, type: long}, {name: url, type: string}]}
  - {name: shop.orders, when: {topic: orders}}
)");
  ASSERT_EQ(made.problems.render(), "");
  const auto sink = sink_config(made.config.pipelines[0], "somebody");
  EXPECT_EQ(sink->targets[0].schema->fields[1].name, "url");
  EXPECT_EQ(sink->targets[1].schema->fields[1].name, "kind");
}

TEST(Routing, WrongTablesAreNamedWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "p.yaml:11:3: missing key \"table.name\" (or \"tables\")"},
      {"tables: {name: shop.a}\n", "\"tables\" must be a list of one or more maps"},
      {"tables: [{name: shop.a, wehn: {topic: orders}}]\n", "p.yaml:13:25: unknown key \"wehn\" in \"tables\", nearest known key \"when\""},
      {"tables: [{when: {topic: orders}}]\n", "missing key \"tables.name\""},
      {"tables: [{name: a}]\n", "a table's name is namespace.table"},
      {"tables: [{name: \"shop.{field:kind}\"}]\n", "names that are made from fields or topics are unsupported in this version"},
      {"tables: [{name: shop.a, when: {topic: orders}}, {name: shop.a}]\n", "names shop.a twice"},
      {"tables: [{name: shop.a, when: {topic: bills}}, {name: shop.b}]\n", "p.yaml:13:39: \"bills\" is not one of \"source.kafka.topics\""},
      {"tables: [{name: shop.a, when: {field: kind}}, {name: shop.b}]\n", "\"field\" needs \"equals\" or \"matches\""},
      {"tables: [{name: shop.a, when: {equals: x}}, {name: shop.b}]\n", "need a \"field\""},
      {"tables: [{name: shop.a, when: {field: kind, equals: x, matches: x}}, {name: shop.b}]\n", "exclude each other"},
      {"tables: [{name: shop.a, when: {field: colour, equals: x}}, {name: shop.b}]\n", "there is no column \"colour\""},
      {"tables: [{name: shop.a, when: {field: kind, matches: \"(\"}}, {name: shop.b}]\n", "is not a regular expression"},
      {"tables: [{name: shop.a, when: {field: id, equals: \"07\"}}, {name: shop.b}]\n", "no long equals \"07\""},
      {"tables: [{name: shop.a}, {name: shop.b, when: {topic: orders}}]\n", "no row reaches shop.b"},
      {"tables: [{name: shop.a, schema: [{name: id, type: long}]}]\n", "needs \"when.topic\""},
      {"tables: [{name: shop.a, when: {topic: orders, field: id, equals: \"1\"}, schema: [{name: id, type: long}]}, {name: shop.b}]\n",
       "have different schemas"},
      {"tables: [{name: shop.a, create: {partition_by: [colour]}}]\n", "\"tables[0].create.partition_by\""},
      {"tables: [{name: shop.a}]\ndead_letters: shop.a\n", "must be another table than those of \"tables\""},
      {"tables: [{name: shop.a}]\nanchor: shop.p\ndead_letters: shop.p\n", "must be another table than \"anchor\""},
      {"tables: [{name: shop.a}]\nroute: some\n", "not one of first or all"},
  };
  for (const auto& [rest, expected] : cases) EXPECT_THAT(problems_of(rest), HasSubstr(expected)) << rest;
}

TEST(Routing, OptionsOfSeveralTablesDoNotPassUnseenBesideOne) {
  std::string text = kHead;
  text.replace(text.find("  catalog:"), 0, "  name: shop.orders\n");
  for (const std::string rest : {"route: all\n", "unrouted: halt\n", "anchor: shop.x\n", "tables: [{name: shop.a}]\n"}) {
    const auto made = read_config_text(text + rest, "p.yaml", {.overrides = {}, .missing = MissingReference::kError});
    EXPECT_TRUE(made.problems.has_errors()) << rest;
  }
}

}  // namespace
}  // namespace frazil::app
