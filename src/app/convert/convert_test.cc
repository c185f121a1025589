#include "app/convert/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "app/config/config_reader.h"
#include "app/convert/catalog_names.h"
#include "app/convert/kafka_names.h"
#include "app/convert/transform_names.h"
#include "io/store_properties.h"

namespace frazil::app {
namespace {

constexpr char kSchema[] = R"({"type":"record","name":"Record","fields":[{"name":"id","type":"string"}]})";

ForeignPipeline template_call(std::vector<std::pair<std::string, std::string>> more = {}) {
  ForeignPipeline call;
  call.file = "parameters";
  call.parameters = {{"bootstrapServers", "localhost:9092"},
                     {"topic", "orders"},
                     {"table", "shop.orders"},
                     {"catalogName", "lake"},
                     {"catalogProperties", R"({"type":"jdbc","uri":"jdbc:sqlite:catalog.db","warehouse":"warehouse"})"},
                     {"triggeringFrequencySeconds", "60"},
                     {"schema", kSchema}};
  for (auto& parameter : more) {
    const auto found = std::find_if(call.parameters.begin(), call.parameters.end(), [&](const auto& p) { return p.first == parameter.first; });
    if (found != call.parameters.end()) {
      found->second = parameter.second;
    } else {
      call.parameters.push_back(parameter);
    }
  }
  return call;
}

Converted converted(std::vector<std::pair<std::string, std::string>> more = {}) { return convert_pipeline(Dialect::kDataflow, template_call(std::move(more))); }

Converted from_text(Dialect dialect, const std::string& text) {
  ForeignPipeline pipeline;
  pipeline.file = "input";
  pipeline.text = text;
  return convert_pipeline(dialect, pipeline);
}

// The finding of that name; an empty one when there is none.
Finding finding_of(const Converted& result, const std::string& name) {
  for (const Finding& finding : result.findings) {
    if (finding.name == name) return finding;
  }
  return {};
}

bool is_refused(const Converted& result, const std::string& name) {
  const Finding finding = finding_of(result, name);
  return finding.name == name && finding.fate == Fate::kRefused && !finding.text.empty();
}

std::string problems_of(const Converted& result) {
  const ReadConfig read = read_config_text(result.yaml, "x.yaml", {{}, MissingReference::kWarning});
  return read.problems.has_errors() ? read.problems.render() : "";
}

TEST(Convert, ACallOfTheTemplateBecomesAValidPipeline) {
  const Converted result = converted({{"partitionFields", "[\"bucket(id, 4)\"]"}, {"tableProperties", R"({"commit.retry.num-retries":"2"})"}});
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  const ReadConfig read = read_config_text(result.yaml, "x.yaml", {});
  ASSERT_FALSE(read.problems.has_errors()) << read.problems.render() << result.yaml;
  const PipelineConfig& pipeline = read.config.pipelines.at(0);
  EXPECT_EQ(pipeline.name, "orders");
  EXPECT_EQ(pipeline.kafka->topics, std::vector<std::string>{"orders"});
  EXPECT_EQ(pipeline.kafka->properties.at("bootstrap.servers"), "localhost:9092");
  EXPECT_EQ(pipeline.kafka->start.mode, StartConfig::Mode::kEarliest);
  EXPECT_EQ(pipeline.table.name, "shop.orders");
  EXPECT_EQ(pipeline.table.catalog.type, "sqlite");
  EXPECT_EQ(pipeline.table.catalog.name, "lake");
  EXPECT_EQ(pipeline.commit.interval_ms, 60'000);
  EXPECT_EQ(pipeline.table.create->partition_by, std::vector<std::string>{"bucket(4, id)"});
  EXPECT_EQ(pipeline.table.create->properties.at("commit.retry.num-retries"), "2");
  ASSERT_TRUE(pipeline.decode.schema.has_value());
  EXPECT_TRUE(pipeline.decode.schema->find("id")->required);
}

std::string timestamps_schema(const std::vector<std::string>& units) {
  std::string fields;
  for (const std::string& unit : units) {
    fields += (fields.empty() ? "" : ",") + ("{\"name\":\"at_" + unit) + R"(","type":{"type":"long","logicalType":"timestamp-)" + unit + "\"}}";
  }
  return R"({"type":"record","name":"R","fields":[)" + fields + "]}";
}

TEST(Convert, NumbersOfTimestampsKeepTheUnitOfTheAvroSchema) {
  for (const auto& [unit, numbers] : {std::pair("millis", format::TimestampNumbers::kMillis), std::pair("micros", format::TimestampNumbers::kMicros)}) {
    const Converted result = converted({{"schema", timestamps_schema({unit})}});
    const ReadConfig read = read_config_text(result.yaml, "x.yaml", {});
    ASSERT_FALSE(read.problems.has_errors()) << read.problems.render() << result.yaml;
    EXPECT_EQ(read.config.pipelines.at(0).decode.json.json.timestamp_numbers, numbers);
    EXPECT_EQ(finding_of(result, "schema").fate, Fate::kChanged);
    EXPECT_NE(finding_of(result, "schema").text.find(std::string("timestamp_numbers: ") + unit), std::string::npos);
  }
  EXPECT_EQ(converted().yaml.find("timestamp_numbers"), std::string::npos);
}

TEST(Convert, TwoUnitsOfTimestampsAreTold) {
  const Converted result = converted({{"schema", timestamps_schema({"micros", "millis"})}});
  EXPECT_EQ(finding_of(result, "schema").fate, Fate::kChanged);
  EXPECT_NE(finding_of(result, "schema").text.find("at_millis holds millis and at_micros micros"), std::string::npos);
  EXPECT_EQ(problems_of(result), "");
  EXPECT_EQ(result.yaml.find("\n    timestamp_numbers"), std::string::npos) << result.yaml;
}

TEST(Convert, EmptyParametersAreNotGiven) {
  const Converted result = converted({{"keep", ""}, {"filter", ""}, {"redistributed", ""}});
  EXPECT_FALSE(result.has_refusals);
  EXPECT_EQ(finding_of(result, "filter").fate, Fate::kNotNeeded);
  EXPECT_EQ(result.yaml.find("keep"), std::string::npos);
}

TEST(Convert, MissingParametersAreNamed) {
  const Converted result = converted({{"topic", ""}, {"catalogProperties", ""}});
  EXPECT_TRUE(is_refused(result, "topic"));
  EXPECT_TRUE(is_refused(result, "catalogProperties"));
}

TEST(Convert, AParameterThatNobodyKnowsIsRefusedWithTheNearest) {
  const Converted result = converted({{"triggeringFrequencySecond", "5"}});
  ASSERT_TRUE(is_refused(result, "triggeringFrequencySecond"));
  EXPECT_NE(finding_of(result, "triggeringFrequencySecond").text.find("\"triggeringFrequencySeconds\""), std::string::npos);
}

TEST(Convert, CatalogsOfOthersAreRefusedByNameWithAWayOut) {
  for (const char* type : {"hadoop", "hive", "glue", "nessie", "bigquery", "dynamodb", "snowflake", "own"}) {
    const Converted result = converted({{"catalogProperties", std::string("{\"type\":\"") + type + "\",\"warehouse\":\"gs://b/w\"}"}});
    EXPECT_TRUE(is_refused(result, "catalogProperties.type")) << type;
    EXPECT_NE(finding_of(result, "catalogProperties.type").text.find("rest"), std::string::npos) << type;
  }
  const Converted result = converted({{"catalogProperties", R"({"catalog-impl":"org.apache.iceberg.gcp.bigquery.BigQueryMetastoreCatalog"})"}});
  EXPECT_TRUE(is_refused(result, "catalogProperties.catalog-impl"));
}

TEST(Convert, GooglesLoginNeedsItsKeyFile) {
  const std::string bare = R"("type":"rest","uri":"https://biglake.googleapis.com/iceberg/v1/restcatalog","rest.auth.type":"google")";
  EXPECT_TRUE(is_refused(converted({{"catalogProperties", "{" + bare + "}"}}), "catalogProperties.gcp.auth.credentials-path"));
  const Converted result = converted({{"catalogProperties", "{" + bare + R"(,"gcp.auth.credentials-path":"/etc/account.json"})"}});
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_EQ(problems_of(result), "");
}

// What a pipeline file takes under a store's own name is no unknown name here.
TEST(Convert, EveryPropertyOfAStoreIsKnown) {
  for (const std::string& name : io::store_property_names()) {
    const ForeignName* known = find_foreign_name(catalog_names(), name);
    ASSERT_NE(known, nullptr) << name;
    EXPECT_EQ(known->fate, Fate::kHonoured) << name;
  }
}

TEST(Convert, SecretsNeitherReachTheFileNorTheMessages) {
  const Converted result = converted(
      {{"catalogProperties",
        R"({"type":"rest","uri":"https://c.example","credential":"id:HUSH1","s3.secret-access-key":"HUSH2","header.X-Api-Key":"HUSH3","s3.session-token":"HUSH6"})"},
       {"consumerConfigUpdates",
        R"({"security.protocol":"SASL_SSL","sasl.mechanism":"PLAIN","ssl.key.password":"HUSH4","sasl.jaas.config":"org.apache.kafka.common.security.plain.PlainLoginModule required username='u' password='HUSH5';"})"}});
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  const std::string all = result.yaml + findings_as_text("f", result.findings, true);
  EXPECT_EQ(all.find("HUSH"), std::string::npos) << all;
  for (const char* variable : {"CATALOG_CREDENTIAL", "S3_SECRET_ACCESS_KEY", "S3_SESSION_TOKEN", "KAFKA_SSL_KEY_PASSWORD", "KAFKA_SASL_PASSWORD"}) {
    EXPECT_NE(result.yaml.find(std::string("${env:") + variable + "}"), std::string::npos) << variable;
  }
  EXPECT_EQ(problems_of(result), "");
}

TEST(Convert, HeadersThatMayBeKeysAreTakenFromTheEnvironment) {
  const auto with = [](const std::string& header) {
    return converted({{"catalogProperties", R"({"type":"rest","uri":"https://c","header.)" + header + R"(":"hunter2"})"}});
  };
  for (const char* header : {"X-Api", "X-API-Key", "X-Password", "X-Credential", "X-Session", "X-Signature"}) {
    const Converted result = with(header);
    EXPECT_EQ(result.yaml.find("hunter2"), std::string::npos) << result.yaml;
    EXPECT_EQ(findings_as_text("f", result.findings, true).find("hunter2"), std::string::npos);
    EXPECT_NE(result.yaml.find("${env:CATALOG_HEADER_X_"), std::string::npos) << result.yaml;
  }
  EXPECT_NE(with("X-Tenant").yaml.find("hunter2"), std::string::npos) << "an ordinary word";
}

TEST(Convert, WhatStandsTwiceIsRefused) {
  EXPECT_TRUE(is_refused(converted({{"catalogProperties", R"({"type":"rest","uri":"https://c","uri":"https://d"})"}}), "catalogProperties"));
  EXPECT_TRUE(is_refused(converted({{"schema", R"({"type":"record","name":"R","fields":[{"name":"id","type":"long","type":"int"}]})"}}), "schema"));
  EXPECT_TRUE(is_refused(converted({{"schema", R"({"properties":{"id":{"type":"integer"},"id":{"type":"string"}}})"}}), "schema"));
  EXPECT_TRUE(converted({{"catalogProperties", R"({"type":"rest","uri":"https://c","credential":"${env:A}","token":"${env:B}"})"}}).has_refusals);
  EXPECT_FALSE(converted({{"catalogProperties", R"({"type":"rest","uri":"https://c","credential":"${env:A}"})"}}).has_refusals);
}

TEST(Convert, PlaintextIsWrittenDownWhereItIs) {
  const Converted result = converted({{"bootstrapServers", "broker-1:9092"}, {"catalogProperties", R"({"type":"rest","uri":"http://catalog:8181","s3.endpoint":"http://minio:9000"})"}});
  EXPECT_EQ(problems_of(result), "");
  const ReadConfig read = read_config_text(result.yaml, "x.yaml", {});
  EXPECT_TRUE(read.config.pipelines.at(0).kafka->allow_plaintext);
  EXPECT_TRUE(read.config.pipelines.at(0).table.catalog.allow_plaintext);
  EXPECT_TRUE(read.config.pipelines.at(0).table.catalog.files.allow_plaintext);
  // And nowhere else.
  EXPECT_EQ(converted().yaml.find("allow_plaintext"), std::string::npos);
}

TEST(Convert, NamesOfJavasKafkaClientsAreAnswered) {
  const Converted result = converted({{"consumerConfigUpdates",
                                       R"({"group.id":"mine","fetch.max.wait.ms":"100","max.poll.records":"500","auto.offset.reset":"latest",
                                          "enable.auto.commit":"true","isolation.level":"read_committed","ssl.truststore.location":"/etc/ca.pem"})"}});
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  const ReadConfig read = read_config_text(result.yaml, "x.yaml", {});
  const KafkaConfig& kafka = *read.config.pipelines.at(0).kafka;
  EXPECT_EQ(kafka.group, "mine");
  EXPECT_EQ(kafka.start.mode, StartConfig::Mode::kLatest);
  EXPECT_EQ(kafka.properties.at("fetch.wait.max.ms"), "100");
  EXPECT_EQ(kafka.properties.at("ssl.ca.location"), "/etc/ca.pem");
  EXPECT_FALSE(kafka.properties.contains("max.poll.records"));
}

TEST(Convert, WhatWouldBreakTheGuaranteesIsRefused) {
  for (const char* pair : {R"("isolation.level":"read_uncommitted")", R"("ssl.truststore.location":"/etc/trust.jks")", R"("interceptor.classes":"x")",
                           R"("plugin.library.paths":"x.so")", R"("fetch.min.byte":"1")", R"("value.deserializer":"io.confluent.kafka.serializers.KafkaAvroDeserializer")"}) {
    const Converted result = converted({{"consumerConfigUpdates", "{" + std::string(pair) + "}"}});
    EXPECT_TRUE(result.has_refusals) << pair;
  }
}

TEST(Convert, ValuesOfTheWrongKindAreRefused) {
  EXPECT_TRUE(is_refused(converted({{"catalogProperties", "rest"}}), "catalogProperties"));
  EXPECT_TRUE(is_refused(converted({{"consumerConfigUpdates", "[a]"}}), "consumerConfigUpdates"));
  EXPECT_TRUE(is_refused(converted({{"triggeringFrequencySeconds", "soon"}}), "triggeringFrequencySeconds"));
  EXPECT_TRUE(is_refused(converted({{"keep", "{\"a\": 1}"}}), "keep") || problems_of(converted({{"keep", "{\"a\": 1}"}})) != "");
  EXPECT_TRUE(is_refused(converted({{"schema", "syntax = \"proto3\"; message M {}"}}), "schema"));
  EXPECT_TRUE(is_refused(converted({{"format", "AVRO"}}), "format"));
}

TEST(Convert, ReadsTheBodyOfALaunchRequest) {
  const Converted result = from_text(Dialect::kDataflow, R"({"launchParameter": {"jobName": "Orders-Job", "parameters": {
      "bootstrapServers": "localhost:9092", "topic": "orders", "table": "shop.orders", "schema": "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"}}}",
      "catalogProperties": "{\"type\": \"rest\", \"uri\": \"https://c.example\"}"}}})");
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_NE(result.yaml.find("name: orders-job"), std::string::npos);
  EXPECT_EQ(problems_of(result), "");
}

// --- Beam --------------------------------------------------------------------------------------

constexpr char kChain[] = R"(
pipeline:
  type: chain
  transforms:
    - type: ReadFromKafka
      config:
        bootstrap_servers: localhost:9092
        topic: orders
        format: JSON
        schema: '{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}'
    - type: WriteToIceberg
      config:
        table: shop.orders
        catalog_properties: {type: rest, uri: "https://c.example"}
        triggering_frequency_seconds: 30
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Convert, AChainOfBeamBecomesAValidPipeline) {
  const Converted result = from_text(Dialect::kBeam, kChain);
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_EQ(problems_of(result), "");
  EXPECT_NE(result.yaml.find("start: latest"), std::string::npos) << "Beam's own default";
}

TEST(Convert, JinjaIsRefusedWithItsLine) {
  const Converted result = from_text(Dialect::kBeam, replaced(kChain, "topic: orders", "topic: {{ topic }}"));
  EXPECT_TRUE(is_refused(result, "{{ topic }}"));
  EXPECT_EQ(finding_of(result, "{{ topic }}").mark.line, 8);
}

TEST(Convert, TransformsInBetweenAreRefusedByName) {
  for (const char* type : {"Filter", "Sql", "PyTransform", "Own"}) {
    const Converted result = from_text(Dialect::kBeam, replaced(kChain, "    - type: WriteToIceberg", std::string("    - type: ") + type + "\n    - type: WriteToIceberg"));
    EXPECT_TRUE(is_refused(result, type));
  }
}

Converted with_fields(const std::string& config) {
  return from_text(Dialect::kBeam, replaced(kChain, "    - type: WriteToIceberg", "    - type: MapToFields\n      config: " + config + "\n    - type: WriteToIceberg"));
}

TEST(Convert, FieldsThatAreKeptDroppedAndRenamedBecomeColumns) {
  const Converted kept = with_fields("{fields: {number: id}}");
  EXPECT_FALSE(kept.has_refusals) << findings_as_text("f", kept.findings, true);
  EXPECT_NE(kept.yaml.find("keep: [id]\n    rename:\n      id: number\n"), std::string::npos) << kept.yaml;
  EXPECT_EQ(problems_of(kept), "");
  const Converted dropped = with_fields("{language: generic, append: true, fields: {number: id}, drop: [id, other]}");
  EXPECT_FALSE(dropped.has_refusals);
  EXPECT_NE(dropped.yaml.find("drop: [other]\n    rename:\n      id: number\n"), std::string::npos) << dropped.yaml;
}

TEST(Convert, ComputedFieldsAreRefusedByName) {
  EXPECT_TRUE(is_refused(with_fields("{fields: {a: id + 1}}"), "MapToFields.config.fields.a"));
  EXPECT_TRUE(is_refused(with_fields("{fields: {a: {callable: x}}}"), "MapToFields.config.fields.a"));
  EXPECT_TRUE(is_refused(with_fields("{language: python, fields: {a: id}}"), "MapToFields.config.language"));
  EXPECT_TRUE(is_refused(with_fields("{append: true, fields: {a: id}}"), "MapToFields.config.fields.a"));
  EXPECT_TRUE(is_refused(with_fields("{fields: {a: id, b: id}}"), "MapToFields.config.fields.b"));
}

TEST(Convert, ErrorOutputsBecomeDeadLetters) {
  const std::string text = replaced(replaced(kChain, "        topic: orders\n", "        topic: orders\n        error_handling: {output: bad}\n"), "\npipeline:\n  type: chain\n",
                                    "\npipeline:\n  type: chain\n  extra_transforms:\n    - type: WriteToJson\n      input: ReadFromKafka.bad\n      config: {path: /tmp/x}\n");
  const Converted result = from_text(Dialect::kBeam, text);
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_EQ(finding_of(result, "WriteToJson").fate, Fate::kNotNeeded);
  EXPECT_NE(result.yaml.find("on_reject: dead_letter"), std::string::npos);
}

TEST(Convert, NullsOfBeamAreNotGiven) {
  const Converted result = from_text(Dialect::kBeam, replaced(kChain, "        table: shop.orders\n", "        table: shop.orders\n        keep: null\n        only:\n"));
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_EQ(result.yaml.find("keep"), std::string::npos);
}

TEST(Convert, AThresholdOfErrorsIsRefused) {
  const Converted result = from_text(Dialect::kBeam, replaced(kChain, "        topic: orders\n", "        topic: orders\n        error_handling: {output: bad, threshold: 0.1}\n"));
  EXPECT_TRUE(is_refused(result, "ReadFromKafka.config.error_handling.threshold"));
}

TEST(Convert, TwoSinksAreTwoPipelines) {
  const Converted result = from_text(Dialect::kBeam, std::string(kChain) + "    - type: WriteToIceberg\n      name: second\n      config: {table: a.b}\n");
  EXPECT_TRUE(is_refused(result, "second"));
}

TEST(Convert, BeamTemplatesOfTablesAreRefused) {
  EXPECT_TRUE(is_refused(from_text(Dialect::kBeam, replaced(kChain, "table: shop.orders", "table: shop.orders_{country}")), "WriteToIceberg.config.table"));
}

TEST(Convert, AByteOrderMarkIsNoText) {
  EXPECT_EQ(without_byte_order_mark("\xef\xbb\xbfpipeline:"), "pipeline:");
  EXPECT_EQ(without_byte_order_mark("pipeline:\xef\xbb\xbf"), "pipeline:\xef\xbb\xbf");
  EXPECT_EQ(without_byte_order_mark(""), "");
}

// --- Kafka Connect -----------------------------------------------------------------------------

constexpr char kSink[] =
    "name=Events-Sink\nconnector.class=org.apache.iceberg.connect.IcebergSinkConnector\ntasks.max=2\ntopics=events,more\n"
    "iceberg.tables=default.events\niceberg.catalog.type=rest\niceberg.catalog.uri=https://catalog.example\niceberg.catalog.credential=id:HUSH\n"
    "iceberg.catalog.warehouse=lake\nvalue.converter=org.apache.kafka.connect.json.JsonConverter\nvalue.converter.schemas.enable=false\n"
    "consumer.override.bootstrap.servers=localhost:9092\n";

Converted sink(const std::string& more = "") { return from_text(Dialect::kConnect, kSink + more); }

TEST(Convert, ASinkOfConnectBecomesAValidPipeline) {
  const Converted result = sink("iceberg.control.commit.interval-ms=30000\n");
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_EQ(problems_of(result), "");
  EXPECT_EQ(result.yaml.find("HUSH"), std::string::npos);
  const ReadConfig read = read_config_text(replaced(result.yaml, "credential: \"${env:CATALOG_CREDENTIAL}\"", "name: default"), "x.yaml", {});
  ASSERT_FALSE(read.problems.has_errors()) << read.problems.render();
  const PipelineConfig& pipeline = read.config.pipelines.at(0);
  EXPECT_EQ(pipeline.name, "events-sink");
  EXPECT_EQ(pipeline.kafka->topics, (std::vector<std::string>{"events", "more"}));
  EXPECT_TRUE(pipeline.decode.schema_from_table);
  EXPECT_FALSE(pipeline.table.create.has_value());
  EXPECT_EQ(pipeline.commit.interval_ms, 30'000);
  EXPECT_NE(result.yaml.find("on_reject: halt"), std::string::npos) << "errors.tolerance is none unless set";
}

TEST(Convert, ConnectsReferencesBecomeOurs) {
  const Converted result = sink("iceberg.catalog.token=${env:TOKEN}\n");
  EXPECT_NE(result.yaml.find("token: \"${env:TOKEN}\""), std::string::npos);
  EXPECT_NE(sink("iceberg.catalog.token=${directory:/run/secrets:token}\n").yaml.find("token: \"${file:/run/secrets/token}\""), std::string::npos);
  EXPECT_TRUE(is_refused(sink("iceberg.catalog.token=${vault:a:b}\n"), "iceberg.catalog.token"));
}

TEST(Convert, TheMetadataTransformBecomesMetadataColumns) {
  const std::string transform = "transforms=meta\ntransforms.meta.type=org.apache.iceberg.connect.transforms.KafkaMetadataTransform\n";
  const Converted result = sink(transform);
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_NE(result.yaml.find("kafka_metadata: true"), std::string::npos);
  EXPECT_TRUE(is_refused(sink(transform + "transforms.meta.nested=true\n"), "transforms.meta.nested"));
}

TEST(Convert, FieldsAreReplacedByColumns) {
  const Converted result = sink(
      "transforms=r\ntransforms.r.type=org.apache.kafka.connect.transforms.ReplaceField$Value\ntransforms.r.exclude=a,b\ntransforms.r.renames=c:d\n");
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_NE(result.yaml.find("drop: [a, b]"), std::string::npos) << result.yaml;
  EXPECT_NE(result.yaml.find("c: d"), std::string::npos);
}

TEST(Convert, OtherTransformsAndConvertersAreRefusedByName) {
  EXPECT_TRUE(is_refused(sink("transforms=d\ntransforms.d.type=org.apache.iceberg.connect.transforms.DebeziumTransform\n"), "transforms.d.type"));
  EXPECT_TRUE(is_refused(sink("transforms=d\ntransforms.d.type=com.example.Own\n"), "transforms.d.type"));
  EXPECT_TRUE(is_refused(from_text(Dialect::kConnect, replaced(kSink, "org.apache.kafka.connect.json.JsonConverter", "io.confluent.connect.avro.AvroConverter")), "value.converter"));
  EXPECT_TRUE(is_refused(from_text(Dialect::kConnect, replaced(kSink, "schemas.enable=false", "schemas.enable=true")), "value.converter.schemas.enable"));
}

TEST(Convert, CreationNeedsASchema) {
  EXPECT_TRUE(is_refused(sink("iceberg.tables.auto-create-enabled=true\n"), "iceberg.tables.auto-create-enabled"));
  ForeignPipeline pipeline;
  pipeline.file = "input";
  pipeline.text = std::string(kSink) + "iceberg.tables.auto-create-enabled=true\niceberg.tables.default-partition-by=day(ts),bucket(8, id)\n";
  pipeline.schema = "events.avsc";
  const Converted result = convert_pipeline(Dialect::kConnect, pipeline);
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_NE(result.yaml.find("schema: events.avsc"), std::string::npos);
  EXPECT_NE(result.yaml.find("partition_by: [day(ts), \"bucket(8, id)\"]"), std::string::npos) << result.yaml;
}

Converted sink_of_two(const std::string& more) {
  return from_text(Dialect::kConnect, replaced(kSink, "iceberg.tables=default.events", "iceberg.tables=shop.a,shop.b") + more);
}

TEST(Convert, SeveralTablesTakeRowsByAField) {
  const std::string field = "iceberg.tables.route-field=kind\n";
  const Converted result = sink_of_two(field + "iceberg.table.shop.a.route-regex=a|x.*\niceberg.table.shop.b.route-regex=b\n");
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_EQ(problems_of(result), "");
  const ReadConfig read = read_config_text(replaced(result.yaml, "credential: \"${env:CATALOG_CREDENTIAL}\"", "name: default"), "x.yaml", {});
  ASSERT_FALSE(read.problems.has_errors()) << read.problems.render() << result.yaml;
  const PipelineConfig& pipeline = read.config.pipelines.at(0);
  EXPECT_TRUE(pipeline.route_to_all);
  EXPECT_EQ(pipeline.unrouted, PipelineConfig::Unrouted::kSkip);
  ASSERT_EQ(pipeline.tables.size(), 2u);
  EXPECT_EQ(pipeline.tables[0].name + " " + pipeline.tables[0].field + " " + pipeline.tables[0].matches, "shop.a kind a|x.*");
  EXPECT_EQ(pipeline.tables[1].name + " " + pipeline.tables[1].field + " " + pipeline.tables[1].matches, "shop.b kind b");
  EXPECT_TRUE(is_refused(sink_of_two(field + "iceberg.table.shop.a.route-regex=a\n"), "iceberg.table.shop.b.route-regex"));
}

TEST(Convert, SeveralTablesWithoutAFieldTakeEveryRow) {
  const Converted result = sink_of_two("iceberg.table.shop.a.route-regex=a\n");
  EXPECT_FALSE(result.has_refusals) << findings_as_text("f", result.findings, true);
  EXPECT_EQ(problems_of(result), "");
  EXPECT_NE(result.yaml.find("route: all"), std::string::npos) << result.yaml;
  EXPECT_EQ(result.yaml.find("when"), std::string::npos) << result.yaml;
}

TEST(Convert, WhatTablesOfConnectCanDoMoreIsRefusedByName) {
  EXPECT_TRUE(is_refused(sink("iceberg.tables.dynamic-enabled=true\n"), "iceberg.tables.dynamic-enabled"));
  EXPECT_TRUE(is_refused(sink_of_two("iceberg.table.shop.a.partition-by=id\n"), "iceberg.table.shop.a.partition-by"));
  EXPECT_TRUE(is_refused(sink_of_two("iceberg.table.shop.c.route-regex=id\n"), "iceberg.table.shop.c.route-regex"));
  EXPECT_TRUE(is_refused(sink("iceberg.table.default.events.id-columns=id\n"), "iceberg.table.default.events.id-columns"));
}

TEST(Convert, TheWorkersKafkaIsAskedFor) {
  const Converted result = from_text(Dialect::kConnect, replaced(kSink, "consumer.override.bootstrap.servers=localhost:9092\n", ""));
  EXPECT_TRUE(is_refused(result, "bootstrap.servers"));
}

// --- all dialects ------------------------------------------------------------------------------

TEST(Convert, EveryNameIsDeclaredOnceAndSaysWhatBecomesOfIt) {
  for (const auto* names : {&dataflow_names(), &beam_pipeline_names(), &beam_transform_types(), &beam_transform_names(), &kafka_read_names(), &iceberg_write_names(), &connect_names(),
                            &connect_transform_names(), &kafka_names(), &catalog_names(), &hadoop_names()}) {
    std::set<std::string> seen;
    EXPECT_FALSE(names->empty());
    for (const ForeignName& name : *names) {
      EXPECT_TRUE(seen.insert(name.name).second) << name.name;
      EXPECT_FALSE(name.doc.empty()) << name.name;
      EXPECT_FALSE(name.doc.ends_with('.')) << name.name;
      EXPECT_EQ(name.doc.find('|'), std::string::npos) << name.name;
      const bool is_put = name.translate != nullptr;
      EXPECT_FALSE(name.fate == Fate::kRefused && is_put) << name.name << " is refused whatever its value";
    }
  }
}

// Any value at all: a name is never passed over in silence.
TEST(Convert, EveryNameOfTheTemplateLeavesAFinding) {
  for (const ForeignName& name : dataflow_names()) {
    for (const char* value : {"x", "true", "7", "{\"a\": \"b\"}", "[]", "{"}) {
      const Converted result = converted({{name.name, value}});
      const bool is_there = std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& f) { return f.name.starts_with(name.name); });
      EXPECT_TRUE(is_there) << name.name << "=" << value;
    }
  }
}

TEST(Convert, EveryNameOfTheSinkLeavesAFinding) {
  for (const ForeignName& declared : connect_names()) {
    const std::string name = declared.name.ends_with('*') ? declared.name.substr(0, declared.name.size() - 1) + "some" : declared.name;
    for (const char* value : {"x", "true", "7"}) {
      const Converted result = from_text(Dialect::kConnect, "a=b\n" + name + "=" + value + "\n");
      const bool is_there = std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& f) { return f.name.starts_with(name) && f.mark.line == 2; });
      EXPECT_TRUE(is_there) << name << "=" << value;
    }
  }
}

TEST(Convert, EveryPropertyOfACatalogLeavesAFinding) {
  for (const ForeignName& declared : catalog_names()) {
    const std::string key = declared.name.ends_with('*') ? declared.name.substr(0, declared.name.size() - 1) + "some" : declared.name;
    const Converted result = converted({{"catalogProperties", "{\"" + key + "\": \"x\"}"}});
    const Finding finding = finding_of(result, "catalogProperties." + key);
    EXPECT_FALSE(finding.text.empty()) << key;
  }
}

TEST(Convert, GuessesWhatAFileIs) {
  EXPECT_EQ(guess_dialect(kChain), Dialect::kBeam);
  EXPECT_EQ(guess_dialect(kSink), Dialect::kConnect);
  EXPECT_EQ(guess_dialect("{\"bootstrapServers\": \"x\"}"), Dialect::kDataflow);
  EXPECT_EQ(guess_dialect("name: orders\n"), std::nullopt);
}

TEST(Convert, NoTextBreaksIt) {
  for (const Dialect dialect : {Dialect::kBeam, Dialect::kConnect, Dialect::kDataflow}) {
    for (const char* text : {"", "{", "[]", "a", "pipeline:", "pipeline: {transforms: 3}", "pipeline: {transforms: [3, {}, {type: [a]}]}", "{\"config\": 3}", "\\u", "=",
                             "pipeline: {type: chain, transforms: [{type: ReadFromKafka, config: {topic: [x], schema: {a: b}}}]}"}) {
      EXPECT_TRUE(from_text(dialect, text).has_refusals) << text;
    }
  }
}

}  // namespace
}  // namespace frazil::app
