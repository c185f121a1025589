// A source of generated records without Kafka: N splits ("generator/0"), positions are counts of records.
//
// Split s of N holds the records s, s + N, s + 2N, … of the seed. The table's positions name seed and number of splits; a
// generator that was configured otherwise is refused, since its records would not follow on. Threads: see engine/source.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/source.h"
#include "sources/generator/record.h"

namespace frazil::sources {

struct GeneratorSourceConfig {
  int splits = 4;
  int64_t records = 0;           // of all splits; 0: endless
  int64_t records_per_second = 0;  // of all splits; 0: as fast as they are taken
  RecordOptions record;
  std::string avro_schema;  // records for this schema instead of the shop's
};

// kInvalid when the Avro schema cannot be used.
base::Result<std::unique_ptr<engine::Source>> make_generator_source(GeneratorSourceConfig config);

}  // namespace frazil::sources
