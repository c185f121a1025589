#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "app/catalog/catalog_file.h"
#include "app/commands/commands.h"
#include "app/config/config_reader.h"
#include "app/open_catalog.h"
#include "app/pipeline.h"
#include "app/table_report.h"
#include "app/terminal.h"
#include "base/log.h"
#include "iceberg/metadata_file.h"
#include "io/scheme_file_io.h"
#include "sinks/iceberg/pipeline_state.h"

namespace frazil::app {
namespace {

struct InspectArguments {
  std::string target;
  std::string catalog_file;
  bool json = false;
};

int fail(const base::Error& error) {
  tell("error: " + error.message());
  return error.code() == base::Code::kInvalid ? kExitUsage : kExitFailed;
}

int show(const base::Result<TableReport>& report, bool json) {
  if (!report.ok()) return fail(report.error());
  put(json ? report->json : report->text);
  return kExitOk;
}

base::Result<TableReport> report_from_catalog(const CatalogConfig& config, const std::string& name) {
  TRY_ASSIGN(const auto id, iceberg::parse_table_id(name));
  TRY_ASSIGN(const auto catalog, open_catalog(config));
  TRY_ASSIGN(const auto table, catalog->load_table(id).in("table " + name));
  const AppliedEpoch applied = [&](const std::string& owed_to, const std::string& pipeline) -> std::optional<int64_t> {
    const auto owed_id = iceberg::parse_table_id(owed_to);
    if (!owed_id.ok()) return std::nullopt;
    const auto owed_table = catalog->load_table(*owed_id);
    if (!owed_table.ok()) return std::nullopt;
    return sinks::applied_epoch(owed_table->metadata, pipeline);
  };
  return report_table(*catalog->file_io(), table.metadata, table.metadata_location, name, applied);
}

base::Result<TableReport> report_from_file(const std::string& location) {
  const auto io = io::make_scheme_file_io({});
  TRY_ASSIGN(const auto metadata, iceberg::read_metadata(*io, location));
  return report_table(*io, metadata, location, metadata.location);
}

int inspect_pipelines(const InspectArguments& arguments) {
  const ReadConfig read = read_config_file(arguments.target, {{}, MissingReference::kWarning});
  if (read.problems.has_errors()) {
    const std::string problems = read.problems.render();
    tell(problems.substr(0, problems.size() - 1));
    return kExitUsage;
  }
  int exit_code = kExitOk;
  for (const PipelineConfig& pipeline : read.config.pipelines) {
    exit_code =
        std::max(exit_code, show(report_from_catalog(pipeline.table.catalog, pipeline.table.name), arguments.json));
  }
  return exit_code;
}

std::string absolute_location(const std::string& target) {
  if (target.find(":/") != std::string::npos) return target;
  return std::filesystem::absolute(target).lexically_normal().string();
}

int inspect_command(const InspectArguments& arguments) {
  base::configure_log(base::LogFormat::kText, base::LogLevel::kWarn);
  if (!arguments.catalog_file.empty()) {
    Problems problems(arguments.catalog_file);
    const auto catalog = read_catalog_of(arguments.catalog_file, "", problems);
    if (!catalog) {
      tell(problems.render());
      return kExitUsage;
    }
    return show(report_from_catalog(*catalog, arguments.target), arguments.json);
  }
  const std::string& target = arguments.target;
  if (target.ends_with(".metadata.json")) return show(report_from_file(absolute_location(target)), arguments.json);
  return inspect_pipelines(arguments);
}

}  // namespace

void add_inspect(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("inspect", "Show a table: schema, snapshots, files, and the positions of pipelines");
  command->add_option("TABLE", arguments->target, "a pipeline file, a ...metadata.json, or db.table with --catalog")
      ->required();
  command->add_option("--catalog", arguments->catalog_file, "file with a block as under `catalog:` of a pipeline, or a pipeline file");
  command->add_flag("--json", arguments->json, "everything as JSON");
  command->callback([arguments, &chosen] { chosen = [arguments] { return inspect_command(*arguments); }; });
}

}  // namespace frazil::app
