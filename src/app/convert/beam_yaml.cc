#include <algorithm>
#include <set>

#include "app/convert/beam_map_fields.h"
#include "app/convert/beam_pipeline.h"
#include "app/convert/convert.h"
#include "app/convert/transform_names.h"

namespace frazil::app {
namespace {

constexpr char kWindows[] = "windows only group rows for writing; commits are cut by `commit.interval`";

// "{{ topic }}" of a line, or nothing. Beam renders these before it reads the YAML.
std::string jinja_of(const std::string& line) {
  for (const auto& [open, close] : {std::pair{"{{", "}}"}, std::pair{"{%", "%}"}}) {
    const size_t begin = line.find(open);
    if (begin == std::string::npos) continue;
    const size_t end = line.find(close, begin);
    return line.substr(begin, end == std::string::npos ? std::string::npos : end + 2 - begin);
  }
  return "";
}

bool refuse_jinja(Conversion& conversion, const std::string& text) {
  bool has_any = false;
  int number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string found = jinja_of(text.substr(begin, end - begin));
    if (!found.empty()) {
      conversion.problem({number, 1, ""}, found, "is a Jinja template: render the file first, then convert it");
      has_any = true;
    }
    begin = end + 1;
  }
  return has_any;
}

std::string owner_of(const std::string& input) { return input.substr(0, input.find('.')); }

// Which transforms come after an error output.
class ErrorPaths {
 public:
  explicit ErrorPaths(const std::vector<BeamTransform>& transforms) : transforms_(transforms) {
    for (const BeamTransform& transform : transforms) {
      if (const std::string output = error_output(transform); !output.empty()) outputs_.insert(transform.name + "." + output);
    }
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (const BeamTransform& transform : transforms_) {
        if (reads_errors(transform) && errors_.insert(transform.name).second) has_grown = true;
      }
    }
  }

  bool holds(const BeamTransform& transform) const { return errors_.contains(transform.name); }

 private:
  static std::string error_output(const BeamTransform& transform) {
    const Node* handling = transform.config ? transform.config->find("error_handling") : nullptr;
    const Node* output = handling == nullptr ? nullptr : handling->find("output");
    return output == nullptr ? "" : output->scalar;
  }
  bool reads_errors(const BeamTransform& transform) const {
    return std::any_of(transform.inputs.begin(), transform.inputs.end(), [&](const std::string& input) {
      return outputs_.contains(input) || errors_.contains(owner_of(input));
    });
  }

  const std::vector<BeamTransform>& transforms_;
  std::set<std::string> outputs_;  // "ReadFromKafka.errors"
  std::set<std::string> errors_;   // names of transforms
};

class BeamTranslation {
 public:
  BeamTranslation(Conversion& conversion, const std::vector<BeamTransform>& transforms)
      : conversion_(conversion), transforms_(transforms), errors_(transforms) {}

  void run() {
    for (const BeamTransform& transform : transforms_) {
      const Given given{transform.name, transform.type, transform.mark, nothing_};
      if (errors_.holds(transform)) {
        conversion_.not_needed(given, "reads rejected records: they are kept in the table `<table>_dead_letters`, with bytes, place and reason");
      } else if (transform.type == "ReadFromKafka") {
        take(reader_, transform, kafka_read_names());
      } else if (transform.type == "WriteToIceberg") {
        take(writer_, transform, iceberg_write_names());
      } else if (transform.type != "MapToFields") {
        translate_name(conversion_, beam_transform_types(), given);
      }
    }
    // Last, when it is known which columns the sink names itself.
    for (const BeamTransform& transform : transforms_) {
      if (transform.type == "MapToFields" && !errors_.holds(transform)) translate_map_fields(conversion_, transform, conversion_.draft.has("table.columns"));
    }
    check_ends();
  }

 private:
  void take(const BeamTransform*& place, const BeamTransform& transform, const std::vector<ForeignName>& names) {
    if (place != nullptr) {
      return conversion_.problem(transform.mark, transform.name,
                                 "is a second " + transform.type + ": a pipeline has one source and one table; convert each by itself");
    }
    place = &transform;
    if (!transform.config || transform.config->kind != Node::Kind::kMap) {
      return conversion_.problem(transform.mark, transform.name, "needs a map `config`");
    }
    translate_settings(conversion_, names, transform.name + ".config.", *transform.config);
  }

  void check_ends() {
    if (reader_ == nullptr) conversion_.problem({}, "pipeline", "has no ReadFromKafka");
    if (writer_ == nullptr) conversion_.problem({}, "pipeline", "has no WriteToIceberg");
    if (reader_ == nullptr || writer_ == nullptr) return;
    check_needed(*reader_, {"bootstrap_servers", "topic"});
    check_needed(*writer_, {"table", "catalog_properties"});
    if (writer_->inputs.empty()) conversion_.problem(writer_->mark, writer_->name + ".input", "is missing");
  }

  void check_needed(const BeamTransform& transform, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const Node* value = transform.config ? transform.config->find(name) : nullptr;
      if (value != nullptr && !is_left_out(*value)) continue;
      conversion_.problem(transform.mark, transform.name + ".config." + name, "is missing");
    }
  }

  Conversion& conversion_;
  const std::vector<BeamTransform>& transforms_;
  const ErrorPaths errors_;
  const Node nothing_;
  const BeamTransform* reader_ = nullptr;
  const BeamTransform* writer_ = nullptr;
};

void translate_options(Conversion& conversion, const Given& given) {
  const Node* job = given.value.find("job_name");
  if (job != nullptr) conversion.draft.set("name", to_pipeline_name(job->scalar));
  for (const Entry& entry : given.value.entries) {
    const Given option{given.name + "." + entry.key, entry.key, entry.mark, entry.value};
    if (entry.key == "job_name") {
      conversion.honoured(option, "`name`");
    } else if (entry.key == "streaming" && !option.is_true()) {
      conversion.changed(option, "a pipeline runs until it is stopped; `frazil run --until-caught-up` ends at the topic's present end");
    } else {
      conversion.not_needed(option, "an option of the runner; Frazil runs by itself");
    }
  }
}

void complete(Conversion& conversion, const Node& pipeline) {
  PipelineDraft& draft = conversion.draft;
  if (!draft.has("source.kafka.start")) {
    draft.set("source.kafka.start", "latest");
    draft.comment("source.kafka.start", "Beam's default. What is in the topic before the first start stays outside of the table; `earliest` takes it in.");
  }
  if (!draft.has("decode.on_reject")) {
    draft.set("decode.on_reject", "dead_letter");
    draft.comment("decode.on_reject", "Beam would try a record again and again that is not of the schema. Here it goes to the dead letters; `halt` in place of `dead_letter` would stop at it.");
  }
  complete_pipeline_draft(conversion, pipeline.mark);
}

// The first topic that any ReadFromKafka names.
std::string topic_of(const std::vector<BeamTransform>& transforms) {
  for (const BeamTransform& transform : transforms) {
    const Node* topic = transform.type == "ReadFromKafka" && transform.config ? transform.config->find("topic") : nullptr;
    if (topic != nullptr) return topic->scalar;
  }
  return "pipeline";
}

}  // namespace

const std::vector<ForeignName>& beam_transform_types() {
  static const std::vector<ForeignName> names = {
      {.name = "ReadFromKafka", .doc = "`source.kafka`, name by name (below)"},
      {.name = "WriteToIceberg", .doc = "`table`, name by name (below); one that reads an error output is not needed"},
      {.name = "MapToFields", .doc = "`table.columns` where it keeps, drops and renames; expressions are refused by the field's name"},
      {.name = "Filter", .fate = Fate::kRefused, .doc = "rows are not filtered in this version: filter before Kafka, or when reading"},
      {.name = "Sql", .fate = Fate::kRefused, .doc = "SQL is not run over rows: do it before Kafka, or when reading"},
      {.name = "SqlTransform", .fate = Fate::kRefused, .doc = "SQL is not run over rows: do it before Kafka, or when reading"},
      {.name = "Explode", .fate = Fate::kRefused, .doc = "one record is one row (top-level arrays are taken apart): do it before Kafka, or when reading"},
      {.name = "Combine", .fate = Fate::kRefused, .doc = "rows are not aggregated: do it when reading"},
      {.name = "Join", .fate = Fate::kRefused, .doc = "rows are not joined: do it when reading"},
      {.name = "Flatten", .fate = Fate::kRefused, .doc = "name all topics in one ReadFromKafka's place: `source.kafka.topics` takes several"},
      {.name = "Partition", .fate = Fate::kRefused, .doc = "one pipeline writes one table in this version"},
      {.name = "PyTransform", .fate = Fate::kRefused, .doc = "code is not run over rows: do it before Kafka"},
      {.name = "ValidateWithSchema", .fate = Fate::kNotNeeded, .doc = "every record is held to the schema; others become dead letters"},
      {.name = "WindowInto", .fate = Fate::kNotNeeded, .doc = kWindows},
      {.name = "AssignTimestamps", .fate = Fate::kNotNeeded, .doc = "rows have no event time here; partition by a column of them"},
      {.name = "LogForTesting", .fate = Fate::kNotNeeded, .doc = "the log tells of commits and rejects, not of rows"},
      {.name = "StripErrorMetadata", .fate = Fate::kNotNeeded, .doc = "dead letters keep the record's bytes beside the reason"},
      {.name = "ReadFrom*", .fate = Fate::kRefused, .doc = "of sources there is ReadFromKafka"},
      {.name = "WriteTo*", .fate = Fate::kRefused, .doc = "of sinks there is WriteToIceberg, but for those that read an error output, which are not needed"},
      {.name = "chain", .fate = Fate::kRefused, .doc = "write its transforms directly into `pipeline`"},
      {.name = "composite", .fate = Fate::kRefused, .doc = "write its transforms directly into `pipeline`"},
      {.name = "*", .fate = Fate::kRefused, .doc = "has no counterpart: do it before Kafka, or when reading"},
  };
  return names;
}

const std::vector<ForeignName>& beam_pipeline_names() {
  static const std::vector<ForeignName> names = {
      {.name = "type", .doc = "chain or composite"},
      {.name = "windowing", .fate = Fate::kNotNeeded, .doc = kWindows},
      {.name = "name", .fate = Fate::kNotNeeded, .doc = "the pipeline is named after its topic, or by --name"},
      {.name = "options", .doc = "`job_name` becomes `name`; the others are the runner's and not needed", .translate = translate_options},
      {.name = "providers", .fate = Fate::kRefused, .doc = "code of others is not loaded: leave it out where nothing uses it"},
      {.name = "resource_hints", .fate = Fate::kNotNeeded, .doc = "see `memory` and `lanes`"},
  };
  return names;
}

const std::vector<ForeignName>& beam_transform_names() {
  static const std::vector<ForeignName> names = {
      {.name = "type", .doc = "tells what it is (above)"},
      {.name = "name", .doc = "names the transform in messages"},
      {.name = "input", .doc = "read, to tell rows from errors"},
      {.name = "config", .doc = "name by name (below)"},
      {.name = "output", .fate = Fate::kRefused, .doc = "outputs have their own names: leave it out"},
      {.name = "windowing", .fate = Fate::kNotNeeded, .doc = kWindows},
      {.name = "resource_hints", .fate = Fate::kNotNeeded, .doc = "see `memory` and `lanes`"},
  };
  return names;
}

void convert_beam(Conversion& conversion, const ForeignPipeline& pipeline) {
  if (refuse_jinja(conversion, pipeline.text)) return;
  for (const auto& parameter : pipeline.parameters) {
    conversion.problem({}, "--parameter " + parameter.first, "Beam YAML takes no parameters: change the file");
  }
  Problems problems(pipeline.file);
  const auto root = parse_yaml(pipeline.text, problems);
  for (const Problem& problem : problems.all()) conversion.problem(problem.mark, "file", problem.text);
  const Node* body = root ? root->find("pipeline") : nullptr;
  if (body == nullptr || body->kind != Node::Kind::kMap) return conversion.problem({}, "pipeline", "is missing: a Beam YAML file begins with it");
  const std::vector<BeamTransform> transforms = read_beam_transforms(conversion, *body);
  BeamTranslation(conversion, transforms).run();
  for (const Entry& entry : root->entries) {
    if (entry.key == "pipeline") continue;
    translate_name(conversion, beam_pipeline_names(), {entry.key, entry.key, entry.mark, entry.value});
  }
  if (!conversion.draft.has("name")) conversion.draft.set("name", to_pipeline_name(topic_of(transforms)));
  complete(conversion, *body);
}

}  // namespace frazil::app
