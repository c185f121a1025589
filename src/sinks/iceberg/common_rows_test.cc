#include "sinks/iceberg/common_rows.h"

#include <gtest/gtest.h>

namespace frazil::sinks {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;

const char* const kTypes[] = {"boolean", "int", "long", "float", "double", "decimal(12, 2)", "decimal(12, 4)", "decimal(13, 2)",
                              "date", "time", "timestamp", "timestamptz", "string", "uuid", "fixed[4]", "fixed[8]", "fixed[16]",
                              "binary", "list<long>", "list<string>", "list<list<long>>", "map<string, long>", "map<string, string>",
                              "map<int, long>", "struct<x: string>", "struct<x: string, y: string>", "struct<x: string, z: string>",
                              "struct<x: long, y: string>", "struct<x: string, y: struct<p: long, q: long>>"};

columnar::Schema schema_of(const std::string& type, bool required = false) {
  columnar::Schema schema;
  schema.fields = {{0, "id", true, Type::primitive(TypeId::kLong), ""}, {0, "v", required, columnar::parse_type(type).value(), ""}};
  return columnar::assign_fresh_ids(schema);
}

base::Result<columnar::Schema> common(const columnar::Schema& a, const columnar::Schema& b) {
  return common_rows({{"shop.a", &a}, {"shop.b", &b}});
}

std::string refusal(const std::string& a, const std::string& b) {
  const auto rows = common(schema_of(a), schema_of(b));
  EXPECT_FALSE(rows.ok()) << a << " beside " << b;
  return rows.ok() ? "" : rows.error().message();
}

TEST(CommonRows, EachTypeFitsItselfAndNoOther) {
  for (const char* const a : kTypes) {
    for (const char* const b : kTypes) {
      for (const std::string around : {"", "list<", "map<string, ", "struct<m: "}) {
        const std::string end = around.empty() ? "" : ">";
        EXPECT_EQ(common(schema_of(around + a + end), schema_of(around + b + end)).ok(), std::string_view(a) == b) << around << a << " beside " << b;
      }
    }
  }
}

TEST(CommonRows, ARefusalNamesPathTablesTypesAndWhatToDo) {
  EXPECT_EQ(refusal("decimal(12, 2)", "decimal(12, 4)"),
            "tables shop.a and shop.b take rows of the same topics, and their columns differ:\n"
            "  v: decimal(12, 2) in shop.a, decimal(12, 4) in shop.b\n"
            "  Convert the column in one of them, or give each table a pipeline of its own.");
  EXPECT_NE(refusal("list<long>", "list<string>").find("  v.element: long in shop.a, string in shop.b\n"), std::string::npos);
  EXPECT_NE(refusal("map<string, long>", "map<string, int>").find("  v.value: long in shop.a, int in shop.b\n"), std::string::npos);
  const std::string both = refusal("struct<x: string, y: long>", "struct<y: long, z: string>");
  EXPECT_NE(both.find("  v.x: string in shop.a, not in shop.b\n"), std::string::npos) << both;
  EXPECT_NE(both.find("  v.z: not in shop.a, string in shop.b\n"), std::string::npos) << both;
}

TEST(CommonRows, MembersMayStandInAnyOrder) {
  const auto rows = common(schema_of("struct<x: string, y: struct<p: long, q: int>>"), schema_of("struct<y: struct<q: int, p: long>, x: string>"));
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  EXPECT_EQ(*rows, schema_of("struct<x: string, y: struct<p: long, q: int>>"));
}

// A struct in a list, whose member is required or not.
columnar::Schema nested(bool is_member_required, bool is_element_required) {
  const Type line = Type::structure({{0, "sku", is_member_required, Type::primitive(TypeId::kString), ""}});
  columnar::Schema schema;
  schema.fields = {{0, "lines", false, Type::list({0, "", is_element_required, line, ""}), ""}};
  return columnar::assign_fresh_ids(schema);
}

TEST(CommonRows, WhatOneTableRequiresAtAnyDepthAllRowsMustHave) {
  EXPECT_EQ(common(nested(false, true), nested(true, false)).value(), nested(true, true));
  EXPECT_EQ(common(nested(false, false), nested(false, false)).value(), nested(false, false));
  EXPECT_TRUE(common(schema_of("string"), schema_of("string", true))->fields[1].required);
}

TEST(CommonRows, TheThirdTableIsComparedToo) {
  const columnar::Schema text = schema_of("string");
  const columnar::Schema number = schema_of("long");
  const auto rows = common_rows({{"shop.a", &text}, {"shop.b", &text}, {"shop.c", &number}});
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message().find("v: string in shop.a, long in shop.c"), std::string::npos) << rows.error().message();
}

TEST(CommonRows, ANameThatStandsTwiceIsRefusedWhereNamesArePaired) {
  columnar::Schema twice = schema_of("string");
  twice.fields.push_back(twice.fields[1]);
  EXPECT_TRUE(common_rows({{"shop.a", &twice}}).ok());
  EXPECT_FALSE(common(twice, schema_of("string")).ok());
}

}  // namespace
}  // namespace frazil::sinks
