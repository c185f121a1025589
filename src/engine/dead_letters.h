// The dead-letter row: what is kept of a record that cannot be a row. Its schema is the same for every pipeline.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "columnar/column.h"
#include "engine/decoder.h"

namespace frazil::engine {

// epoch, topic, topic_id, partition, offset, timestamp, key, value, headers, code, message, field, value_bytes,
// value_xxh128, pipeline, schema_id, rejected_at.
std::shared_ptr<const columnar::Schema> dead_letter_schema();

// Bytes of a value that a dead letter keeps; of the rest it keeps the length and the hash.
inline constexpr int64_t kDeadLetterValueBytes = 64 << 10;

// Appends one row; `epoch` is left 0, the committer sets it when it knows the table's epoch (set_epoch).
void append_dead_letter(columnar::Batch& batch, const RawBatch& raw, const Rejected& rejected, const std::string& pipeline,
                        int32_t schema_id, int64_t now_micros);
void set_epoch(columnar::Batch& batch, int64_t epoch);

}  // namespace frazil::engine
