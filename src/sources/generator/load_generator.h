// Fills a Kafka topic with generated records, on every core, at a given rate.
//
// Lane l of L owns the partitions p with p mod L = l and a producer of its own, so a seed gives each partition the same
// records in the same order, however many lanes there are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/interrupt.h"
#include "base/result.h"
#include "sources/generator/record.h"

namespace frazil::sources {

struct LoadProgress {
  int64_t records = 0;  // delivered
  int64_t bytes = 0;    // of their values
  int64_t failed_records = 0;
  int64_t elapsed_micros = 0;
};

struct LoadOptions {
  std::map<std::string, std::string> properties;  // librdkafka names, "bootstrap.servers" among them
  std::string topic;
  int partitions = 8;    // of the topic when it has to be created; an existing topic keeps its own
  int replication = 1;
  bool create_topic = true;
  int64_t records = 1000000;   // 0: until stopped
  uint64_t first_index = 0;    // of the first record: to go on where an earlier run ended
  double bytes_per_second = 0; // of values; 0: as fast as possible
  std::string codec = "lz4";
  bool allow_plaintext = false;  // brokers outside of this machine may be reached without TLS
  bool with_keys = true;       // the record's index as text
  RecordOptions record;
  std::string avro_schema;     // records for this schema instead of the shop's
  int lanes = 0;               // 0: one for each core
  int64_t connect_timeout_ms = 60000;
  int64_t delivery_timeout_ms = 120000;

  // Called every `progress_interval_ms` on one lane of the generator, and once at the end.
  std::function<void(const LoadProgress&)> on_progress;
  int64_t progress_interval_ms = 500;

  // Holds the load back: at most `max_bytes_ahead` bytes of values more than consumed_bytes() says. For a mock cluster,
  // which keeps only the last megabytes of a partition. Called from every lane, often.
  std::function<int64_t()> consumed_bytes;
  int64_t max_bytes_ahead = 0;
};

struct LoadReport {
  LoadProgress total;
  int64_t spoiled_records = 0;  // that no row can be made of, tombstones not counted
  int64_t tombstones = 0;
  int partitions = 0;
  double megabytes_per_second() const;  // 10^6 bytes of values
  double records_per_second() const;
};

// Returns when all is delivered or `stop` is raised. kUnavailable when records could not be delivered.
base::Result<LoadReport> generate_load(const LoadOptions& options, base::Interrupt& stop);

}  // namespace frazil::sources
