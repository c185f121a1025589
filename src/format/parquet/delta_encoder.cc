#include "format/parquet/delta_encoder.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "format/parquet/bit_packing.h"

namespace frazil::format {
namespace {

using columnar::Buffer;

void append_zigzag(int64_t value, Buffer& out) {
  append_varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63), out);
}

// 32 values of up to 64 bits: 4 bytes for each bit of the width.
void append_miniblock(const uint64_t* values, int width, Buffer& out) {
  uint64_t word = 0;
  int filled = 0;
  for (int i = 0; i < 32 && width > 0; ++i) {
    word |= values[i] << filled;
    filled += width;
    if (filled < 64) continue;
    out.push(word);
    filled -= 64;
    word = filled == 0 ? 0 : values[i] >> (width - filled);
  }
  if (filled > 0) out.push(static_cast<uint32_t>(word));
}

}  // namespace

template <typename Unsigned, typename T>
void DeltaEncoder::add_one(T value) {
  if (count_++ == 0) {
    first_ = previous_ = value;
    return;
  }
  const auto difference = static_cast<Unsigned>(static_cast<Unsigned>(value) - static_cast<Unsigned>(previous_));
  deltas_[pending_++] = static_cast<std::make_signed_t<Unsigned>>(difference);
  previous_ = value;
  if (pending_ == kBlock) close_block();
}

void DeltaEncoder::add(const int32_t* values, int64_t count) {
  is_narrow_ = true;
  for (int64_t i = 0; i < count; ++i) add_one<uint32_t>(values[i]);
}

void DeltaEncoder::add(const int64_t* values, int64_t count) {
  is_narrow_ = false;
  for (int64_t i = 0; i < count; ++i) add_one<uint64_t>(values[i]);
}

void DeltaEncoder::add_lengths(const int32_t* offsets, int64_t count) {
  is_narrow_ = true;
  for (int64_t i = 0; i < count; ++i) add_one<uint32_t>(offsets[i + 1] - offsets[i]);
}

void DeltaEncoder::close_block() {
  const int64_t least = *std::min_element(deltas_.begin(), deltas_.begin() + static_cast<int64_t>(pending_));
  std::array<uint64_t, kBlock> rest{};
  const uint64_t mask = is_narrow_ ? 0xFFFFFFFF : ~uint64_t{0};
  for (size_t i = 0; i < pending_; ++i) {
    rest[i] = (static_cast<uint64_t>(deltas_[i]) - static_cast<uint64_t>(least)) & mask;
  }
  append_zigzag(least, blocks_);
  std::array<uint8_t, kBlock / kMiniblock> widths{};
  for (size_t mini = 0; mini * kMiniblock < pending_; ++mini) {
    uint64_t bits = 0;
    for (size_t i = 0; i < kMiniblock; ++i) bits |= rest[mini * kMiniblock + i];
    widths[mini] = static_cast<uint8_t>(std::bit_width(bits));
  }
  blocks_.append(widths.data(), widths.size());
  for (size_t mini = 0; mini * kMiniblock < pending_; ++mini) {
    append_miniblock(rest.data() + mini * kMiniblock, widths[mini], blocks_);
  }
  pending_ = 0;
}

void DeltaEncoder::finish(Buffer& out) {
  if (pending_ > 0) close_block();
  append_varint(kBlock, out);
  append_varint(kBlock / kMiniblock, out);
  append_varint(static_cast<uint64_t>(count_), out);
  append_zigzag(count_ == 0 ? 0 : first_, out);
  out.append(blocks_.data(), blocks_.size());
  clear();
}

void DeltaEncoder::clear() {
  blocks_.clear();
  pending_ = 0;
  count_ = 0;
}

}  // namespace frazil::format
