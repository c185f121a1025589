#include "app/config/option_reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "app/config/nearest_name.h"
#include "app/config/option.h"

namespace frazil::app {
namespace {

std::vector<Option> all_options() {
  std::vector<Option> all = pipeline_options();
  all.insert(all.end(), process_options().begin(), process_options().end());
  return all;
}

TEST(OptionReference, IsTheOneThatTheDocumentsHold) {
  std::ifstream file("docs/reference/options.md");
  ASSERT_TRUE(file) << "run from the root of the project";
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), options_as_markdown())
      << "write it anew: frazil options --format markdown > docs/reference/options.md";
}

// As it is written down: options of a list's entries have "[]" behind the list's name.
std::string written_path(const Option& option) {
  for (const Option& list : all_options()) {
    const std::string beginning = list.path + ".";
    if (list.kind == OptionKind::kSectionList && option.path.starts_with(beginning)) {
      return list.path + "[]." + option.path.substr(beginning.size());
    }
  }
  return option.path;
}

TEST(OptionReference, DescribesEveryOptionOnce) {
  std::set<std::string> paths;
  for (const Option& option : all_options()) {
    EXPECT_TRUE(paths.insert(option.path).second) << option.path;
    EXPECT_FALSE(option.doc.empty()) << option.path;
    EXPECT_TRUE(option.kind == OptionKind::kSection || option.assign != nullptr) << option.path;
    EXPECT_NE(options_as_markdown().find("| `" + written_path(option) + "` |"), std::string::npos) << option.path;
  }
}

TEST(OptionReference, GivesAJsonSchemaThatKnowsEveryOption) {
  const auto schema = nlohmann::json::parse(options_as_json_schema());
  for (const Option& option : all_options()) {
    const nlohmann::json* node = &schema["anyOf"][0];
    std::istringstream parts(option.path);
    for (std::string part; std::getline(parts, part, '.');) {
      if (node->contains("items")) node = &(*node)["items"];
      ASSERT_TRUE(node->contains("properties")) << option.path;
      ASSERT_TRUE((*node)["properties"].contains(part)) << option.path;
      node = &(*node)["properties"][part];
    }
    EXPECT_EQ((*node)["description"], option.doc);
  }
  EXPECT_EQ(schema["anyOf"][0]["additionalProperties"], false);
  EXPECT_TRUE(schema["anyOf"][1]["properties"].contains("pipelines"));
}

TEST(OptionReference, ListsOptionsForTheTerminal) {
  EXPECT_NE(options_as_text().find("commit.interval                      5s"), std::string::npos);
}

TEST(NearestName, CountsSwappedLettersOnce) {
  EXPECT_EQ(edit_distance("topcis", "topics"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(nearest_name("intervall", {"freshness", "interval"}), "interval");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace frazil::app
