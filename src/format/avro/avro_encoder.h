// AvroEncoder: writes values in Avro's binary form to the end of a string. The caller follows its own schema: nothing is
// checked. One thread at a time; cannot fail.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace frazil::format {

class AvroEncoder {
 public:
  explicit AvroEncoder(std::string& out) : out_(out) {}

  void write_boolean(bool value) { out_.push_back(value ? 1 : 0); }
  // int and long alike: zigzag, seven bits a byte.
  void write_long(int64_t value) {
    uint64_t bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    char buffer[10];
    int size = 0;
    for (; bits >= 0x80; bits >>= 7) buffer[size++] = static_cast<char>(bits | 0x80);
    buffer[size++] = static_cast<char>(bits);
    out_.append(buffer, static_cast<size_t>(size));
  }
  void write_float(float value) { write_little(std::bit_cast<uint32_t>(value)); }
  void write_double(double value) { write_little(std::bit_cast<uint64_t>(value)); }
  // string and bytes.
  void write_bytes(std::string_view bytes) {
    write_long(static_cast<int64_t>(bytes.size()));
    out_.append(bytes);
  }
  void write_fixed(std::string_view bytes) { out_.append(bytes); }
  // The branch of a union, before its value.
  void write_branch(int64_t index) { write_long(index); }
  // Starts a block of `count` items; an array or map ends with a block of 0. Empty ones are a single 0.
  void write_block(int64_t count) { write_long(count); }

 private:
  template <typename T>
  void write_little(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) out_.push_back(static_cast<char>(value >> (8 * i)));
  }
  std::string& out_;
};

}  // namespace frazil::format
