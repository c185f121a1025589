#include "app/convert/convert.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commands/commands.h"
#include "app/commands/template_call.h"
#include "app/config/config_reader.h"
#include "app/terminal.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

struct ConvertArguments {
  std::string file;
  std::string from;
  std::vector<std::string> parameters;
  std::string name;
  std::string schema;
  bool partial = false;
  bool verbose = false;
  bool json = false;
  bool names = false;
};

void tell_lines(const std::string& lines) {
  if (!lines.empty()) tell(lines.substr(0, lines.size() - 1));
}

// False after a message.
bool read_input(const ConvertArguments& arguments, ForeignPipeline& pipeline) {
  pipeline.file = arguments.file.empty() ? "parameters" : arguments.file;
  pipeline.name = arguments.name;
  pipeline.schema = arguments.schema;
  if (auto parameters = parse_parameters(arguments.parameters); parameters.ok()) {
    pipeline.parameters = std::move(parameters).value();
  } else {
    tell("error: " + parameters.error().message());
    return false;
  }
  if (arguments.file.empty()) return true;
  std::ifstream file(arguments.file, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  // Reading a folder fails only now.
  if (!file || std::filesystem::is_directory(arguments.file)) {
    tell("error: " + arguments.file + " cannot be read");
    return false;
  }
  pipeline.text = without_byte_order_mark(text.str());
  return true;
}

std::optional<Dialect> choose_dialect(const ConvertArguments& arguments, const ForeignPipeline& pipeline) {
  if (!arguments.from.empty()) return dialect_of(arguments.from);
  if (arguments.file.empty()) return Dialect::kDataflow;
  return guess_dialect(pipeline.text);
}

std::string as_json(const Converted& converted, const Problems& problems) {
  Json names = Json::array();
  for (const Finding& finding : converted.findings) {
    names.push_back({{"name", finding.name},
                     {"outcome", fate_name(finding.fate)},
                     {"text", finding.text},
                     {"line", finding.mark.line},
                     {"column", finding.mark.column}});
  }
  Json list = Json::array();
  for (const Problem& problem : problems.all()) {
    list.push_back({{"severity", problem.is_warning ? "warning" : "error"}, {"line", problem.mark.line}, {"message", problem.text}});
  }
  const bool is_valid = !converted.has_refusals && !problems.has_errors();
  const Json report = {{"valid", is_valid}, {"pipeline", converted.yaml}, {"names", names}, {"problems", list}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int convert_command(const ConvertArguments& arguments) {
  if (arguments.names) {
    put(foreign_names_as_markdown());
    return kExitOk;
  }
  if (arguments.file.empty() && arguments.parameters.empty()) {
    tell("error: give a FILE, or the parameters of a template (--parameter name=value)");
    return kExitUsage;
  }
  ForeignPipeline pipeline;
  if (!read_input(arguments, pipeline)) return kExitUsage;
  const auto dialect = choose_dialect(arguments, pipeline);
  if (!dialect) {
    tell("error: " + arguments.file + ": is it Beam YAML, a file of Kafka Connect, or of template parameters? Say --from beam, connect or dataflow");
    return kExitUsage;
  }
  const Converted converted = convert_pipeline(*dialect, pipeline);
  Problems problems("converted pipeline");
  if (!converted.has_refusals) problems = check_converted(converted, pipeline.file);
  const bool is_good = !converted.has_refusals && !problems.has_errors();
  if (arguments.json) {
    put(as_json(converted, problems));
    return is_good || arguments.partial ? kExitOk : kExitUsage;
  }
  tell_lines(findings_as_text(pipeline.file, converted.findings, arguments.verbose));
  tell_lines(problems.render());
  if (converted.has_refusals && !arguments.partial) {
    tell("error: " + pipeline.file + " has names that Frazil does not take; nothing was printed (--partial prints the rest)");
    return kExitUsage;
  }
  put(converted.yaml);
  return is_good || arguments.partial ? kExitOk : kExitUsage;
}

}  // namespace

base::Result<std::vector<std::pair<std::string, std::string>>> parse_parameters(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return base::invalid("--parameter: write name=value, as in --parameter topic=orders");
    std::string name = text.substr(0, equals);
    const bool is_given = std::any_of(parameters.begin(), parameters.end(), [&](const auto& known) { return known.first == name; });
    if (is_given) return base::invalid("--parameter " + name + " is given twice");
    parameters.emplace_back(std::move(name), text.substr(equals + 1));
  }
  return parameters;
}

Problems check_converted(const Converted& converted, const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  const std::string shown = (folder.empty() ? "" : folder + "/") + "converted pipeline";
  return read_config_text(converted.yaml, shown, {{}, MissingReference::kWarning}).problems;
}

void add_convert(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App* command =
      app.add_subcommand("convert", "Print the pipeline file for Beam YAML, a Kafka Connect sink, or a call of a Dataflow template");
  command->add_option("FILE", arguments->file, "what to convert: YAML, JSON or .properties");
  command->add_option("--from", arguments->from, "beam, connect or dataflow; told by the file's content unless set")
      ->check(CLI::IsMember({"beam", "connect", "dataflow"}));
  command
      ->add_option("--parameter", arguments->parameters,
                   "name=value: a parameter of the template, or a property that the connector's file lacks (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--name", arguments->name, "the pipeline's name; from the input unless set");
  command->add_option("--schema", arguments->schema, "schema of the records: an Avro schema file, or from_table");
  command->add_flag("--partial", arguments->partial, "print the rest even when names are refused");
  command->add_flag("--verbose", arguments->verbose, "tell of every name, not only of those that change");
  command->add_flag("--json", arguments->json, "pipeline and names as JSON on stdout");
  command->add_flag("--names", arguments->names, "print the table of all names and what becomes of them (Markdown)");
  command->callback([arguments, &chosen] { chosen = [arguments] { return convert_command(*arguments); }; });
}

}  // namespace frazil::app
