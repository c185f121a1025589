#include "format/parquet/thrift_writer.h"

#include <limits>

#include <gtest/gtest.h>

namespace frazil::format {
namespace {

using namespace std::string_literals;

TEST(ThriftWriter, WritesTheBytesOfTheCompactProtocol) {
  std::string out;
  ThriftWriter writer(out);
  writer.begin_struct();
  writer.field_int32(1, -1);
  writer.field_int64(2, std::numeric_limits<int64_t>::min());
  writer.field_bool(20, true);
  writer.field_bool(21, false);
  writer.field_binary(22, "ice");
  writer.end_struct();
  EXPECT_EQ(out, "\x15\x01\x16\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x01\x28\x12\x18\x03ice\x00"s);
}

TEST(ThriftWriter, CountsFieldsAnewInEachStruct) {
  std::string out;
  ThriftWriter writer(out);
  writer.begin_struct();
  writer.begin_struct_field(3);
  writer.field_int32(1, 2);
  writer.end_struct();
  writer.empty_struct_field(4);
  writer.field_int32(5, 1);
  writer.end_struct();
  EXPECT_EQ(out, "\x3C\x15\x04\x00\x1C\x00\x15\x02\x00"s);
}

TEST(ThriftWriter, PutsTheSizeOfALongListIntoAVarint) {
  std::string out;
  ThriftWriter writer(out);
  writer.begin_struct();
  writer.list_field(1, ThriftWriter::Element::kInt32, 14);
  for (int i = 0; i < 14; ++i) writer.int32_element(0);
  writer.list_field(2, ThriftWriter::Element::kBool, 200);
  EXPECT_EQ(out, "\x19\xE5"s + std::string(14, '\0') + "\x19\xF1\xC8\x01"s);
}

}  // namespace
}  // namespace frazil::format
