#include "app/convert/conversion.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "app/config/references.h"

namespace frazil::app {
namespace {

TEST(Conversion, SplitsAtCommasOutsideOfParentheses) {
  EXPECT_EQ(split_at_commas("bucket(16, id), day(ts) ,country"), (std::vector<std::string>{"bucket(16, id)", "day(ts)", "country"}));
  EXPECT_EQ(split_at_commas(" , "), std::vector<std::string>{});
  EXPECT_EQ(split_at_commas("bucket(16, id"), std::vector<std::string>{"bucket(16, id"});
}

TEST(Conversion, WritesPartitionFieldsAsTheyAreWrittenHere) {
  EXPECT_EQ(partition_fields_as_here({"bucket(id, 64)", "truncate(name,4)", "bucket(16, id)", "day(ts)", "country", "bucket(id)"}),
            (std::vector<std::string>{"bucket(64, id)", "truncate(4, name)", "bucket(16, id)", "day(ts)", "country", "bucket(id)"}));
}

TEST(Conversion, KeepsReferencesAndEscapesWhatIsNone) {
  EXPECT_EQ(keep_references("${env:A}"), "${env:A}");
  EXPECT_EQ(keep_references("${file:/a}"), "${file:/a}");
  const auto resolved = resolve_references(keep_references("a${b}c$"), ".");
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved->text, "a${b}c$");
}

TEST(Conversion, MakesNamesThatPipelinesMayHave) {
  EXPECT_EQ(to_pipeline_name("Orders.V2"), "orders-v2");
  EXPECT_EQ(to_pipeline_name("__a b"), "__a-b");
  EXPECT_EQ(to_pipeline_name(std::string(100, 'x')).size(), 64u);
}

TEST(Conversion, FindsTheFamilyWithTheLongestPrefix) {
  const std::vector<ForeignName> names = {{.name = "a.*"}, {.name = "a.b.*"}, {.name = "a.b.c"}};
  EXPECT_EQ(find_foreign_name(names, "a.x")->name, "a.*");
  EXPECT_EQ(find_foreign_name(names, "a.b.x")->name, "a.b.*");
  EXPECT_EQ(find_foreign_name(names, "a.b.c")->name, "a.b.c");
  EXPECT_EQ(find_foreign_name(names, "b"), nullptr);
  EXPECT_EQ(find_foreign_name(names, "a."), nullptr);
}

TEST(Conversion, NamesTheNearestKnownName) {
  Conversion conversion("");
  const Node value;
  translate_name(conversion, {{.name = "topic", .doc = "x"}, {.name = "table", .doc = "x"}}, {"topc", "topc", {}, value});
  ASSERT_EQ(conversion.findings().size(), 1u);
  EXPECT_EQ(conversion.findings()[0].fate, Fate::kRefused);
  EXPECT_EQ(conversion.findings()[0].text, "unknown name, nearest known name \"topic\"");
}

TEST(Conversion, PutsAReferenceInPlaceOfASecret) {
  Conversion conversion("");
  const Node value;
  EXPECT_EQ(conversion.secret({"a", "a", {}, value}, "hunter2", "A_SECRET"), "${env:A_SECRET}");
  ASSERT_EQ(conversion.findings().size(), 1u);
  EXPECT_EQ(conversion.findings()[0].text.find("hunter2"), std::string::npos);
  EXPECT_NE(conversion.findings()[0].text.find("A_SECRET"), std::string::npos);
}

TEST(Conversion, ASecretIsAReferenceAsAWhole) {
  for (const auto& [key, text, is_whole] : std::vector<std::tuple<std::string, std::string, bool>>{
           {"password", "${env:A}${file:/b}", true}, {"credential", "id:${env:A}", true}, {"credential", "${env:A}:${env:B}", true},
           {"password", "${env:A}hunter2", false}, {"password", "hunter2${env:A}", false}, {"password", "x:${env:A}", false},
           {"credential", "${env:A}:hunter2", false}, {"credential", "id:${env:A}hunter2", false}, {"password", "$${env:A}", false}}) {
    Conversion conversion("");
    const Node value;
    const std::string put = conversion.secret({key, key, {}, value}, text, "A_SECRET");
    EXPECT_EQ(put, is_whole ? text : "${env:A_SECRET}") << text;
    EXPECT_EQ(conversion.findings().empty(), is_whole) << text;
    for (const Finding& finding : conversion.findings()) EXPECT_EQ(finding.text.find("hunter2"), std::string::npos) << finding.text;
  }
}

TEST(Conversion, AddressesWithLoginsAreRefusedUnseen) {
  for (const char* text : {"https://me:hunter2@host/x", "https://host/x?access_token=hunter2"}) {
    Conversion conversion("");
    Node value;
    value.scalar = text;
    bool is_put = false;
    translate_name(conversion, {{.name = "a", .doc = "x", .translate = [&](Conversion&, const Given&) { is_put = true; }}}, {"a", "a", {}, value});
    EXPECT_FALSE(is_put) << text;
    ASSERT_TRUE(conversion.has_refusals()) << text;
    EXPECT_EQ(conversion.findings()[0].text.find("hunter2"), std::string::npos);
  }
}

TEST(Conversion, TakesAReferenceForASecretAsItIs) {
  Conversion conversion("");
  const Node value;
  EXPECT_EQ(conversion.secret({"a", "a", {}, value}, "${env:MINE}", "A_SECRET"), "${env:MINE}");
  EXPECT_TRUE(conversion.findings().empty());
}

}  // namespace
}  // namespace frazil::app
