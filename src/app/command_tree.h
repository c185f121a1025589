// CommandTree: what the program's declared arguments are, as plain values: completion scripts, the manual page and the
// answer to a mistyped command are made from it. Read from the declarations of the command line library, so that
// nothing is written twice. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace frazil::app {

struct ArgumentDoc {
  std::vector<std::string> flags;  // "--set", other names of it behind; empty: positional
  std::string name;                // of a positional: "FILE"
  std::string doc;
  std::string default_text;
  std::string environment;         // variable that stands in for it, or empty
  std::vector<std::string> words;  // what it may be, when that is a fixed list
  bool takes_value = false;
  bool names_a_file = false;
  bool is_required = false;

  // Its name: the first long flag; empty for a positional.
  std::string flag() const;
  std::vector<std::string> long_flags() const;
};

struct CommandTree {
  std::string name;  // "catalog"
  std::string path;  // "catalog show"; empty at the root
  std::string doc;
  std::vector<ArgumentDoc> arguments;
  std::vector<CommandTree> commands;

  const CommandTree* find(const std::string& name) const;
  // All commands below, each before its own, in the order of declaration.
  std::vector<const CommandTree*> all() const;
};

CommandTree read_command_tree(const CLI::App& app);

// What is wrong with the first word that should be a command and is none: names it and the nearest. Empty: nothing.
std::string unknown_command(const CommandTree& tree, int argc, const char* const* argv);

}  // namespace frazil::app
