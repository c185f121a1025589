// The manual pages, as roff for man(7): frazil.1 from the command tree, frazil-pipeline.5 from the options. Pure.
#pragma once

#include <string>

#include "app/command_tree.h"

namespace frazil::app {

std::string program_manual(const CommandTree& tree);
std::string pipeline_manual();

}  // namespace frazil::app
