#include <CLI/CLI.hpp>

#include "app/command_tree.h"
#include "app/commands/commands.h"
#include "app/completion/completion_script.h"
#include "app/manual/manual_page.h"
#include "app/terminal.h"

namespace frazil::app {

void add_completion(CLI::App& app, Chosen& chosen) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* command = app.add_subcommand("completion", "Print a completion script: source <(frazil completion bash)");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->capture_default_str();
  command->callback([shell, &app, &chosen] {
    chosen = [shell, &app] {
      const CommandTree tree = read_command_tree(app);
      put(*shell == "zsh" ? zsh_completion(tree) : *shell == "fish" ? fish_completion(tree) : bash_completion(tree));
      return kExitOk;
    };
  });
}

void add_man(CLI::App& app, Chosen& chosen) {
  auto page = std::make_shared<std::string>("frazil");
  CLI::App* command = app.add_subcommand("man", "Print a manual page: frazil man | man -l -");
  command->add_option("PAGE", *page, "frazil, or pipeline: the options of a pipeline file")
      ->check(CLI::IsMember({"frazil", "pipeline"}))
      ->capture_default_str();
  command->callback([page, &app, &chosen] {
    chosen = [page, &app] {
      put(*page == "pipeline" ? pipeline_manual() : program_manual(read_command_tree(app)));
      return kExitOk;
    };
  });
}

}  // namespace frazil::app
