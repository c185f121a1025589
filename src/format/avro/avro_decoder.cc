#include "format/avro/avro_decoder.h"

#include <bit>
#include <string>

namespace frazil::format {

namespace {

// Items beyond the number of bytes can only be items without bytes.
constexpr int64_t kEmptyItemsMax = 1 << 20;

template <typename T>
T little(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return value;
}

}  // namespace

void AvroDecoder::fail(const char* reason) {
  if (failure_ != nullptr) return;
  failure_ = reason;
  failed_at_ = at_;
}

base::Status AvroDecoder::status() const {
  if (ok()) return {};
  return base::corrupt(std::string("Avro data at byte ") + std::to_string(failed_at_) + ": " + failure_);
}

bool AvroDecoder::read_boolean() {
  const std::string_view byte = read_fixed(1);
  if (byte.empty()) return false;
  if (byte[0] != 0 && byte[0] != 1) fail("boolean is neither 0 nor 1");
  return byte[0] == 1;
}

int64_t AvroDecoder::read_long() {
  uint64_t bits = 0;
  for (int shift = 0; ok() && shift < 70; shift += 7) {
    if (at_ == bytes_.size()) {
      fail("number is cut off");
      return 0;
    }
    const auto byte = static_cast<uint8_t>(bytes_[at_++]);
    if (shift == 63 && byte > 1) break;
    bits |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
  }
  fail("number has more than 64 bits");
  return 0;
}

int32_t AvroDecoder::read_int() {
  const int64_t value = read_long();
  if (value < INT32_MIN || value > INT32_MAX) {
    fail("int has more than 32 bits");
    return 0;
  }
  return static_cast<int32_t>(value);
}

float AvroDecoder::read_float() { return std::bit_cast<float>(little<uint32_t>(read_fixed(4))); }

double AvroDecoder::read_double() { return std::bit_cast<double>(little<uint64_t>(read_fixed(8))); }

std::string_view AvroDecoder::read_bytes() { return read_fixed(read_long()); }

std::string_view AvroDecoder::read_fixed(int64_t size) {
  if (!ok()) return {};
  if (size < 0 || static_cast<uint64_t>(size) > left()) {
    fail("value is longer than the data");
    return {};
  }
  const std::string_view result = bytes_.substr(at_, static_cast<size_t>(size));
  at_ += static_cast<size_t>(size);
  return result;
}

int64_t AvroDecoder::read_branch(size_t count) {
  const int64_t branch = read_long();
  if (branch < 0 || static_cast<uint64_t>(branch) >= count) {
    fail("union has no such branch");
    return 0;
  }
  return branch;
}

int64_t AvroDecoder::read_block() {
  int64_t count = read_long();
  if (count < 0) {
    if (count == INT64_MIN) {
      fail("block count is out of range");
      return 0;
    }
    count = -count;
    read_long();  // its size in bytes: only a hint for skipping
  }
  if (!ok()) return 0;
  // Every item that takes bytes is paid for by the data; a sum beyond data and allowance cannot be honest.
  const auto bound = static_cast<int64_t>(bytes_.size()) + kEmptyItemsMax;
  if (count > bound || (items_ += count) > bound) {
    fail("block claims more items than the data can hold");
    return 0;
  }
  return count;
}

void AvroDecoder::skip(const AvroNode& node, int depth) {
  if (depth > kAvroDepthMax) return fail("value is nested too deeply");
  // Types that refer to each other can multiply values without bytes; honest data needs few steps a byte.
  if (++steps_ > static_cast<int64_t>(bytes_.size()) * 4 + kEmptyItemsMax * 4) return fail("schema multiplies empty values");
  switch (node.type) {
    case AvroType::kNull: return;
    case AvroType::kBoolean: read_boolean(); return;
    case AvroType::kInt:
    case AvroType::kLong:
    case AvroType::kEnum: read_long(); return;
    case AvroType::kFloat: read_fixed(4); return;
    case AvroType::kDouble: read_fixed(8); return;
    case AvroType::kBytes:
    case AvroType::kString: read_bytes(); return;
    case AvroType::kFixed: read_fixed(node.size); return;
    case AvroType::kUnion: {
      const int64_t branch = read_branch(node.branches.size());
      if (ok()) skip(*node.branches[static_cast<size_t>(branch)], depth + 1);
      return;
    }
    case AvroType::kRecord:
      for (const AvroField& field : node.fields) {
        if (!ok()) return;
        skip(*field.type, depth + 1);
      }
      return;
    case AvroType::kArray:
    case AvroType::kMap: skip_blocks(node, depth + 1); return;
  }
}

void AvroDecoder::skip_blocks(const AvroNode& node, int depth) {
  for (int64_t count = read_block(); count != 0; count = read_block()) {
    for (int64_t i = 0; i < count && ok(); ++i) {
      if (node.type == AvroType::kMap) read_bytes();
      skip(*node.element, depth);
    }
  }
}

}  // namespace frazil::format
