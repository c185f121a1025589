// Completion scripts for bash, zsh and fish: commands, options, the words that an option may be, files elsewhere, and
// the paths of `--set`. Made from the command tree; pure.
#pragma once

#include <string>
#include <vector>

#include "app/command_tree.h"

namespace frazil::app {

// Paths that `--set` takes, each with '=' behind: "commit.interval=".
std::vector<std::string> set_paths();

std::string bash_completion(const CommandTree& tree);
std::string zsh_completion(const CommandTree& tree);
std::string fish_completion(const CommandTree& tree);

}  // namespace frazil::app
