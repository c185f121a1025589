#include "app/config/option_reference.h"

#include <CLI/CLI.hpp>

#include "app/build_version.h"
#include "app/commands/commands.h"
#include "app/terminal.h"

namespace frazil::app {

void add_options(CLI::App& app, Chosen& chosen) {
  auto format = std::make_shared<std::string>("text");
  CLI::App* command = app.add_subcommand("options", "Print every option of a pipeline file");
  command->add_option("--format", *format, "text, markdown or json-schema")
      ->check(CLI::IsMember({"text", "markdown", "json-schema"}))
      ->capture_default_str();
  command->callback([format, &chosen] {
    chosen = [format] {
      put(*format == "markdown"      ? options_as_markdown()
          : *format == "json-schema" ? options_as_json_schema()
                                     : options_as_text());
      return kExitOk;
    };
  });
}

void add_version(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  command->callback([json, &chosen] {
    chosen = [json] {
      put(*json ? std::string("{\"version\":\"") + kVersion + "\",\"commit\":\"" + kCommit + "\"}\n"
                : std::string("frazil ") + kVersion + " (" + kCommit + ")\n");
      return kExitOk;
    };
  });
}

}  // namespace frazil::app
