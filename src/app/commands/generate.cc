#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commands/commands.h"
#include "app/config/references.h"
#include "app/config/units.h"
#include "app/stop_signals.h"
#include "app/terminal.h"
#include "clients/kafka/property_allow_list.h"
#include "sources/generator/load_generator.h"

namespace frazil::app {
namespace {

struct GenerateArguments {
  sources::LoadOptions load;
  std::vector<std::string> properties;
  std::string bootstrap_servers;
  std::string rate;
  std::string avro_file;
  bool allow_plaintext = false;
  bool no_create = false;
  bool json = false;
};

// Fills in what the command line gives as text. kInvalid is wrong usage.
base::Status complete(GenerateArguments& arguments) {
  auto& properties = arguments.load.properties;
  properties["bootstrap.servers"] = arguments.bootstrap_servers;
  for (const std::string& text : arguments.properties) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return base::invalid("--property \"" + text + "\": write name=value");
    const std::string name = text.substr(0, equals);
    TRY_ASSIGN(const Resolved value, resolve_references(text.substr(equals + 1), "."));
    if (clients::is_kafka_secret(name) && !value.has_reference) {
      return base::invalid("--property " + name + " is a secret: give it as ${env:NAME} or ${file:/path}");
    }
    if (!value.missing.empty()) return base::invalid("--property " + name + ": " + value.missing.front());
    TRY(clients::check_kafka_property(name, value.text));
    properties[name] = value.text;
  }
  TRY(clients::check_kafka_connection(properties, arguments.allow_plaintext));
  arguments.load.allow_plaintext = arguments.allow_plaintext;
  if (!arguments.rate.empty()) {
    TRY_ASSIGN(const int64_t rate, parse_rate(arguments.rate).in("--rate"));
    arguments.load.bytes_per_second = static_cast<double>(rate);
  }
  if (!arguments.avro_file.empty()) {
    const auto& record = arguments.load.record;
    if (record.bad_percent > 0) return base::invalid("--bad spoils the built-in records alone: leave out --schema or --bad");
    if (record.shuffle_keys) return base::invalid("--shuffle-keys is for the built-in records alone: leave out --schema or it");
    std::ifstream file(arguments.avro_file);
    if (!file) return base::invalid("--schema " + arguments.avro_file + " cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    arguments.load.avro_schema = text.str();
  }
  arguments.load.create_topic = !arguments.no_create;
  return {};
}

std::string report_text(const sources::LoadReport& report, const std::string& topic) {
  return fmt::format(
      "{} records, {} to {} ({} partitions) in {}: {:.1f} MB/s, {} records/s; {} spoiled, {} tombstones\n",
      format_count(report.total.records), format_size(static_cast<double>(report.total.bytes)), topic,
      report.partitions, format_seconds(static_cast<double>(report.total.elapsed_micros) / 1e6),
      report.megabytes_per_second(), format_count(static_cast<int64_t>(report.records_per_second())),
      format_count(report.spoiled_records), format_count(report.tombstones));
}

std::string report_json(const sources::LoadReport& report, const std::string& topic) {
  const nlohmann::ordered_json json = {{"topic", topic},
                                       {"partitions", report.partitions},
                                       {"records", report.total.records},
                                       {"bytes", report.total.bytes},
                                       {"seconds", static_cast<double>(report.total.elapsed_micros) / 1e6},
                                       {"megabytes_per_second", report.megabytes_per_second()},
                                       {"records_per_second", report.records_per_second()},
                                       {"spoiled_records", report.spoiled_records},
                                       {"tombstones", report.tombstones}};
  return json.dump() + "\n";
}

int generate_command(GenerateArguments& arguments) {
  if (const base::Status status = complete(arguments); !status.ok()) {
    tell("error: " + status.error().message());
    return kExitUsage;
  }
  base::Interrupt stop;
  StopSignals signals(stop, 0);
  ProgressLine progress;
  arguments.load.on_progress = [&](const sources::LoadProgress& now) {
    const double seconds = std::max(static_cast<double>(now.elapsed_micros) / 1e6, 1e-3);
    progress.show(fmt::format("{} records, {}, {:.1f} MB/s", format_count(now.records),
                              format_size(static_cast<double>(now.bytes)),
                              static_cast<double>(now.bytes) / 1e6 / seconds));
  };
  const auto report = sources::generate_load(arguments.load, stop);
  progress.clear();
  if (!report.ok()) {
    tell("error: " + report.error().message());
    return report.error().code() == base::Code::kInvalid ? kExitUsage : kExitFailed;
  }
  put(arguments.json ? report_json(*report, arguments.load.topic) : report_text(*report, arguments.load.topic));
  return kExitOk;
}

}  // namespace

void add_generate(CLI::App& app, Chosen& chosen) {
  auto arguments = std::make_shared<GenerateArguments>();
  sources::LoadOptions& load = arguments->load;
  CLI::App* command = app.add_subcommand("generate", "Fill a Kafka topic with made-up records of realistic shape");
  command->add_option("--bootstrap-servers", arguments->bootstrap_servers, "brokers, host:port,...")->required();
  command->add_option("--topic", load.topic, "topic to fill; created when it is missing")->required();
  command->add_option("--records", load.records, "how many; 0: until stopped")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--rate", arguments->rate, "such as 50MB/s; as fast as possible unless set");
  command->add_option("--partitions", load.partitions, "of a topic that is created")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--replication", load.replication, "of a topic that is created")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--codec", load.codec, "compression")
      ->check(CLI::IsMember({"none", "gzip", "snappy", "lz4", "zstd"}))
      ->capture_default_str();
  command->add_option("--seed", load.record.seed, "the same seed gives the same records")->capture_default_str();
  command->add_flag("--shuffle-keys", load.record.shuffle_keys, "write the fields of each record in random order");
  command->add_option("--bad", load.record.bad_percent, "percent of records that no row can be made of")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--schema", arguments->avro_file,
                      "Avro schema file: records for it instead of the built-in ones");
  command->add_option("--lanes", load.lanes, "producer lanes; 0: as many as cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--property", arguments->properties, "client property name=value (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--allow-plaintext", arguments->allow_plaintext, "brokers outside of loopback without TLS");
  command->add_flag("--no-create", arguments->no_create, "fail when the topic is missing");
  command->add_flag("--json", arguments->json, "report as JSON");
  command->callback([arguments, &chosen] { chosen = [arguments] { return generate_command(*arguments); }; });
}

}  // namespace frazil::app
