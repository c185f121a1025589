#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "app/catalog/catalog_desk.h"
#include "app/catalog/catalog_file.h"
#include "app/commands/commands.h"
#include "app/config/schema_source.h"
#include "app/open_catalog.h"
#include "app/pipeline.h"
#include "app/terminal.h"
#include "base/log.h"

namespace frazil::app {
namespace {

using base::Result;

struct CatalogArguments {
  std::string file;
  std::string pipeline;
  std::string name;
  std::string other;  // the new name, or a metadata file
  std::string schema;
  std::string location;
  std::vector<std::string> partition_by;
  std::vector<std::string> properties;
  std::vector<std::string> removed;
  bool is_namespace = false;
  bool is_sure = false;
  bool json = false;
};
using Arguments = std::shared_ptr<CatalogArguments>;
// What is done once the catalog is open.
using Act = std::function<Result<Answer>(CatalogDesk&)>;
// Reads the arguments; what is wrong with them is wrong usage.
using Deed = std::function<Result<Act>(const CatalogArguments&)>;

int fail(const base::Error& error, int exit_code) {
  tell("error: " + error.message());
  return exit_code;
}

int work(const CatalogArguments& arguments, const Deed& deed) {
  base::configure_log(base::LogFormat::kText, base::LogLevel::kWarn);
  const Result<Act> act = deed(arguments);
  if (!act.ok()) return fail(act.error(), kExitUsage);
  Problems problems(arguments.file);
  const auto config = read_catalog_of(arguments.file, arguments.pipeline, problems);
  if (const std::string text = problems.render(); !text.empty()) tell(text.substr(0, text.size() - 1));
  if (!config) return kExitUsage;
  const auto catalog = open_catalog(*config);
  if (!catalog.ok()) return fail(catalog.error(), kExitFailed);
  CatalogDesk desk(**catalog, config->type);
  const Result<Answer> answer = (*act)(desk);
  if (!answer.ok()) return fail(answer.error(), kExitFailed);
  put(arguments.json ? answer->json : answer->text);
  return kExitOk;
}

// "[{name: id, type: long}]" as in a pipeline file, or the name of a file with that list or with an Avro schema.
Result<columnar::Schema> schema_of(const std::string& text) {
  if (!text.starts_with('[') && !text.ends_with(".yaml") && !text.ends_with(".yml")) return schema_from_avro_file(text);
  Problems problems(text.starts_with('[') ? "--schema" : text);
  std::string columns = text;
  if (!text.starts_with('[')) {
    std::ifstream file(text, std::ios::binary);
    if (!file) return base::invalid("--schema: " + text + " cannot be read");
    columns.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto list = parse_yaml(columns, problems);
  const auto schema = list ? schema_from_columns(*list, problems) : std::nullopt;
  if (schema && !problems.has_errors()) return *schema;
  const std::string found = problems.render();
  return base::invalid(found.empty() ? "--schema holds no columns" : found.substr(0, found.size() - 1));
}

bool names_a_namespace(const CatalogArguments& arguments) {
  return arguments.is_namespace || arguments.name.find('.') == std::string::npos;
}

Result<Act> namespaces(const CatalogArguments&) {
  return Act([](CatalogDesk& desk) { return desk.namespaces(); });
}

Result<Act> tables(const CatalogArguments& arguments) {
  iceberg::Namespace ns;
  if (!arguments.name.empty()) {
    TRY_ASSIGN(ns, parse_namespace(arguments.name));
  }
  return Act([ns](CatalogDesk& desk) { return desk.tables(ns); });
}

Result<Act> show(const CatalogArguments& arguments) {
  if (names_a_namespace(arguments)) {
    TRY_ASSIGN(const auto ns, parse_namespace(arguments.name));
    return Act([ns](CatalogDesk& desk) { return desk.show_namespace(ns); });
  }
  TRY_ASSIGN(const auto id, iceberg::parse_table_id(arguments.name));
  return Act([id](CatalogDesk& desk) { return desk.show_table(id); });
}

Result<Act> create_namespace(const CatalogArguments& arguments) {
  TRY_ASSIGN(const auto ns, parse_namespace(arguments.name));
  TRY_ASSIGN(const auto properties, parse_properties(arguments.properties));
  return Act([ns, properties](CatalogDesk& desk) { return desk.create_namespace(ns, properties); });
}

Result<Act> create_table(const CatalogArguments& arguments) {
  TRY_ASSIGN(const auto id, iceberg::parse_table_id(arguments.name));
  TableRequest request;
  TRY_ASSIGN(request.schema, schema_of(arguments.schema));
  TRY_ASSIGN(request.properties, parse_properties(arguments.properties));
  request.partition_by = arguments.partition_by;
  request.location = arguments.location;
  TRY(check_request(request));
  return Act([id, request](CatalogDesk& desk) { return desk.create_table(id, request); });
}

Result<Act> rename(const CatalogArguments& arguments) {
  TRY_ASSIGN(const auto from, iceberg::parse_table_id(arguments.name));
  TRY_ASSIGN(const auto to, iceberg::parse_table_id(arguments.other));
  return Act([from, to](CatalogDesk& desk) { return desk.rename_table(from, to); });
}

Result<Act> register_table(const CatalogArguments& arguments) {
  TRY_ASSIGN(const auto id, iceberg::parse_table_id(arguments.name));
  std::string metadata = arguments.other;
  const bool is_path = metadata.find(":/") == std::string::npos;
  if (is_path) metadata = "file://" + std::filesystem::absolute(metadata).lexically_normal().string();
  return Act([id, metadata](CatalogDesk& desk) { return desk.register_table(id, metadata); });
}

Result<Act> change_properties(const CatalogArguments& arguments) {
  PropertyChange change;
  TRY_ASSIGN(change.set, parse_properties(arguments.properties));
  change.remove = arguments.removed;
  TRY(check_change(change));
  if (names_a_namespace(arguments)) {
    TRY_ASSIGN(const auto ns, parse_namespace(arguments.name));
    return Act([ns, change](CatalogDesk& desk) { return desk.namespace_properties(ns, change); });
  }
  TRY_ASSIGN(const auto id, iceberg::parse_table_id(arguments.name));
  return Act([id, change](CatalogDesk& desk) { return desk.table_properties(id, change); });
}

base::Status consent(const std::string& what, bool is_sure) {
  if (is_sure) return {};
  std::cerr << "Drop " << printable(what) << ".\nReally? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes") return {};
  return base::cancelled("nothing was dropped");
}

Result<Act> drop(const CatalogArguments& arguments) {
  const bool is_sure = arguments.is_sure;
  // Without a terminal nobody can be asked, and silence is no consent.
  if (!is_sure && isatty(STDIN_FILENO) != 1) {
    return base::invalid("drop takes the name " + arguments.name + " away. Say --yes to do so: there is no terminal to ask");
  }
  if (names_a_namespace(arguments)) {
    TRY_ASSIGN(const auto ns, parse_namespace(arguments.name));
    return Act([ns, is_sure, name = arguments.name](CatalogDesk& desk) -> Result<Answer> {
      TRY(consent("namespace " + name, is_sure));
      return desk.drop_namespace(ns);
    });
  }
  TRY_ASSIGN(const auto id, iceberg::parse_table_id(arguments.name));
  return Act([id, is_sure](CatalogDesk& desk) -> Result<Answer> {
    std::string what;
    if (!is_sure) {
      TRY_ASSIGN(what, desk.weigh_drop(id));
    }
    TRY(consent(what, is_sure));
    return desk.drop_table(id);
  });
}

// The arguments that every deed has, and its own.
class CatalogCommands {
 public:
  CatalogCommands(CLI::App& catalog, Chosen& chosen) : catalog_(catalog), chosen_(chosen) {}

  CLI::App* add(const std::string& name, const std::string& doc, Deed deed) {
    CLI::App* command = catalog_.add_subcommand(name, doc);
    arguments_ = std::make_shared<CatalogArguments>();
    command
        ->add_option(kFileFlags, arguments_->file,
                     "file with a block as under `catalog:` of a pipeline, or a pipeline file")
        ->envname("FRAZIL_CATALOG")
        ->required();
    command->add_option("--pipeline", arguments_->pipeline, "which pipeline of that file, when their catalogs differ");
    command->add_flag("--json", arguments_->json, "the answer as JSON");
    command->callback([arguments = arguments_, deed = std::move(deed), &chosen = chosen_] {
      chosen = [arguments, deed] { return work(*arguments, deed); };
    });
    return command;
  }
  CatalogArguments& arguments() { return *arguments_; }

  CLI::Option* add_name(CLI::App* command, const std::string& shown, const std::string& doc) {
    return command->add_option(shown, arguments_->name, doc);
  }
  void add_list(CLI::App* command, const std::string& flag, std::vector<std::string>& values, const std::string& doc) {
    command->add_option(flag, values, doc + " (repeatable)")->allow_extra_args(false);
  }

 private:
  CLI::App& catalog_;
  Chosen& chosen_;
  Arguments arguments_;  // of the command added last
};

constexpr char kNameDoc[] = "namespace.table; a name without a dot is a namespace";
constexpr char kNamespaceFlagDoc[] = "the name is a namespace, whatever dots it has";

void add_looking(CatalogCommands& commands) {
  commands.add("namespaces", "List the namespaces", namespaces);
  CLI::App* command = commands.add("tables", "List the tables of a namespace, or all", tables);
  commands.add_name(command, "NAMESPACE", "all namespaces without it");
  command = commands.add("show", "Show a table or a namespace, without reading its files", show);
  commands.add_name(command, "NAME", kNameDoc)->required();
  command->add_flag("--namespace", commands.arguments().is_namespace, kNamespaceFlagDoc);
}

void add_creating(CatalogCommands& commands) {
  CLI::App* command = commands.add("create-namespace", "Create a namespace", create_namespace);
  commands.add_name(command, "NAMESPACE", "as in shop, or shop.europe")->required();
  commands.add_list(command, "--property", commands.arguments().properties, "key=value");
  command = commands.add("create-table", "Create an empty table", create_table);
  commands.add_name(command, "TABLE", "namespace.table")->required();
  command
      ->add_option("--schema", commands.arguments().schema,
                   "Avro schema file, or columns as in a pipeline: '[{name: id, type: long, required: true}]', or a "
                   ".yaml file with such a list")
      ->required();
  commands.add_list(command, "--partition-by", commands.arguments().partition_by,
                    "such as 'bucket(16, id)' or 'day(created_at)'");
  commands.add_list(command, "--property", commands.arguments().properties, "key=value");
  command->add_option("--location", commands.arguments().location,
                      "where its files go; the catalog's choice without it");
  command = commands.add("register", "Give a name to a table whose metadata file is there", register_table);
  commands.add_name(command, "TABLE", "namespace.table")->required();
  command->add_option("METADATA", commands.arguments().other, "location of its newest ...metadata.json")->required();
}

void add_changing(CatalogCommands& commands) {
  CLI::App* command = commands.add("rename", "Give a table another name; its files stay where they are", rename);
  commands.add_name(command, "FROM", "namespace.table")->required();
  command->add_option("TO", commands.arguments().other, "namespace.table")->required();
  command =
      commands.add("properties", "Show the properties of a table or namespace, after changing them", change_properties);
  commands.add_name(command, "NAME", kNameDoc)->required();
  commands.add_list(command, "--set", commands.arguments().properties, "key=value");
  commands.add_list(command, "--remove", commands.arguments().removed, "a key");
  command->add_flag("--namespace", commands.arguments().is_namespace, kNamespaceFlagDoc);
  command = commands.add("drop", "Take a table's name away, or an empty namespace; files stay", drop);
  commands.add_name(command, "NAME", kNameDoc)->required();
  command->add_flag("--namespace", commands.arguments().is_namespace, kNamespaceFlagDoc);
  command->add_flag("--yes", commands.arguments().is_sure, "do not ask");
}

}  // namespace

void add_catalog(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("catalog", "Look into a catalog, and create, rename, drop or register what is in it");
  command->require_subcommand(1);
  CatalogCommands commands(*command, chosen);
  add_looking(commands);
  add_creating(commands);
  add_changing(commands);
}

}  // namespace frazil::app
