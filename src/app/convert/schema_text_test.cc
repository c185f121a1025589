#include "app/convert/schema_text.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

std::string columns(const base::Result<columnar::Schema>& schema) {
  if (!schema.ok()) return schema.error().message();
  std::string text;
  for (const columnar::Field& field : schema->fields) {
    text += (text.empty() ? "" : "; ") + field.name + " " + field.type.name() + (field.required ? " required" : "");
  }
  return text;
}

TEST(SchemaText, TellsAvroFromJsonSchema) {
  EXPECT_EQ(columns(schema_from_text(R"({"type":"record","name":"R","fields":[{"name":"id","type":"string"}]})")), "id string required");
  EXPECT_EQ(columns(schema_from_text(R"({"type":"object","properties":{"id":{"type":"string"}}})")), "id string");
  EXPECT_EQ(columns(schema_from_text("[1]")), "not a JSON object");
  EXPECT_EQ(columns(schema_from_text("{")), "not JSON");
}

TEST(SchemaText, ReadsEveryTypeOfJsonSchema) {
  EXPECT_EQ(columns(schema_from_json_schema(R"({"properties":{
      "a":{"type":"integer"}, "b":{"type":"number"}, "c":{"type":"boolean"}, "d":{"type":["null","string"]},
      "e":{"type":"array","items":{"type":"integer"}},
      "f":{"type":"object","properties":{"g":{"type":"string"}}},
      "h":{"type":"object","additionalProperties":{"type":"number"}},
      "i":{"$ref":"#/definitions/money"}},
      "required":["a","d"],
      "definitions":{"money":{"type":"number"}}})")),
            "a long required; b double; c boolean; d string; e list<long>; f struct<g: string>; h map<string, double>; i double");
}

TEST(SchemaText, NamesTheTimesThatStayTexts) {
  EXPECT_EQ(times_that_stay_texts(R"({"properties":{"at":{"type":"string","format":"date-time"},"mail":{"type":"string","format":"email"},
      "in":{"type":"object","properties":{"days":{"type":"array","items":{"type":"string","format":"date"}}}}}})"),
            "at (date-time), in.days.element (date)");
  EXPECT_EQ(times_that_stay_texts(R"({"type":"record","name":"R","fields":[{"name":"id","type":"string"}]})"), "");
}

TEST(SchemaText, NamesTheFieldThatHasNoColumn) {
  const auto of = [](const std::string& property) { return columns(schema_from_json_schema("{\"properties\":{\"a\":{\"type\":\"object\",\"properties\":{\"x\":" + property + "}}}}")); };
  EXPECT_EQ(of("{}"), "a.x: a schema without \"type\" has no column");
  EXPECT_EQ(of(R"({"type":["string","integer"]})"), "a.x: a choice of several types has no column");
  EXPECT_EQ(of(R"({"type":"null"})"), "a.x: type \"null\" has no column");
  EXPECT_EQ(of(R"({"type":"array"})"), "a.x: an array needs one schema as \"items\"");
  EXPECT_EQ(of(R"({"type":"object"})"), "a.x: an object without \"properties\" has no column");
  EXPECT_EQ(of(R"({"$ref":"#/nowhere"})"), "a.x: a reference leads nowhere");
  EXPECT_EQ(of(R"({"$ref":"http://elsewhere"})"), "a.x: references lead to other parts of the same schema (#/...)");
}

TEST(SchemaText, RefusesASchemaThatContainsItself) {
  EXPECT_NE(columns(schema_from_json_schema(R"({"properties":{"a":{"$ref":"#/d/x"}},"d":{"x":{"type":"object","properties":{"y":{"$ref":"#/d/x"}}}}})"))
                .find("nested deeper"),
            std::string::npos);
}

TEST(SchemaText, WritesATreeOfYamlAsJson) {
  Problems problems("x");
  const auto node = parse_yaml("{type: fixed, size: 16, list: [a, true]}", problems);
  EXPECT_EQ(to_json_text(*node), R"({"type":"fixed","size":16,"list":["a",true]})");
}

TEST(SchemaText, SaysWhenATextWouldLoseWhatIsRequired) {
  const auto avro = [](const std::string& type) { return schema_from_text("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":" + type + "}]}"); };
  EXPECT_FALSE(loses_inner_required(*avro("\"string\"")));
  EXPECT_FALSE(loses_inner_required(*avro(R"({"type":"map","values":["null","int"]})")));
  EXPECT_TRUE(loses_inner_required(*avro(R"({"type":"array","items":"int"})")));
}

}  // namespace
}  // namespace frazil::app
