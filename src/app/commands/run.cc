#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "app/accepted_choice.h"
#include "app/commands/commands.h"
#include "app/commands/template_call.h"
#include "app/config/config_reader.h"
#include "app/config/units.h"
#include "app/control/control_protocol.h"
#include "app/control/control_socket.h"
#include "app/control/halt_desk.h"
#include "app/pipeline.h"
#include "app/status_server.h"
#include "app/stop_signals.h"
#include "app/terminal.h"
#include "base/failpoint.h"
#include "base/log.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFailpointVariable[] = "FRAZIL_FAILPOINTS";  // tests alone set it

struct RunArguments {
  std::string file;
  std::string template_name;
  std::vector<std::string> parameters;
  std::string name;
  std::vector<std::string> overrides;
  std::vector<std::string> accepts;
  std::string duration;
  bool until_caught_up = false;
  bool json = false;
  bool lists_failpoints = false;
};

void put_event(const Json& event) {
  put(event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json commit_event(const std::string& pipeline, const engine::CommitVerdict& verdict, const engine::StagedEpoch& epoch,
                  double seconds, const engine::StatusView& view) {
  Json ranges = Json::array();
  for (const engine::Range& range : epoch.ranges) {
    ranges.push_back({{"split", range.split}, {"begin", range.begin}, {"end", range.end}});
  }
  int64_t bytes = 0;
  for (const auto& output : epoch.outputs) bytes += output->bytes();
  return {{"event", "commit"},
          {"pipeline", pipeline},
          {"outcome", engine::verdict_name(verdict.kind)},
          {"epoch", epoch.number},
          {"rows", epoch.rows},
          {"dead_letters", epoch.dead_letters ? epoch.dead_letters->rows() : 0},
          {"files", epoch.outputs.size()},
          {"bytes", bytes},
          {"seconds", seconds},
          {"snapshot_id", view.last_snapshot_id},
          {"ranges", ranges}};
}

Json halt_event(const std::string& pipeline, const base::Halt& halt) {
  Json event = {{"event", "halt"}, {"pipeline", pipeline}};
  event.update(Json::parse(halt_to_json(halt)));
  return event;
}

Json summary_event(const engine::StatusView& view) {
  Json event = {{"event", "summary"}};
  event.update(Json::parse(status_to_json(view)));
  return event;
}

std::string summary_text(const engine::StatusView& view) {
  return "pipeline " + view.pipeline + " " + view.state + ": " + format_count(view.rows_committed) + " rows in " +
         format_count(view.commits) + " commits, " + format_count(view.dead_letters) + " dead letters, " +
         (view.tombstones > 0 ? format_count(view.tombstones) + " tombstones, " : "") +
         (view.empty_arrays > 0 ? format_count(view.empty_arrays) + " empty arrays, " : "") +
         (view.skipped > 0 ? format_count(view.skipped) + " skipped, " : "") + format_count(view.records_read) + " records read";
}

std::vector<std::string> names_of(const std::vector<PipelineConfig>& pipelines) {
  std::vector<std::string> names;
  for (const PipelineConfig& pipeline : pipelines) names.push_back(pipeline.name);
  return names;
}

// One `frazil run` from configuration to exit code.
class Run {
 public:
  Run(const RunArguments& arguments, ProgramConfig config, std::vector<engine::AcceptedChoice> accepted,
      int64_t duration_ms)
      : arguments_(arguments),
        config_(std::move(config)),
        accepted_(std::move(accepted)),
        duration_ms_(duration_ms),
        desk_(names_of(config_.pipelines)),
        budget_(config_.process.memory_bytes) {
    stop_.on_raise([this] { desk_.close(); });
  }

  int run() {
    base::configure_log(config_.process.log_format, config_.process.log_level);
    if (const char* wanted = std::getenv(kFailpointVariable)) {
      if (const base::Status armed = base::arm_failpoints(wanted); !armed.ok()) {
        tell("error: " + std::string(kFailpointVariable) + ": " + armed.error().message());
        return kExitUsage;
      }
    }
    StopSignals signals(stop_, duration_ms_);
    for (const PipelineConfig& pipeline : config_.pipelines) add_pipeline(pipeline);
    std::vector<const engine::PipelineStatus*> statuses;
    for (const auto& pipeline : pipelines_) statuses.push_back(&pipeline->status());
    const auto server = start_status_server(config_.process, statuses, metrics_);
    if (!server.ok()) {
      tell("error: " + server.error().message());
      return kExitFailed;
    }
    auto control = start_control_socket(config_.process, desk_, statuses);
    if (!control.ok()) {
      tell("error: " + control.error().message());
      return kExitFailed;
    }
    socket_ = *control ? (*control)->path() : "";
    std::vector<base::Lane> lanes;
    for (const auto& pipeline : pipelines_) {
      lanes.emplace_back("pipeline " + pipeline->name(), [this, &pipeline] { run_pipeline(*pipeline); });
    }
    for (base::Lane& lane : lanes) lane.join();
    return has_failed_ ? kExitFailed : kExitOk;
  }

 private:
  void add_pipeline(const PipelineConfig& config) {
    PipelineOptions options;
    options.until_caught_up = arguments_.until_caught_up;
    options.accepted = accepted_;
    options.is_accepted_for_others = config_.pipelines.size() > 1;
    options.user = user_name();
    options.memory_bytes = config_.process.memory_bytes;
    const size_t index = pipelines_.size();
    if (arguments_.json) {
      options.on_commit = [this, index](const engine::CommitVerdict& verdict, const engine::StagedEpoch& epoch,
                                        double seconds) {
        put_event(commit_event(pipelines_[index]->name(), verdict, epoch, seconds, pipelines_[index]->status().view()));
      };
    }
    pipelines_.push_back(std::make_unique<Pipeline>(config, std::move(options), budget_, metrics_));
  }

  // Runs, and runs again with the answer when its halt is answered while other pipelines run.
  void run_pipeline(Pipeline& pipeline) {
    base::Status status = pipeline.run(stop_);
    while (!status.ok()) {
      report(pipeline, status.error());
      const base::Halt* halt = status.error().halt();
      auto answer = halt == nullptr || socket_.empty() ? std::nullopt : desk_.wait(pipeline.name(), *halt);
      if (!answer) break;
      pipeline.answer(std::move(answer->choice), std::move(answer->user));
      status = pipeline.run(stop_);
    }
    if (!status.ok()) has_failed_ = true;
    const engine::StatusView view = pipeline.status().view();
    desk_.ended(pipeline.name(), view.state);
    if (arguments_.json) {
      put_event(summary_event(view));
    } else {
      tell(summary_text(view));
    }
  }

  void report(const Pipeline& pipeline, const base::Error& error) {
    if (const base::Halt* halt = error.halt()) {
      const bool is_file = arguments_.template_name.empty();
      const bool is_awaited = !socket_.empty() && desk_.is_worth_waiting(pipeline.name(), *halt);
      tell(describe_halt(pipeline.name(), *halt, is_file ? arguments_.file : "--template " + arguments_.template_name + " ...",
                         is_awaited ? socket_ : ""));
      if (arguments_.json) put_event(halt_event(pipeline.name(), *halt));
    } else {
      tell("error: pipeline " + pipeline.name() + ": " + error.message());
    }
  }

  const RunArguments& arguments_;
  const ProgramConfig config_;
  const std::vector<engine::AcceptedChoice> accepted_;
  const int64_t duration_ms_;
  HaltDesk desk_;
  std::string socket_;  // where halts can be answered; empty: nowhere. Set before the lanes start
  base::Interrupt stop_;
  base::Metrics metrics_;
  base::MemoryBudget budget_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
  std::atomic<bool> has_failed_{false};
};

// The configuration of `--template`: the call is converted, and the file that would come out is read. Nothing after a message.
std::optional<ReadConfig> read_template(const RunArguments& arguments) {
  auto parameters = parse_parameters(arguments.parameters);
  if (!parameters.ok()) {
    tell("error: " + parameters.error().message());
    return std::nullopt;
  }
  ForeignPipeline call;
  call.file = arguments.template_name;
  call.parameters = std::move(parameters).value();
  call.name = arguments.name;
  const Converted converted = convert_pipeline(Dialect::kDataflow, call);
  if (const std::string findings = findings_as_text(call.file, converted.findings, false); !findings.empty())
    tell(findings.substr(0, findings.size() - 1));
  if (converted.has_refusals) return std::nullopt;
  return read_config_text(converted.yaml, arguments.template_name, {arguments.overrides, MissingReference::kError});
}

std::optional<ReadConfig> read_run_config(const RunArguments& arguments) {
  if (arguments.template_name.empty() == arguments.file.empty()) {
    tell("error: give a pipeline FILE, or --template with its parameters");
    return std::nullopt;
  }
  if (!arguments.template_name.empty()) return read_template(arguments);
  if (!arguments.parameters.empty() || !arguments.name.empty()) {
    tell("error: --parameter and --name belong to --template; a file's options are changed by --set");
    return std::nullopt;
  }
  return read_config_file(arguments.file, {arguments.overrides, MissingReference::kError});
}

void list_failpoints() {
  for (const base::FailpointDoc& point : base::all_failpoints()) {
    std::string name = point.name;
    name.resize(std::max<size_t>(name.size() + 1, 24), ' ');
    put(name + point.meaning + (point.can_fail ? "" : " (cannot fail)") + "\n");
  }
}

int run_command(const RunArguments& arguments) {
  if (arguments.lists_failpoints) {
    list_failpoints();
    return kExitOk;
  }
  std::optional<ReadConfig> config = read_run_config(arguments);
  if (!config) return kExitUsage;
  ReadConfig& read = *config;
  if (const std::string problems = read.problems.render(); !problems.empty())
    tell(problems.substr(0, problems.size() - 1));
  if (read.problems.has_errors()) return kExitUsage;
  std::vector<engine::AcceptedChoice> accepted;
  for (const std::string& text : arguments.accepts) {
    auto choice = parse_accepted_choice(text);
    if (!choice.ok()) {
      tell("error: " + choice.error().message());
      return kExitUsage;
    }
    accepted.push_back(std::move(choice).value());
  }
  int64_t duration_ms = 0;
  if (!arguments.duration.empty()) {
    const auto duration = parse_duration_ms(arguments.duration);
    if (!duration.ok() || *duration <= 0) {
      tell("error: --duration: " + (duration.ok() ? "must be above 0" : duration.error().message()));
      return kExitUsage;
    }
    duration_ms = *duration;
  }
  return Run(arguments, std::move(read.config), std::move(accepted), duration_ms).run();
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Run the pipelines of a file until they are stopped");
  command->add_option("FILE", arguments->file, "pipeline file (YAML)");
  command->add_option("--template", arguments->template_name, "instead of a file: kafka-to-iceberg, the call of Dataflow's template")
      ->check(CLI::IsMember({"kafka-to-iceberg", "Kafka_To_Iceberg_Yaml"}));
  command->add_option("--parameter", arguments->parameters, "name=value: a parameter of the template (repeatable)")->allow_extra_args(false);
  command->add_option("--name", arguments->name, "with --template: the pipeline's name; the topic's unless set");
  command
      ->add_option("--set", arguments->overrides, "change an option: path=value, or pipeline:path=value (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option("--accept", arguments->accepts, "answer a halt: CODE[=choice]@TOKEN as it printed it (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--until-caught-up", arguments->until_caught_up,
                    "end when everything that is there now is in the table");
  command->add_option("--duration", arguments->duration, "end after this time, such as 10m");
  command->add_flag("--json", arguments->json, "events as JSON lines on stdout: commit, halt, summary");
  command->add_flag("--failpoints", arguments->lists_failpoints, "list the places where tests can interrupt the program, and end")
      ->group("For tests");
  command->callback([arguments, &chosen] { chosen = [arguments] { return run_command(*arguments); }; });
}

}  // namespace frazil::app
