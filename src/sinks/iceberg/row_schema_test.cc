#include "sinks/iceberg/row_schema.h"

#include <gtest/gtest.h>

namespace frazil::sinks {
namespace {

columnar::Schema schema_of(const std::string& type) {
  columnar::Schema schema;
  schema.fields = {{0, "v", false, columnar::parse_type(type).value(), ""}};
  return columnar::assign_fresh_ids(schema);
}

base::Result<std::shared_ptr<const columnar::Schema>> rows_for(const std::string& configured, const std::string& table) {
  IcebergSinkConfig config;
  config.schema = schema_of(configured);
  return row_schema_for(config, schema_of(table));
}

TEST(RowSchema, RowsHaveTheOrderOfTheTablesMembersWhateverTheConfiguredOne) {
  const auto rows = rows_for("struct<x: string, y: list<struct<a: int, b: long>>>", "struct<y: list<struct<b: long, a: int>>, x: string>");
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  EXPECT_EQ((*rows)->fields[0].type.name(), "struct<y: list<struct<b: long, a: int>>, x: string>");
}

TEST(RowSchema, MembersOfAnotherTypeOrNameDoNotFit) {
  for (const char* table : {"struct<y: string, x: long>", "struct<x: string>", "struct<x: string, z: long>", "struct<x: string, y: int>",
                            "struct<x: string, y: long, z: long>", "list<string>"}) {
    const auto rows = rows_for("struct<x: string, y: long>", table);
    ASSERT_FALSE(rows.ok()) << table;
    EXPECT_NE(rows.error().message().find("v: the schema says struct<x: string, y: long>, the table "), std::string::npos);
  }
}

}  // namespace
}  // namespace frazil::sinks
