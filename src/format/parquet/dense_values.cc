#include "format/parquet/dense_values.h"

#include <array>
#include <cstring>

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::TypeId;

// The eight bits of a byte as eight bytes.
constexpr std::array<uint64_t, 256> spread_bits() {
  std::array<uint64_t, 256> table{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    for (uint64_t bit = 0; bit < 8; ++bit) table[byte] |= ((byte >> bit) & 1) << (8 * bit);
  }
  return table;
}
constexpr std::array<uint64_t, 256> kSpread = spread_bits();

int64_t bit(const uint8_t* bits, int64_t i) {
  return (bits[i >> 3] >> (i & 7)) & 1;
}

// Copies the values whose bit is set. Writes each value and steps on only behind one that stays: no branch to
// mispredict.
template <typename T>
void gather_present(const T* values, const uint8_t* bits, int64_t rows, T* out) {
  for (int64_t row = 0; row < rows; ++row) {
    *out = values[row];
    out += bit(bits, row);
  }
}

void gather_present(const uint8_t* values, int32_t width, const uint8_t* bits, int64_t rows, uint8_t* out) {
  for (int64_t row = 0; row < rows; ++row) {
    if (bit(bits, row) == 0) continue;
    std::memcpy(out, values + row * width, static_cast<size_t>(width));
    out += width;
  }
}

template <typename T>
void narrow(const __int128* decimals, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(decimals[i]);
    std::memcpy(out + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

void to_big_endian(const __int128* decimals, int64_t count, int32_t width, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<unsigned __int128>(decimals[i]);
    for (int32_t byte = 0; byte < width; ++byte) *out++ = static_cast<uint8_t>(bits >> (8 * (width - 1 - byte)));
  }
}

int32_t memory_width(const Column& column, const PhysicalType& physical) {
  return column.type().id() == TypeId::kDecimal ? 16 : physical.width;
}

}  // namespace

DenseValues DenseScratch::values_of(const Column& column, const PhysicalType& physical) {
  DenseValues values;
  values.count = column.length() - column.null_count();
  values.width = physical.width;
  if (physical.type == Physical::kByteArray) {
    values.bytes = column.values().data();
    values.offsets = reinterpret_cast<const int32_t*>(column.offsets().data());
    if (column.null_count() == 0) return values;
    gather_offsets(column);
    values.offsets = reinterpret_cast<const int32_t*>(present_.data());
    return values;
  }
  if (physical.type == Physical::kBoolean) {
    unpack_booleans(column);
    values.bytes = converted_.data();
    return values;
  }
  const bool has_nulls = column.null_count() != 0;
  const uint8_t* memory = has_nulls ? gather(column, memory_width(column, physical)) : column.values().data();
  values.bytes = memory;
  if (column.type().id() != TypeId::kDecimal) return values;
  const auto* decimals = reinterpret_cast<const __int128*>(memory);
  convert_decimals(decimals, values.count, physical);
  values.bytes = converted_.data();
  if (physical.type == Physical::kFixed) values.decimals = decimals;
  return values;
}

const uint8_t* DenseScratch::gather(const Column& column, int32_t width) {
  const int64_t rows = column.length();
  const uint8_t* from = column.values().data();
  const uint8_t* bits = column.validity().data();
  present_.resize((rows + 1) * width);
  uint8_t* to = present_.data();
  if (width == 8) {
    gather_present(reinterpret_cast<const uint64_t*>(from), bits, rows, reinterpret_cast<uint64_t*>(to));
  } else if (width == 4) {
    gather_present(reinterpret_cast<const uint32_t*>(from), bits, rows, reinterpret_cast<uint32_t*>(to));
  } else if (width == 16) {
    gather_present(reinterpret_cast<const __int128*>(from), bits, rows, reinterpret_cast<__int128*>(to));
  } else {
    gather_present(from, width, bits, rows, to);
  }
  return to;
}

// A null takes no bytes, so the offsets of the others bound the others' bytes.
void DenseScratch::gather_offsets(const Column& column) {
  const int64_t rows = column.length();
  const auto* offsets = reinterpret_cast<const int32_t*>(column.offsets().data());
  present_.resize((rows + 1) * 4);
  auto* out = reinterpret_cast<int32_t*>(present_.data());
  gather_present(offsets, column.validity().data(), rows, out);
  out[rows - column.null_count()] = offsets[rows];
}

void DenseScratch::unpack_booleans(const Column& column) {
  const int64_t rows = column.length();
  converted_.resize((rows + 8) & ~int64_t{7});
  const uint8_t* bits = column.values().data();
  for (int64_t byte = 0; byte * 8 < rows; ++byte) {
    std::memcpy(converted_.data() + byte * 8, &kSpread[bits[byte]], 8);
  }
  if (column.null_count() == 0) return;
  gather_present(converted_.data(), column.validity().data(), rows, converted_.data());
}

void DenseScratch::convert_decimals(const __int128* decimals, int64_t count, const PhysicalType& physical) {
  converted_.resize(count * physical.width);
  if (physical.type == Physical::kInt32) return narrow<int32_t>(decimals, count, converted_.data());
  if (physical.type == Physical::kInt64) return narrow<int64_t>(decimals, count, converted_.data());
  to_big_endian(decimals, count, physical.width, converted_.data());
}

}  // namespace frazil::format
