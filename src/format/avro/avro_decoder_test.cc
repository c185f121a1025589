#include "format/avro/avro_decoder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "format/avro/avro_encoder.h"

namespace frazil::format {
namespace {

std::string long_bytes(int64_t value) {
  std::string out;
  AvroEncoder(out).write_long(value);
  return out;
}

TEST(AvroEncoder, EqualsTheSpecificationsSamplesOfZigzag) {
  EXPECT_EQ(long_bytes(0), std::string("\x00", 1));
  EXPECT_EQ(long_bytes(-1), "\x01");
  EXPECT_EQ(long_bytes(1), "\x02");
  EXPECT_EQ(long_bytes(-2), "\x03");
  EXPECT_EQ(long_bytes(-64), "\x7f");
  EXPECT_EQ(long_bytes(64), "\x80\x01");
}

RC_GTEST_PROP(AvroDecoder, ReadsEveryLong, (int64_t value)) {
  const std::string bytes = long_bytes(value);
  AvroDecoder decoder(bytes);
  RC_ASSERT(decoder.read_long() == value);
  RC_ASSERT(decoder.ok() && decoder.at_end());
}

TEST(AvroDecoder, ReadsTheExtremes) {
  for (const int64_t value : {INT64_MIN, INT64_MAX, int64_t{0}}) {
    const std::string bytes = long_bytes(value);
    EXPECT_EQ(AvroDecoder(bytes).read_long(), value);
  }
}

TEST(AvroDecoder, RefusesLengthsBeyondTheData) {
  AvroDecoder longer("\x08" "abc");
  EXPECT_EQ(longer.read_bytes(), "");
  EXPECT_FALSE(longer.ok());
  AvroDecoder negative("\x01" "abc");
  negative.read_bytes();
  EXPECT_EQ(negative.status().error().code(), base::Code::kCorrupt);
}

TEST(AvroDecoder, RefusesNumbersOfMoreThan64Bits) {
  AvroDecoder decoder("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
  decoder.read_long();
  EXPECT_FALSE(decoder.ok());
}

TEST(AvroDecoder, BoundsBlocksOfItemsWithoutBytes) {
  const auto schema = AvroSchema::parse(R"({"type":"array","items":"null"})").value();
  const std::string many = long_bytes(INT64_MAX / 2);
  AvroDecoder decoder(many);
  decoder.skip(schema.root());
  EXPECT_FALSE(decoder.ok());
}

TEST(AvroDecoder, BoundsTheDepthOfRecursiveValues) {
  const auto schema = AvroSchema::parse(
      R"({"type":"record","name":"node","fields":[{"name":"next","type":["null","node"]}]})").value();
  const std::string deep = std::string(1000, '\x02') + std::string(1, '\0');
  AvroDecoder decoder(deep);
  decoder.skip(schema.root());
  EXPECT_FALSE(decoder.ok());
  const std::string shallow = std::string(10, '\x02') + std::string(1, '\0');
  AvroDecoder fine(shallow);
  fine.skip(schema.root());
  EXPECT_TRUE(fine.ok() && fine.at_end());
}

TEST(AvroDecoder, BoundsSchemasThatMultiplyEmptyValues) {
  std::string fields = R"({"type":"record","name":"r0","fields":[]})";
  for (int i = 1; i < 12; ++i) {
    std::string type = R"({"type":"record","name":"r)" + std::to_string(i) + R"(","fields":[{"name":"f0","type":)" + fields + "}";
    for (int j = 1; j < 8; ++j) type += R"(,{"name":"f)" + std::to_string(j) + R"(","type":"r)" + std::to_string(i - 1) + "\"}";
    fields = type + "]}";
  }
  const auto schema = AvroSchema::parse(fields).value();
  AvroDecoder decoder("");
  decoder.skip(schema.root());
  EXPECT_FALSE(decoder.ok());
}

TEST(AvroDecoder, SkipsBlocksWithNegativeCounts) {
  const auto schema = AvroSchema::parse(R"({"type":"array","items":"int"})").value();
  const std::string bytes = long_bytes(-2) + long_bytes(2) + long_bytes(5) + long_bytes(6) + long_bytes(0);
  AvroDecoder decoder(bytes);
  decoder.skip(schema.root());
  EXPECT_TRUE(decoder.ok() && decoder.at_end());
}

TEST(AvroSchema, KeepsIcebergsIds) {
  const auto schema = AvroSchema::parse(R"({"type":"record","name":"r","fields":[
      {"name":"split_offsets","type":["null",{"type":"array","items":"long","element-id":133}],"default":null,"field-id":132},
      {"name":"tags","type":{"type":"map","values":"string","key-id":7,"value-id":8},"field-id":6}]})").value();
  const AvroField& splits = schema.root().fields[0];
  EXPECT_EQ(splits.field_id, 132);
  EXPECT_EQ(splits.type->branches[1]->element_id, 133);
  EXPECT_EQ(schema.root().fields[1].type->key_id, 7);
  EXPECT_EQ(schema.root().fields[1].type->value_id, 8);
}

TEST(AvroSchema, TakesNonAsciiNamesOfOthers) {
  const auto schema = AvroSchema::parse(R"({"type":"record","name":"r102","fields":[{"name":"größe","type":"long","field-id":1000}]})");
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->root().fields[0].name, "größe");
}

TEST(AvroSchema, RefusesWhatIsNoSchema) {
  for (const char* text : {"", "{", "{}", "[]", "7", R"("nosuch")", R"({"type":"record","name":"r"})", R"({"type":"array"})",
                           R"({"type":"fixed","name":"f"})", R"({"type":"enum","name":"e"})"}) {
    EXPECT_EQ(AvroSchema::parse(text).error().code(), base::Code::kCorrupt) << text;
  }
  EXPECT_FALSE(AvroSchema::parse(std::string(500, '[') + std::string(500, ']')).ok());
}

TEST(AvroName, EscapesAsJavaDoes) {
  EXPECT_EQ(sanitize_avro_name("plain_1"), "plain_1");
  EXPECT_EQ(sanitize_avro_name("9lives"), "_9lives");
  EXPECT_EQ(sanitize_avro_name("a b"), "a_x20b");
  EXPECT_EQ(sanitize_avro_name("a.b"), "a_x2Eb");
  EXPECT_EQ(sanitize_avro_name("größe"), "gr_xF6_xDFe");
  EXPECT_EQ(sanitize_avro_name("\xF0\x9F\x98\x8E_x"), "_xD83D_xDE0E_x");
}

}  // namespace
}  // namespace frazil::format
