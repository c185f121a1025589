#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/config/config_reader.h"
#include "app/config/units.h"
#include "app/demo/demo_kafka.h"
#include "app/demo/table_count.h"
#include "app/open_catalog.h"
#include "app/pipeline.h"
#include "app/stop_signals.h"
#include "app/terminal.h"
#include "sources/generator/record.h"

namespace frazil::app {
namespace {

constexpr char kTable[] = "demo.orders";
// An environment of its own: Debian's Python takes no packages from elsewhere.
constexpr char kReaders[] = "python3 -m venv readers && . readers/bin/activate && pip install 'pyiceberg[pyarrow,sql-sqlite]' duckdb-cli";
constexpr char kDeadLetters[] = "demo.orders_dead_letters";
// The producer waits for what the demo tells it, so it looks often.
constexpr int64_t kLookMicros = 10'000;
constexpr int64_t kShowMicros = 200'000;
// Without any record read for this long, something is wrong.
constexpr int64_t kStallMicros = 60'000'000;

struct DemoArguments {
  int64_t records = 1'000'000;
  double bad_percent = 0.01;
  std::string folder = "frazil-demo";
  bool json = false;
};

struct DemoOutcome {
  DemoProduced produced;
  engine::StatusView status;
  TableCount table;
  int64_t dead_letters = 0;
  double seconds = 0;
  double cpu_seconds = 0;

  int64_t rows_expected() const { return produced.records - produced.spoiled - produced.tombstones; }
  bool is_right() const {
    return table.rows == rows_expected() && table.rows_read == table.rows && table.distinct == table.rows &&
           dead_letters == produced.spoiled;
  }
  double cpu_seconds_per_gb() const {
    return produced.bytes == 0 ? 0 : cpu_seconds / (static_cast<double>(produced.bytes) / 1e9);
  }
};

// Every demo has a folder of its own, numbered: what an earlier one left is never touched.
base::Result<std::string> fresh_folder(const std::string& parent) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(parent, error);
  for (int number = 1; number < 10'000 && !error; ++number) {
    const fs::path folder = fs::absolute(parent) / ("run-" + std::to_string(number));
    if (fs::create_directory(folder, error)) return folder.lexically_normal().string();
  }
  return base::invalid("--dir " + parent + ": no folder can be made there: " + error.message());
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

// The pipeline file that the demo runs, for the user to look at and to begin from.
std::string pipeline_file(const std::string& bootstrap) {
  std::string columns;
  for (const columnar::Field& field : sources::generator_schema().fields) {
    columns += fmt::format("      - {{name: {}, type: {}{}}}\n", quoted(field.name), quoted(field.type.name()),
                           field.required ? ", required: true" : "");
  }
  return fmt::format(R"yaml(# Written by `frazil demo`. Its Kafka was a mock that lives no longer than the demo.
name: demo
source:
  kafka:
    topics: [orders]
    group: none
    properties:
      bootstrap.servers: "{}"
      fetch.wait.max.ms: "10"  # a mock broker keeps a fetch waiting that a real one would answer
decode:
  json:
    schema:
{}table:
  name: {}
  catalog: {{type: sqlite, uri: catalog.db, warehouse: warehouse}}
  create:
    partition_by: ["bucket(64, {})"]
commit: {{interval: 1s}}
)yaml",
                     bootstrap, columns, kTable, sources::generator_key_field());
}

// One demo, from an empty folder to counted rows.
class Demo {
 public:
  Demo(const DemoArguments& arguments, std::string folder) : arguments_(arguments), folder_(std::move(folder)) {}

  base::Result<DemoOutcome> run() {
    // The child process must exist before the first lane.
    TRY_ASSIGN(auto kafka, DemoKafka::start({"orders", 4, arguments_.records, arguments_.bad_percent}));
    TRY_ASSIGN(const std::string bootstrap, kafka->bootstrap_servers(base::deadline_after(10'000'000)));
    TRY_ASSIGN(const ProgramConfig config, write_config(bootstrap));
    DemoOutcome outcome;
    TRY(run_pipeline(config, *kafka, outcome));
    TRY_ASSIGN(auto catalog, open_catalog(config.pipelines[0].table.catalog));
    TRY_ASSIGN(const auto table, iceberg::parse_table_id(kTable));
    TRY_ASSIGN(outcome.table, count_table(*catalog, table, std::string(sources::generator_key_field())));
    TRY_ASSIGN(const auto dead_letters, iceberg::parse_table_id(kDeadLetters));
    const auto rejected = count_table(*catalog, dead_letters, "");
    // Without a reject the table was never made.
    if (!rejected.ok() && rejected.error().code() != base::Code::kNotFound) return rejected.error();
    outcome.dead_letters = rejected.ok() ? rejected->rows_read : 0;
    return outcome;
  }

 private:
  base::Result<ProgramConfig> write_config(const std::string& bootstrap) {
    const std::string path = folder_ + "/pipeline.yaml";
    const std::string text = pipeline_file(bootstrap);
    if (!(std::ofstream(path) << text).flush()) return base::unavailable(path + " cannot be written");
    ReadConfig read = read_config_text(text, path, {});
    if (read.problems.has_errors())
      return base::Error(base::Code::kBug, "the demo's own pipeline file: " + read.problems.render());
    return std::move(read.config);
  }

  base::Status run_pipeline(const ProgramConfig& config, DemoKafka& kafka, DemoOutcome& outcome) {
    base::configure_log(base::LogFormat::kText, base::LogLevel::kWarn);
    base::Interrupt stop;
    base::Metrics metrics;
    base::MemoryBudget budget(config.process.memory_bytes);
    StopSignals signals(stop, 0);
    PipelineOptions options;
    options.memory_bytes = config.process.memory_bytes;
    Pipeline pipeline(config.pipelines[0], std::move(options), budget, metrics);
    const int64_t cpu_before = base::process_cpu_micros();
    const base::MonoMicros started = base::mono_micros();
    base::Status ended;
    std::atomic<bool> has_ended{false};
    base::Lane lane("pipeline demo", [&] {
      ended = pipeline.run(stop);
      has_ended = true;
    });
    const base::Status watched = watch(pipeline, kafka, stop, has_ended, started);
    const bool was_interrupted = stop.raised() && !is_complete_;
    stop.raise();
    lane.join();
    outcome.seconds = static_cast<double>(base::mono_micros() - started) / 1e6;
    outcome.cpu_seconds = static_cast<double>(base::process_cpu_micros() - cpu_before) / 1e6;
    outcome.status = pipeline.status().view();
    TRY(ended);
    TRY(watched);
    if (was_interrupted) return base::cancelled("stopped before all records were read");
    TRY_ASSIGN(outcome.produced, kafka.produced());
    return {};
  }

  // Feeds the producer with what is read, until everything is.
  base::Status watch(const Pipeline& pipeline, DemoKafka& kafka, base::Interrupt& stop,
                     const std::atomic<bool>& has_ended, base::MonoMicros started) {
    ProgressLine progress;
    int64_t last_read = -1;
    base::MonoMicros stalled_at = base::deadline_after(kStallMicros);
    while (!has_ended && !stop.wait_until(base::deadline_after(kLookMicros))) {
      const engine::StatusView view = pipeline.status().view();
      // The first position is in the table now: what is produced from here on is read.
      if (view.state == "running") kafka.set_consumed(view.bytes_read);
      TRY_ASSIGN(const DemoProduced produced, kafka.produced());
      show(progress, view, started);
      if (produced.is_done && view.records_read >= produced.records) {
        is_complete_ = true;
        return {};
      }
      if (view.records_read != last_read) stalled_at = base::deadline_after(kStallMicros);
      last_read = view.records_read;
      if (base::mono_micros() > stalled_at) return base::unavailable("no record was read for a minute");
    }
    return {};
  }

  void show(ProgressLine& progress, const engine::StatusView& view, base::MonoMicros started) {
    if (!progress.is_on() || base::mono_micros() < next_show_) return;
    next_show_ = base::deadline_after(kShowMicros);
    const double seconds = static_cast<double>(base::mono_micros() - started) / 1e6;
    progress.show(fmt::format("{:>3.0f} %  {} read, {} rows in the table, {} commits, {:.0f} MB/s",
                              100.0 * static_cast<double>(view.records_read) / static_cast<double>(arguments_.records),
                              format_count(view.records_read), format_count(view.rows_committed), view.commits,
                              static_cast<double>(view.bytes_read) / 1e6 / std::max(seconds, 0.1)));
  }

  const DemoArguments& arguments_;
  const std::string folder_;
  bool is_complete_ = false;
  base::MonoMicros next_show_ = 0;
};

std::string duckdb_line(const DemoOutcome& outcome) {
  return "duckdb -c \"INSTALL iceberg; LOAD iceberg; SELECT count(*) FROM iceberg_scan('" +
         outcome.table.metadata_location.substr(std::string("file://").size()) + "')\"";
}

std::string pyiceberg_line(const std::string& folder) {
  return "python3 -c \"from pyiceberg.catalog.sql import SqlCatalog; t = SqlCatalog('default', uri='sqlite:///" + folder +
         "/catalog.db', warehouse='file://" + folder + "/warehouse').load_table('" + kTable +
         "'); print(t.scan(limit=5).to_arrow()); print(t.scan().count(), 'rows')\"";
}

std::string report_text(const DemoOutcome& outcome, const std::string& folder) {
  const auto line = [](const char* name, const std::string& value) {
    return fmt::format("  {:<26} {}\n", name, value);
  };
  std::string text = "\n" + emphasis("Rows from Kafka in an Iceberg table") + "\n";
  text += line("records produced", format_count(outcome.produced.records));
  text += line("rows in the table",
               format_count(outcome.table.rows_read) + ", " + format_count(outcome.table.distinct) + " different keys");
  text += line("dead letters", format_count(outcome.dead_letters) + " of " + format_count(outcome.produced.spoiled) +
                                   " spoiled on purpose");
  if (outcome.produced.tombstones > 0)
    text += line("without a value, skipped", format_count(outcome.produced.tombstones));
  text += line("files", format_count(static_cast<int64_t>(outcome.table.file_bytes.size())) + ", median " +
                            format_size(static_cast<double>(outcome.table.median_file_bytes())));
  text += line("freshness p50, p99",
               format_seconds(outcome.status.freshness_p50) + ", " + format_seconds(outcome.status.freshness_p99));
  text +=
      line("CPU-seconds per GB", fmt::format("{:.1f} (the pipeline's process alone)", outcome.cpu_seconds_per_gb()));
  text +=
      line("time", fmt::format("{}, {:.0f} MB/s", format_seconds(outcome.seconds),
                               static_cast<double>(outcome.produced.bytes) / 1e6 / std::max(outcome.seconds, 0.001)));
  text += line("table", folder + "/warehouse");
  text +=
      "\nThe Kafka of this demo is a mock inside of librdkafka: it shows the way of a row and proves no guarantee.\n";
  text += "\nRead the table with DuckDB or PyIceberg. Where they are not installed yet:\n\n  " + std::string(kReaders) +
          "\n\nDuckDB (INSTALL iceberg asks the internet; docs/operate/first_pipeline.md#readers says how it goes without):\n\n" +
          duckdb_line(outcome) + "\n\nPyIceberg:\n\n" + pyiceberg_line(folder) + "\n";
  if (!outcome.is_right()) {
    text += fmt::format(
        "\nThe counts differ: {} rows expected, {} in the manifests, {} read, {} different; {} dead letters expected, "
        "{} read.\n",
        outcome.rows_expected(), outcome.table.rows, outcome.table.rows_read, outcome.table.distinct,
        outcome.produced.spoiled, outcome.dead_letters);
  }
  return text;
}

std::string report_json(const DemoOutcome& outcome, const std::string& folder) {
  const nlohmann::ordered_json json = {{"right", outcome.is_right()},
                                       {"records_produced", outcome.produced.records},
                                       {"bytes_produced", outcome.produced.bytes},
                                       {"rows_expected", outcome.rows_expected()},
                                       {"rows", outcome.table.rows_read},
                                       {"distinct_keys", outcome.table.distinct},
                                       {"dead_letters", outcome.dead_letters},
                                       {"tombstones", outcome.produced.tombstones},
                                       {"commits", outcome.status.commits},
                                       {"files", outcome.table.file_bytes.size()},
                                       {"file_bytes_median", outcome.table.median_file_bytes()},
                                       {"freshness_seconds_p50", outcome.status.freshness_p50},
                                       {"freshness_seconds_p99", outcome.status.freshness_p99},
                                       {"cpu_seconds_per_gb", outcome.cpu_seconds_per_gb()},
                                       {"seconds", outcome.seconds},
                                       {"kafka", "mock: proves no guarantee"},
                                       {"folder", folder},
                                       {"metadata_location", outcome.table.metadata_location},
                                       {"readers", kReaders},
                                       {"duckdb", duckdb_line(outcome)},
                                       {"pyiceberg", pyiceberg_line(folder)}};
  return json.dump(2) + "\n";
}

int demo_command(const DemoArguments& arguments) {
  const auto folder = fresh_folder(arguments.folder);
  if (!folder.ok()) {
    tell("error: " + folder.error().message());
    return kExitUsage;
  }
  tell("A mock Kafka, " + format_count(arguments.records) + " generated records, a table in " + *folder);
  const auto outcome = Demo(arguments, *folder).run();
  if (!outcome.ok()) {
    tell("error: " + outcome.error().message());
    return kExitFailed;
  }
  put(arguments.json ? report_json(*outcome, *folder) : report_text(*outcome, *folder));
  return outcome->is_right() ? kExitOk : kExitFailed;
}

}  // namespace

void add_demo(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<DemoArguments>();
  CLI::App* command = app.add_subcommand("demo", "Watch rows flow from a mock Kafka into a table on this disk");
  command->add_option("--records", arguments->records, "records to produce")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--bad", arguments->bad_percent, "percent of records that are spoiled, for the dead letters")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--dir", arguments->folder, "where each demo makes a numbered folder of its own")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "report as JSON");
  command->callback([arguments, &chosen] { chosen = [arguments] { return demo_command(*arguments); }; });
}

}  // namespace frazil::app
