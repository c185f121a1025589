// What a configuration file says, typed and complete: defaults are filled in, references resolved. Plain values.
//
// The defaults here are only what a default-made struct holds; those that users get are declared with each option
// (pipeline_options.cc, process_options.cc).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/config/problems.h"
#include "app/config/units.h"
#include "base/log.h"
#include "columnar/schema.h"
#include "decoders/columns_config.h"
#include "decoders/json/json_decoder_config.h"

namespace frazil::app {

struct StartConfig {
  enum class Mode { kEarliest, kLatest, kGroup, kTimestamp, kOffsets } mode = Mode::kEarliest;
  int64_t timestamp_ms = 0;
  std::map<std::string, std::map<int32_t, int64_t>> offsets;  // topic → partition → offset
};

struct KafkaConfig {
  std::vector<std::string> topics;
  std::string topic_pattern;
  StartConfig start;
  int64_t discovery_interval_ms = 0;
  int64_t open_transaction_warning_ms = 0;
  std::string group;  // empty: no group
  std::map<std::string, std::string> properties;
  bool allow_plaintext = false;
};

struct GeneratorConfig {
  int64_t records = 0;             // 0: without end
  int64_t records_per_second = 0;  // 0: as fast as it goes
  int64_t seed = 1;
  int splits = 1;
};

// How files are reached, besides the catalog's properties.
struct FilesConfig {
  std::vector<std::string> allowed_roots;
  std::string ca_file;
  bool allow_plaintext = false;
};

struct CatalogConfig {
  std::string type;
  std::string uri;
  std::string warehouse;
  std::string name;
  std::string credential;
  std::string token;
  std::map<std::string, std::string> properties;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  bool allow_plaintext = false;
  FilesConfig files;
};

struct CreateConfig {
  std::vector<std::string> partition_by;
  std::vector<std::string> sort_by;
  std::map<std::string, std::string> properties;
};

struct TableConfig {
  std::string name;
  CatalogConfig catalog;
  std::optional<CreateConfig> create;
  decoders::ColumnsConfig columns;
};

// The first fields that an Avro schema declares as timestamps in that unit, by path; empty: none. A logical type says what
// numbers in them count, which the columns made from it no longer say.
struct TimestampFields {
  std::string millis;
  std::string micros;
};

// One of several tables that rows go to, and which rows it takes.
struct RoutedTableConfig {
  std::string name;
  std::string topic;                // empty: of any topic
  std::string field;                // empty: whatever a row holds
  std::vector<std::string> equals;  // texts of the field's value, or
  std::string matches;              // a pattern for it
  std::optional<columnar::Schema> schema;  // of the topic's documents, where it is another than that of `decode`
  TimestampFields timestamps;
  std::optional<CreateConfig> create;      // instead of the common one
};

struct DecodeConfig {
  // The documents' fields, ids given; nothing when they are the table's own columns (`from_table`).
  std::optional<columnar::Schema> schema;
  bool schema_from_table = false;
  TimestampFields timestamps;  // of a schema file
  decoders::JsonDecoderConfig json;
};

// Merged commits of many workers: where this one takes epochs of others.
struct MergeConfig {
  enum class Mode { kOff, kAuto, kAlways } mode = Mode::kOff;
  ListenAddress listen;
  std::string advertise;  // host:port; empty: as it listens
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  bool allow_plaintext = false;
  std::string secret;  // empty: the certificates prove who is a worker, or a key that the user's workers share
  int64_t patience_ms = 2000;

  bool has_certificates() const { return !ca_file.empty() && !certificate_file.empty() && !key_file.empty(); }
};

struct CommitConfig {
  int64_t interval_ms = 5000;
  int64_t position_interval_ms = 600'000;
  MergeConfig merge;
};

struct PipelineConfig {
  std::string name;
  std::optional<KafkaConfig> kafka;
  std::optional<GeneratorConfig> generator;
  DecodeConfig decode;
  TableConfig table;
  std::vector<RoutedTableConfig> tables;  // where rows go, if it is not one table; `table.name` is the anchor then
  bool route_to_all = false;
  enum class Unrouted { kDeadLetter, kSkip, kHalt } unrouted = Unrouted::kDeadLetter;
  std::string anchor;        // as configured, or derived from the first of `tables`
  std::string dead_letters;  // name of their table
  CommitConfig commit;
  int64_t history_keep_ms = 3600 * 1000;
  int lanes = 0;  // 0: as many as cores
  int64_t connect_timeout_ms = 60'000;
};

struct ProcessConfig {
  int64_t memory_bytes = 2LL << 30;
  // Nothing: no status server. `listen_is_set` tells an address that the user chose from the default one.
  std::optional<ListenAddress> listen;
  bool listen_is_set = false;
  std::string control_socket;  // an absolute path, "auto", or empty: none
  base::LogFormat log_format = base::LogFormat::kText;
  base::LogLevel log_level = base::LogLevel::kInfo;
};

struct ProgramConfig {
  std::string file;
  ProcessConfig process;
  std::vector<PipelineConfig> pipelines;
};

}  // namespace frazil::app
