#include "app/config/pipeline_checks.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "clients/kafka/property_allow_list.h"
#include "decoders/column_mapping.h"
#include "decoders/json/json_record_decoder.h"
#include "iceberg/partition_spec.h"
#include "iceberg/table_properties.h"
#include "sources/generator/record.h"

namespace frazil::app {
namespace {

// As brokers see it.
bool is_topic_name(std::string_view name) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  constexpr size_t kLongest = 249;
  return !name.empty() && name.size() <= kLongest && name != "." && name != ".." &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

bool is_pattern(const std::string& pattern) {
  try {
    const std::regex compiled(pattern, std::regex::ECMAScript);
    return true;
  } catch (const std::regex_error&) {
    return false;
  }
}

class PipelineChecks {
 public:
  PipelineChecks(PipelineConfig& pipeline, const Marks& marks, const ValueContext& context)
      : pipeline_(pipeline), marks_(marks), context_(context) {}

  void run() {
    check_source();
    check_schema();
    check_catalog();
    check_dead_letters();
    check_columns();
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
    if (!is_pattern(kafka.topic_pattern))
      error(path + ".topic_pattern", "\"source.kafka.topic_pattern\": \"" + kafka.topic_pattern + "\" is not a regular expression");
    const bool has_no_group = kafka.group == "none";
    if (has_no_group && kafka.start.mode == StartConfig::Mode::kGroup) {
      error(path + ".start", "\"start: group\" needs a group, but \"group\" is none");
    }
    if (has_no_group) kafka.group.clear();
    if (!is_set(path + ".group")) kafka.group = "frazil-" + pipeline_.name;
    check_start_topics(kafka);
    // Properties that were refused or are not known here would only give a second complaint.
    if (kafka.properties.empty()) return;
    const auto status = clients::check_kafka_connection(kafka.properties, kafka.allow_plaintext);
    if (!status.ok()) error(path + ".properties", status.error().message());
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
      } else {
        error("decode.json", "missing key \"decode.json.schema\"");
      }
    }
    if (decode.schema_from_table && pipeline_.table.create) {
      error("table.create", "\"create\" needs a schema, but \"decode.json.schema\" is from_table");
    }
  }

  void check_catalog() {
    CatalogConfig& catalog = pipeline_.table.catalog;
    const std::string path = "table.catalog";
    if (catalog.type == "memory") {
      context_.problems.warning(at(path + ".type"), "the memory catalog loses everything at the end of the process");
      if (catalog.warehouse.empty()) catalog.warehouse = "memory://warehouse";
    }
    if (catalog.type != "sqlite") return;
    for (const std::string key : {"uri", "warehouse"}) {
      if (!is_set(path + "." + key)) error(path, "missing key \"table.catalog." + key + "\", needed by type sqlite");
    }
    place_catalog(catalog, context_.folder);
    if (const size_t scheme = catalog.warehouse.find("://");
        scheme != std::string::npos && !catalog.warehouse.starts_with("file://")) {
      error(path + ".warehouse", "warehouse scheme \"" + catalog.warehouse.substr(0, scheme) +
                                     "\" is unsupported in this version; there is file");
    }
  }

  void check_dead_letters() {
    if (pipeline_.dead_letters.empty()) pipeline_.dead_letters = pipeline_.table.name + "_dead_letters";
    if (pipeline_.dead_letters == pipeline_.table.name) {
      error("dead_letters", "\"dead_letters\" must be another table than \"table.name\"");
    }
  }

  void check_columns() {
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
    check_decoding(*schema);
    if (pipeline_.table.create) check_create(*pipeline_.table.create, *schema);
  }

  // What no document can fill is known before there is a table.
  void check_decoding(const columnar::Schema& rows) {
    decoders::JsonDecoderConfig json = pipeline_.decode.json;
    json.columns = pipeline_.table.columns;
    const auto decoder = decoders::make_json_decoder(std::move(json), std::make_shared<const columnar::Schema>(rows));
    if (!decoder.ok()) error("decode.json.schema", decoder.error().message());
  }

  void check_create(const CreateConfig& create, const columnar::Schema& rows) {
    const std::string path = "table.create";
    const auto spec = iceberg::parse_partition_spec(create.partition_by, rows);
    if (!spec.ok()) error(path + ".partition_by", "\"table.create.partition_by\": " + spec.error().message());
    if (!create.sort_by.empty())
      error(path + ".sort_by", "\"table.create.sort_by\": sorted tables are unsupported in this version; leave it out");
    if (const auto version = create.properties.find("format-version"); version != create.properties.end() && version->second != "2")
      error(path + ".properties", "\"table.create.properties\": format-version \"" + version->second + "\" is unsupported in this version; there is 2");
    const auto properties = iceberg::read_table_properties(create.properties, "memory://table");
    if (!properties.ok()) error(path + ".properties", "\"table.create.properties\": " + properties.error().message());
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

void place_catalog(CatalogConfig& catalog, const std::string& folder) {
  constexpr std::string_view kScheme = "sqlite:///";
  const auto absolute = [&](const std::string& path) {
    return std::filesystem::absolute(path.starts_with('/') ? path : folder + "/" + path).lexically_normal().string();
  };
  // As SQLAlchemy reads it: three slashes and a relative path, or four and an absolute one.
  if (catalog.uri.starts_with(kScheme)) catalog.uri = catalog.uri.substr(kScheme.size());
  if (!catalog.uri.empty()) catalog.uri = absolute(catalog.uri);
  if (!catalog.warehouse.empty() && catalog.warehouse.find(":/") == std::string::npos) {
    catalog.warehouse = "file://" + absolute(catalog.warehouse);
  }
}

base::Result<columnar::Schema> configured_row_schema(const PipelineConfig& pipeline) {
  CHECK(pipeline.decode.schema.has_value());
  return decoders::row_schema(*pipeline.decode.schema, pipeline.table.columns);
}

}  // namespace frazil::app
