#include <CLI/CLI.hpp>

#include "app/commands/commands.h"
#include "app/config/config_reader.h"
#include "app/open_catalog.h"
#include "app/pipeline.h"
#include "app/rewind_report.h"
#include "app/rewind_target.h"
#include "app/sink_config.h"
#include "app/terminal.h"
#include "base/clock.h"
#include "base/log.h"

namespace frazil::app {
namespace {

struct RewindArguments {
  std::string target;  // a table, or a pipeline file
  std::string file;
  std::string to;
  std::string pipeline;
  std::vector<std::string> overrides;
  bool undo_others = false;
  bool dry_run = false;
  bool json = false;
};

int fail(const base::Error& error) {
  tell("error: " + error.message());
  return error.code() == base::Code::kInvalid ? kExitUsage : kExitFailed;
}

// The one pipeline that is meant: by --pipeline, by the table, or because it is alone in its file.
base::Result<PipelineConfig> choose(const std::vector<PipelineConfig>& pipelines, const RewindArguments& arguments) {
  std::vector<const PipelineConfig*> found;
  std::string names;
  for (const PipelineConfig& one : pipelines) {
    const bool is_named = arguments.pipeline.empty() || one.name == arguments.pipeline;
    const bool writes_it = arguments.file.empty() || one.table.name == arguments.target;
    if (is_named && writes_it) found.push_back(&one);
    names += (names.empty() ? "" : ", ") + one.name + " (table " + one.table.name + ")";
  }
  if (found.size() == 1) return *found[0];
  if (found.empty()) return base::invalid("the file has no such pipeline; it has: " + names);
  return base::invalid("several pipelines are meant; name one by --pipeline: " + names);
}

// What will be read again must still be there, in the same topics of the same cluster.
base::Status check_source(engine::Source& source, const PipelineConfig& config, const engine::SourcePositions& positions) {
  TRY(source.connect(base::deadline_after(config.connect_timeout_ms * 1000)));
  const base::Status there = source.check(positions);
  source.close();
  if (there.ok() || there.error().halt() == nullptr) return there;
  return base::Error(base::Code::kNotFound, "the source no longer has what would be read again: " + there.error().message() +
                                                ". Nothing was changed; go back less far");
}

base::Result<RewindReport> rewind(const PipelineConfig& config, const RewindArguments& arguments, sinks::RewindTarget target) {
  TRY_ASSIGN(const auto source, make_source(config, 1));
  TRY_ASSIGN(const auto catalog, open_catalog(config.table.catalog));
  TRY_ASSIGN(const auto settings, sink_config(config, user_name()));
  sinks::Rewind rewind(settings, *catalog, source->format(), {std::move(target), arguments.to, arguments.undo_others});
  TRY_ASSIGN(sinks::RewindPlan plan, rewind.plan());
  if (!plan.undone.empty()) {
    TRY(check_source(*source, config, plan.target.positions));
    if (!arguments.dry_run) {
      TRY_ASSIGN(plan, rewind.carry_out(plan));
    }
  }
  return report_rewind(config, plan, source->format(), arguments.dry_run);
}

int rewind_command(const RewindArguments& arguments) {
  base::configure_log(base::LogFormat::kText, base::LogLevel::kWarn);
  auto target = parse_rewind_target(arguments.to);
  if (!target.ok()) return fail(target.error());
  const std::string& file = arguments.file.empty() ? arguments.target : arguments.file;
  const ReadConfig read = read_config_file(file, {arguments.overrides, MissingReference::kError});
  if (read.problems.has_errors()) {
    const std::string problems = read.problems.render();
    tell(problems.substr(0, problems.size() - 1));
    return kExitUsage;
  }
  const auto config = choose(read.config.pipelines, arguments);
  if (!config.ok()) return fail(config.error());
  const auto report = rewind(*config, arguments, std::move(target).value());
  if (!report.ok()) return fail(report.error());
  put(arguments.json ? report->json : report->text);
  return kExitOk;
}

}  // namespace

void add_rewind(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<RewindArguments>();
  CLI::App* command = app.add_subcommand("rewind", "Take a table and the positions of its pipeline back together");
  command->add_option("TARGET", arguments->target, "a pipeline file; with --file, a table such as shop.orders")->required();
  command->add_option("--to", arguments->to, "snapshot:ID, time:2026-01-31T00:00:00Z, or offsets:topic/0=42,topic/1=7")->required();
  command->add_option(kFileFlags, arguments->file, "the pipeline file, when TARGET is a table");
  command->add_option("--pipeline", arguments->pipeline, "which pipeline of the file, when several are meant");
  command->add_option("--set", arguments->overrides, "change an option: path=value (repeatable)")->allow_extra_args(false);
  command->add_flag("--undo-others", arguments->undo_others, "also when others have written rows since");
  command->add_flag("--dry-run", arguments->dry_run, "print what would be undone, and change nothing");
  command->add_flag("--json", arguments->json, "the same as JSON on stdout");
  command->callback([arguments, &chosen] { chosen = [arguments] { return rewind_command(*arguments); }; });
}

}  // namespace frazil::app
