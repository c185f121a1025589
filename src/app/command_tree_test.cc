#include "app/command_tree.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace frazil::app {
namespace {

class Tree : public testing::Test {
 protected:
  Tree() : app_("A program.", "frazil") {
    CLI::App* run = app_.add_subcommand("run", "Run it");
    run->add_option("FILE", text_, "the file")->required();
    run->add_option("--format", text_, "its form")->check(CLI::IsMember({"text", "json"}))->envname("FORMAT");
    run->add_flag("--once", flag_, "only once");
    app_.add_subcommand("catalog", "Look")->add_subcommand("tables", "List tables");
  }
  std::string wrong(std::vector<const char*> words) {
    words.insert(words.begin(), "frazil");
    return unknown_command(read_command_tree(app_), static_cast<int>(words.size()), words.data());
  }
  CLI::App app_;
  std::string text_;
  bool flag_ = false;
};

TEST_F(Tree, HoldsWhatWasDeclared) {
  const CommandTree tree = read_command_tree(app_);
  ASSERT_EQ(tree.all().size(), 3u);
  EXPECT_EQ(tree.all()[2]->path, "catalog tables");
  const CommandTree* run = tree.find("run");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->doc, "Run it");
  ASSERT_EQ(run->arguments.size(), 4u);  // --help is the first
  EXPECT_EQ(run->arguments[1].name, "FILE");
  EXPECT_TRUE(run->arguments[1].flags.empty() && run->arguments[1].is_required && run->arguments[1].takes_value);
  EXPECT_EQ(run->arguments[2].words, (std::vector<std::string>{"text", "json"}));
  EXPECT_EQ(run->arguments[2].environment, "FORMAT");
  EXPECT_EQ(run->arguments[3].flags, std::vector<std::string>{"--once"});
  EXPECT_FALSE(run->arguments[3].takes_value);
}

TEST_F(Tree, NamesTheCommandThatWasMeant) {
  EXPECT_EQ(wrong({"rnu"}), "unknown command \"rnu\", nearest is \"run\"; `frazil --help` lists all");
  EXPECT_EQ(wrong({"catalog", "table"}),
            "unknown command \"table\", nearest is \"tables\"; `frazil catalog --help` lists all");
}

TEST_F(Tree, LeavesRightWordsAndOptionsToTheParser) {
  EXPECT_EQ(wrong({}), "");
  EXPECT_EQ(wrong({"--help"}), "");
  EXPECT_EQ(wrong({"run", "catalog"}), "");
  EXPECT_EQ(wrong({"catalog", "--help"}), "");
  EXPECT_EQ(wrong({"catalog", "tables"}), "");
}

}  // namespace
}  // namespace frazil::app
