#include "app/config/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace frazil::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A whole pipeline in which single lines are replaced.
constexpr char kGood[] = R"(name: orders
source:
  kafka:
    topics: [orders]
    properties:
      bootstrap.servers: 127.0.0.1:9092
decode:
  json:
    schema: [{name: id, type: long, required: true}, {name: note, type: string}]
table:
  name: shop.orders
  catalog: {type: sqlite, uri: /tmp/catalog.db, warehouse: /tmp/warehouse}
)";

ReadConfig read(const std::string& text, std::vector<std::string> overrides = {}) {
  return read_config_text(text, "dir/p.yaml", {.overrides = std::move(overrides), .missing = MissingReference::kError});
}

std::string problems_of(const std::string& text, std::vector<std::string> overrides = {}) {
  return read(text, std::move(overrides)).problems.render();
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Config, FillsInDefaults) {
  const auto read_config = read(kGood);
  ASSERT_EQ(read_config.problems.render(), "");
  ASSERT_EQ(read_config.config.pipelines.size(), 1u);
  const PipelineConfig& pipeline = read_config.config.pipelines[0];
  EXPECT_EQ(pipeline.name, "orders");
  ASSERT_TRUE(pipeline.kafka);
  EXPECT_EQ(pipeline.kafka->topics, std::vector<std::string>{"orders"});
  EXPECT_EQ(pipeline.kafka->group, "frazil-orders");
  EXPECT_EQ(pipeline.kafka->start.mode, StartConfig::Mode::kEarliest);
  EXPECT_EQ(pipeline.kafka->discovery_interval_ms, 300'000);
  EXPECT_EQ(pipeline.dead_letters, "shop.orders_dead_letters");
  EXPECT_EQ(pipeline.commit.interval_ms, 5000);
  EXPECT_EQ(pipeline.commit.position_interval_ms, 600'000);
  EXPECT_EQ(pipeline.history_keep_ms, 3'600'000);
  EXPECT_EQ(pipeline.connect_timeout_ms, 60'000);
  EXPECT_EQ(pipeline.lanes, 0);
  EXPECT_FALSE(pipeline.table.create);
  EXPECT_EQ(pipeline.table.catalog.uri, "/tmp/catalog.db");
  EXPECT_EQ(pipeline.table.catalog.warehouse, "file:///tmp/warehouse");
  EXPECT_EQ(pipeline.table.catalog.name, "default");
  EXPECT_EQ(pipeline.decode.json.json.max_document_bytes, 16 << 20);
  EXPECT_FALSE(pipeline.decode.json.json.missing_field_reject);
  EXPECT_EQ(pipeline.decode.json.on_reject, decoders::RejectPolicy::kDeadLetter);
  EXPECT_EQ(pipeline.decode.json.tombstone, decoders::RejectPolicy::kSkip);
  const ProcessConfig& process = read_config.config.process;
  EXPECT_EQ(process.memory_bytes, int64_t{2} << 30);
  ASSERT_TRUE(process.listen);
  EXPECT_EQ(process.listen->port, 9464);
  EXPECT_FALSE(process.listen_is_set);
}

TEST(Config, TakesEveryOptionOfTheWholeExample) {
  setenv("FRAZIL_TEST_PASSWORD", "hidden", 1);
  const auto read_config = read(R"yaml(
name: orders
source:
  kafka:
    topics: [orders]
    start: {offsets: {orders: {0: 42, 3: 7}}}
    discovery_interval: 1m
    group: none
    properties:
      bootstrap.servers: broker-1:9093,broker-2:9093
      security.protocol: sasl_ssl
      sasl.mechanism: SCRAM-SHA-512
      sasl.username: frazil
      sasl.password: ${env:FRAZIL_TEST_PASSWORD}
decode:
  json:
    schema: [{name: id, type: long}, {name: ts, type: timestamptz}, {name: tags, type: "list<string>"}]
    on_bad_field: null
    on_missing_field: reject
    top_level_array: reject
    tombstone: halt
    timestamp_numbers: millis
    assume_zone: Z
  on_reject: skip
table:
  name: shop.orders
  catalog: {type: sqlite, uri: "sqlite:////tmp/c.db", warehouse: "file:///tmp/w", name: lake}
  create:
    partition_by: ["bucket(64, key)", "day(ts)"]
    sort_by: []
    properties: {format-version: "2", write.parquet.compression-codec: zstd}
  columns: {rename: {id: key}, drop: [tags], kafka_metadata: true}
dead_letters: shop.rejected
commit: {interval: 250ms, freshness: off, position_interval: 1h}
history: {keep: 2h}
memory: 1GiB
lanes: 3
sharding: fixed
connect_timeout: 5s
files: {allowed_roots: [/data]}
http: {listen: "127.0.0.1:8080"}
log: {format: json, level: debug}
)yaml");
  ASSERT_EQ(read_config.problems.render(), "");
  const PipelineConfig& pipeline = read_config.config.pipelines[0];
  EXPECT_EQ(pipeline.kafka->start.offsets.at("orders").at(3), 7);
  EXPECT_EQ(pipeline.kafka->group, "");
  EXPECT_EQ(pipeline.kafka->properties.at("sasl.password"), "hidden");
  EXPECT_TRUE(pipeline.decode.json.json.bad_field_null);
  EXPECT_TRUE(pipeline.decode.json.json.missing_field_reject);
  EXPECT_FALSE(pipeline.decode.json.json.explode_top_level_array);
  EXPECT_EQ(pipeline.decode.json.json.timestamp_numbers, format::TimestampNumbers::kMillis);
  EXPECT_EQ(pipeline.decode.json.json.assume_zone, "Z");
  EXPECT_EQ(pipeline.decode.json.tombstone, decoders::RejectPolicy::kHalt);
  EXPECT_EQ(pipeline.decode.json.on_reject, decoders::RejectPolicy::kSkip);
  EXPECT_EQ(pipeline.table.create->properties.at("format-version"), "2");
  EXPECT_EQ(pipeline.table.catalog.uri, "/tmp/c.db");
  EXPECT_EQ(pipeline.table.catalog.name, "lake");
  EXPECT_EQ(pipeline.dead_letters, "shop.rejected");
  EXPECT_EQ(pipeline.commit.interval_ms, 250);
  EXPECT_EQ(pipeline.lanes, 3);
  EXPECT_TRUE(read_config.config.process.listen_is_set);
  EXPECT_EQ(read_config.config.process.log_level, base::LogLevel::kDebug);
}

struct Wrong {
  std::string from, to, problem;
};

TEST(Config, PlacesEveryMistakeByLineAndColumn) {
  const std::vector<Wrong> cases = {
      {"topics:", "topcis:",
       "dir/p.yaml:4:5: unknown key \"topcis\" in \"source.kafka\", nearest known key \"topics\""},
      {"name: orders", "nmae: orders", "dir/p.yaml:1:1: unknown key \"nmae\", nearest known key \"name\""},
      {"name: orders", "name: Orders!",
       "dir/p.yaml:1:7: \"name\": a pipeline's name has 1 to 64 letters of a-z, 0-9, _ and -"},
      {"topics: [orders]", "topics: orders", "dir/p.yaml:4:13: \"source.kafka.topics\" must be a list, not a text"},
      {"topics: [orders]", "topics: [orders, [a]]",
       "dir/p.yaml:4:22: \"source.kafka.topics\" must be a list of texts, here is a list"},
      {"topics: [orders]", "topics: []", "dir/p.yaml:4:13: \"source.kafka.topics\" names no topic"},
      {"topics: [orders]", "topics: [\"a b/c\"]", "dir/p.yaml:4:13: \"source.kafka.topics\": \"a b/c\" is not a topic's name"},
      {"topics: [orders]", "topic_pattern: \"(\"",
       "dir/p.yaml:4:20: \"source.kafka.topic_pattern\": \"(\" is not a regular expression: missing )"},
      {"topics: [orders]", "group: x", "dir/p.yaml:4:5: missing key \"source.kafka.topics\""},
      {"topics: [orders]", "topics: [orders]\n    topics: [x]",
       "dir/p.yaml:5:5: duplicate key \"topics\", first set in line 4"},
      {"topics: [orders]", "topics: [orders]\n    start: newest",
       "dir/p.yaml:5:12: \"source.kafka.start\" must be earliest, latest"},
      {"topics: [orders]", "topics: [orders]\n    start: {timestamp: yesterday}",
       "dir/p.yaml:5:24: \"source.kafka.start.timestamp\": \"yesterday\" is not a point in time"},
      {"topics: [orders]", "topics: [orders]\n    start: {timestamp: 1969-12-31T23:59:59Z}",
       "dir/p.yaml:5:24: \"source.kafka.start.timestamp\": Kafka's timestamps begin at 1970"},
      {"bootstrap.servers: 127.0.0.1:9092", "client.rack: r1",
       "missing key \"source.kafka.properties.bootstrap.servers\": the brokers' addresses"},
      {"name: shop.orders", "name: \"shop.or\xff" "ders\"", "dir/p.yaml:11:17: not UTF-8"},
      {"name: shop.orders", "name: \"shop.or\\nders\"", "dir/p.yaml:11:9: \"table.name\": a table's name is text in UTF-8 without control characters"},
      {"topics: [orders]", "topics: [orders]\n    start: {offsets: {other: {0: 1}}}",
       "dir/p.yaml:5:12: \"start\" names topic \"other\", which is not one of \"topics\""},
      {"topics: [orders]", "topics: [orders]\n    start: {offsets: {orders: {0: -1}}}",
       "dir/p.yaml:5:35: the offset of partition 0"},
      {"topics: [orders]", "topics: [orders]\n    group: none\n    start: group",
       "dir/p.yaml:6:12: \"start: group\" needs a group"},
      {"topics: [orders]", "topics: [orders]\n    topic_pattern: a.*",
       "dir/p.yaml:5:20: \"topics\" and \"topic_pattern\" exclude each other"},
      {"bootstrap.servers: 127.0.0.1:9092", "sasl.password: secret",
       "dir/p.yaml:6:22: \"source.kafka.properties.sasl.password\" is a secret"},
      {"bootstrap.servers:", "enable.auto.commit: true\n      bootstrap.servers:", "dir/p.yaml:6:7: "},
      {"127.0.0.1:9092", "broker.example:9092", "dir/p.yaml:6:7: "},
      {"type: long", "type: lnog", "dir/p.yaml:9:31: type 'lnog'"},
      {"required: true", "requird: true",
       "dir/p.yaml:9:37: unknown key \"requird\" of a column, nearest known key \"required\""},
      {"schema: [{name: id, type: long, required: true}, {name: note, type: string}]", "schema: missing.avsc",
       "dir/p.yaml:9:13: schema file dir/missing.avsc cannot be read"},
      {"name: shop.orders", "name: orders", "dir/p.yaml:11:9: \"table.name\": a table's name is namespace.table"},
      {"type: sqlite", "type: hive",
       "dir/p.yaml:12:19: \"table.catalog.type\": \"hive\" is not one of rest, sqlite or memory"},
      {"type: sqlite, uri: /tmp/catalog.db", "type: rest, uri: \"ftp://catalog\"", "\"table.catalog.uri\": "},
      {"type: sqlite, uri: /tmp/catalog.db", "type: rest, uri: \"http://catalog.example\"",
       "dir/p.yaml:12:12: \"table.catalog.uri\": http://catalog.example is not loopback and would be reached without TLS"},
      {"type: sqlite, uri: /tmp/catalog.db", "type: rest, uri: \"https://c\", key_file: k.pem",
       "\"certificate_file\" and \"key_file\" belong together"},
      {"type: sqlite", "properties: {s3.endpont: x}, type: sqlite",
       "unknown property \"s3.endpont\", nearest known property \"s3.endpoint\""},
      {"type: sqlite", "properties: {s3.path-style-access: maybe}, type: sqlite", "s3.path-style-access"},
      {"type: sqlite", "properties: {s3.upload-threads: many}, type: sqlite", "s3.upload-threads"},
      {"type: sqlite", "properties: {gcs.no-auth: maybe}, type: sqlite", "dir/p.yaml:12:26: gcs.no-auth: 'maybe' is neither true nor false"},
      {"type: sqlite", "properties: {gcs.service.host: storage}, type: sqlite", "dir/p.yaml:12:26: gcs.service.host: "},
      {"type: sqlite", "properties: {s3.sts-endpoint: sts}, type: sqlite", "dir/p.yaml:12:26: s3.sts-endpoint: "},
      {"type: sqlite", "properties: {s3.session-token-expires-at-ms: soon}, type: sqlite", "dir/p.yaml:12:26: s3.session-token-expires-at-ms: "},
      {"type: sqlite", "properties: {s3.path-style-access: true, s3.force-virtual-addressing: true}, type: sqlite",
       "dir/p.yaml:12:26: \"s3.force-virtual-addressing\" and \"s3.path-style-access\" exclude each other"},
      {"type: sqlite", "properties: {io-impl: x}, type: sqlite", "property \"io-impl\" is refused: "},
      {"type: sqlite", "properties: {scope: x}, type: sqlite", "property \"scope\" belongs to a catalog of type rest, not sqlite"},
      {"type: sqlite", "properties: {s3.secret-access-key: x}, type: sqlite",
       "\"table.catalog.properties.s3.secret-access-key\" is a secret"},
      {"type: sqlite", "properties: {header.X-Api-Key: x}, type: sqlite", "\"table.catalog.properties.header.X-Api-Key\" is a secret"},
      {"type: sqlite", "properties: {s3.endpoint: \"http://store.example\"}, type: sqlite",
       "\"s3.endpoint\": http://store.example is not loopback and would be reached without TLS: use https://, or set files.allow_plaintext"},
      {"type: sqlite", "properties: {header.Content-Length: 3}, type: sqlite", "property \"header.Content-Length\" is refused: "},
      {"type: sqlite", "properties: {\"header.A b\": x}, type: sqlite", "property \"header.A b\" makes no HTTP header"},
      {"type: sqlite", "ca_file: ca.pem, type: sqlite", "\"table.catalog.ca_file\" belongs to type rest, not to sqlite"},
      {"uri: /tmp/catalog.db, ", "", "dir/p.yaml:12:12: missing key \"table.catalog.uri\", needed by type sqlite"},
      {"warehouse: /tmp/warehouse", "warehouse: \"abfs://b\"", "warehouse scheme \"abfs\" is unsupported"},
      {"warehouse: /tmp/warehouse", "warehouse: \"memory://x\"", "warehouse scheme \"memory\" is unsupported"},
      {"warehouse: /tmp/warehouse}", "warehouse: /tmp/w}\n  create: {properties: {write.data.path: \"memory://x/y\"}}",
       "\"table.create.properties.write.data.path\": memory: holds files only until the end of the process"},
      {"warehouse: /tmp/warehouse", "warehouse: /tmp/w, token: abc", "\"table.catalog.token\" is a secret"},
  };
  for (const Wrong& wrong : cases) {
    EXPECT_THAT(problems_of(with(wrong.from, wrong.to)), HasSubstr(wrong.problem)) << wrong.to;
  }
}

// The catalog of the file is a REST service with these properties.
std::string problems_of_rest(const std::string& properties, const std::string& more = "") {
  setenv("FRAZIL_TEST_SECRET", "p4ssw0rd", 1);
  return problems_of(with("catalog: {type: sqlite, uri: /tmp/catalog.db, warehouse: /tmp/warehouse}",
                          "catalog: {type: rest, uri: \"https://c.example\", properties: {" + properties + "}" + more + "}"));
}

TEST(Config, ChecksTheValuesOfRestProperties) {
  for (const auto& [property, problem] : std::vector<std::pair<std::string, std::string>>{
           {"oauth2-server-uri: \"ftp://x\"", "\"oauth2-server-uri\" must be a URL, or a path"},
           {"oauth2-server-uri: \"a b\"", "\"oauth2-server-uri\" must be a URL, or a path"},
           {"oauth2-server-uri: \"http://login.example/t\"", "\"oauth2-server-uri\": http://login.example is not loopback"},
           {"rest-page-size: none", "\"rest-page-size\" must be a whole number from 1 on"},
           {"rest-page-size: 0", "\"rest-page-size\" must be a whole number from 1 on"},
           {"prefix: \"../x\"", "\"prefix\" must be a path"},
           {"namespace-separator: \"%\"", "\"namespace-separator\" must be one character"},
           {"rest.sigv4-enabled: yes", "\"rest.sigv4-enabled\" must be true or false"},
           {"access-delegation: remote-signing", "\"access-delegation\" must be vended-credentials or none"},
           {"token-expires-in-ms: 1h", "\"token-expires-in-ms\" must be a whole number of milliseconds"},
           {"scope: \"\"", "\"scope\" must be something"}}) {
    EXPECT_THAT(problems_of_rest(property), AllOf(HasSubstr("dir/p.yaml:12:64: "), HasSubstr(problem))) << property;
  }
  EXPECT_EQ(problems_of_rest("rest-page-size: 100, prefix: a/b, namespace-separator: \"%1F\", access-delegation: none"), "");
  EXPECT_EQ(problems_of_rest("oauth2-server-uri: v1/oauth/tokens, scope: x, token-expires-in-ms: 1000",
                             ", credential: \"${env:FRAZIL_TEST_SECRET}\""),
            "");
}

TEST(Config, KnowsOneWayToLogInAndTellsWhatHasNoEffect) {
  const std::string credential = ", credential: \"${env:FRAZIL_TEST_SECRET}\"";
  const auto expect = [](const std::string& problems, const std::string& text) { EXPECT_THAT(problems, HasSubstr(text)); };
  expect(problems_of_rest("rest-page-size: 1", credential + ", token: \"${env:FRAZIL_TEST_SECRET}\""),
         ": \"credential\" and \"token\" exclude each other");
  expect(problems_of_rest("rest.sigv4-enabled: true", credential), "12:64: \"credential\" and \"rest.sigv4-enabled\" exclude each other");
  expect(problems_of_rest("scope: x"), "12:64: warning: property \"scope\" has no effect without `credential`");
  expect(problems_of_rest("rest.signing-name: glue"), "warning: property \"rest.signing-name\" has no effect without `rest.sigv4-enabled: true`");
  expect(problems_of_rest("gcp.auth.scopes: x"), "warning: property \"gcp.auth.scopes\" has no effect without");
  expect(problems_of_rest("gcs.project-id: x"), "warning: property \"gcs.project-id\" has no effect");
  expect(problems_of_rest("rest-page-size: 1", ", name: lake"), "warning: \"name\" counts inside of a SQLite file alone");
  EXPECT_EQ(problems_of_rest("rest.sigv4-enabled: true, rest.signing-name: glue"), "");
}

TEST(Config, PlacesMistakesInAppendedLines) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"commit: {interval: 5}", "dir/p.yaml:13:20: \"commit.interval\": \"5\" is not a duration: it needs a unit"},
      {"commit: {interval: 1ms}", "dir/p.yaml:13:20: \"commit.interval\": 1ms is below the least, 50ms"},
      {"commit: {freshness: 2s}", "dir/p.yaml:13:21: \"commit.freshness\": freshness is unsupported in this version"},
      {"commit: 5s", "dir/p.yaml:13:9: \"commit\" must be a map, not a text"},
      {"interval: 5s", "dir/p.yaml:13:1: unknown key \"interval\", nearest known key \"commit.interval\""},
      {"sharding: auto", "dir/p.yaml:13:11: \"sharding\": sharding \"auto\" is unsupported in this version"},
      {"lanes: 0", "dir/p.yaml:13:8: \"lanes\": 0 is below the least, 1"},
      {"lanes: many", "dir/p.yaml:13:8: \"lanes\": \"many\" is not an integer, or the word auto"},
      {"lanes:", "dir/p.yaml:13:1: \"lanes\" must be an integer, not nothing"},
      {"memory: 1MB", "dir/p.yaml:13:9: \"memory\": 1MB is below the least, 64.0 MiB"},
      {"memory: [1]", "dir/p.yaml:13:9: \"memory\" must be a size such as 128MB, not a list"},
      {"http: {listen: 9464}", "dir/p.yaml:13:16: \"http.listen\": \"9464\" is not an address to listen on"},
      {"log: {level: loud}",
       "dir/p.yaml:13:14: \"log.level\": \"loud\" is not one of debug, info, warn or error, nearest is"},
      {"dead_letters: shop.orders", "dir/p.yaml:13:15: \"dead_letters\" must be another table than \"table.name\""},
      {"history: {keep: \"${env:FRAZIL_NO_SUCH}\"}",
       "dir/p.yaml:13:17: \"history.keep\": environment variable FRAZIL_NO_SUCH is not set"},
      {"history: {keep: \"${evn:X}\"}",
       "dir/p.yaml:13:17: \"history.keep\": a reference has the form ${env:NAME} or ${file:/path}"},
      {"pipelines: []", "dir/p.yaml:1:1: \"name\" belongs into an entry of \"pipelines\""},
      {"? [a]\n: b", "dir/p.yaml:13:3: a key must be a text"},
      {"x: *nowhere", "dir/p.yaml:13:4: not YAML: "},
      {"x: [1, 2", "not YAML: "},
  };
  for (const auto& [line, problem] : cases) {
    EXPECT_THAT(problems_of(std::string(kGood) + line + "\n"), HasSubstr(problem)) << line;
  }
}

TEST(Config, ReportsAllMistakesOfAFileInItsOrder) {
  const std::string problems = problems_of(R"(nam: orders
source: {kafka: {topics: x, properties: {bootstrap.servers: 127.0.0.1}}}
decode: {json: {schema: [{name: id, type: nothing}]}}
table: {name: orders, catalog: {type: sqlite, uri: /c, warehouse: /w}}
commit: {interval: soon}
)");
  const std::vector<std::string> places = {"dir/p.yaml:1:1: missing key \"name\"",
                                           "dir/p.yaml:1:1: unknown key \"nam\"",
                                           "dir/p.yaml:2:26: ",
                                           "dir/p.yaml:3:43: ",
                                           "dir/p.yaml:4:15: ",
                                           "dir/p.yaml:5:20: "};
  size_t last_line = 0;
  for (const std::string& place : places) {
    const size_t at = problems.find(place);
    ASSERT_NE(at, std::string::npos) << place << "\n" << problems;
    if (place.find(":1:1:") == std::string::npos) {
      EXPECT_GT(at, last_line);
      last_line = at;
    }
  }
}

TEST(Config, ReadsARestCatalogWithItsStore) {
  setenv("FRAZIL_TEST_SECRET", "p4ssw0rd", 1);
  const auto read_config = read(with("catalog: {type: sqlite, uri: /tmp/catalog.db, warehouse: /tmp/warehouse}", R"(catalog:
    type: rest
    uri: https://catalog.example/v1
    warehouse: lake
    credential: ${env:FRAZIL_TEST_SECRET}
    ca_file: ca.pem
    properties: {scope: all, header.X-Team: ice, s3.region: eu-west-1, s3.secret-access-key: "${env:FRAZIL_TEST_SECRET}"})") +
                                "files: {allowed_roots: [data], ca_file: /etc/store.pem}\n");
  ASSERT_FALSE(read_config.problems.has_errors()) << read_config.problems.render();
  const CatalogConfig& catalog = read_config.config.pipelines[0].table.catalog;
  EXPECT_EQ(catalog.uri, "https://catalog.example/v1");
  EXPECT_EQ(catalog.warehouse, "lake");
  EXPECT_EQ(catalog.credential, "p4ssw0rd");
  EXPECT_EQ(catalog.ca_file, std::filesystem::absolute("dir/ca.pem").string());
  EXPECT_EQ(catalog.properties.at("s3.region"), "eu-west-1");
  EXPECT_EQ(catalog.properties.at("s3.secret-access-key"), "p4ssw0rd");
  EXPECT_EQ(catalog.files.allowed_roots, std::vector<std::string>{std::filesystem::absolute("dir/data").string()});
  EXPECT_EQ(catalog.files.ca_file, "/etc/store.pem");
}

TEST(Config, ReadsNullOffAndNoneAsWords) {
  const auto config = read(std::string(kGood) + "http: {listen: off}\n").config;
  EXPECT_FALSE(config.process.listen);
  const std::string nulls =
      with("decode:\n  json:\n", "decode:\n  json:\n    on_bad_field: null\n    on_missing_field: ~\n");
  EXPECT_EQ(problems_of(nulls), "");
  EXPECT_TRUE(read(nulls).config.pipelines[0].decode.json.json.bad_field_null);
}

TEST(Config, KeepsSecretsOutOfMessages) {
  setenv("FRAZIL_TEST_SECRET", "p4ssw0rd", 1);
  const std::string problems =
      problems_of(std::string(kGood) + "memory: ${env:FRAZIL_TEST_SECRET}\nlanes: ${env:FRAZIL_TEST_SECRET}\n");
  EXPECT_THAT(problems,
              AllOf(HasSubstr("dir/p.yaml:13:9: "), HasSubstr("dir/p.yaml:14:8: "), Not(HasSubstr("p4ssw0rd"))));
  const std::string inline_secret = problems_of(with("bootstrap.servers: 127.0.0.1:9092", "sasl.password: p4ssw0rd"));
  EXPECT_THAT(inline_secret, Not(HasSubstr("p4ssw0rd")));
}

TEST(Config, OnlyWarnsOfMissingReferencesWhenValidating) {
  const auto read_config = read_config_text(std::string(kGood) + "memory: ${env:FRAZIL_NO_SUCH}\n", "p.yaml",
                                            {.overrides = {}, .missing = MissingReference::kWarning});
  EXPECT_FALSE(read_config.problems.has_errors());
  EXPECT_THAT(read_config.problems.render(),
              HasSubstr("p.yaml:13:9: warning: \"memory\": environment variable FRAZIL_NO_SUCH is not set here"));
}

TEST(Config, ResolvesReferencesToFiles) {
  const std::string path = (std::filesystem::temp_directory_path() / "frazil_config_test_secret").string();
  std::ofstream(path) << "3\n";
  EXPECT_EQ(read(std::string(kGood) + "lanes: ${file:" + path + "}\n").config.pipelines[0].lanes, 3);
  std::filesystem::remove(path);
  EXPECT_THAT(problems_of(std::string(kGood) + "lanes: ${file:" + path + "}\n"), HasSubstr("cannot be read"));
}

constexpr char kTwo[] = R"(memory: 1GiB
pipelines:
  - name: a
    source: {generator: {records: 10}}
    table: {name: t.a, catalog: &catalog {type: sqlite, uri: c.db, warehouse: w}, create: {}}
  - name: b
    source: {generator: {}}
    table: {name: t.b, catalog: *catalog, create: {}}
)";

TEST(Config, ReadsSeveralPipelines) {
  const auto read_config = read(kTwo);
  ASSERT_EQ(read_config.problems.render(), "");
  ASSERT_EQ(read_config.config.pipelines.size(), 2u);
  EXPECT_EQ(read_config.config.pipelines[0].generator->records, 10);
  EXPECT_EQ(read_config.config.pipelines[1].generator->records, 1'000'000);
  EXPECT_TRUE(read_config.config.pipelines[0].decode.schema);
  EXPECT_EQ(read_config.config.pipelines[0].table.catalog.uri, std::filesystem::absolute("dir/c.db").string());
  EXPECT_EQ(read_config.config.process.memory_bytes, 1 << 30);
}

TEST(Config, RefusesTwoPipelinesOfOneName) {
  std::string text = kTwo;
  text.replace(text.find("name: b"), 7, "name: a");
  EXPECT_THAT(problems_of(text), HasSubstr("dir/p.yaml:6:11: two pipelines have the name \"a\", the first in line 3"));
}

TEST(Config, TakesOverridesFromTheCommandLine) {
  const auto single = read(kGood, {"commit.interval=2s", "source.kafka.topics=[a, b]",
                                   "source.kafka.properties.client.rack=r1", "table.create={}", "memory=1GiB"});
  ASSERT_EQ(single.problems.render(), "");
  EXPECT_EQ(single.config.pipelines[0].commit.interval_ms, 2000);
  EXPECT_EQ(single.config.pipelines[0].kafka->topics.size(), 2u);
  EXPECT_EQ(single.config.pipelines[0].kafka->properties.at("client.rack"), "r1");
  EXPECT_TRUE(single.config.pipelines[0].table.create);
  EXPECT_EQ(single.config.process.memory_bytes, 1 << 30);
  const auto two = read(kTwo, {"b:commit.interval=3s"});
  ASSERT_EQ(two.problems.render(), "");
  EXPECT_EQ(two.config.pipelines[0].commit.interval_ms, 5000);
  EXPECT_EQ(two.config.pipelines[1].commit.interval_ms, 3000);
}

TEST(Config, NamesTheOverrideThatIsWrong) {
  EXPECT_THAT(
      problems_of(kGood, {"commit.intervall=2s"}),
      HasSubstr("--set commit.intervall: unknown key \"intervall\" in \"commit\", nearest known key \"interval\""));
  EXPECT_THAT(problems_of(kGood, {"commit.interval=2"}),
              HasSubstr("--set commit.interval: \"commit.interval\": \"2\" is not a duration"));
  EXPECT_THAT(problems_of(kGood, {"nonsense"}), HasSubstr("--set nonsense: write --set path=value"));
  EXPECT_THAT(problems_of(kTwo, {"commit.interval=2s"}), HasSubstr("write --set NAME:commit.interval=..."));
  EXPECT_THAT(problems_of(kTwo, {"aa:commit.interval=2s"}), HasSubstr("no pipeline \"aa\", nearest is \"a\""));
  EXPECT_THAT(problems_of(kGood, {"source.kafka.properties.sasl.password=p4ss"}),
              AllOf(HasSubstr("is a secret"), Not(HasSubstr("p4ss"))));
}

TEST(Config, RefusesWhatIsNoMapAtAll) {
  EXPECT_THAT(problems_of(""), HasSubstr("dir/p.yaml:1:1: a configuration is a map"));
  EXPECT_THAT(problems_of("- a"), HasSubstr("dir/p.yaml:1:1: a configuration is a map"));
  EXPECT_THAT(read_config_file("/nonexistent/p.yaml", {}).problems.render(),
              HasSubstr("/nonexistent/p.yaml: cannot be read: No such file or directory"));
  EXPECT_THAT(read_config_file("/tmp", {}).problems.render(), HasSubstr("/tmp: cannot be read: Is a directory"));
}

TEST(Config, NamesATabThatIndents) {
  EXPECT_EQ(problems_of("name: orders\nsource:\n\tkafka: {topics: [a]}\n"), "dir/p.yaml:3:1: not YAML: a tab indents line 3; YAML allows spaces only\n");
  EXPECT_EQ(problems_of("name: orders\nsource:\n  \tkafka:\n    topics: [a]\n").substr(0, 16), "dir/p.yaml:3:3: ");
  EXPECT_THAT(problems_of("name: [orders\n"), Not(HasSubstr("a tab")));
}

TEST(Config, BoundsWhatAliasesCanGrowTo) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j == 0 ? "" : ", ") + alias;
    text += "]\n";
  }
  EXPECT_THAT(problems_of(text), HasSubstr("aliases make this file larger than 100000 values"));
}

TEST(Config, ChecksColumnsAgainstTheSchema) {
  EXPECT_THAT(problems_of(with("  catalog:", "  columns: {keep: [idd]}\n  catalog:")),
              HasSubstr("dir/p.yaml:12:12: columns: the schema has no field \"idd\""));
  EXPECT_THAT(problems_of(with("  catalog:", "  columns: {keep: []}\n  catalog:")), HasSubstr("\"table.columns.keep\" names no field"));
  EXPECT_THAT(problems_of(with("  catalog:", "  columns: {keep: [id], drop: [note]}\n  catalog:")),
              HasSubstr("\"keep\" and \"drop\" exclude each other"));
  EXPECT_THAT(problems_of(with("  catalog:", "  create: {partition_by: [\"bucket(4, nope)\"]}\n  catalog:")),
              HasSubstr("dir/p.yaml:12:26: \"table.create.partition_by\": "));
}

TEST(Config, RefusesBeforeTheRunWhatNoTableCanBe) {
  const auto problems_with = [](const std::string& columns, const std::string& create) {
    const std::string good = "[{name: id, type: long, required: true}, {name: note, type: string}]";
    std::string text = with("  catalog:", "  create: " + create + "\n  catalog:");
    return problems_of(text.replace(text.find(good), good.size(), columns));
  };
  EXPECT_EQ(problems_with("[{name: id, type: long}]", "{properties: {write.parquet.compression-codec: zstd}}"), "");
  EXPECT_THAT(problems_with("[{name: id, type: long}]", "{sort_by: [id]}"),
              HasSubstr("\"table.create.sort_by\": sorted tables are unsupported in this version"));
  EXPECT_THAT(problems_with("[{name: id, type: long}]", "{properties: {format-version: \"3\"}}"),
              HasSubstr("format-version \"3\" is unsupported in this version"));
  EXPECT_THAT(problems_with("[{name: id, type: long}]", "{properties: {write.parquet.compression-codec: banana}}"),
              HasSubstr("write.parquet.compression-codec=banana: expected one of"));
  EXPECT_THAT(problems_with("[{name: m, type: \"map<list<int>, int>\"}]", "{}"), HasSubstr("JSON cannot hold a map"));
  EXPECT_THAT(problems_with("[{name: a, type: \"struct<b: int>\"}, {name: a.b, type: int}]", "{}"),
              HasSubstr("two fields have the full name \"a.b\""));
}

TEST(Config, ReadsACatalogFile) {
  const std::string path = (std::filesystem::temp_directory_path() / "frazil_config_test_catalog.yaml").string();
  std::ofstream(path) << "{type: sqlite, uri: c.db, warehouse: w, name: lake}\n";
  Problems problems(path);
  const auto catalog = read_catalog_text(*read_whole_file(path, problems), path, problems);
  ASSERT_TRUE(catalog) << problems.render();
  EXPECT_EQ(catalog->name, "lake");
  EXPECT_EQ(catalog->uri, (std::filesystem::temp_directory_path() / "c.db").string());
  std::filesystem::remove(path);
}

TEST(Config, WarnsOfNumbersInTimestampsOfAnAvroFile) {
  const std::string path = (std::filesystem::temp_directory_path() / "frazil_config_test_times.avsc").string();
  std::ofstream(path) << R"({"type":"record","name":"R","fields":[
    {"name":"a","type":{"type":"long","logicalType":"timestamp-micros"}},
    {"name":"b","type":{"type":"long","logicalType":"timestamp-micros"}}]})";
  const std::string columns = "schema: [{name: id, type: long, required: true}, {name: note, type: string}]";
  const auto found = read(with(columns, "schema: " + path));
  EXPECT_FALSE(found.problems.has_errors());
  EXPECT_EQ(found.problems.render(),
            "dir/p.yaml:9:13: warning: \"a\" is a timestamp-micros: JSON numbers in it are rejected unless "
            "decode.json.timestamp_numbers says their unit\n");
  for (const std::string word : {"micros", "reject"}) {
    EXPECT_EQ(problems_of(with(columns, "schema: " + path + "\n    timestamp_numbers: " + word)), "");
  }
  std::filesystem::remove(path);
}

TEST(Config, ShowsHowTypesAreWritten) {
  const std::string columns = "schema: [{name: id, type: long, required: true}, {name: note, type: string}]";
  const auto of = [&](const std::string& column) { return problems_of(with(columns, "schema: [" + column + "]")); };
  EXPECT_THAT(of("{name: a, type: varchar}"), testing::HasSubstr("'varchar': SQL's varchar is \"string\" here"));
  EXPECT_THAT(of("{name: a, type: timestamp(6)}"), testing::HasSubstr("is \"timestamp\" here"));
  EXPECT_THAT(of("{name: a, type: double precision}"), testing::HasSubstr("is \"double\" here"));
  EXPECT_THAT(of("{name: a, type: text}"), testing::HasSubstr("is \"string\" here"));
  EXPECT_THAT(of("{name: a, type: thing}"), testing::HasSubstr("'thing'; there are boolean, int, long, float, double, decimal(p, s)"));
  EXPECT_THAT(of("{name: a, type: decimal(10, 2)}"), testing::HasSubstr("put the type in quotes, since a comma ends it here: type: \"decimal(10, 2)\""));
  EXPECT_THAT(of("{name: a, type: decimal(10, 2), required: true}"), testing::HasSubstr("type: \"decimal(10, 2)\""));
  EXPECT_THAT(of("{name: a, type: map<string, decimal(10, 2)>}"), testing::HasSubstr("type: \"map<string, decimal(10, 2)>\""));
  EXPECT_THAT(of("{name: a, type: struct}"), testing::HasSubstr("struct<name: type, ...>"));
  EXPECT_THAT(of("{name: a, type: struct, fields: [{name: b, type: int}]}"), testing::HasSubstr("\"fields\" of a column: a nested type is one text: \"struct<name: string"));
  EXPECT_THAT(of("{name: a, type: {type: array, items: int}}"), testing::HasSubstr("\"list<string>\""));
  EXPECT_THAT(of("{name: a, type: 'decimal(40, 2)'}"), testing::Not(testing::HasSubstr("there are boolean")));
}

TEST(Config, AnswersNamesOfKafkasJavaClients) {
  const auto of = [](const std::string& property) {
    return problems_of(with("bootstrap.servers: 127.0.0.1:9092", "bootstrap.servers: 127.0.0.1:9092\n      " + property));
  };
  EXPECT_THAT(of("ssl.truststore.location: /etc/kafka.jks"), testing::HasSubstr("write `ssl.ca.location`"));
  EXPECT_THAT(of("sasl.jaas.config: x"), testing::HasSubstr("write `sasl.username` and `sasl.password`"));
  setenv("FRAZIL_TEST_JAAS", "hidden", 1);
  EXPECT_THAT(of("sasl.jaas.config: ${env:FRAZIL_TEST_JAAS}"), testing::HasSubstr("write `sasl.username` and `sasl.password`"));
  EXPECT_THAT(of("ssl.keystore.type: JKS"), testing::HasSubstr("leave it out: follows from the file's name"));
  EXPECT_THAT(of("ssl.ca.locatoin: /etc/ca.pem"), testing::HasSubstr("did you mean 'ssl.ca.location'?"));
  EXPECT_THAT(of("isolation.level: read_committed"), testing::HasSubstr("cannot be set: "));
}

TEST(Config, TakesOneDocumentAndSaysSo) {
  const std::string good = kGood;
  EXPECT_EQ(problems_of("---\n" + good + "...\n"), "");
  EXPECT_EQ(problems_of(good + "---\n"), "") << "nothing behind it";
  EXPECT_THAT(problems_of(good + "---\nname: second\n"), testing::HasSubstr("a second YAML document: a file holds one"));
  EXPECT_THAT(problems_of(good + "...\n---\nname: second\n"), testing::HasSubstr("a second YAML document"));
}

TEST(Config, WarnsOfFilesThatAreNotHere) {
  const auto kafka = read(with("bootstrap.servers: 127.0.0.1:9092",
                               "bootstrap.servers: 127.0.0.1:9092\n      security.protocol: ssl\n      ssl.ca.location: no-ca.pem"));
  EXPECT_FALSE(kafka.problems.has_errors()) << kafka.problems.render();
  EXPECT_THAT(kafka.problems.render(), testing::HasSubstr("warning: \"ssl.ca.location\": file dir/no-ca.pem is not here"));
  const auto catalog = read(with("{type: sqlite, uri: /tmp/catalog.db, warehouse: /tmp/warehouse}",
                                 "{type: rest, uri: 'https://lake.example', ca_file: /no/ca.pem}\nfiles: {ca_file: /no/store.pem}"));
  EXPECT_FALSE(catalog.problems.has_errors()) << catalog.problems.render();
  EXPECT_THAT(catalog.problems.render(), testing::HasSubstr("\"table.catalog.ca_file\": file /no/ca.pem is not here"));
  EXPECT_THAT(catalog.problems.render(), testing::HasSubstr("\"files.ca_file\": file /no/store.pem is not here"));
}

}  // namespace
}  // namespace frazil::app
