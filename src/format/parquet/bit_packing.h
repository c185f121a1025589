// Parquet's packed integers: groups of eight values at a fixed width, and the hybrid of runs and such groups that holds
// levels and dictionary ids.
//
// Source: apache/parquet-format, Encodings.md, "Run Length Encoding / Bit-Packing Hybrid". Pure functions that append
// to a buffer; values must fit the width. One thread, no failures.
#pragma once

#include <cstdint>

#include "columnar/column.h"

namespace frazil::format {

// Bits that hold every number up to `highest`.
int bit_width(uint64_t highest);

void append_varint(uint64_t value, columnar::Buffer& out);

// Appends `count` values of `width` bits (at most 32; 8 for bytes), least significant first. A last group is filled
// with zeros.
void append_packed(const uint32_t* values, int64_t count, int width, columnar::Buffer& out);
void append_packed(const uint8_t* values, int64_t count, int width, columnar::Buffer& out);

// Appends `count` values as runs where they repeat, packed where they do not.
void append_hybrid(const uint32_t* values, int64_t count, int width, columnar::Buffer& out);
void append_hybrid(const uint8_t* values, int64_t count, int width, columnar::Buffer& out);
// The same for values of one bit that are packed already. Bits behind the last value must be zero.
void append_hybrid_bits(const uint8_t* bits, int64_t count, columnar::Buffer& out);
// One run.
void append_run(uint32_t value, int64_t count, int width, columnar::Buffer& out);

}  // namespace frazil::format
