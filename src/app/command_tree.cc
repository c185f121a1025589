#include "app/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/config/nearest_name.h"

namespace frazil::app {
namespace {

// The words of a check for membership, which the library shows as "TEXT:{bash,zsh}".
std::vector<std::string> words_of(const std::string& type_name) {
  const size_t open = type_name.find('{'), close = type_name.rfind('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos) return words;
  for (size_t start = open + 1; start < close;) {
    const size_t end = std::min(type_name.find(',', start), close);
    words.push_back(type_name.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

// Arguments whose value is a path on this machine, or may be one.
bool is_path(const std::string& name, const std::string& command) {
  return name == "FILE" || name == "METADATA" || name == "--file" || name == "--schema" || name == "--dir" ||
         (name == "TABLE" && command == "inspect");
}

ArgumentDoc read_argument(const CLI::Option& option, const std::string& command) {
  ArgumentDoc argument;
  for (const std::string& name : option.get_snames()) argument.flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.flags.push_back("--" + name);
  argument.name = option.get_name(/*positional=*/true);
  argument.doc = option.get_description();
  argument.default_text = option.get_default_str();
  argument.environment = option.get_envname();
  argument.words = words_of(option.get_type_name());
  argument.takes_value = option.get_items_expected_max() > 0;
  argument.is_required = option.get_required();
  argument.names_a_file = is_path(argument.flags.empty() ? argument.name : argument.flag(), command);
  return argument;
}

CommandTree read_command(const CLI::App& app, const std::string& path) {
  CommandTree command{app.get_name(), path, app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) command.arguments.push_back(read_argument(*option, path));
  for (const CLI::App* child : app.get_subcommands(nullptr)) {
    command.commands.push_back(read_command(*child, path.empty() ? child->get_name() : path + " " + child->get_name()));
  }
  return command;
}

void append_all(const CommandTree& tree, std::vector<const CommandTree*>& all) {
  for (const CommandTree& command : tree.commands) {
    all.push_back(&command);
    append_all(command, all);
  }
}

}  // namespace

std::vector<std::string> ArgumentDoc::long_flags() const {
  std::vector<std::string> all;
  std::copy_if(flags.begin(), flags.end(), std::back_inserter(all), [](const std::string& flag) { return flag.starts_with("--"); });
  return all;
}

std::string ArgumentDoc::flag() const {
  const std::vector<std::string> all = long_flags();
  return all.empty() ? "" : all.front();
}

const CommandTree* CommandTree::find(const std::string& wanted) const {
  for (const CommandTree& command : commands) {
    if (command.name == wanted) return &command;
  }
  return nullptr;
}

std::vector<const CommandTree*> CommandTree::all() const {
  std::vector<const CommandTree*> found;
  append_all(*this, found);
  return found;
}

CommandTree read_command_tree(const CLI::App& app) {
  return read_command(app, "");
}

std::string unknown_command(const CommandTree& tree, int argc, const char* const* argv) {
  const CommandTree* at = &tree;
  for (int i = 1; i < argc && !at->commands.empty(); ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) return "";
    const CommandTree* next = at->find(word);
    if (next == nullptr) {
      std::vector<std::string> known;
      for (const CommandTree& command : at->commands) known.push_back(command.name);
      const std::string program = at->path.empty() ? tree.name : tree.name + " " + at->path;
      return "unknown command \"" + word + "\", nearest is \"" + nearest_name(word, known) + "\"; `" + program +
             " --help` lists all";
    }
    at = next;
  }
  return "";
}

}  // namespace frazil::app
