#include "app/convert/beam_pipeline.h"

#include "app/config/nearest_name.h"
#include "app/convert/convert.h"

namespace frazil::app {
namespace {

std::vector<std::string> read_inputs(const Node& input) {
  std::vector<std::string> inputs;
  if (input.kind == Node::Kind::kScalar) inputs.push_back(input.scalar);
  for (const Node& item : input.items) inputs.push_back(item.scalar);
  for (const Entry& entry : input.entries) inputs.push_back(entry.value.scalar);
  return inputs;
}

class TransformReader {
 public:
  TransformReader(Conversion& conversion, bool is_chain) : conversion_(conversion), is_chain_(is_chain) {}

  void read_list(const Node& list, bool is_extra) {
    if (list.kind != Node::Kind::kList) return conversion_.problem(list.mark, "transforms", "must be a list of transforms");
    for (const Node& item : list.items) read(item, is_extra);
  }

  void read(const Node& node, bool is_extra) {
    const Node* type = node.find("type");
    if (node.kind != Node::Kind::kMap || type == nullptr) return conversion_.problem(node.mark, "transforms", "a transform is a map with a `type`");
    BeamTransform transform;
    transform.type = type->scalar;
    transform.mark = node.mark;
    const Node* name = node.find("name");
    transform.name = name == nullptr ? transform.type : name->scalar;
    for (const Entry& entry : node.entries) read_part(entry, transform);
    if (is_chain_ && !is_extra && transform.inputs.empty() && !last_.empty()) transform.inputs.push_back(last_);
    if (!is_extra) last_ = transform.name;
    transforms_.push_back(std::move(transform));
  }

  std::vector<BeamTransform> take() { return std::move(transforms_); }

 private:
  void read_part(const Entry& entry, BeamTransform& transform) {
    const Given given{transform.name + "." + entry.key, entry.key, entry.mark, entry.value};
    if (entry.key == "input") {
      transform.inputs = read_inputs(entry.value);
    } else if (entry.key == "config") {
      transform.config = entry.value;
    } else {
      translate_name(conversion_, beam_transform_names(), given);
    }
  }

  Conversion& conversion_;
  const bool is_chain_;
  std::string last_;
  std::vector<BeamTransform> transforms_;
};

}  // namespace

std::vector<BeamTransform> read_beam_transforms(Conversion& conversion, const Node& pipeline) {
  const Node* type = pipeline.find("type");
  const bool is_chain = type != nullptr && type->scalar == "chain";
  TransformReader reader(conversion, is_chain || pipeline.find("source") != nullptr);
  if (const Node* source = pipeline.find("source")) reader.read(*source, false);
  if (const Node* transforms = pipeline.find("transforms")) reader.read_list(*transforms, false);
  if (const Node* sink = pipeline.find("sink")) reader.read(*sink, false);
  if (const Node* extra = pipeline.find("extra_transforms")) reader.read_list(*extra, true);
  for (const Entry& entry : pipeline.entries) {
    if (entry.key == "transforms" || entry.key == "extra_transforms" || entry.key == "source" || entry.key == "sink") continue;
    translate_name(conversion, beam_pipeline_names(), {"pipeline." + entry.key, entry.key, entry.mark, entry.value});
  }
  return reader.take();
}

}  // namespace frazil::app
