#include <CLI/CLI.hpp>

#include "app/commands/commands.h"
#include "app/terminal.h"

namespace frazil::app {
namespace {

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

// A completion script for bash, and for zsh by its bashcompinit.
std::string bash_script(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    commands += command->get_name() + " ";
    cases += "    " + command->get_name() + ") words=\"" + words_of(*command) + "\" ;;\n";
  }
  return "_frazil() {\n  local words=\"" + commands + "--help\"\n  case \"${COMP_WORDS[1]}\" in\n" + cases +
         "  esac\n  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"" + commands +
         "--help\"; fi\n  COMPREPLY=($(compgen -f -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
         "complete -o filenames -F _frazil frazil\n";
}

}  // namespace

void add_completion(CLI::App& app, Chosen& chosen) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* command = app.add_subcommand("completion", "Print a completion script: source <(frazil completion bash)");
  command->add_option("SHELL", *shell, "bash or zsh")->check(CLI::IsMember({"bash", "zsh"}))->capture_default_str();
  command->callback([shell, &app, &chosen] {
    chosen = [shell, &app] {
      if (*shell == "zsh") put("autoload -U +X bashcompinit && bashcompinit\n");
      put(bash_script(app));
      return kExitOk;
    };
  });
}

}  // namespace frazil::app
