// Fuzzes what reads the marks that a pipeline left in a table: positions, ranges and owed entries. Anybody may have
// written to the table since. No input may abort, and what could be read says the same after being written again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/position.h"
#include "sinks/iceberg/owed.h"
#include "sources/kafka/kafka_positions.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_positions(const frazil::engine::PositionFormat& format, const std::string& json) {
  const auto positions = format.decode(json);
  if (!positions.ok()) return;
  const auto again = format.decode(format.encode(positions.value()));
  require(again.ok() && again.value() == positions.value());
  for (const auto& [split, next] : positions.value().next) {
    require(format.relate(next, next) == frazil::engine::Relation::kAt);
  }
}

void read_ranges(const frazil::engine::PositionFormat& format, const std::string& json) {
  const auto ranges = format.decode_ranges(json);
  if (!ranges.ok()) return;
  const std::string text = format.encode_ranges(ranges.value());
  const auto again = format.decode_ranges(text);
  require(again.ok() && format.encode_ranges(again.value()) == text);
}

void read_owed(const std::string& json) {
  const auto owed = frazil::sinks::decode_owed(json);
  if (!owed.ok()) return;
  const auto again = frazil::sinks::decode_owed(frazil::sinks::encode_owed(owed.value()));
  require(again.ok() && again.value() == owed.value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string json(reinterpret_cast<const char*>(data), size);
  const auto& format = frazil::sources::kafka_position_format();
  read_positions(format, json);
  read_ranges(format, json);
  read_owed(json);
  return 0;
}
