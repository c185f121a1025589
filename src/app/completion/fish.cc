#include "app/completion/completion_script.h"

namespace frazil::app {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string words(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& word : list) text += (text.empty() ? "" : " ") + word;
  return quoted(text);
}

// True where the words so far are exactly this command's and options.
std::string condition(const CommandTree& command) {
  return "'__frazil_at " + command.path + "'";
}

std::string argument_lines(const CommandTree& command, const ArgumentDoc& argument) {
  const std::string start = "complete -c frazil -n " + condition(command);
  const bool is_set = argument.flag() == "--set" && !command.path.starts_with("catalog");
  std::string line = start;
  for (const std::string& flag : argument.long_flags()) line += " -l " + flag.substr(2);
  if (!argument.flags.empty()) line += " -d " + quoted(argument.doc);
  if (argument.flags.empty() && command.path.empty()) return "";
  if (!argument.flags.empty() && !argument.takes_value) return line + "\n";
  if (!argument.flags.empty()) line += " -r";
  if (is_set) return line + " -f -a " + words(set_paths()) + "\n";
  if (argument.names_a_file) return line + " -F\n";
  if (argument.words.empty()) return argument.flags.empty() ? "" : line + " -f\n";
  return line + " -f -a " + words(argument.words) + "\n";
}

}  // namespace

std::string fish_completion(const CommandTree& tree) {
  std::string known, lines;
  for (const CommandTree* command : tree.all()) known += " " + quoted(command->path);
  std::vector<const CommandTree*> all = tree.all();
  all.insert(all.begin(), &tree);
  for (const CommandTree* command : all) {
    for (const CommandTree& child : command->commands) {
      lines += "complete -c frazil -n " + condition(*command) + " -a " + child.name + " -d " + quoted(child.doc) + "\n";
    }
    for (const ArgumentDoc& argument : command->arguments) lines += argument_lines(*command, argument);
  }
  return "# Completion of frazil for fish: frazil completion fish | source\n"
         "function __frazil_at\n"
         "  set -l found\n"
         "  for word in (commandline -opc)[2..-1]\n"
         "    set -l next (string join -- ' ' $found $word)\n"
         "    contains -- $next" +
         known +
         "; and set found (string split -- ' ' $next)\n"
         "  end\n"
         "  test \"$found\" = \"$argv\"\n"
         "end\n"
         "complete -c frazil -f\n" +
         lines;
}

}  // namespace frazil::app
