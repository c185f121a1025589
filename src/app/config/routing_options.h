// Options of pipelines whose rows go to several tables.
#pragma once

#include <string>
#include <vector>

#include "app/config/option.h"

namespace frazil::app {

// `tables` and what an entry of it holds, `route`, `unrouted`, `anchor`.
std::vector<Option> routing_options();

// Empty, or what is wrong with the name of a table.
std::string check_table_name(const std::string& name);

}  // namespace frazil::app
