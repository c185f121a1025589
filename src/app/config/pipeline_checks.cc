#include "app/config/pipeline_checks.h"

#include <algorithm>
#include <filesystem>

#include "app/config/catalog_checks.h"
#include "app/config/catalog_properties.h"
#include "app/config/joint_checks.h"
#include "app/config/routing_checks.h"
#include "base/pattern.h"
#include "clients/kafka/property_allow_list.h"
#include "decoders/column_mapping.h"
#include "decoders/json/json_record_decoder.h"
#include "iceberg/partition_spec.h"
#include "iceberg/table_properties.h"
#include "io/location.h"
#include "net/url.h"
#include "sources/generator/record.h"

namespace frazil::app {
namespace {

constexpr size_t kSecretCharacters = 16;  // fewer can be found by trying

// As brokers see it.
bool is_topic_name(std::string_view name) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  constexpr size_t kLongest = 249;
  return !name.empty() && name.size() <= kLongest && name != "." && name != ".." &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

class PipelineChecks {
 public:
  PipelineChecks(PipelineConfig& pipeline, const Marks& marks, const ValueContext& context)
      : pipeline_(pipeline), marks_(marks), context_(context) {}

  void run() {
    check_source();
    check_schema();
    check_catalog();
    check_tables();
    check_dead_letters();
    check_columns();
    check_created_tables();
    check_merge(pipeline_.commit.merge);
  }

 private:
  // The place of the longest part of `path` that was written.
  Mark at(std::string path) const {
    while (!path.empty()) {
      if (const auto found = marks_.find(path); found != marks_.end()) return found->second;
      const size_t dot = path.rfind('.');
      path = dot == std::string::npos ? "" : path.substr(0, dot);
    }
    return marks_.contains("") ? marks_.at("") : Mark{};
  }
  void error(const std::string& path, std::string text) { context_.problems.error(at(path), std::move(text)); }
  bool is_set(const std::string& path) const { return marks_.contains(path); }

  void check_source() {
    if (pipeline_.kafka && pipeline_.generator)
      error("source", "\"source\" holds two sources: choose kafka or generator");
    if (!pipeline_.kafka && !pipeline_.generator && is_set("source")) {
      error("source", "\"source\" must hold one of kafka and generator");
    }
    if (pipeline_.kafka) check_kafka(*pipeline_.kafka);
  }

  void check_kafka(KafkaConfig& kafka) {
    const std::string path = "source.kafka";
    if (is_set(path + ".topics") && is_set(path + ".topic_pattern")) {
      error(path + ".topic_pattern", "\"topics\" and \"topic_pattern\" exclude each other");
    } else if (!is_set(path + ".topics") && !is_set(path + ".topic_pattern")) {
      error(path, "missing key \"source.kafka.topics\" (or \"source.kafka.topic_pattern\")");
    } else if (is_set(path + ".topics") && kafka.topics.empty()) {
      error(path + ".topics", "\"source.kafka.topics\" names no topic");
    }
    for (const std::string& topic : kafka.topics) {
      if (!is_topic_name(topic))
        error(path + ".topics", "\"source.kafka.topics\": \"" + topic + "\" is not a topic's name: 1 to 249 of a-z, A-Z, 0-9, ., _ and -");
    }
    if (const auto pattern = base::Pattern::compile(kafka.topic_pattern); !pattern.ok())
      error(path + ".topic_pattern", "\"source.kafka.topic_pattern\": " + pattern.error().message());
    const bool has_no_group = kafka.group == "none";
    if (has_no_group && kafka.start.mode == StartConfig::Mode::kGroup) {
      error(path + ".start", "\"start: group\" needs a group, but \"group\" is none");
    }
    if (has_no_group) kafka.group.clear();
    if (!is_set(path + ".group")) kafka.group = "frazil-" + pipeline_.name;
    check_start_topics(kafka);
    // Properties that were refused or are not known here would only give a second complaint.
    const auto& told = context_.problems.all();
    const bool has_refused = std::any_of(told.begin(), told.end(), [&path](const Problem& problem) {
      return problem.text.find("\"" + path + ".properties.") != std::string::npos;
    });
    if (is_set(path + ".properties") && !has_refused && !kafka.properties.contains("bootstrap.servers")) {
      error(path + ".properties", "missing key \"source.kafka.properties.bootstrap.servers\": the brokers' addresses, as in localhost:9092");
    }
    if (kafka.properties.empty()) return;
    const auto status = clients::check_kafka_connection(kafka.properties, kafka.allow_plaintext);
    if (!status.ok()) error(path + ".properties", status.error().message());
    clients::place_kafka_files(kafka.properties, context_.folder);
    for (const std::string& name : clients::kafka_file_properties()) {
      if (const auto found = kafka.properties.find(name); found != kafka.properties.end()) warn_of_no_file(path + ".properties", name, found->second);
    }
  }

  void check_merge(MergeConfig& merge) {
    const std::string path = "commit.merge";
    if (merge.mode == MergeConfig::Mode::kOff) return;
    if (!pipeline_.kafka || pipeline_.kafka->group.empty()) {
      error(path + ".mode", "\"commit.merge.mode\": only the workers of a Kafka group can join their commits; set \"source.kafka.group\", or leave it off");
    }
    const int files = !merge.ca_file.empty() + !merge.certificate_file.empty() + !merge.key_file.empty();
    if (files != 0 && files != 3) error(path, "\"commit.merge\": \"ca_file\", \"certificate_file\" and \"key_file\" belong together");
    const std::string& host = merge.listen.host;
    const bool is_loopback = host == "127.0.0.1" || host == "::1" || host == "localhost";
    if (!is_loopback && files != 3 && !merge.allow_plaintext) {
      error(path + ".listen", "\"commit.merge.listen\": " + host + " is beyond this machine: set the files of TLS, or \"allow_plaintext: true\"");
    }
    if (!is_loopback && files != 3 && merge.allow_plaintext && merge.secret.empty()) {
      error(path, "missing key \"commit.merge.secret\": without certificates nothing else tells this pipeline's workers from others");
    }
    if (!merge.secret.empty() && merge.secret.size() < kSecretCharacters) {
      error(path + ".secret", "\"commit.merge.secret\" has fewer than " + std::to_string(kSecretCharacters) + " characters");
    }
    if (!is_loopback && merge.advertise.empty()) {
      error(path, "missing key \"commit.merge.advertise\": the address by which other workers reach this one");
    }
    if (!merge.advertise.empty()) {
      if (const auto address = parse_listen_address(merge.advertise); !address.ok()) error(path + ".advertise", address.error().message());
    }
    for (const auto& [key, file] : {std::pair{".ca_file", &merge.ca_file}, {".certificate_file", &merge.certificate_file}, {".key_file", &merge.key_file}}) {
      if (!file->empty()) *file = (std::filesystem::path(context_.folder) / *file).lexically_normal();
      warn_of_no_file(path + key, "commit.merge" + std::string(key), *file);
    }
  }

  // A file may be there only where the pipeline will run, as with references.
  void warn_of_no_file(const std::string& path, const std::string& name, const std::string& file) {
    std::error_code ignored;
    const bool is_word = file.find('/') == std::string::npos;
    if (is_word || std::filesystem::exists(file, ignored)) return;
    context_.problems.warning(at(path), "\"" + name + "\": file " + file + " is not here");
  }

  void check_start_topics(const KafkaConfig& kafka) {
    if (!is_set("source.kafka.topics")) return;
    for (const auto& [topic, offsets] : kafka.start.offsets) {
      if (std::find(kafka.topics.begin(), kafka.topics.end(), topic) != kafka.topics.end()) continue;
      error("source.kafka.start", "\"start\" names topic \"" + topic + "\", which is not one of \"topics\"");
    }
  }

  void check_schema() {
    DecodeConfig& decode = pipeline_.decode;
    if (!is_set("decode.json.schema")) {
      if (pipeline_.generator) {
        decode.schema = sources::generator_schema();
      } else if (!have_own_schemas()) {
        error("decode.json", "missing key \"decode.json.schema\"");
      }
    }
    if (decode.schema_from_table && pipeline_.table.create && pipeline_.tables.empty()) {
      error("table.create", "\"create\" needs a schema, but \"decode.json.schema\" is from_table");
    }
    if (!is_set("decode.json.timestamp_numbers")) warn_of_numbers(decode.timestamps);
  }

  // Avro's logical types say that documents may hold numbers where the decoder wants texts.
  void warn_of_numbers(const TimestampFields& timestamps) {
    const bool is_micros = timestamps.millis.empty();
    const std::string& field = is_micros ? timestamps.micros : timestamps.millis;
    if (field.empty()) return;
    context_.problems.warning(at("decode.json.schema"),
                              "\"" + field + "\" is a timestamp-" + (is_micros ? "micros" : "millis") +
                                  ": JSON numbers in it are rejected unless decode.json.timestamp_numbers says their unit");
  }

  void check_catalog() {
    CatalogConfig& catalog = pipeline_.table.catalog;
    const std::string path = "table.catalog";
    for (const std::string& problem : place_catalog(catalog, context_.folder)) error(path, problem);
    const std::pair<std::string, const std::string&> files[] = {{path + ".ca_file", catalog.ca_file},
                                                                {path + ".certificate_file", catalog.certificate_file},
                                                                {path + ".key_file", catalog.key_file},
                                                                {"files.ca_file", catalog.files.ca_file}};
    for (const auto& [name, file] : files) warn_of_no_file(name, name, file);
    if (catalog.type == "memory") {
      context_.problems.warning(at(path + ".type"), "the memory catalog loses everything at the end of the process");
      if (catalog.warehouse.empty()) catalog.warehouse = "memory://warehouse";
    }
    const std::vector<std::string> needed = catalog.type == "sqlite" ? std::vector<std::string>{"uri", "warehouse"}
                                            : catalog.type == "rest" ? std::vector<std::string>{"uri"}
                                                                     : std::vector<std::string>{};
    for (const std::string& key : needed) {
      if (!is_set(path + "." + key)) error(path, "missing key \"table.catalog." + key + "\", needed by type " + catalog.type);
    }
    if (catalog.type != "rest") check_no_rest_options(catalog);
    const auto is_written = [&](const std::string& key) { return is_set(path + "." + key); };
    for (const CatalogProblem& problem : check_catalog_together(catalog, is_written)) {
      if (problem.is_warning) {
        context_.problems.warning(at(path + "." + problem.key), problem.text);
      } else {
        error(path + "." + problem.key, problem.text);
      }
    }
  }

  // What only means something to a service is not passed over in silence elsewhere.
  void check_no_rest_options(const CatalogConfig& catalog) {
    const std::string path = "table.catalog";
    for (const std::string key : {"credential", "token", "ca_file", "certificate_file", "key_file"}) {
      if (is_set(path + "." + key)) error(path + "." + key, "\"table.catalog." + key + "\" belongs to type rest, not to " + catalog.type);
    }
    for (const auto& [name, value] : catalog.properties) {
      if (is_rest_property(name)) error(path + ".properties", "property \"" + name + "\" belongs to a catalog of type rest, not " + catalog.type);
    }
  }

  bool have_own_schemas() const {
    const auto& tables = pipeline_.tables;
    return !tables.empty() && std::all_of(tables.begin(), tables.end(), [](const auto& table) { return table.schema.has_value(); });
  }

  void check_tables() {
    if (pipeline_.tables.empty()) {
      if (is_set("table") && !is_set("table.name") && !is_set("tables")) error("table", "missing key \"table.name\" (or \"tables\")");
      for (const std::string key : {"anchor", "route", "unrouted"}) {
        if (is_set(key)) error(key, "\"" + key + "\" belongs to \"tables\"");
      }
      return;
    }
    if (is_set("table.name")) {
      error("table.name", "\"table.name\" and \"tables\" exclude each other");
      return;
    }
    if (pipeline_.commit.merge.mode != MergeConfig::Mode::kOff) {
      error("commit.merge", "\"commit.merge\" together with \"tables\" is unsupported in this version; leave it out");
    }
    check_routing(pipeline_, [this](const std::string& path, std::string text) { error(path, std::move(text)); });
  }

  void check_dead_letters() {
    if (pipeline_.dead_letters.empty()) pipeline_.dead_letters = pipeline_.table.name + "_dead_letters";
    if (pipeline_.dead_letters == pipeline_.table.name) {
      error("dead_letters", std::string("\"dead_letters\" must be another table than \"") + (is_set("tables") ? "anchor" : "table.name") + "\"");
    }
  }

  void check_created_tables() {
    for (size_t i = 0; i < pipeline_.tables.size(); ++i) {
      const RoutedTableConfig& entry = pipeline_.tables[i];
      const auto rows = routed_row_schema(pipeline_, entry);
      if (!rows.ok() || !*rows) continue;
      if (entry.create) {
        check_create("tables[" + std::to_string(i) + "].create", *entry.create, **rows);
      } else if (pipeline_.table.create) {
        check_create("table.create", *pipeline_.table.create, **rows);
      }
    }
  }

  void check_columns() {
    if (is_set("table.columns.keep") && pipeline_.table.columns.keep.empty()) {
      error("table.columns.keep", "\"table.columns.keep\" names no field; leave it out to keep all");
      return;
    }
    if (!pipeline_.table.columns.keep.empty() && !pipeline_.table.columns.drop.empty()) {
      error("table.columns.drop", "\"keep\" and \"drop\" exclude each other");
      return;
    }
    if (!pipeline_.decode.schema) return;
    const auto schema = configured_row_schema(pipeline_);
    if (!schema.ok()) {
      error("table.columns", schema.error().message());
      return;
    }
    warn_of_case_twins(*schema, at("decode.json.schema"), context_.problems);
    check_decoding(*schema);
    if (pipeline_.tables.empty() && pipeline_.table.create) check_create("table.create", *pipeline_.table.create, *schema);
  }

  // What no document can fill is known before there is a table.
  void check_decoding(const columnar::Schema& rows) {
    decoders::JsonDecoderConfig json = pipeline_.decode.json;
    json.columns = pipeline_.table.columns;
    const auto decoder = decoders::make_json_decoder(std::move(json), std::make_shared<const columnar::Schema>(rows));
    if (!decoder.ok()) error("decode.json.schema", decoder.error().message());
  }

  void check_create(const std::string& path, const CreateConfig& create, const columnar::Schema& rows) {
    const auto spec = iceberg::parse_partition_spec(create.partition_by, rows);
    if (!spec.ok()) error(path + ".partition_by", "\"" + path + ".partition_by\": " + spec.error().message());
    if (!create.sort_by.empty())
      error(path + ".sort_by", "\"" + path + ".sort_by\": sorted tables are unsupported in this version; leave it out");
    if (const auto version = create.properties.find("format-version"); version != create.properties.end() && version->second != "2")
      error(path + ".properties", "\"" + path + ".properties\": format-version \"" + version->second + "\" is unsupported in this version; there is 2");
    for (const auto& [name, value] : create.properties) {
      const bool is_path = name.starts_with("write.") && name.ends_with(".path");
      if (is_path && io::scheme_of(value) == "memory" && pipeline_.table.catalog.type != "memory")
        error(path + ".properties", "\"" + path + ".properties." + name + "\": memory: holds files only until the end of the process; it belongs to a catalog of type memory");
    }
    const auto properties = iceberg::read_table_properties(create.properties, "memory://table");
    if (!properties.ok()) error(path + ".properties", "\"" + path + ".properties\": " + properties.error().message());
  }

  PipelineConfig& pipeline_;
  const Marks& marks_;
  const ValueContext& context_;
};

}  // namespace

void complete_pipeline(PipelineConfig& pipeline, const Marks& marks, const ValueContext& context) {
  PipelineChecks(pipeline, marks, context).run();
  pipeline.decode.json.pipeline = pipeline.name;
  pipeline.decode.json.columns = pipeline.table.columns;
}

namespace {

constexpr std::string_view kStoreSchemes[] = {"file", "s3", "s3a", "s3n", "gs"};

std::string absolute_path(const std::string& path, const std::string& folder) {
  if (path.empty()) return path;
  return std::filesystem::absolute(path.starts_with('/') ? path : folder + "/" + path).lexically_normal().string();
}

}  // namespace

std::vector<std::string> place_catalog(CatalogConfig& catalog, const std::string& folder) {
  constexpr std::string_view kScheme = "sqlite:///";
  std::vector<std::string> problems;
  if (net::may_hold_secret(catalog.warehouse)) problems.push_back("\"table.catalog.warehouse\" must not hold a login: give it by properties, by reference");
  for (std::string* file : {&catalog.ca_file, &catalog.certificate_file, &catalog.key_file, &catalog.files.ca_file}) *file = absolute_path(*file, folder);
  for (std::string& root : catalog.files.allowed_roots) {
    if (root.find(":/") == std::string::npos) root = absolute_path(root, folder);
  }
  if (catalog.type == "rest") {
    if (!catalog.uri.empty()) problems.push_back(check_http_url("table.catalog.uri", catalog.uri, catalog.allow_plaintext, "allow_plaintext"));
    if (catalog.uri.find('?') != std::string::npos) problems.push_back("\"table.catalog.uri\" must not have a query");
    if (catalog.certificate_file.empty() != catalog.key_file.empty()) problems.push_back("\"certificate_file\" and \"key_file\" belong together");
    std::erase(problems, "");
    return problems;
  }
  // As SQLAlchemy reads it: three slashes and a relative path, or four and an absolute one.
  if (catalog.uri.starts_with(kScheme)) catalog.uri = catalog.uri.substr(kScheme.size());
  catalog.uri = absolute_path(catalog.uri, folder);
  if (catalog.warehouse.find(":/") == std::string::npos) {
    if (!catalog.warehouse.empty()) catalog.warehouse = "file://" + absolute_path(catalog.warehouse, folder);
  } else if (const std::string scheme = io::scheme_of(catalog.warehouse);
             catalog.type == "sqlite" && std::find(std::begin(kStoreSchemes), std::end(kStoreSchemes), scheme) == std::end(kStoreSchemes)) {
    problems.push_back("warehouse scheme \"" + scheme + "\" is unsupported in this version; there are file, s3 and gs");
  }
  std::erase(problems, "");
  return problems;
}

base::Result<columnar::Schema> configured_row_schema(const PipelineConfig& pipeline) {
  CHECK(pipeline.decode.schema.has_value());
  return decoders::row_schema(*pipeline.decode.schema, pipeline.table.columns);
}

}  // namespace frazil::app
