#include "columnar/schema.h"

#include <gtest/gtest.h>

namespace frazil::columnar {
namespace {

Type parsed(std::string_view text) {
  auto type = parse_type(text);
  EXPECT_TRUE(type.ok()) << text << ": " << (type.ok() ? "" : type.error().message());
  return type.ok() ? *type : Type::primitive(TypeId::kBoolean);
}

std::string parse_failure(std::string_view text) {
  auto type = parse_type(text);
  EXPECT_FALSE(type.ok()) << text;
  return type.ok() ? "" : type.error().message();
}

Schema order_schema() {
  Schema schema;
  schema.fields = {
      {.id = 7, .name = "id", .required = true, .type = Type::primitive(TypeId::kLong)},
      {.id = 8, .name = "shipping", .type = parsed("struct<carrier: string, days: int>")},
      {.id = 9, .name = "tags", .type = parsed("list<struct<a: int, b: long>>")},
      {.id = 10, .name = "scores", .type = parsed("map<string, list<double>>")},
      {.id = 11, .name = "last", .type = Type::primitive(TypeId::kDate)},
  };
  schema.identifier_field_ids = {7, 11};
  return schema;
}

TEST(TypeParser, ReadsEveryNameThatATypeGivesItself) {
  for (const char* name :
       {"boolean", "int", "long", "float", "double", "decimal(9, 2)", "decimal(38, 38)", "date", "time", "timestamp",
        "timestamptz", "string", "uuid", "fixed[4]", "binary", "list<string>", "map<string, int>",
        "struct<a: int, b: list<double>>", "map<int, struct<x: decimal(1, 0), y: map<uuid, list<fixed[16]>>>>"}) {
    EXPECT_EQ(parsed(name).name(), name);
  }
}

TEST(TypeParser, KnowsTheWordsOfSpark) {
  EXPECT_EQ(parsed("BIGINT").id(), TypeId::kLong);
  EXPECT_EQ(parsed("integer").id(), TypeId::kInt);
  EXPECT_EQ(parsed("timestamp_ntz").id(), TypeId::kTimestamp);
  EXPECT_EQ(parsed("timestamp_ltz").id(), TypeId::kTimestamptz);
  EXPECT_EQ(parsed("decimal(9)"), Type::decimal(9, 0));
  EXPECT_EQ(parsed("fixed(3)"), Type::fixed(3));
  EXPECT_EQ(parsed(" array < string > ").name(), "list<string>");
  EXPECT_EQ(parsed("struct<`a: b`:int,c d :long>").name(), "struct<a: b: int, c d: long>");
}

TEST(TypeParser, NamesThePartThatIsWrong) {
  EXPECT_NE(parse_failure("list<strin>").find("'strin>'"), std::string::npos);
  EXPECT_NE(parse_failure("list<string").find("'>' where the text ends"), std::string::npos);
  EXPECT_NE(parse_failure("decimal(39, 2)").find("1 to 38"), std::string::npos);
  EXPECT_NE(parse_failure("decimal(4, 5)").find("scale"), std::string::npos);
  EXPECT_NE(parse_failure("int int").find("the end"), std::string::npos);
  EXPECT_NE(parse_failure("struct<>").find("a field name"), std::string::npos);
  EXPECT_NE(parse_failure("fixed[-1]").find("a number"), std::string::npos);
  EXPECT_NE(parse_failure("fixed[0]").find("1 or more"), std::string::npos);
  EXPECT_NE(parse_failure("").find("a type"), std::string::npos);
}

TEST(TypeParser, RefusesEndlessNesting) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "list<";
  EXPECT_NE(parse_failure(text).find("deeper"), std::string::npos);
}

TEST(Type, IsEqualByValueNotByIdentity) {
  EXPECT_EQ(parsed("struct<a: int>"), parsed("struct<a: int>"));
  EXPECT_FALSE(parsed("struct<a: int>") == parsed("struct<a: long>"));
  EXPECT_FALSE(parsed("struct<a: int>") == parsed("struct<b: int>"));
  EXPECT_FALSE(Type::decimal(9, 2) == Type::decimal(9, 3));
  EXPECT_FALSE(Type::fixed(1) == Type::fixed(2));
}

TEST(Schema, FreshIdsNumberALevelBeforeItsChildren) {
  const Schema fresh = assign_fresh_ids(order_schema());
  EXPECT_EQ(fresh.path_of(1), "id");
  EXPECT_EQ(fresh.path_of(5), "last");
  EXPECT_EQ(fresh.path_of(6), "shipping.carrier");
  EXPECT_EQ(fresh.path_of(7), "shipping.days");
  EXPECT_EQ(fresh.path_of(8), "tags.element");
  EXPECT_EQ(fresh.path_of(9), "tags.element.a");
  EXPECT_EQ(fresh.path_of(11), "scores.key");
  EXPECT_EQ(fresh.path_of(12), "scores.value");
  EXPECT_EQ(fresh.path_of(13), "scores.value.element");
  EXPECT_EQ(fresh.highest_field_id(), 13);
  EXPECT_EQ(fresh.identifier_field_ids, (std::vector<int32_t>{1, 5}));
}

TEST(Schema, FreshIdsStartAboveTheLastId) {
  const Schema fresh = assign_fresh_ids(order_schema(), 100);
  EXPECT_EQ(fresh.fields[0].id, 101);
  EXPECT_EQ(fresh.highest_field_id(), 113);
}

TEST(Schema, FindsFieldsByNameAndId) {
  const Schema fresh = assign_fresh_ids(order_schema());
  EXPECT_EQ(fresh.find("tags")->id, 3);
  EXPECT_EQ(fresh.find("Tags"), nullptr);
  EXPECT_EQ(fresh.find_by_id(10)->name, "b");
  EXPECT_EQ(fresh.find_by_id(99), nullptr);
  EXPECT_EQ(fresh.path_of(99), "");
}

TEST(Schema, FindsADottedNameThatTwoFieldsShare) {
  const auto repeated = [](const std::string& type, const std::string& name) {
    return repeated_full_name({{.id = 1, .name = "a", .type = parsed(type)},
                               {.id = 9, .name = name, .type = Type::primitive(TypeId::kInt)}});
  };
  EXPECT_EQ(repeated("struct<b: long>", "a.b"), "a.b");
  EXPECT_EQ(repeated("list<int>", "a.element"), "a.element");
  EXPECT_EQ(repeated("map<string, struct<x: int>>", "a.value.x"), "a.value.x");
  EXPECT_EQ(repeated("struct<b: long>", "a"), "a");
  EXPECT_EQ(repeated("struct<b: long>", "b"), "");
  EXPECT_EQ(repeated("struct<b: long>", "a.c"), "");
}

}  // namespace
}  // namespace frazil::columnar
