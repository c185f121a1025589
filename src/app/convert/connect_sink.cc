#include "app/convert/connect_sink.h"

#include <algorithm>
#include <cctype>

#include "app/convert/catalog_names.h"
#include "app/convert/convert.h"
#include "app/convert/kafka_names.h"
#include "app/convert/transform_names.h"

namespace frazil::app {
namespace {

using C = Conversion;
using G = Given;

constexpr char kCoordination[] = "there is no coordinator and no control topic: the table itself decides which commit counts";
constexpr char kKeys[] = "keys are not decoded; `table.columns.kafka_metadata` keeps their bytes";
constexpr char kDynamic[] = "tables are fixed, and none is named after a field's value: list them in iceberg.tables, each with a route-regex";
constexpr char kNoRoute[] = "without iceberg.tables.route-field each row goes to every table";
constexpr char kDeadLetters[] = "rejected records go, with bytes, place, headers and reason, to the table `<table>_dead_letters`";
constexpr char kRetries[] = "what passes is tried again by itself; a bad record is never tried again";

ForeignName not_needed(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kNotNeeded, .doc = why};
}

ForeignName refused(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kRefused, .doc = why};
}

// Refused when it is on.
ForeignName off_only(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kNotNeeded, .doc = "off; on is refused: " + why, .translate = [why](C& c, const G& given) {
            given.is_true() ? c.refused(given, why) : c.not_needed(given, "off");
          }};
}

void translate_class(C& c, const G& given) {
  if (!given.text().ends_with("IcebergSinkConnector")) c.refused(given, "there is the Iceberg sink: org.apache.iceberg.connect.IcebergSinkConnector");
}

void translate_topics(C& c, const G& given) {
  std::vector<std::string> topics;
  for (const std::string& topic : split_at_commas(given.text())) topics.push_back(keep_references(topic));
  c.draft.set_list("source.kafka.topics", topics);
}

void translate_value_converter(C& c, const G& given) {
  if (given.text() == "org.apache.kafka.connect.json.JsonConverter") return;
  const bool is_text = given.text().ends_with("StringConverter") || given.text().ends_with("ByteArrayConverter");
  c.refused(given, is_text ? "records are JSON documents in this version; take JsonConverter with schemas.enable=false if they are"
                           : "records are JSON in this version: Avro, Protobuf and schema registries are unsupported");
}

void translate_schemas_enable(C& c, const G& given) {
  if (given.is_true()) c.refused(given, "documents that carry their schema (\"schema\" beside \"payload\") are unsupported in this version");
}

void translate_branch(C& c, const G& given) {
  if (given.text() == "main") return c.not_needed(given, "commits go to main");
  c.refused(given, "commits go to main; other branches are unsupported in this version");
}

void translate_interval(C& c, const G& given) {
  const auto interval = as_count(c, given);
  if (!interval) return;
  const bool is_seconds = *interval % 1000 == 0;
  c.draft.set("commit.interval", is_seconds ? std::to_string(*interval / 1000) + "s" : std::to_string(*interval) + "ms");
}

std::vector<ForeignName> connector_names() {
  return {
      {.name = "name", .doc = "`name`", .translate = [](C& c, const G& given) { c.draft.set("name", to_pipeline_name(given.text())); }},
      {.name = "connector.class", .doc = "the Iceberg sink; others are refused", .translate = translate_class},
      not_needed("connector.plugin.version", "there is one version, of the program"),
      not_needed("tasks.max", "see `lanes`: as many as cores, in each process"),
      not_needed("tasks.max.enforce", "see `lanes`"),
      {.name = "topics", .doc = "`source.kafka.topics`", .translate = translate_topics},
      {.name = "topics.regex", .doc = "`source.kafka.topic_pattern`", .translate = [](C& c, const G& given) { c.draft.set("source.kafka.topic_pattern", keep_references(given.text())); }},
      not_needed("key.converter", kKeys),
      not_needed("key.converter.*", kKeys),
      not_needed("header.converter", "headers are not decoded; `table.columns.kafka_metadata` keeps their bytes"),
      not_needed("header.converter.*", "headers are not decoded"),
      {.name = "value.converter", .doc = "JsonConverter; others are refused", .translate = translate_value_converter},
      {.name = "value.converter.schemas.enable", .doc = "false; true is refused", .translate = translate_schemas_enable},
      not_needed("value.converter.schemas.cache.size", "documents carry no schemas"),
      not_needed("value.converter.decimal.format", "decimals are read from JSON numbers, digit by digit"),
      not_needed("value.converter.replace.null.with.default", "documents carry no schemas, so no defaults"),
      refused("value.converter.*", "schema registries are unsupported in this version"),
      {.name = "transforms", .doc = "each by its class (below)"},
      {.name = "transforms.*", .doc = "each by its class (below)"},
      refused("predicates", "records are not told apart before decoding: do it before Kafka"),
      refused("predicates.*", "records are not told apart before decoding: do it before Kafka"),
      not_needed("config.action.reload", "a pipeline file is read at the start"),
      {.name = "errors.tolerance", .fate = Fate::kChanged, .doc = "`decode.on_reject`: none becomes halt, all becomes dead_letter"},
      {.name = "errors.deadletterqueue.topic.name", .fate = Fate::kChanged, .doc = std::string("a table instead of a topic: ") + kDeadLetters},
      not_needed("errors.deadletterqueue.topic.replication.factor", kDeadLetters),
      not_needed("errors.deadletterqueue.context.headers.enable", kDeadLetters),
      not_needed("errors.retry.timeout", kRetries),
      not_needed("errors.retry.delay.max.ms", kRetries),
      not_needed("errors.log.enable", "rejects are counted and logged"),
      not_needed("errors.log.include.messages", "the log never repeats records; the dead-letter table has them"),
      {.name = "consumer.override.*", .doc = "`source.kafka.properties` and others, name by name (below)"},
      not_needed("producer.override.*", "nothing is written to Kafka but group offsets"),
      not_needed("admin.override.*", "nothing is changed in Kafka"),
  };
}

std::vector<ForeignName> iceberg_names() {
  constexpr char kUpserts[] = "rows are appended in this version, without identifier fields: leave it out if appending is meant";
  return {
      {.name = "iceberg.tables", .doc = "`table.name`; several: `tables`, with `route: all`"},
      off_only("iceberg.tables.dynamic-enabled", kDynamic),
      {.name = "iceberg.tables.route-field", .doc = "`when.field` of each of `tables`; rows that no table takes are skipped (`unrouted: skip`)"},
      {.name = "iceberg.tables.default-commit-branch", .fate = Fate::kNotNeeded, .doc = "main; others are refused", .translate = translate_branch},
      refused("iceberg.tables.default-id-columns", kUpserts),
      {.name = "iceberg.tables.default-partition-by", .doc = "`table.create.partition_by`, when the table is created"},
      {.name = "iceberg.tables.auto-create-enabled", .doc = "`table.create`; it needs a schema, by --schema FILE"},
      off_only("iceberg.tables.evolve-schema-enabled", "columns are not added in this version: change the table first, then the schema of the pipeline"),
      off_only("iceberg.tables.schema-force-optional", "write the schema with optional fields ([\"null\", type])"),
      {.name = "iceberg.tables.schema-case-insensitive",
       .doc = "`decode.json.case_insensitive`",
       .translate = [](C& c, const G& given) { c.draft.set("decode.json.case_insensitive", given.is_true() ? "true" : "false"); }},
      not_needed("iceberg.tables.replace-null-with-default", "documents carry no schemas, so no defaults"),
      {.name = "iceberg.tables.auto-create-props.*", .doc = "`table.create.properties`, when the table is created"},
      {.name = "iceberg.tables.write-props.*", .fate = Fate::kChanged, .doc = "`table.create.properties`, when the table is created; else set them on the table"},
      {.name = "iceberg.table.*", .doc = "of a table: route-regex is `when.matches`; commit-branch as above, partition-by too where there is one table; id-columns is refused"},
      not_needed("iceberg.control.topic", kCoordination),
      not_needed("iceberg.control.group-id-prefix", kCoordination),
      {.name = "iceberg.control.commit.interval-ms", .doc = "`commit.interval`", .translate = translate_interval},
      not_needed("iceberg.control.commit.timeout-ms", kCoordination),
      not_needed("iceberg.control.commit.threads", kCoordination),
      not_needed("iceberg.control.commit.max-consecutive-failures", "a commit that failed is tried again; a situation for the operator is a halt"),
      not_needed("iceberg.coordinator.*", kCoordination),
      not_needed("iceberg.control.*", kCoordination),
      {.name = "iceberg.catalog",
       .doc = "`table.catalog.name`, which counts for jdbc on SQLite alone",
       .translate = [](C& c, const G& given) { c.draft.set("table.catalog.name", keep_references(given.text())); }},
      {.name = "iceberg.catalog.*", .doc = "`table.catalog`, name by name (below)"},
      refused("iceberg.hadoop-conf-dir", "Hadoop is not used; say it by properties of the store (s3.*, gcs.*)"),
      {.name = "iceberg.hadoop.*", .doc = "`table.catalog.properties`, name by name (below)"},
      {.name = "iceberg.kafka.*", .doc = "`source.kafka.properties`, where nothing else says them"},
  };
}

// Of the worker's file: how Kafka is reached.
std::vector<ForeignName> worker_names() {
  constexpr char kWorker[] = "of the worker's file: `source.kafka.properties`";
  constexpr char kStorage[] = "nothing is kept outside of the table";
  std::vector<ForeignName> names;
  for (const char* name : {"bootstrap.servers", "security.protocol", "sasl.*", "ssl.*", "client.dns.lookup", "consumer.*"}) {
    names.push_back({.name = name, .doc = kWorker});
  }
  for (const char* name : {"group.id", "offset.storage.*", "offset.flush.*", "config.storage.*", "status.storage.*"}) names.push_back(not_needed(name, kStorage));
  for (const char* name : {"rest.*", "listeners", "plugin.path", "plugin.discovery", "producer.*", "admin.*", "config.providers", "config.providers.*",
                           "connector.client.config.override.policy", "task.shutdown.graceful.timeout.ms"}) {
    names.push_back(not_needed(name, "a setting of the worker"));
  }
  return names;
}

bool is_handled_elsewhere(const std::string& key) {
  // Translated by their own steps, which look at several names together.
  constexpr std::string_view kExact[] = {"transforms", "errors.tolerance", "errors.deadletterqueue.topic.name", "bootstrap.servers", "security.protocol",
                                         "client.dns.lookup", "iceberg.tables.auto-create-enabled", "iceberg.tables.default-partition-by",
                                         "iceberg.tables", "iceberg.tables.route-field"};
  constexpr std::string_view kPrefixes[] = {"transforms.", "consumer.override.", "iceberg.catalog.", "iceberg.hadoop.", "iceberg.kafka.", "iceberg.table.",
                                            "iceberg.tables.auto-create-props.", "iceberg.tables.write-props.", "sasl.", "ssl.", "consumer."};
  return std::find(std::begin(kExact), std::end(kExact), key) != std::end(kExact) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) { return key.starts_with(prefix); });
}

}  // namespace

const std::vector<ForeignName>& connect_names() {
  static const std::vector<ForeignName> names = [] {
    std::vector<ForeignName> all = connector_names();
    for (const auto& part : {iceberg_names(), worker_names()}) all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return names;
}

const std::vector<ForeignName>& connect_transform_names() {
  constexpr char kChanges[] = "change events are unsupported in this version";
  static const std::vector<ForeignName> names = {
      {.name = "org.apache.iceberg.connect.transforms.KafkaMetadataTransform",
       .fate = Fate::kChanged,
       .doc = "`table.columns.kafka_metadata`: the columns are called _kafka_topic, _kafka_partition, _kafka_offset, _kafka_timestamp and so on: rename those of the "
              "table, or add these; a nested struct, a prefix of one's own and external fields are refused"},
      refused("org.apache.iceberg.connect.transforms.CopyValue", "fields are not copied: name a column by `table.columns.rename`, or copy when reading"),
      refused("org.apache.iceberg.connect.transforms.DmsTransform", kChanges),
      refused("org.apache.iceberg.connect.transforms.DebeziumTransform", kChanges),
      refused("org.apache.iceberg.connect.transforms.MongoDebeziumTransform", kChanges),
      refused("org.apache.iceberg.connect.transforms.JsonToMapTransform", "declare the field as map<string, string> in the schema"),
      {.name = "org.apache.kafka.connect.transforms.ReplaceField$Value",
       .doc = "`table.columns`: exclude becomes drop, include keep, renames rename"},
      {.name = "org.apache.kafka.connect.transforms.DropHeaders", .fate = Fate::kNotNeeded, .doc = "headers are not decoded"},
      refused("*", "records are not transformed: do it before Kafka, or when reading"),
  };
  return names;
}

std::string ConnectSink::text_of(const std::string& key) const {
  const Node* value = find(key);
  return value == nullptr ? "" : value->scalar;
}

bool ConnectSink::is_true(const std::string& key) const {
  const Node* value = find(key);
  return value != nullptr && Given{key, key, {}, *value}.is_true();
}

Node ConnectSink::entries_of(const std::string& prefix) const {
  Node map;
  map.kind = Node::Kind::kMap;
  for (const Entry& entry : entries_.entries) {
    if (entry.key.starts_with(prefix)) map.entries.push_back({entry.key.substr(prefix.size()), entry.mark, entry.value});
  }
  return map;
}

void ConnectSink::translate() {
  for (const Entry& entry : entries_.entries) {
    if (is_handled_elsewhere(entry.key)) continue;
    translate_name(conversion_, connect_names(), {entry.key, entry.key, entry.mark, entry.value});
  }
  translate_transforms();
  translate_catalog_entries();
  translate_errors();
  translate_routing();
  translate_table_entries();
  translate_creation();
  translate_kafka();
  complete();
}

void ConnectSink::translate_transforms() {
  const Node* aliases = find("transforms");
  const std::vector<std::string> names = aliases == nullptr ? std::vector<std::string>{} : split_at_commas(aliases->scalar);
  for (const std::string& alias : names) {
    const std::string prefix = "transforms." + alias + ".";
    const Node* type = find(prefix + "type");
    if (type == nullptr) {
      conversion_.problem(aliases->mark, prefix + "type", "is missing");
    } else {
      // The names of before the sink moved to Apache.
      constexpr std::string_view kOld = "io.tabular.iceberg.connect.";
      const bool is_old = type->scalar.starts_with(kOld);
      const std::string name = is_old ? "org.apache.iceberg.connect." + type->scalar.substr(kOld.size()) : type->scalar;
      translate_transform({prefix + "type", name, type->mark, *type}, prefix);
    }
  }
  for (const Entry& entry : entries_.entries) {
    if (!entry.key.starts_with("transforms.")) continue;
    const bool is_named = std::any_of(names.begin(), names.end(), [&](const std::string& alias) { return entry.key.starts_with("transforms." + alias + "."); });
    if (!is_named) conversion_.not_needed({entry.key, entry.key, entry.mark, entry.value}, "`transforms` does not name it");
  }
}

void ConnectSink::translate_transform(const Given& type, const std::string& prefix) {
  const ForeignName* known = find_foreign_name(connect_transform_names(), type.key);
  conversion_.add({type.mark, type.name, known->fate, known->doc});
  if (known->fate == Fate::kRefused || known->fate == Fate::kNotNeeded) return;
  const bool is_metadata = type.key.ends_with("KafkaMetadataTransform");
  if (is_metadata) conversion_.draft.set("table.columns.kafka_metadata", "true");
  const Node settings = entries_of(prefix);
  for (const Entry& entry : settings.entries) {
    const Given given{prefix + entry.key, entry.key, entry.mark, entry.value};
    if (entry.key == "type") continue;
    if (!is_metadata && (entry.key == "exclude" || entry.key == "include" || entry.key == "blacklist" || entry.key == "whitelist")) {
      const bool is_drop = entry.key == "exclude" || entry.key == "blacklist";
      conversion_.draft.set_list(is_drop ? "table.columns.drop" : "table.columns.keep", split_at_commas(keep_references(given.text())));
      conversion_.honoured(given, is_drop ? "`table.columns.drop`" : "`table.columns.keep`");
    } else if (!is_metadata && entry.key == "renames") {
      for (const std::string& pair : split_at_commas(given.text())) {
        const size_t colon = std::min(pair.find(':'), pair.size());
        conversion_.draft.set_property("table.columns.rename", keep_references(pair.substr(0, colon)), keep_references(pair.substr(std::min(colon + 1, pair.size()))));
      }
      conversion_.honoured(given, "`table.columns.rename`");
    } else if (is_metadata && entry.key == "nested" && !given.is_true()) {
      conversion_.not_needed(given, "off");
    } else {
      conversion_.refused(given, is_metadata ? "the metadata columns have one form: leave it out" : "there are include, exclude and renames");
    }
  }
}

void ConnectSink::translate_catalog_entries() {
  const Node catalog = entries_of("iceberg.catalog.");
  translate_catalog(conversion_, "iceberg.catalog.", {}, catalog);
  translate_hadoop(conversion_, "iceberg.hadoop.", entries_of("iceberg.hadoop."));
}

void ConnectSink::translate_errors() {
  const Node* tolerance = find("errors.tolerance");
  const bool is_tolerant = tolerance != nullptr && tolerance->scalar == "all";
  conversion_.draft.set("decode.on_reject", is_tolerant ? "dead_letter" : "halt");
  if (!is_tolerant) {
    conversion_.draft.comment("decode.on_reject", "As errors.tolerance=none: a bad record stops the pipeline. `dead_letter` keeps it in a table and goes on.");
  }
  if (tolerance != nullptr) {
    const Given given{"errors.tolerance", "errors.tolerance", tolerance->mark, *tolerance};
    conversion_.changed(given, is_tolerant ? "`decode.on_reject: dead_letter`: " + std::string(kDeadLetters) : "`decode.on_reject: halt`");
  }
  if (const Node* topic = find("errors.deadletterqueue.topic.name")) {
    conversion_.changed({"errors.deadletterqueue.topic.name", "", topic->mark, *topic}, std::string("a table instead of a topic: ") + kDeadLetters);
  }
}

// The connector asks every table; one without an expression takes nothing by a field, and everything without one.
void ConnectSink::translate_routing() {
  const Node* tables = find("iceberg.tables");
  const Node* field = find("iceberg.tables.route-field");
  if (field != nullptr && tables != nullptr) {
    conversion_.honoured({"iceberg.tables.route-field", "", field->mark, *field}, "`when.field` of each of `tables`");
  } else if (field != nullptr) {
    conversion_.refused({"iceberg.tables.route-field", "", field->mark, *field}, kDynamic);
  }
  if (tables == nullptr) return;
  const Given given{"iceberg.tables", "", tables->mark, *tables};
  tables_ = split_at_commas(given.text());
  if (tables_.size() == 1 && field == nullptr) {
    conversion_.draft.set("table.name", keep_references(tables_[0]));
    return conversion_.honoured(given, "`table.name`");
  }
  conversion_.draft.set("route", "all");
  if (field != nullptr) conversion_.draft.set("unrouted", "skip");
  for (const std::string& table : tables_) add_table(table, field != nullptr);
  conversion_.honoured(given, "`tables`");
}

void ConnectSink::add_table(const std::string& table, bool is_routed) {
  const auto text = [](const std::string& value) {
    Node node;
    node.scalar = value;
    return node;
  };
  Node entry, when;
  entry.kind = when.kind = Node::Kind::kMap;
  entry.entries.push_back({"name", {}, text(keep_references(table))});
  if (is_routed) {
    const Node* expression = find("iceberg.table." + table + ".route-regex");
    if (expression == nullptr) {
      return conversion_.problem({}, "iceberg.table." + table + ".route-regex", "is missing: the table gets no rows without it; leave it out of iceberg.tables, or say which it takes");
    }
    when.entries.push_back({"field", {}, text(keep_references(text_of("iceberg.tables.route-field")))});
    when.entries.push_back({"matches", {}, text(keep_references(expression->scalar))});
    entry.entries.push_back({"when", {}, std::move(when)});
  }
  conversion_.draft.add_item("tables", std::move(entry));
}

// iceberg.table.<name>.<setting>, where the name holds dots.
void ConnectSink::translate_table_entries() {
  const Node settings = entries_of("iceberg.table.");
  for (const Entry& entry : settings.entries) {
    const Given given{"iceberg.table." + entry.key, entry.key, entry.mark, entry.value};
    const std::string table = entry.key.substr(0, std::min(entry.key.rfind('.'), entry.key.size()));
    const std::string setting = entry.key.substr(std::min(table.size() + 1, entry.key.size()));
    if (std::find(tables_.begin(), tables_.end(), table) == tables_.end()) {
      conversion_.refused(given, "belongs to a table that iceberg.tables does not name");
    } else if (setting == "commit-branch") {
      translate_branch(conversion_, given);
    } else if (setting == "id-columns") {
      conversion_.refused(given, "rows are appended in this version, without identifier fields: leave it out if appending is meant");
    } else if (setting == "route-regex") {
      const bool is_routed = find("iceberg.tables.route-field") != nullptr;
      is_routed ? conversion_.honoured(given, "`when.matches` of the table") : conversion_.not_needed(given, kNoRoute);
    } else if (setting == "partition-by" && conversion_.draft.has("tables")) {
      conversion_.refused(given, "one of several tables: create it before, or give its entry of `tables` a `create` of its own");
    } else if (setting != "partition-by") {
      conversion_.refused(given, "unknown name; of a table there are commit-branch, id-columns, partition-by and route-regex");
    }
  }
}

void ConnectSink::translate_creation() {
  PipelineDraft& draft = conversion_.draft;
  const bool creates = is_true("iceberg.tables.auto-create-enabled");
  const std::string own = "iceberg.table." + draft.text_of("table.name").value_or("") + ".partition-by";
  if (const Node* enabled = find("iceberg.tables.auto-create-enabled")) {
    const Given given{"iceberg.tables.auto-create-enabled", "", enabled->mark, *enabled};
    if (creates && conversion_.schema_argument.empty()) {
      conversion_.refused(given, "a table is created from a schema, not from the first record: give --schema FILE (an Avro schema), or create the table before");
    } else {
      conversion_.honoured(given, creates ? "`table.create`" : "the table must exist");
    }
  }
  for (const std::string& name : {std::string("iceberg.tables.default-partition-by"), own}) {
    const Node* fields = find(name);
    if (fields == nullptr) continue;
    const Given given{name, "", fields->mark, *fields};
    if (!creates) {
      conversion_.not_needed(given, "the table exists, with its partitions");
      continue;
    }
    draft.set_list("table.create.partition_by", partition_fields_as_here(split_at_commas(fields->scalar)));
    conversion_.honoured(given, "`table.create.partition_by`");
  }
  for (const std::string prefix : {"iceberg.tables.auto-create-props.", "iceberg.tables.write-props."}) {
    const Node properties = entries_of(prefix);
    for (const Entry& entry : properties.entries) {
      const Given given{prefix + entry.key, entry.key, entry.mark, entry.value};
      const bool is_write = prefix == "iceberg.tables.write-props.";
      if (creates) {
        draft.set_property("table.create.properties", entry.key, keep_references(given.text()));
        is_write ? conversion_.changed(given, "`table.create.properties`: it holds for every writer") : conversion_.honoured(given, "`table.create.properties`");
      } else if (is_write) {
        conversion_.refused(given, "set it as a property of the table, which holds for every writer, and leave it out here");
      } else {
        conversion_.not_needed(given, "the table exists");
      }
    }
  }
}

void ConnectSink::translate_kafka() {
  translate_kafka_properties(conversion_, "consumer.override.", entries_of("consumer.override."));
  // What the connector says goes before what the worker and the control topic's client say.
  const auto add_missing = [&](const std::string& prefix, const Node& properties) {
    for (const Entry& entry : properties.entries) {
      const Given given{prefix + entry.key, entry.key, entry.mark, entry.value};
      const bool is_set = conversion_.draft.property_of("source.kafka.properties", entry.key).has_value() || find("consumer.override." + entry.key) != nullptr ||
                          (prefix == "iceberg.kafka." && find(entry.key) != nullptr);
      if (is_set) {
        conversion_.not_needed(given, "another property says it for the source");
      } else {
        translate_kafka_property(conversion_, given);
      }
    }
  };
  Node worker;
  worker.kind = Node::Kind::kMap;
  for (const Entry& entry : entries_.entries) {
    const bool is_kafka = entry.key == "bootstrap.servers" || entry.key == "security.protocol" || entry.key == "client.dns.lookup" ||
                          entry.key.starts_with("sasl.") || entry.key.starts_with("ssl.");
    if (is_kafka) worker.entries.push_back(entry);
  }
  Node consumer = entries_of("consumer.");
  std::erase_if(consumer.entries, [](const Entry& entry) { return entry.key.starts_with("override."); });
  add_missing("consumer.", consumer);
  add_missing("", worker);
  add_missing("iceberg.kafka.", entries_of("iceberg.kafka."));
}

void ConnectSink::complete() {
  PipelineDraft& draft = conversion_.draft;
  const auto missing = [&](const std::string& name, const std::string& text) { conversion_.problem({}, name, text); };
  if (!find("topics") && !find("topics.regex")) missing("topics", "is missing");
  if (!find("iceberg.tables") && !is_true("iceberg.tables.dynamic-enabled")) missing("iceberg.tables", "is missing");
  if (!draft.property_of("source.kafka.properties", "bootstrap.servers")) {
    missing("bootstrap.servers", "stands in the worker's file: add --parameter bootstrap.servers=HOST:PORT, and what else the worker says of Kafka");
  }
  if (!find("value.converter")) {
    conversion_.add({{}, "value.converter", Fate::kChanged, "stands in the worker's file: records are taken for JSON without schemas"});
  } else if (text_of("value.converter") == "org.apache.kafka.connect.json.JsonConverter" && !find("value.converter.schemas.enable")) {
    conversion_.add({{}, "value.converter.schemas.enable", Fate::kChanged,
                     "is true unless set, and documents that carry their schema are unsupported: records are taken for JSON without schemas"});
  }
  if (!draft.has("name")) draft.set("name", to_pipeline_name(draft.text_of("table.name").value_or("pipeline")));
  const std::string group = "connect-" + (text_of("name").empty() ? "<name>" : text_of("name"));
  if (!draft.has("source.kafka.start")) {
    draft.set("source.kafka.start", "earliest");
    draft.comment("source.kafka.start", "To go on where the connector stopped: stop it after a commit with nothing new in the topics, and set start: group with "
                                        "group: " + group + ".");
  }
  if (!draft.has("commit.interval")) {
    draft.set("commit.interval", "5m");
    draft.comment("commit.interval", "The connector's default. 5s would do as well.");
  }
  if (conversion_.schema_argument.empty()) draft.set("decode.json.schema", "from_table");
  const bool creates = is_true("iceberg.tables.auto-create-enabled");
  if (!creates && !conversion_.schema_argument.empty()) draft.set("decode.json.schema", conversion_.schema_argument);
  if (creates) {
    complete_pipeline_draft(conversion_, {});
  } else {
    complete_kafka(conversion_);
    complete_catalog(conversion_);
  }
}

}  // namespace frazil::app
