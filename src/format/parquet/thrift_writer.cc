#include "format/parquet/thrift_writer.h"

#include "base/check.h"

namespace frazil::format {
namespace {

constexpr uint8_t kTrue = 1;
constexpr uint8_t kFalse = 2;
constexpr uint8_t kInt32 = 5;
constexpr uint8_t kInt64 = 6;
constexpr uint8_t kBinary = 8;
constexpr uint8_t kList = 9;
constexpr uint8_t kStruct = 12;
constexpr size_t kLongList = 15;  // sizes from here on stand in a varint of their own

}  // namespace

void ThriftWriter::begin_struct() {
  CHECK(depth_ < last_id_.size());
  last_id_[depth_++] = 0;
}

void ThriftWriter::end_struct() {
  out_.push_back('\0');
  --depth_;
}

void ThriftWriter::field(int16_t id, uint8_t type) {
  int16_t& last = last_id_[depth_ - 1];
  const int step = id - last;
  CHECK(step > 0);
  if (step <= 15) {
    out_.push_back(static_cast<char>((step << 4) | type));
  } else {
    out_.push_back(static_cast<char>(type));
    zigzag(id);
  }
  last = id;
}

void ThriftWriter::varint(uint64_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

void ThriftWriter::zigzag(int64_t value) {
  varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

void ThriftWriter::field_bool(int16_t id, bool value) {
  field(id, value ? kTrue : kFalse);
}

void ThriftWriter::field_int32(int16_t id, int32_t value) {
  field(id, kInt32);
  zigzag(value);
}

void ThriftWriter::field_int64(int16_t id, int64_t value) {
  field(id, kInt64);
  zigzag(value);
}

void ThriftWriter::field_binary(int16_t id, std::string_view value) {
  field(id, kBinary);
  binary_element(value);
}

void ThriftWriter::begin_struct_field(int16_t id) {
  field(id, kStruct);
  begin_struct();
}

void ThriftWriter::empty_struct_field(int16_t id) {
  begin_struct_field(id);
  end_struct();
}

void ThriftWriter::list_field(int16_t id, Element type, size_t size) {
  field(id, kList);
  const auto element = static_cast<uint8_t>(type);
  if (size < kLongList) {
    out_.push_back(static_cast<char>((size << 4) | element));
  } else {
    out_.push_back(static_cast<char>(0xF0 | element));
    varint(size);
  }
}

void ThriftWriter::bool_element(bool value) {
  out_.push_back(static_cast<char>(value ? kTrue : kFalse));
}
void ThriftWriter::int32_element(int32_t value) {
  zigzag(value);
}
void ThriftWriter::int64_element(int64_t value) {
  zigzag(value);
}

void ThriftWriter::binary_element(std::string_view value) {
  varint(value.size());
  out_.append(value);
}

}  // namespace frazil::format
