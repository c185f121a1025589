#include <fmt/format.h>

#include "app/completion/completion_script.h"

namespace frazil::app {
namespace {

// Text inside of '...' and of an _arguments specification.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string words(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& word : list) text += (text.empty() ? "" : " ") + word;
  return "(" + text + ")";
}

std::string action_of(const ArgumentDoc& argument, bool is_set) {
  if (is_set) return "->set";
  if (argument.names_a_file) return "_files";
  return argument.words.empty() ? " " : words(argument.words);
}

std::string specification(const ArgumentDoc& argument, const std::string& flag, bool is_set) {
  const std::string start = flag == "--help" ? "'(- *)" : "'*";
  std::string text = start + flag + "[" + escaped(argument.doc) + "]";
  if (argument.takes_value) text += ":value:" + action_of(argument, is_set);
  return text + "'";
}

std::string function_name(const CommandTree& command) {
  std::string name = "_frazil" + (command.path.empty() ? "" : "_" + command.path);
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c;
  return name;
}

std::string specifications(const CommandTree& command) {
  std::string text;
  for (const ArgumentDoc& argument : command.arguments) {
    const std::string next = " \\\n    ";
    if (argument.flags.empty()) text += next + fmt::format("':{}:{}'", escaped(argument.name), action_of(argument, false));
    const bool is_set = argument.flag() == "--set" && !command.path.starts_with("catalog");
    for (const std::string& flag : argument.long_flags()) text += next + specification(argument, flag, is_set);
  }
  return text;
}

std::string function_with_commands(const CommandTree& command) {
  std::string list, cases;
  for (const CommandTree& child : command.commands) {
    list += fmt::format("    '{}:{}'\n", child.name, escaped(child.doc));
    cases += fmt::format("    {}) {} ;;\n", child.name, function_name(child));
  }
  return function_name(command) + "() {\n  local curcontext=$curcontext state line\n  local -a commands=(\n" + list +
         "  )\n  _arguments -C" + specifications(command) +
         " \\\n    '1:command:->command' '*::argument:->argument'\n"
         "  case $state in\n  command) _describe command commands ;;\n  argument) case $words[1] in\n" +
         cases + "    esac ;;\n  esac\n}\n";
}

std::string leaf_function(const CommandTree& command) {
  return function_name(command) + "() {\n  local curcontext=$curcontext state line\n  _arguments -C" +
         specifications(command) + "\n  if [[ $state = set ]]; then compadd -S '' -- $_frazil_set_paths; fi\n}\n";
}

}  // namespace

std::string zsh_completion(const CommandTree& tree) {
  std::string text =
      "#compdef frazil\n# Completion of frazil for zsh: source <(frazil completion zsh), or a file _frazil in "
      "$fpath.\n";
  text += "typeset -ga _frazil_set_paths=" + words(set_paths()) + "\n";
  for (const CommandTree* command : tree.all())
    text += command->commands.empty() ? leaf_function(*command) : function_with_commands(*command);
  text += function_with_commands(tree);
  return text + "if [ \"$funcstack[1]\" = _frazil ]; then _frazil \"$@\"; else compdef _frazil frazil; fi\n";
}

}  // namespace frazil::app
