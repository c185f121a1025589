#include <fmt/format.h>

#include <algorithm>

#include "app/completion/completion_script.h"

namespace frazil::app {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string flags_of(const CommandTree& command) {
  std::string text;
  for (const ArgumentDoc& argument : command.arguments) {
    for (const std::string& flag : argument.long_flags()) text += (text.empty() ? "" : " ") + flag;
  }
  return text;
}

// What may follow a command: its commands, or the words of its positionals.
std::string words_after(const CommandTree& command) {
  std::string text;
  for (const CommandTree& child : command.commands) text += (text.empty() ? "" : " ") + child.name;
  for (const ArgumentDoc& argument : command.arguments) {
    if (argument.flags.empty()) text += (text.empty() ? "" : " ") + joined(argument.words);
  }
  return text;
}

bool takes_files(const CommandTree& command) {
  return std::any_of(command.arguments.begin(), command.arguments.end(),
                     [](const ArgumentDoc& argument) { return argument.flags.empty() && argument.names_a_file; });
}

std::string value_case(const CommandTree& command, const ArgumentDoc& argument, const std::string& flag) {
  const std::string start = fmt::format("    '{} {}') ", command.path, flag);
  if (flag == "--set" && command.commands.empty() && !command.path.starts_with("catalog")) {
    return start + fmt::format("words='{}'; compopt -o nospace 2> /dev/null ;;\n", joined(set_paths()));
  }
  if (!argument.words.empty()) return start + fmt::format("words='{}' ;;\n", joined(argument.words));
  return start + (argument.names_a_file ? "files=yes ;;\n" : ": value of its own ;;\n");
}

std::string value_cases(const CommandTree& command) {
  std::string text;
  for (const ArgumentDoc& argument : command.arguments) {
    if (argument.flags.empty() || !argument.takes_value) continue;
    for (const std::string& flag : argument.long_flags()) text += value_case(command, argument, flag);
  }
  return text;
}

}  // namespace

std::string bash_completion(const CommandTree& tree) {
  std::string commands, flags = fmt::format("    '') flags='{}' ;;\n", flags_of(tree));
  std::string after = fmt::format("    '') words='{}' ;;\n", words_after(tree)), values;
  for (const CommandTree* command : tree.all()) {
    commands += (commands.empty() ? "'" : " | '") + command->path + "'";
    flags += fmt::format("    '{}') flags='{}' ;;\n", command->path, flags_of(*command));
    const std::string words = words_after(*command);
    after +=
        fmt::format("    '{}') {} ;;\n", command->path, takes_files(*command) ? "files=yes" : "words='" + words + "'");
    values += value_cases(*command);
  }
  return "# Completion of frazil for bash: source <(frazil completion bash)\n"
         "_frazil() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= files= flags= words= next "
         "i\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    next=\"${command:+$command }${COMP_WORDS[i]}\"\n"
         "    case \"$next\" in\n      " +
         commands +
         ") command=$next ;;\n    esac\n  done\n"
         "  case \"$command $prev\" in\n" +
         values + "    *) if [[ $cur == -* ]]; then\n  case \"$command\" in\n" + flags +
         "  esac\n  words=$flags\n  else\n"
         "  case \"$command\" in\n" +
         after +
         "  esac\n  fi ;;\n  esac\n"
         "  if [[ -n $files ]]; then\n"
         "    compopt -o filenames 2> /dev/null\n"
         "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  fi\n}\ncomplete -F _frazil frazil\n";
}

}  // namespace frazil::app
