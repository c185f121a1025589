#include "format/parquet/page_values.h"

#include <cstring>

#include "format/parquet/bit_packing.h"

namespace frazil::format {
namespace {

using columnar::Buffer;

Encoding encoding_of(const PhysicalType& physical, bool uses_delta_encodings, bool is_integer) {
  if (!uses_delta_encodings) return Encoding::kPlain;
  if (physical.type == Physical::kByteArray) return Encoding::kDeltaLengthByteArray;
  return is_integer ? Encoding::kDeltaBinaryPacked : Encoding::kPlain;
}

// Short texts are copied as 32 bytes: the slack of both buffers makes that safe, and it spares the call.
inline void copy_text(uint8_t* to, const uint8_t* from, int32_t size) {
  if (size <= 32) {
    std::memcpy(to, from, 32);
  } else {
    std::memcpy(to, from, static_cast<size_t>(size));
  }
}

std::span<const uint8_t> view(const Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

}  // namespace

PageValues::PageValues(const PhysicalType& physical, bool uses_delta_encodings)
    : physical_(physical),
      encoding_(encoding_of(physical, uses_delta_encodings,
                            physical.type == Physical::kInt32 || physical.type == Physical::kInt64)) {}

int64_t PageValues::size() const {
  const int64_t body = physical_.type == Physical::kBoolean ? body_size() / 8 : body_size();
  return body + deltas_.size();
}

void PageValues::append(const DenseValues& values, int64_t from, int64_t to) {
  if (encoding_ == Encoding::kDeltaBinaryPacked) return append_deltas(values, from, to);
  if (body_.size() == 0) body_.resize(kHeadroom);
  if (encoding_ == Encoding::kDeltaLengthByteArray) {
    deltas_.add_lengths(values.offsets + from, to - from);
    return body_.append(values.bytes + values.offsets[from], values.size(from, to));
  }
  if (values.width == 0) return append_texts(values, from, to);
  body_.append(values.bytes + from * values.width, values.size(from, to));
}

void PageValues::append_deltas(const DenseValues& values, int64_t from, int64_t to) {
  if (values.width == 4) {
    deltas_.add(reinterpret_cast<const int32_t*>(values.bytes) + from, to - from);
  } else {
    deltas_.add(reinterpret_cast<const int64_t*>(values.bytes) + from, to - from);
  }
}

void PageValues::append_texts(const DenseValues& values, int64_t from, int64_t to) {
  const int64_t at = body_.size();
  body_.resize(at + values.size(from, to) + (to - from) * 4);
  uint8_t* out = body_.data() + at;
  for (int64_t i = from; i < to; ++i) {
    const int32_t begin = values.offsets[i];
    const int32_t size = values.offsets[i + 1] - begin;
    std::memcpy(out, &size, sizeof size);
    copy_text(out + 4, values.bytes + begin, size);
    out += 4 + size;
  }
}

void PageValues::append_bits(Buffer& out) const {
  append_packed(body_.data() + kHeadroom, body_size(), 1, out);
}

std::span<const uint8_t> PageValues::finish(Buffer& levels) {
  if (encoding_ == Encoding::kDeltaBinaryPacked) {
    deltas_.finish(levels);
    return view(levels);
  }
  if (encoding_ == Encoding::kDeltaLengthByteArray) deltas_.finish(levels);
  const int64_t size = body_size();
  if (size == 0) return view(levels);
  uint8_t* body = body_.data() + kHeadroom;
  if (physical_.type == Physical::kBoolean) {
    append_bits(levels);
  } else if (levels.size() > kHeadroom) {
    levels.append(body, size);
  } else {
    if (levels.size() > 0) std::memcpy(body - levels.size(), levels.data(), static_cast<size_t>(levels.size()));
    body_.clear();
    return {body - levels.size(), static_cast<size_t>(levels.size() + size)};
  }
  body_.clear();
  return view(levels);
}

}  // namespace frazil::format
