// ThriftWriter: Thrift's compact protocol, as far as Parquet's page headers, indexes and footer need it.
//
// Source: apache/thrift, doc/specs/thrift-compact-protocol.md. Fields are written in rising order of their ids; the
// caller closes every struct that it opens. Appends to a string of the caller's; one thread, no failures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace frazil::format {

class ThriftWriter {
 public:
  // Elements of lists.
  enum class Element : uint8_t { kBool = 1, kInt32 = 5, kInt64 = 6, kBinary = 8, kStruct = 12 };

  explicit ThriftWriter(std::string& out) : out_(out) {}

  // A struct of its own, or one that is an element of a list.
  void begin_struct();
  void end_struct();

  void field_bool(int16_t id, bool value);
  void field_int32(int16_t id, int32_t value);
  void field_int64(int16_t id, int64_t value);
  void field_binary(int16_t id, std::string_view value);
  void begin_struct_field(int16_t id);
  void empty_struct_field(int16_t id);
  // `size` elements have to follow.
  void list_field(int16_t id, Element type, size_t size);

  void bool_element(bool value);
  void int32_element(int32_t value);
  void int64_element(int64_t value);
  void binary_element(std::string_view value);

 private:
  void field(int16_t id, uint8_t type);
  void varint(uint64_t value);
  void zigzag(int64_t value);

  std::string& out_;
  size_t depth_ = 0;
  std::array<int16_t, 16> last_id_{};  // of each open struct
};

}  // namespace frazil::format
