#include <algorithm>

#include "app/config/catalog_properties.h"
#include "app/config/option.h"
#include "app/config/routing_options.h"
#include "app/convert/kafka_names.h"
#include "clients/kafka/property_allow_list.h"

namespace frazil::app {
namespace {

using decoders::RejectPolicy;
using Kind = OptionKind;
using T = OptionTarget;
using V = OptionValue;

bool is_pipeline_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string assign_name(const T& t, const V& v) {
  t.pipeline->name = v.text;
  return is_pipeline_name(v.text) ? "" : "a pipeline's name has 1 to 64 letters of a-z, 0-9, _ and -";
}

std::string assign_table_name(const T& t, const V& v) {
  t.pipeline->table.name = v.text;
  return check_table_name(v.text);
}

std::string assign_dead_letters(const T& t, const V& v) {
  if (v.is_default) return "";
  t.pipeline->dead_letters = v.text;
  return check_table_name(v.text);
}

RejectPolicy policy_of(const std::string& word) {
  return word == "halt" ? RejectPolicy::kHalt : word == "skip" ? RejectPolicy::kSkip : RejectPolicy::kDeadLetter;
}

std::string assign_timestamp_numbers(const T& t, const V& v) {
  using format::TimestampNumbers;
  const std::map<std::string, TimestampNumbers> words = {{"reject", TimestampNumbers::kReject},
                                                         {"seconds", TimestampNumbers::kSeconds},
                                                         {"millis", TimestampNumbers::kMillis},
                                                         {"micros", TimestampNumbers::kMicros},
                                                         {"nanos", TimestampNumbers::kNanos}};
  t.pipeline->decode.json.json.timestamp_numbers = words.at(v.text);
  return "";
}

std::string assign_schema(const T& t, const V& v) {
  t.pipeline->decode.schema_from_table = v.text == "from_table";
  t.pipeline->decode.schema = v.schema;
  t.pipeline->decode.timestamps = v.timestamps;
  return "";
}

// Names of Kafka's Java clients are answered by what `frazil convert` makes of them.
base::Status check_client_property(const std::string& name, const std::string& value) {
  const ForeignName* java = clients::has_kafka_answer(name) ? nullptr : find_foreign_name(kafka_names(), name);
  if (java == nullptr) return clients::check_kafka_property(name, value);
  const bool is_put = java->fate == Fate::kHonoured || java->fate == Fate::kChanged;
  const std::string answer = is_put ? "write " : java->fate == Fate::kNotNeeded ? "leave it out: " : "";
  return base::invalid("Kafka property '" + name + "' is one of Kafka's Java clients, not of librdkafka; " + answer + java->doc);
}

std::string assign_catalog_type(const T& t, const V& v) {
  t.pipeline->table.catalog.type = v.text;
  return "";
}

std::string assign_lanes(const T& t, const V& v) {
  t.pipeline->lanes = static_cast<int>(v.text == "auto" ? 0 : v.number);
  return "";
}

std::string assign_freshness(const T&, const V& v) {
  return v.text == "off" ? "" : "freshness is unsupported in this version; leave it off and set commit.interval";
}

std::string assign_merge_mode(const T& t, const V& v) {
  using Mode = MergeConfig::Mode;
  t.pipeline->commit.merge.mode = v.text == "off" ? Mode::kOff : v.text == "auto" ? Mode::kAuto : Mode::kAlways;
  return "";
}

std::string assign_merge_listen(const T& t, const V& v) {
  const auto address = parse_listen_address(v.text);
  if (!address.ok()) return address.error().message();
  t.pipeline->commit.merge.listen = *address;
  return "";
}

std::string assign_sharding(const T&, const V& v) {
  return v.text == "fixed" ? "" : "sharding \"" + v.text + "\" is unsupported in this version; there is fixed";
}

std::vector<Option> source_options() {
  return {
      {.path = "name",
       .doc = "The pipeline's identity: positions are kept in the table under this name. Letters a-z, digits, _ and -, at most 64.",
       .is_required = true,
       .assign = assign_name},
      {.path = "source", .kind = Kind::kSection, .doc = "Where records come from: exactly one of the sections below.", .is_required = true},
      {.path = "source.kafka",
       .kind = Kind::kSection,
       .doc = "Topics of a Kafka cluster, read with read_committed.",
       .assign = [](const T& t, const V&) { t.pipeline->kafka.emplace(); return ""; }},
      {.path = "source.kafka.topics",
       .kind = Kind::kTextList,
       .doc = "Names of the topics. Either this or `topic_pattern`.",
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->topics = v.list; return ""; }},
      {.path = "source.kafka.topic_pattern",
       .doc = "A regular expression (RE2) that topic names match as a whole. New topics that match join while running.",
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->topic_pattern = v.text; return ""; }},
      {.path = "source.kafka.start",
       .kind = Kind::kStart,
       .default_text = "earliest",
       .doc = "Where reading begins when the table knows no positions yet: a word, `{timestamp: 2026-01-31T00:00:00Z}` or "
              "`{offsets: {orders: {0: 42}}}`. It means nothing once the table holds positions. A partition that appears later "
              "starts at the beginning of its log.",
       .values = {"earliest", "latest", "group"},
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->start = v.start; return ""; }},
      {.path = "source.kafka.discovery_interval",
       .kind = Kind::kDuration,
       .default_text = "5m",
       .doc = "How often new partitions and topics are looked for.",
       .minimum = 1000,
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->discovery_interval_ms = v.number; return ""; }},
      {.path = "source.kafka.open_transaction_warning",
       .kind = Kind::kDuration,
       .default_text = "5m",
       .doc = "How long an open transaction may hold back the records of a partition before log, `/status` and metrics say so.",
       .minimum = 1000,
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->open_transaction_warning_ms = v.number; return ""; }},
      {.path = "source.kafka.group",
       .doc = "Consumer group that assigns partitions to workers and shows progress to lag tools; `frazil-<name>` unless set. "
              "`none`: no group; this worker reads all partitions. Positions never come from the group, but for `start: group`.",
       .values = {"none"},
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->group = v.text; return ""; }},
      {.path = "source.kafka.allow_plaintext",
       .kind = Kind::kBoolean,
       .default_text = "false",
       .doc = "Allows brokers outside of loopback without TLS.",
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->allow_plaintext = v.boolean; return ""; }},
      {.path = "source.kafka.properties",
       .kind = Kind::kProperties,
       .doc = "Client properties under librdkafka's own names, `bootstrap.servers` among them. Those that would break the "
              "guarantees are refused by name. Secrets (`sasl.password`, `ssl.key.password`, ...) must be references.",
       .is_required = true,
       .check_property = check_client_property,
       .is_secret_property = [](const std::string& name) { return clients::is_kafka_secret(name); },
       .assign = [](const T& t, const V& v) { t.pipeline->kafka->properties = v.properties; return ""; }},
      {.path = "source.generator",
       .kind = Kind::kSection,
       .doc = "Made-up records of realistic shape, without Kafka: to try out a table. Its schema is its own.",
       .assign = [](const T& t, const V&) { t.pipeline->generator.emplace(); return ""; }},
      {.path = "source.generator.records",
       .kind = Kind::kInteger,
       .default_text = "1000000",
       .doc = "How many records there are; 0 is without end.",
       .minimum = 0,
       .assign = [](const T& t, const V& v) { t.pipeline->generator->records = v.number; return ""; }},
      {.path = "source.generator.rate",
       .kind = Kind::kInteger,
       .default_text = "none",
       .doc = "Records a second over all splits; `none` is as fast as they are taken.",
       .values = {"none"},
       .minimum = 1,
       .assign = [](const T& t, const V& v) { t.pipeline->generator->records_per_second = v.number; return ""; }},
      {.path = "source.generator.seed",
       .kind = Kind::kInteger,
       .default_text = "1",
       .doc = "The same seed gives the same records.",
       .minimum = 0,
       .assign = [](const T& t, const V& v) { t.pipeline->generator->seed = v.number; return ""; }},
      {.path = "source.generator.splits",
       .kind = Kind::kInteger,
       .default_text = "4",
       .doc = "Parts that are read side by side, like partitions of a topic.",
       .minimum = 1,
       .maximum = 1000,
       .assign = [](const T& t, const V& v) { t.pipeline->generator->splits = static_cast<int>(v.number); return ""; }},
  };
}

std::vector<Option> decode_options() {
  return {
      {.path = "decode", .kind = Kind::kSection, .doc = "How records become rows."},
      {.path = "decode.json", .kind = Kind::kSection, .doc = "Values are JSON documents."},
      {.path = "decode.json.schema",
       .kind = Kind::kSchema,
       .doc = "The fields of the documents: the path of an Avro schema file (relative to this file), columns written out as "
              "`[{name: id, type: long, required: true}, {name: tags, type: \"list<string>\"}]`, or `from_table`: the table's "
              "own columns.",
       .values = {"from_table"},
       .assign = assign_schema},
      {.path = "decode.json.on_bad_field",
       .kind = Kind::kChoice,
       .default_text = "reject",
       .doc = "A value that does not fit its column: reject the record, or put null into an optional column.",
       .values = {"reject", "null"},
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.json.bad_field_null = v.text == "null"; return ""; }},
      {.path = "decode.json.on_missing_field",
       .kind = Kind::kChoice,
       .default_text = "null",
       .doc = "A field that is not there: null in an optional column, or reject the record. A required column always rejects.",
       .values = {"null", "reject"},
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.json.missing_field_reject = v.text == "reject"; return ""; }},
      {.path = "decode.json.top_level_array",
       .kind = Kind::kChoice,
       .default_text = "explode",
       .doc = "A document that is an array: one row for each element (one bad element rejects the record as a whole), or reject.",
       .values = {"explode", "reject"},
       .assign =
           [](const T& t, const V& v) { t.pipeline->decode.json.json.explode_top_level_array = v.text == "explode"; return ""; }},
      {.path = "decode.json.tombstone",
       .kind = Kind::kChoice,
       .default_text = "skip",
       .doc = "A record without a value: skip and count it, keep it as a dead letter, or halt.",
       .values = {"skip", "dead_letter", "halt"},
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.tombstone = policy_of(v.text); return ""; }},
      {.path = "decode.json.case_insensitive",
       .kind = Kind::kBoolean,
       .default_text = "false",
       .doc = "Field names match columns without regard to case. Two fields for one column reject.",
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.json.case_insensitive = v.boolean; return ""; }},
      {.path = "decode.json.coerce_strings",
       .kind = Kind::kBoolean,
       .default_text = "false",
       .doc = "Accepts numbers and booleans that are written as strings.",
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.json.coerce_strings = v.boolean; return ""; }},
      {.path = "decode.json.decimal_excess",
       .kind = Kind::kChoice,
       .default_text = "reject",
       .doc = "More digits behind the point than a decimal column has: reject, unless they are zeros, or round half to even.",
       .values = {"reject", "round"},
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.json.decimal_round = v.text == "round"; return ""; }},
      {.path = "decode.json.timestamp_format",
       .kind = Kind::kChoice,
       .default_text = "auto",
       .doc = "Texts of timestamps: ISO 8601 or SQL, told apart by themselves.",
       .values = {"auto"},
       .assign = [](const T&, const V&) { return ""; }},
      {.path = "decode.json.timestamp_numbers",
       .kind = Kind::kChoice,
       .default_text = "reject",
       .doc = "What a number in a timestamp column counts, from 1970-01-01T00:00:00Z.",
       .values = {"reject", "seconds", "millis", "micros", "nanos"},
       .assign = assign_timestamp_numbers},
      {.path = "decode.json.assume_zone",
       .default_text = "none",
       .doc = "Offset for timestamptz texts that carry none, such as `Z` or `+02:00`. With `none` they are rejected.",
       .values = {"none"},
       .assign =
           [](const T& t, const V& v) { t.pipeline->decode.json.json.assume_zone = v.text == "none" ? "" : v.text; return ""; }},
      {.path = "decode.json.max_document_bytes",
       .kind = Kind::kSize,
       .default_text = "16MiB",
       .doc = "A larger document is rejected; its dead letter keeps the first 64 KiB, the size and a hash of the whole.",
       .minimum = 1,
       .maximum = 1 << 30,
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.json.max_document_bytes = v.number; return ""; }},
      {.path = "decode.on_reject",
       .kind = Kind::kChoice,
       .default_text = "dead_letter",
       .doc = "A record that cannot be decoded: keep it in the dead-letter table, halt, or skip it (counted and logged).",
       .values = {"dead_letter", "halt", "skip"},
       .assign = [](const T& t, const V& v) { t.pipeline->decode.json.on_reject = policy_of(v.text); return ""; }},
  };
}

std::vector<Option> catalog_options() {
  return {
      {.path = "table.catalog", .kind = Kind::kSection, .doc = "Where tables are known by name.", .is_required = true},
      {.path = "table.catalog.type",
       .kind = Kind::kChoice,
       .doc = "`rest`: the Iceberg REST protocol. `sqlite`: a database file, shared with PyIceberg's SqlCatalog. `memory`: for "
              "trying out; all is lost at the end.",
       .values = {"rest", "sqlite", "memory"},
       .is_required = true,
       .assign = assign_catalog_type},
      {.path = "table.catalog.uri",
       .doc = "rest: the service's address, with or without `/v1`. sqlite: the database file, as a path or `sqlite:///path`; "
              "relative paths start at this file's folder.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.uri = v.text; return ""; }},
      {.path = "table.catalog.warehouse",
       .doc = "rest: the warehouse that the service knows by this name or location. sqlite: the location under which new tables "
              "are laid, as a path, `file:///path` or `s3://bucket/path`.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.warehouse = v.text; return ""; }},
      {.path = "table.catalog.name",
       .default_text = "default",
       .doc = "sqlite: the catalog's name inside of the database; PyIceberg's load_catalog takes the same name.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.name = v.text; return ""; }},
      {.path = "table.catalog.credential",
       .doc = "rest: `id:secret` of an OAuth2 client (client credentials grant).",
       .is_secret = true,
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.credential = v.text; return ""; }},
      {.path = "table.catalog.token",
       .doc = "rest: a bearer token that somebody else renews; it is not refreshed.",
       .is_secret = true,
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.token = v.text; return ""; }},
      {.path = "table.catalog.properties",
       .kind = Kind::kProperties,
       .doc = "Properties under the names that Iceberg's clients use: of the catalog (`oauth2-server-uri`, `scope`, `header.*`, ...) "
              "and of the stores that hold the files (`s3.endpoint`, `s3.region`, `gcs.credentials-file`, ...). Secrets must be references.",
       .check_property = check_catalog_property,
       .is_secret_property = is_catalog_secret,
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.properties = v.properties; return ""; }},
      {.path = "table.catalog.ca_file",
       .doc = "rest: authorities that sign the service's certificate, as PEM; the system's when it is left out.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.ca_file = v.text; return ""; }},
      {.path = "table.catalog.certificate_file",
       .doc = "rest: this side's certificate, as PEM, for services that ask for one.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.certificate_file = v.text; return ""; }},
      {.path = "table.catalog.key_file",
       .doc = "rest: the key of that certificate, as PEM.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.key_file = v.text; return ""; }},
      {.path = "table.catalog.allow_plaintext",
       .kind = Kind::kBoolean,
       .default_text = "false",
       .doc = "rest: allows a service outside of loopback over http://, without TLS.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.allow_plaintext = v.boolean; return ""; }},
  };
}

std::vector<Option> table_options() {
  return {
      {.path = "table.create",
       .kind = Kind::kSection,
       .doc = "Creates the table (and its namespace) when it is missing; `create: {}` does with defaults. Without this section "
              "the table must exist.",
       .assign = [](const T& t, const V&) { t.pipeline->table.create.emplace(); return ""; }},
      {.path = "table.create.partition_by",
       .kind = Kind::kTextList,
       .doc = "Partition fields such as `bucket(64, id)`, `day(ts)`, `truncate(10, name)`, `country`.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.create->partition_by = v.list; return ""; }},
      {.path = "table.create.sort_by",
       .kind = Kind::kTextList,
       .doc = "Unsupported in this version. Will be the order of rows within files, such as `id` or `ts desc nulls last`.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.create->sort_by = v.list; return ""; }},
      {.path = "table.create.properties",
       .kind = Kind::kProperties,
       .doc = "Table properties under Iceberg's own names, such as `write.parquet.compression-codec`.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.create->properties = v.properties; return ""; }},
      {.path = "table.columns", .kind = Kind::kSection, .doc = "Which fields become which columns."},
      {.path = "table.columns.keep",
       .kind = Kind::kTextList,
       .doc = "Only these fields become columns. Not together with `drop`.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.columns.keep = v.list; return ""; }},
      {.path = "table.columns.drop",
       .kind = Kind::kTextList,
       .doc = "These fields become no columns.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.columns.drop = v.list; return ""; }},
      {.path = "table.columns.rename",
       .kind = Kind::kProperties,
       .doc = "Other names for columns: `{field: column}`.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.columns.rename = v.properties; return ""; }},
      {.path = "table.columns.kafka_metadata",
       .kind = Kind::kBoolean,
       .default_text = "false",
       .doc = "Adds `_kafka_topic`, `_kafka_partition`, `_kafka_offset`, `_kafka_row`, `_kafka_timestamp`, `_kafka_key` and "
              "`_kafka_headers`.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.columns.kafka_metadata = v.boolean; return ""; }},
  };
}

std::vector<Option> pace_options() {
  return {
      {.path = "dead_letters",
       .doc = "Table that keeps the bytes, place and reason of rejected records; `<table>_dead_letters` unless set; with `tables`, "
              "`<name>_dead_letters` beside the first of them. It is created at the first reject.",
       .assign = assign_dead_letters},
      {.path = "commit", .kind = Kind::kSection, .doc = "When rows become visible."},
      {.path = "commit.interval",
       .kind = Kind::kDuration,
       .default_text = "5s",
       .doc = "Time between commits while rows arrive.",
       .minimum = 50,
       .maximum = 86'400'000,
       .assign = [](const T& t, const V& v) { t.pipeline->commit.interval_ms = v.number; return ""; }},
      {.path = "commit.freshness",
       .kind = Kind::kDuration,
       .default_text = "off",
       .doc = "Unsupported in this version. Will replace `interval`: the age that 95 % of the rows may have when they become visible.",
       .values = {"off"},
       .assign = assign_freshness},
      {.path = "commit.position_interval",
       .kind = Kind::kDuration,
       .default_text = "10m",
       .doc = "How long positions that moved without rows (control records, skipped records) may wait for a commit.",
       .minimum = 1000,
       .assign = [](const T& t, const V& v) { t.pipeline->commit.position_interval_ms = v.number; return ""; }},
      {.path = "commit.merge", .kind = Kind::kSection, .doc = "Commits of many workers of one group joined into one snapshot."},
      {.path = "commit.merge.mode",
       .kind = Kind::kChoice,
       .default_text = "off",
       .doc = "`auto`: epochs go to the worker that reads the group's first partition while commits contend (one of the last minute needed more "
              "than one request); `always`: whenever they can. Epochs with dead letters, and those without a verdict in time, are committed by their "
              "own worker.",
       .values = {"off", "auto", "always"},
       .assign = assign_merge_mode},
      {.path = "commit.merge.listen",
       .default_text = "127.0.0.1:0",
       .doc = "Where this worker takes epochs of others; port 0: a free one. Beyond loopback it needs the files of TLS, or `allow_plaintext` and `secret`.",
       .assign = assign_merge_listen},
      {.path = "commit.merge.advertise",
       .doc = "host:port by which other workers reach this one; as it listens when it is left out. It becomes part of the Kafka client id.",
       .assign = [](const T& t, const V& v) { t.pipeline->commit.merge.advertise = v.text; return ""; }},
      {.path = "commit.merge.ca_file",
       .doc = "The authority, as PEM, that signs the certificates of all workers.",
       .assign = [](const T& t, const V& v) { t.pipeline->commit.merge.ca_file = v.text; return ""; }},
      {.path = "commit.merge.certificate_file",
       .doc = "This worker's certificate, as PEM, good for the host in `advertise` and as a client.",
       .assign = [](const T& t, const V& v) { t.pipeline->commit.merge.certificate_file = v.text; return ""; }},
      {.path = "commit.merge.key_file",
       .doc = "Its key, as PEM.",
       .assign = [](const T& t, const V& v) { t.pipeline->commit.merge.key_file = v.text; return ""; }},
      {.path = "commit.merge.allow_plaintext",
       .kind = Kind::kBoolean,
       .default_text = "false",
       .doc = "Allows workers to speak without TLS beyond loopback; they need `secret` then. Others on the way can read what they say, and change none of it.",
       .assign = [](const T& t, const V& v) { t.pipeline->commit.merge.allow_plaintext = v.boolean; return ""; }},
      {.path = "commit.merge.secret",
       .doc = "By which workers prove to each other that they belong together, the same for all: 16 characters or more. Not needed where they show "
              "certificates (`ca_file`), or where all run as one user on one machine: those share a key in a file of that user's runtime folder.",
       .is_secret = true,
       .assign = [](const T& t, const V& v) { t.pipeline->commit.merge.secret = v.text; return ""; }},
      {.path = "commit.merge.patience",
       .kind = Kind::kDuration,
       .default_text = "2s",
       .doc = "How long a worker waits for a verdict before it commits by itself.",
       .minimum = 100,
       .maximum = 60'000,
       .assign = [](const T& t, const V& v) { t.pipeline->commit.merge.patience_ms = v.number; return ""; }},
      {.path = "history", .kind = Kind::kSection, .doc = "The table's past."},
      {.path = "history.keep",
       .kind = Kind::kDuration,
       .default_text = "1h",
       .doc = "Age up to which snapshots are kept, in tables that Frazil creates.",
       .minimum = 60'000,
       .assign = [](const T& t, const V& v) { t.pipeline->history_keep_ms = v.number; return ""; }},
      {.path = "lanes",
       .kind = Kind::kInteger,
       .default_text = "auto",
       .doc = "Reader and writer lanes (threads) of each kind; `auto`: as many as there are cores.",
       .values = {"auto"},
       .minimum = 1,
       .maximum = 512,
       .assign = assign_lanes},
      {.path = "sharding",
       .kind = Kind::kChoice,
       .default_text = "fixed",
       .doc = "How buckets are spread over lanes. `auto` is unsupported in this version.",
       .values = {"fixed", "auto"},
       .assign = assign_sharding},
      {.path = "connect_timeout",
       .kind = Kind::kDuration,
       .default_text = "60s",
       .doc = "How long brokers, catalog and store may be out of reach at the start before the pipeline fails with the last error.",
       .minimum = 100,
       .assign = [](const T& t, const V& v) { t.pipeline->connect_timeout_ms = v.number; return ""; }},
      {.path = "files", .kind = Kind::kSection, .doc = "How the tables' files are reached."},
      {.path = "files.allowed_roots",
       .kind = Kind::kTextList,
       .doc = "Folders of this machine in which metadata that comes from a remote catalog may name files; none unless set. The warehouse "
              "counts as one when it is a local folder.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.files.allowed_roots = v.list; return ""; }},
      {.path = "files.ca_file",
       .doc = "Authorities that sign the certificates of object stores, as PEM; the system's when it is left out.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.files.ca_file = v.text; return ""; }},
      {.path = "files.allow_plaintext",
       .kind = Kind::kBoolean,
       .default_text = "false",
       .doc = "Allows object stores outside of loopback over http://, without TLS.",
       .assign = [](const T& t, const V& v) { t.pipeline->table.catalog.files.allow_plaintext = v.boolean; return ""; }},
  };
}

}  // namespace

const std::vector<Option>& pipeline_options() {
  static const std::vector<Option> options = [] {
    std::vector<Option> all = source_options();
    const Option table{.path = "table", .kind = Kind::kSection, .doc = "The table that rows go to.", .is_required = true};
    const Option name{.path = "table.name",
                      .doc = "Name of the table with its namespace, as in `shop.orders`. Required, unless there are `tables`.",
                      .assign = assign_table_name};
    for (const auto& part : {decode_options(), {table, name}, catalog_options(), table_options(), routing_options(), pace_options()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return options;
}

}  // namespace frazil::app
