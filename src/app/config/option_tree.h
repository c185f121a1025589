// OptionTree: declared options in the shape of the file, and the walk that reads a map by them. One thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/config/option.h"
#include "app/config/option_value.h"

namespace frazil::app {

struct OptionTree {
  std::string name;
  const Option* option = nullptr;  // nullptr at the root
  std::vector<OptionTree> children;

  const OptionTree* child(const std::string& name) const;
  std::vector<std::string> child_names() const;
};

// Options in the order given; every section is declared before what it holds. The pointers stay the caller's.
OptionTree make_option_tree(const std::vector<const Option*>& options);

// Where the values of one pipeline stand, by path; and those of its sections.
using Marks = std::map<std::string, Mark>;

// Reads `map` by `tree` into `target`: unknown keys, wrong types, missing keys and refused values become problems,
// absent options get their defaults.
void read_by_options(const OptionTree& tree, const Node& map, const OptionTarget& target, const ValueContext& context,
                     Marks& marks);

}  // namespace frazil::app
