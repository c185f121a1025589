#include "app/config/document.h"
#include "app/convert/convert.h"
#include "app/convert/transform_names.h"

namespace frazil::app {
namespace {

// The parameters of a file: a flat map, one under "parameters", or the body of a launch request around that.
const Node* find_parameters(const Node& root, const Node** job_name) {
  const Node* launch = root.find("launchParameter");
  if (launch == nullptr) launch = root.find("launch_parameter");
  const Node& outer = launch == nullptr ? root : *launch;
  *job_name = outer.find("jobName");
  const Node* inner = outer.find("parameters");
  return inner == nullptr ? &outer : inner;
}

void set_entry(Node& map, const std::string& key, const Mark& mark, const Node& value) {
  if (Node* found = map.find(key)) {
    *found = value;
  } else {
    map.entries.push_back({key, mark, value});
  }
}

// Everything that was given, the command line over the file.
std::optional<Node> gather(Conversion& conversion, const ForeignPipeline& pipeline, std::string& job) {
  Node all;
  all.kind = Node::Kind::kMap;
  if (!pipeline.text.empty()) {
    Problems problems(pipeline.file);
    const auto root = parse_yaml(pipeline.text, problems);
    for (const Problem& problem : problems.all()) conversion.problem(problem.mark, "file", problem.text);
    if (!root || root->kind != Node::Kind::kMap) {
      conversion.problem({}, "file", "must be a map of the template's parameters, in YAML or JSON");
      return std::nullopt;
    }
    const Node* name = nullptr;
    const Node* parameters = find_parameters(*root, &name);
    if (name != nullptr) job = name->scalar;
    for (const Entry& entry : parameters->entries) set_entry(all, entry.key, entry.mark, entry.value);
  }
  for (const auto& [key, text] : pipeline.parameters) {
    Node value;
    value.scalar = text;
    value.mark.origin = "--parameter " + key;
    set_entry(all, key, value.mark, value);
  }
  return all;
}

void check_required(Conversion& conversion, const Node& parameters) {
  for (const char* name : {"bootstrapServers", "topic", "table", "catalogProperties"}) {
    const Node* value = parameters.find(name);
    if (value == nullptr || is_left_out(*value)) conversion.problem({}, name, "is missing");
  }
}

}  // namespace

const std::vector<ForeignName>& dataflow_names() {
  static const std::vector<ForeignName> names = [] {
    std::vector<ForeignName> all = in_camel_case(kafka_read_names());
    for (ForeignName& name : in_camel_case(iceberg_write_names())) {
      // The template has one word for both.
      if (find_foreign_name(all, name.name) == nullptr) all.push_back(std::move(name));
    }
    constexpr char kRunner[] = "a setting of the runner";
    all.push_back({.name = "jobName", .doc = "`name`", .translate = [](Conversion& c, const Given& given) { c.draft.set("name", to_pipeline_name(given.text())); }});
    all.push_back({.name = "sdfCheckpointAfterDuration", .fate = Fate::kNotNeeded, .doc = kRunner});
    all.push_back({.name = "sdfCheckpointAfterOutputBytes", .fate = Fate::kNotNeeded, .doc = kRunner});
    return all;
  }();
  return names;
}

void convert_dataflow(Conversion& conversion, const ForeignPipeline& pipeline) {
  std::string job;
  const auto parameters = gather(conversion, pipeline, job);
  if (!parameters) return;
  check_required(conversion, *parameters);
  translate_settings(conversion, dataflow_names(), "", *parameters);
  PipelineDraft& draft = conversion.draft;
  if (!draft.has("name")) {
    const Node* topic = parameters->find("topic");
    draft.set("name", to_pipeline_name(!job.empty() ? job : topic != nullptr ? topic->scalar : "pipeline"));
  }
  if (!draft.has("source.kafka.start")) draft.set("source.kafka.start", "earliest");
  if (!draft.has("decode.on_reject")) {
    draft.set("decode.on_reject", "dead_letter");
    draft.comment("decode.on_reject", "The template would try a record again and again that is not of the schema. Here it goes to the dead letters; `halt` in place of `dead_letter` would stop at it.");
  }
  complete_pipeline_draft(conversion, {});
}

}  // namespace frazil::app
