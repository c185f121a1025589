#include "app/config/joint_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/config_reader.h"

namespace frazil::app {
namespace {

using ::testing::HasSubstr;

std::string pipeline(const std::string& name, const std::string& table, const std::string& more = "") {
  return "  - name: " + name + "\n    source: {generator: {records: 1}}\n    table: {name: " + table +
         ", catalog: {type: sqlite, uri: c.db, warehouse: w}, create: {}}\n" + more;
}

Problems problems_of(const std::string& text) {
  return read_config_text(text, "all.yaml", {{}, MissingReference::kWarning}).problems;
}

TEST(TablesApart, RefusesDeadLettersInTheTableOfAnotherPipeline) {
  const Problems problems =
      problems_of("pipelines:\n" + pipeline("a", "shop.a") + pipeline("b", "shop.b", "    dead_letters: shop.a\n"));
  ASSERT_TRUE(problems.has_errors());
  EXPECT_THAT(problems.render(), HasSubstr("all.yaml:8:19: dead letters of pipeline \"b\" would go to shop.a"));
}

TEST(TablesApart, RefusesTheDefaultNameToo) {
  const Problems problems =
      problems_of("pipelines:\n" + pipeline("a", "shop.a") + pipeline("b", "shop.a_dead_letters"));
  EXPECT_THAT(problems.render(), HasSubstr("dead letters of pipeline \"a\" would go to shop.a_dead_letters"));
}

TEST(TablesApart, LetsPipelinesShareATableOrItsDeadLetters) {
  EXPECT_FALSE(problems_of("pipelines:\n" + pipeline("a", "shop.a") + pipeline("b", "shop.a")).has_errors());
  EXPECT_FALSE(problems_of("pipelines:\n" + pipeline("a", "shop.a", "    dead_letters: shop.bad\n") +
                           pipeline("b", "shop.b", "    dead_letters: shop.bad\n"))
                   .has_errors());
}

std::string of_topic(const std::string& name, const std::string& topic, const std::string& tables) {
  return "  - name: " + name + "\n    source: {kafka: {topics: [" + topic + "], properties: {bootstrap.servers: 'localhost:1'}}}\n" +
         "    decode: {json: {schema: [{name: A, type: long}]}}\n    " + tables + "\n";
}

TEST(TablesApart, WarnsOfTwoPipelinesThatWriteOneTopicIntoOneTable) {
  const std::string catalog = "catalog: {type: sqlite, uri: c.db, warehouse: w}, create: {}}";
  const std::string one = of_topic("a", "t, u", "table: {name: shop.a, " + catalog);
  const Problems same = problems_of("pipelines:\n" + one + of_topic("b", "x, u", "table: {name: shop.a, " + catalog));
  EXPECT_FALSE(same.has_errors()) << same.render();
  EXPECT_THAT(same.render(), HasSubstr("all.yaml:6:11: warning: pipelines \"a\" and \"b\" both write topic \"u\" into shop.a"));
  const Problems other_topic = problems_of("pipelines:\n" + one + of_topic("b", "x", "table: {name: shop.a, " + catalog));
  EXPECT_EQ(other_topic.all().size(), 0u) << other_topic.render();
  const Problems other_table = problems_of("pipelines:\n" + one + of_topic("b", "u", "table: {name: shop.b, " + catalog));
  EXPECT_EQ(other_table.all().size(), 0u) << other_table.render();
}

TEST(CaseTwins, AreWarnedOfAtEveryLevel) {
  columnar::Schema schema;
  schema.fields.push_back({.id = 1, .name = "A", .type = *columnar::parse_type("long")});
  schema.fields.push_back({.id = 2, .name = "a", .type = *columnar::parse_type("struct<x: int, X: int, y: int>")});
  schema.fields.push_back({.id = 3, .name = "b", .type = *columnar::parse_type("long")});
  Problems problems("p.yaml");
  warn_of_case_twins(schema, {3, 5, ""}, problems);
  ASSERT_EQ(problems.all().size(), 2u);
  EXPECT_FALSE(problems.has_errors());
  EXPECT_THAT(problems.render(), HasSubstr("columns \"A\" and \"a\" differ by case alone"));
  EXPECT_THAT(problems.render(), HasSubstr("columns \"a.x\" and \"a.X\""));
}

TEST(CaseTwins, AreFoundInAPipelineFile) {
  const Problems problems = problems_of(
      "name: a\nsource: {kafka: {topics: [t], properties: {bootstrap.servers: 'localhost:1'}}}\n"
      "decode: {json: {schema: [{name: A, type: long}, {name: a, type: long}]}}\n"
      "table: {name: s.t, catalog: {type: sqlite, uri: c.db, warehouse: w}, create: {}}\n");
  EXPECT_FALSE(problems.has_errors()) << problems.render();
  EXPECT_THAT(problems.render(), HasSubstr("differ by case alone"));
}

}  // namespace
}  // namespace frazil::app
