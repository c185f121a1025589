#include "app/config/schema_source.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace frazil::app {
namespace {

// The schema of one field of the given Avro type, as text; or the error.
std::string column_of(const std::string& type) {
  const auto schema = schema_from_avro(R"({"type":"record","name":"r","fields":[{"name":"f","type":)" + type + "}]}");
  if (!schema.ok()) return "error: " + schema.error().message();
  const columnar::Field& field = schema->fields[0];
  return (field.required ? "required " : "") + field.type.name();
}

TEST(AvroSchema, MapsPrimitives) {
  EXPECT_EQ(column_of(R"("boolean")"), "required boolean");
  EXPECT_EQ(column_of(R"("int")"), "required int");
  EXPECT_EQ(column_of(R"("long")"), "required long");
  EXPECT_EQ(column_of(R"("float")"), "required float");
  EXPECT_EQ(column_of(R"("double")"), "required double");
  EXPECT_EQ(column_of(R"("string")"), "required string");
  EXPECT_EQ(column_of(R"("bytes")"), "required binary");
  EXPECT_EQ(column_of(R"({"type":"long"})"), "required long");
}

TEST(AvroSchema, TakesUnionsWithNullAsOptional) {
  EXPECT_EQ(column_of(R"(["null","int"])"), "int");
  EXPECT_EQ(column_of(R"(["string","null"])"), "string");
  EXPECT_EQ(column_of(R"(["int"])"), "required int");
  EXPECT_EQ(column_of(R"(["int","string"])"), "error: f: a union of several types has no column");
  EXPECT_EQ(column_of(R"(["null"])"), "error: f: a field that is always null has no column");
}

TEST(AvroSchema, MapsLogicalTypes) {
  EXPECT_EQ(column_of(R"({"type":"int","logicalType":"date"})"), "required date");
  EXPECT_EQ(column_of(R"({"type":"int","logicalType":"time-millis"})"), "required time");
  EXPECT_EQ(column_of(R"({"type":"long","logicalType":"time-micros"})"), "required time");
  EXPECT_EQ(column_of(R"({"type":"long","logicalType":"timestamp-millis"})"), "required timestamptz");
  EXPECT_EQ(column_of(R"({"type":"long","logicalType":"timestamp-micros"})"), "required timestamptz");
  EXPECT_EQ(column_of(R"({"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false})"),
            "required timestamp");
  EXPECT_EQ(column_of(R"({"type":"long","logicalType":"local-timestamp-micros"})"), "required timestamp");
  EXPECT_EQ(column_of(R"({"type":"string","logicalType":"uuid"})"), "required uuid");
  EXPECT_EQ(column_of(R"({"type":"fixed","name":"u","size":16,"logicalType":"uuid"})"), "required uuid");
  EXPECT_EQ(column_of(R"({"type":"fixed","name":"x","size":4})"), "required fixed[4]");
  EXPECT_EQ(column_of(R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})"), "required decimal(9, 2)");
  EXPECT_EQ(column_of(R"({"type":"fixed","name":"d","size":5,"logicalType":"decimal","precision":9})"),
            "required decimal(9, 0)");
  EXPECT_EQ(column_of(R"({"type":"long","logicalType":"made-up"})"), "required long");
  EXPECT_EQ(column_of(R"({"type":"long","logicalType":"timestamp-nanos"})"),
            "error: f: timestamps of nanoseconds need format version 3");
  EXPECT_EQ(column_of(R"({"type":"bytes","logicalType":"decimal","precision":39})"),
            "error: f: a decimal has precision 1 to 38 and scale 0 to precision");
}

TEST(AvroSchema, TellsTheUnitsOfItsTimestamps) {
  TimestampFields timestamps;
  const auto schema = schema_from_avro(R"({"type":"record","name":"r","fields":[
    {"name":"a","type":{"type":"long","logicalType":"time-micros"}},
    {"name":"b","type":{"type":"record","name":"s","fields":[
      {"name":"c","type":["null",{"type":"long","logicalType":"local-timestamp-millis"}]}]}},
    {"name":"d","type":{"type":"long","logicalType":"timestamp-millis"}}]})",
                                       &timestamps);
  ASSERT_TRUE(schema.ok()) << schema.error().message();
  EXPECT_EQ(timestamps.millis, "b.c");
  EXPECT_EQ(timestamps.micros, "");
}

TEST(AvroSchema, MapsNestedTypes) {
  EXPECT_EQ(column_of(R"({"type":"array","items":["null","string"]})"), "required list<string>");
  EXPECT_EQ(column_of(R"({"type":"map","values":"int"})"), "required map<string, int>");
  EXPECT_EQ(column_of(R"({"type":"enum","name":"e","symbols":["A"]})"), "required string");
  EXPECT_EQ(column_of(R"(["null",{"type":"record","name":"s","fields":[{"name":"a","type":"int"}]}])"),
            "struct<a: int>");
  EXPECT_EQ(column_of(R"({"type":"array","logicalType":"map","items":{"type":"record","name":"kv","fields":[)"
                      R"({"name":"key","type":"long"},{"name":"value","type":"double"}]}})"),
            "required map<long, double>");
}

// The page that users read shows columns that are read.
TEST(Columns, OfTheDocumentationAreReadAsTheyStand) {
  std::ifstream file("docs/json.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = page.find("```yaml\n");
  ASSERT_NE(begin, std::string::npos);
  Problems problems("docs/json.md");
  const auto root = parse_yaml(page.substr(begin + 8, page.find("```", begin + 8) - begin - 8), problems);
  ASSERT_TRUE(root.has_value() && root->find("schema") != nullptr) << problems.render();
  const auto schema = schema_from_columns(*root->find("schema"), problems);
  ASSERT_TRUE(schema.has_value()) << problems.render();
  EXPECT_EQ(schema->fields[1].type.name(), "struct<name: string, address: struct<street: string, city: string>>");
  EXPECT_EQ(schema->fields[2].type.name(), "list<struct<sku: string, count: int, price: decimal(12, 2)>>");
}

TEST(AvroSchema, FollowsNamesAndRefusesCircles) {
  const auto schema = schema_from_avro(R"({"type":"record","name":"r","fields":[
    {"name":"a","type":{"type":"enum","namespace":"n","name":"E","symbols":["X"]}},
    {"name":"b","type":"n.E"}, {"name":"c","type":["null","E"]}]})");
  ASSERT_TRUE(schema.ok()) << schema.error().message();
  EXPECT_EQ(schema->fields[1].type.name(), "string");
  EXPECT_EQ(column_of(R"(["null","r"])"), "error: f: record \"r\" contains itself");
  EXPECT_EQ(column_of(R"("lnog")"), "error: f: unknown type \"lnog\"");
}

TEST(AvroSchema, RefusesWhatIsNoRecord) {
  EXPECT_FALSE(schema_from_avro("{").ok());
  EXPECT_FALSE(schema_from_avro("\"int\"").ok());
  EXPECT_FALSE(schema_from_avro("7").ok());
  EXPECT_FALSE(schema_from_avro(R"({"type":"record","name":"r","fields":[]})").ok());
  EXPECT_FALSE(
      schema_from_avro(R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})")
          .ok());
  std::string deep = "\"int\"";
  for (int i = 0; i < 200; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  EXPECT_NE(column_of(deep).find("nested deeper"), std::string::npos);
}

TEST(AvroSchema, GivesFreshIds) {
  const auto schema = schema_from_avro(
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","doc":"B"}]})");
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->fields[0].id, 1);
  EXPECT_EQ(schema->fields[1].id, 2);
  EXPECT_EQ(schema->fields[1].doc, "B");
}

}  // namespace
}  // namespace frazil::app
