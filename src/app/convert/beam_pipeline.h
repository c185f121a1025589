// A Beam YAML file as a graph of transforms. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/convert/conversion.h"

namespace frazil::app {

struct BeamTransform {
  std::string type;
  std::string name;  // the type where none was given
  Mark mark;
  // "ReadFromKafka" or "ReadFromKafka.errors": what it reads, a chain's order included.
  std::vector<std::string> inputs;
  std::optional<Node> config;
};

// The transforms of `pipeline:`, of a chain (with its source and sink) or a composite, and its extra transforms. What has no
// counterpart is refused by name. Nothing when there are none.
std::vector<BeamTransform> read_beam_transforms(Conversion& conversion, const Node& pipeline);

}  // namespace frazil::app
