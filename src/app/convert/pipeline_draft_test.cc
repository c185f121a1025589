#include "app/convert/pipeline_draft.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace frazil::app {
namespace {

Node parse(const std::string& yaml) {
  Problems problems("draft");
  auto node = parse_yaml(yaml, problems);
  EXPECT_EQ(problems.render(), "");
  return node.value_or(Node{});
}

TEST(PipelineDraft, WritesOptionsInTheOrderOfTheReference) {
  PipelineDraft draft;
  draft.set("commit.interval", "60s");
  draft.set("table.name", "shop.orders");
  draft.set_property("source.kafka.properties", "bootstrap.servers", "broker:9092");
  draft.set_list("source.kafka.topics", {"orders", "more"});
  draft.set("name", "orders");
  EXPECT_EQ(draft.to_yaml(),
            "name: orders\n"
            "source:\n"
            "  kafka:\n"
            "    topics: [orders, more]\n"
            "    properties:\n"
            "      bootstrap.servers: broker:9092\n"
            "table:\n"
            "  name: shop.orders\n"
            "commit:\n"
            "  interval: 60s\n");
}

TEST(PipelineDraft, PutsCommentsAboveWhatTheySpeakOf) {
  PipelineDraft draft;
  draft.set("commit.interval", "60s");
  draft.comment("", "All of it.");
  draft.comment("commit.interval", "The interval.");
  EXPECT_EQ(draft.to_yaml(), "# All of it.\ncommit:\n  # The interval.\n  interval: 60s\n");
}

TEST(PipelineDraft, BreaksLongComments) {
  PipelineDraft draft;
  draft.set("name", "orders");
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  draft.comment("name", text);
  std::istringstream lines(draft.to_yaml());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u);
  EXPECT_GT(count, 3);
}

TEST(PipelineDraft, WritesAnEmptySection) {
  PipelineDraft draft;
  draft.set_section("table.create");
  EXPECT_EQ(draft.to_yaml(), "table:\n  create: {}\n");
}

TEST(PipelineDraft, KeepsASectionThatHoldsSomething) {
  PipelineDraft draft;
  draft.set_list("table.create.partition_by", {"bucket(64, id)"});
  draft.set_section("table.create");
  EXPECT_EQ(draft.to_yaml(), "table:\n  create:\n    partition_by: [\"bucket(64, id)\"]\n");
}

RC_GTEST_PROP(PipelineDraft, AnyTextReadsBackAsItIs, ()) {
  const auto bytes = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  PipelineDraft draft;
  draft.set_property("table.create.properties", "key", bytes);
  draft.set_list("source.kafka.topics", {bytes, "x"});
  const Node root = parse(draft.to_yaml());
  const Node* list = root.find("source")->find("kafka")->find("topics");
  RC_ASSERT(root.find("table")->find("create")->find("properties")->find("key")->scalar == bytes);
  RC_ASSERT(list->items.size() == 2u);
  RC_ASSERT(list->items[0].scalar == bytes);
}

TEST(PipelineDraft, QuotesWhatYamlWouldReadOtherwise) {
  for (const std::string text : {"null", "", "a: b", "#x", "*x", "&x", "- x", "[x", "x #y", "@x", "%x", "|", "über"}) {
    PipelineDraft draft;
    draft.set("name", text);
    EXPECT_EQ(parse(draft.to_yaml()).find("name")->scalar, text);
    EXPECT_FALSE(parse(draft.to_yaml()).find("name")->is_empty);
  }
}

}  // namespace
}  // namespace frazil::app
