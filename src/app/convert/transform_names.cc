#include "app/convert/transform_names.h"

#include <algorithm>
#include <cctype>

#include "app/convert/catalog_names.h"
#include "app/convert/kafka_names.h"
#include "app/convert/schema_text.h"

namespace frazil::app {
namespace {

using C = Conversion;
using G = Given;

constexpr char kRedistribution[] = "rows go to the lane that owns their partition; nothing is read twice";
constexpr char kRegistry[] = "schema registries are unsupported in this version: records are JSON, and their schema stands in the file";
constexpr char kProtobuf[] = "Protobuf is unsupported in this version; records are JSON";
constexpr char kTableCache[] = "the table is kept in memory and loaded again only when a commit asks for it";

ForeignName not_needed(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kNotNeeded, .doc = why};
}

ForeignName refused(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kRefused, .doc = why};
}

void translate_bootstrap(C& c, const G& given) {
  c.draft.set_property("source.kafka.properties", "bootstrap.servers", keep_references(given.text()));
}

void translate_topic(C& c, const G& given) { c.draft.set_list("source.kafka.topics", {keep_references(given.text())}); }

void translate_format(C& c, const G& given) {
  if (given.text() != "JSON") c.refused(given, "records are JSON in this version; RAW, STRING, AVRO and PROTO are unsupported");
}

void translate_start(C& c, const G& given) {
  if (given.text() != "earliest" && given.text() != "latest") return c.refused(given, "there are earliest and latest");
  c.draft.set("source.kafka.start", given.text());
}

void translate_consumer_config(C& c, const G& given) {
  if (const auto map = as_map(c, given)) {
    translate_kafka_properties(c, given.name + ".", *map);
    if (map->entries.empty()) c.not_needed(given, "empty");
  }
}

void translate_error_handling(C& c, const G& given) {
  const auto map = as_map(c, given);
  if (!map) return;
  if (map->find("threshold") != nullptr) {
    c.refused({given.name + ".threshold", "threshold", given.mark, given.value},
              "Frazil does not stop at a share of bad records: leave it out and watch frazil_dead_letters_total, or set `decode.on_reject: halt`");
  }
  c.draft.set("decode.on_reject", "dead_letter");
  c.changed(given, "`decode.on_reject: dead_letter`: rejected records go, with bytes, place and reason, to the table `<table>_dead_letters`");
}

void translate_table(C& c, const G& given) {
  if (given.text().find('{') != std::string::npos) {
    return c.refused(given, "a table for each value of a column is unsupported in this version: one pipeline for each table");
  }
  c.draft.set("table.name", keep_references(given.text()));
}

void translate_frequency(C& c, const G& given) {
  if (const auto seconds = as_count(c, given)) c.draft.set("commit.interval", std::to_string(*seconds) + "s");
}

void translate_columns(C& c, const G& given) {
  const auto names = as_list(c, given);
  if (!names) return;
  if (names->empty()) return c.not_needed(given, "empty");
  std::vector<std::string> kept;
  for (const std::string& name : *names) {
    if (name.find('.') != std::string::npos) return c.refused(given, "fields inside of others are not kept or dropped by themselves; name a whole field");
    kept.push_back(keep_references(name));
  }
  c.draft.set_list("table.columns." + given.key, kept);
}

void translate_partition_fields(C& c, const G& given) {
  const auto fields = as_list(c, given);
  if (fields && !fields->empty()) c.draft.set_list("table.create.partition_by", partition_fields_as_here(*fields));
  if (fields && fields->empty()) c.not_needed(given, "empty");
}

void translate_table_properties(C& c, const G& given) {
  const auto map = as_map(c, given);
  if (!map) return;
  for (const Entry& entry : map->entries) {
    c.draft.set_property("table.create.properties", entry.key, keep_references(entry.value.scalar));
  }
  if (map->entries.empty()) c.not_needed(given, "empty");
}

void translate_distribution(C& c, const G& given) {
  if (given.text() != "none" && given.text() != "hash") return c.refused(given, "there are none and hash");
  c.draft.set_property("table.create.properties", "write.distribution-mode", given.text());
}

void translate_autosharding(C& c, const G& given) {
  c.draft.set("sharding", "fixed");
  if (!given.is_true()) return c.honoured(given, "`sharding: fixed`");
  c.draft.comment("sharding", "autosharding was on; here one lane owns a partition, and one file is written for each partition and commit.");
  c.changed(given, "`sharding: fixed`: one lane owns a partition, which keeps files few; automatic sharding is unsupported in this version");
}

void translate_catalog_properties(C& c, const G& given) {
  if (const auto map = as_map(c, given)) translate_catalog(c, given.name + ".", given.mark, *map);
}

void translate_config_properties(C& c, const G& given) {
  if (const auto map = as_map(c, given)) {
    translate_hadoop(c, given.name + ".", *map);
    if (map->entries.empty()) c.not_needed(given, "empty");
  }
}

std::string camel_case(const std::string& name) {
  std::string camel;
  bool is_raised = false;
  for (const char c : name) {
    if (c == '_') {
      is_raised = true;
      continue;
    }
    camel += is_raised ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    is_raised = false;
  }
  return camel;
}

// Avro's logical types say what numbers count, columns do not: the decoder must be told. Returns what there is to say.
std::string set_timestamp_unit(Conversion& conversion, const TimestampFields& timestamps) {
  const bool has_millis = !timestamps.millis.empty(), has_micros = !timestamps.micros.empty();
  if (has_millis && has_micros) {
    return "; " + timestamps.millis + " holds millis and " + timestamps.micros + " micros, but `decode.json.timestamp_numbers` knows one unit "
           "for all: numbers in them are rejected, texts are taken; bring them to one unit before Kafka and set that";
  }
  if (!has_millis && !has_micros) return "";
  const std::string unit = has_millis ? "millis" : "micros";
  conversion.draft.set("decode.json.timestamp_numbers", unit);
  return " and `decode.json.timestamp_numbers: " + unit + "`: the unit of numbers in timestamps, for all of them";
}

}  // namespace

void translate_schema(Conversion& conversion, const Given& given) {
  const bool is_tree = given.value.kind == Node::Kind::kMap;
  std::string text = is_tree ? to_json_text(given.value) : given.text();
  text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (!text.starts_with('{')) {
    if (text.find_first_of(" \n{;") != std::string::npos || text.empty()) {
      return conversion.refused(given, "must be an Avro record or a JSON Schema, as JSON text, or the path of an Avro schema file");
    }
    return conversion.draft.set("decode.json.schema", keep_references(text));
  }
  TimestampFields timestamps;
  const auto schema = schema_from_text(text, &timestamps);
  if (!schema.ok()) return conversion.refused(given, schema.error().message());
  conversion.draft.set_columns("decode.json.schema", *schema);
  std::string changes = set_timestamp_unit(conversion, timestamps);
  if (const std::string times = times_that_stay_texts(text); !times.empty()) {
    changes += "; string columns for " + times + ": write timestamptz, date or time there for a table that has such columns, or is to get them";
  }
  if (loses_inner_required(*schema)) {
    changes += "; fields inside of others become optional. Keep the schema as a file and name that to keep them required";
  }
  if (!changes.empty()) conversion.changed(given, "`decode.json.schema`" + changes);
}

const std::vector<ForeignName>& kafka_read_names() {
  static const std::vector<ForeignName> names = {
      {.name = "bootstrap_servers", .doc = "`source.kafka.properties`: `bootstrap.servers`", .translate = translate_bootstrap},
      {.name = "topic", .doc = "`source.kafka.topics`; the pipeline is named after it", .translate = translate_topic},
      {.name = "format", .doc = "JSON; RAW, STRING, AVRO and PROTO are refused", .translate = translate_format},
      {.name = "schema", .doc = "`decode.json.schema`, from an Avro record or a JSON Schema; `decode.json.timestamp_numbers` from Avro's timestamp-millis or timestamp-micros", .translate = translate_schema},
      {.name = "consumer_config", .doc = "`source.kafka.properties` and others, name by name (below)", .translate = translate_consumer_config},
      {.name = "consumer_config_updates", .doc = "`source.kafka.properties` and others, name by name (below)", .translate = translate_consumer_config},
      {.name = "auto_offset_reset_config",
       .fate = Fate::kChanged,
       .doc = "`source.kafka.start`; an offset that is gone later is a halt, never a silent jump",
       .translate = translate_start},
      {.name = "error_handling",
       .fate = Fate::kChanged,
       .doc = "`decode.on_reject: dead_letter` and the table `<table>_dead_letters`; a threshold is refused",
       .translate = translate_error_handling},
      refused("confluent_schema_registry_url", kRegistry),
      refused("confluent_schema_registry_subject", kRegistry),
      refused("file_descriptor_path", kProtobuf),
      refused("message_name", kProtobuf),
      not_needed("redistributed", kRedistribution),
      not_needed("redistribute_num_keys", kRedistribution),
      not_needed("redistribute_by_record_key", kRedistribution),
      not_needed("allow_duplicates", "no row is ever doubled"),
      not_needed("offset_deduplication", "positions stand in the table; no row is ever doubled"),
      refused("max_read_time_seconds", "run with `--duration`"),
  };
  return names;
}

const std::vector<ForeignName>& iceberg_write_names() {
  static const std::vector<ForeignName> names = {
      {.name = "table", .doc = "`table.name`; names with {columns} in them are refused", .translate = translate_table},
      {.name = "catalog_name",
       .doc = "`table.catalog.name`, which counts for jdbc on SQLite alone",
       .translate = [](C& c, const G& given) { c.draft.set("table.catalog.name", keep_references(given.text())); }},
      {.name = "catalog_properties", .doc = "`table.catalog`, name by name (below)", .translate = translate_catalog_properties},
      {.name = "config_properties", .doc = "`table.catalog.properties`, name by name (below)", .translate = translate_config_properties},
      {.name = "triggering_frequency_seconds", .doc = "`commit.interval`", .translate = translate_frequency},
      {.name = "keep", .doc = "`table.columns.keep`", .translate = translate_columns},
      {.name = "drop", .doc = "`table.columns.drop`", .translate = translate_columns},
      refused("only", "rows are made from the whole record: name the wanted fields in `keep`, or take the record apart before Kafka"),
      refused("filter", "rows are not filtered in this version: filter before Kafka, or when reading"),
      {.name = "partition_fields", .doc = "`table.create.partition_by`", .translate = translate_partition_fields},
      {.name = "table_properties", .doc = "`table.create.properties`", .translate = translate_table_properties},
      refused("sort_fields", "sorted tables are unsupported in this version; leave it out, or create the table before"),
      {.name = "distribution_mode", .doc = "`table.create.properties`: `write.distribution-mode`", .translate = translate_distribution},
      {.name = "autosharding",
       .fate = Fate::kChanged,
       .doc = "`sharding: fixed` in any case; automatic sharding is unsupported in this version",
       .translate = translate_autosharding},
      {.name = "write_properties",
       .fate = Fate::kChanged,
       .doc = "`table.create.properties`: they hold for every writer, and count when Frazil creates the table",
       .translate = translate_table_properties},
      {.name = "error_handling",
       .fate = Fate::kChanged,
       .doc = "`decode.on_reject: dead_letter` and the table `<table>_dead_letters`; a threshold is refused",
       .translate = translate_error_handling},
      not_needed("direct_write_byte_limit", "there is one way to write, whatever the size"),
      not_needed("use_side_input_table_cache", kTableCache),
      not_needed("table_cache_refresh_interval_seconds", kTableCache),
      not_needed("maximum_table_cache_size", kTableCache),
      not_needed("table_cache_polling_buckets", kTableCache),
  };
  return names;
}

std::vector<ForeignName> in_camel_case(const std::vector<ForeignName>& names) {
  std::vector<ForeignName> camel = names;
  for (ForeignName& name : camel) name.name = camel_case(name.name);
  return camel;
}

void complete_pipeline_draft(Conversion& conversion, const Mark& where) {
  PipelineDraft& draft = conversion.draft;
  if (!conversion.schema_argument.empty()) draft.set("decode.json.schema", conversion.schema_argument);
  if (!draft.has("decode.json.schema") && !conversion.has_refusals()) {
    conversion.problem(where, "schema", "is missing: the fields of the JSON documents, as an Avro record or a JSON Schema; or --schema FILE");
  }
  if (draft.text_of("decode.json.schema") != "from_table") draft.set_section("table.create");
  complete_kafka(conversion);
  complete_catalog(conversion);
}

}  // namespace frazil::app
