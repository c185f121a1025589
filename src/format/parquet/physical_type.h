// How Parquet stores the values of a primitive type.
//
// Numbers are those of Parquet's Thrift `Type`. Decimals are 32 bit up to 9 digits, 64 bit up to 18, above that fixed
// arrays in big-endian order. Pure, any thread.
#pragma once

#include <cstdint>

#include "columnar/schema.h"

namespace frazil::format {

enum class Physical { kBoolean = 0, kInt32 = 1, kInt64 = 2, kFloat = 4, kDouble = 5, kByteArray = 6, kFixed = 7 };

struct PhysicalType {
  Physical type = Physical::kBoolean;
  int32_t width = 0;      // bytes a value in memory; 0 when it varies
  bool is_number = true;  // compares as a number, not byte by byte
};

// Of a primitive type.
PhysicalType physical_type_of(const columnar::Type& type);
// Bytes of the shortest two's complement that holds every number of `precision` digits.
int decimal_width(int precision);

}  // namespace frazil::format
