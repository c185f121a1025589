#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/commands/commands.h"
#include "app/config/config_reader.h"
#include "app/plan/plan_report.h"
#include "app/terminal.h"
#include "base/log.h"

namespace frazil::app {
namespace {

struct PlanArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<int> workers{1, 2, 4, 8};
  bool json = false;
};

base::Result<PipelinePlan> plan_pipeline(const PipelineConfig& config, const ProcessConfig& process, const std::vector<int>& workers) {
  if (!config.kafka) return base::invalid("it reads no topics, and a plan is made from a topic's rate");
  TRY_ASSIGN(TopicFacts topics, probe_topics(config));
  TRY_ASSIGN(ProbedTables tables, probe_tables(config));
  return make_plan(config, std::move(topics), std::move(tables), process.memory_bytes, workers);
}

int plan_command(const PlanArguments& arguments) {
  base::configure_log(base::LogFormat::kText, base::LogLevel::kError);
  const ReadConfig read = read_config_file(arguments.file, {arguments.overrides, MissingReference::kError});
  if (const std::string problems = read.problems.render(); !problems.empty()) tell(problems.substr(0, problems.size() - 1));
  if (read.problems.has_errors()) return kExitUsage;
  std::vector<PipelinePlan> plans;
  int exit_code = kExitOk;
  for (const PipelineConfig& pipeline : read.config.pipelines) {
    auto plan = plan_pipeline(pipeline, read.config.process, arguments.workers);
    if (!plan.ok()) {
      tell("error: pipeline " + pipeline.name + ": " + plan.error().message());
      exit_code = kExitFailed;
      continue;
    }
    if (has_problem(*plan)) exit_code = kExitFailed;
    if (!arguments.json) put(plan_as_text(*plan));
    plans.push_back(std::move(plan).value());
  }
  if (arguments.json) put(plans_as_json(plans));
  return exit_code;
}

}  // namespace

void add_plan(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand("plan", "Connect, change nothing, and tell what a pipeline would do and cost");
  command->add_option("FILE", arguments->file, "pipeline file (YAML)")->required();
  command->add_option("--workers", arguments->workers, "numbers of workers to reckon with, such as 1,2,4,8")
      ->delimiter(',')
      ->check(CLI::Range(1, 100'000));
  command->add_option("--set", arguments->overrides, "change an option: path=value (repeatable)")->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "everything as JSON");
  command->callback([arguments, &chosen] { chosen = [arguments] { return plan_command(*arguments); }; });
}

}  // namespace frazil::app
