#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/config/config_reader.h"
#include "app/terminal.h"

namespace frazil::app {
namespace {

struct ValidateArguments {
  std::string file;
  std::vector<std::string> overrides;
  bool json = false;
};

std::string problems_as_json(const Problems& problems) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Problem& problem : problems.all()) {
    list.push_back({{"file", problem.mark.origin.empty() ? problems.file() : problem.mark.origin},
                    {"line", problem.mark.line},
                    {"column", problem.mark.column},
                    {"severity", problem.is_warning ? "warning" : "error"},
                    {"message", problem.text}});
  }
  const Json report = {{"valid", !problems.has_errors()}, {"problems", list}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int validate_command(const ValidateArguments& arguments) {
  const ReadConfig read = read_config_file(arguments.file, {arguments.overrides, MissingReference::kWarning});
  if (arguments.json) {
    put(problems_as_json(read.problems));
  } else if (const std::string problems = read.problems.render(); !problems.empty()) {
    tell(problems.substr(0, problems.size() - 1));
  }
  if (read.problems.has_errors()) return kExitUsage;
  if (!arguments.json) {
    const size_t count = read.config.pipelines.size();
    put(arguments.file + ": valid, " + std::to_string(count) + (count == 1 ? " pipeline\n" : " pipelines\n"));
  }
  return kExitOk;
}

}  // namespace

void add_validate(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command = app.add_subcommand("validate", "Check a pipeline file without connecting to anything");
  command->add_option("FILE", arguments->file, "pipeline file (YAML)")->required();
  command->add_option("--set", arguments->overrides, "change an option: path=value (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "problems as JSON on stdout");
  command->callback([arguments, &chosen] { chosen = [arguments] { return validate_command(*arguments); }; });
}

}  // namespace frazil::app
