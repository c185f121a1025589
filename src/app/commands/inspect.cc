#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

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

// A table beside the one whose pipelines are shown: `anchor_uuid` is the uuid of that one.
std::optional<OtherTable> look_at(iceberg::Catalog& catalog, const std::string& name, const std::string& pipeline,
                                  const std::string& anchor_uuid) {
  const auto id = iceberg::parse_table_id(name);
  if (!id.ok()) return std::nullopt;
  const auto table = catalog.load_table(*id);
  if (!table.ok() && table.error().code() != base::Code::kNotFound) return std::nullopt;
  OtherTable other;
  other.exists = table.ok();
  if (!other.exists) return other;
  other.applied = sinks::applied_epoch(table->metadata, pipeline, anchor_uuid);
  if (const iceberg::Snapshot* head = table->metadata.current_snapshot()) {
    other.rows = head->summary_number("total-records");
    other.files = head->summary_number("total-data-files");
  }
  return other;
}

base::Result<TableReport> report_from_catalog(const CatalogConfig& config, const std::string& name) {
  TRY_ASSIGN(const auto id, iceberg::parse_table_id(name));
  TRY_ASSIGN(const auto catalog, open_catalog(config));
  TRY_ASSIGN(const auto table, catalog->load_table(id).in("table " + name));
  std::map<std::pair<std::string, std::string>, std::optional<OtherTable>> seen;  // by table and pipeline
  const LookAtTable look = [&](const std::string& other, const std::string& pipeline) {
    const auto [at, is_new] = seen.try_emplace({other, pipeline});
    if (is_new) at->second = look_at(*catalog, other, pipeline, table.metadata.table_uuid);
    return at->second;
  };
  return report_table(*catalog->file_io(), table.metadata, table.metadata_location, name, look);
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
    if (arguments.json || pipeline.tables.empty()) continue;
    put("one of its tables: frazil inspect " + pipeline.tables.front().name + " --file " + printable(arguments.target) + "\n");
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
  command->add_option("TABLE", arguments->target, "a pipeline file, a ...metadata.json, or db.table with --file")
      ->required();
  command->add_option(kFileFlags, arguments->catalog_file, "file with a block as under `catalog:` of a pipeline, or a pipeline file");
  command->add_flag("--json", arguments->json, "everything as JSON");
  command->callback([arguments, &chosen] { chosen = [arguments] { return inspect_command(*arguments); }; });
}

}  // namespace frazil::app
