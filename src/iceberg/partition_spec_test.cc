#include "iceberg/partition_spec.h"

#include <gtest/gtest.h>

#include "iceberg/partition_spec_json.h"

namespace frazil::iceberg {
namespace {

using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;

Schema schema() {
  Schema schema;
  const auto add = [&](const char* name, Type type) {
    schema.fields.push_back({static_cast<int32_t>(schema.fields.size()) + 1, name, false, std::move(type), ""});
  };
  add("id", Type::primitive(TypeId::kLong));
  add("ts", Type::primitive(TypeId::kTimestamptz));
  add("name", Type::primitive(TypeId::kString));
  add("raw", Type::primitive(TypeId::kBinary));
  add("d", Type::primitive(TypeId::kDate));
  add("nested", Type::structure({{10, "inner", false, Type::primitive(TypeId::kInt), ""}}));
  add("odd, name(1)", Type::primitive(TypeId::kInt));
  add("price", Type::decimal(9, 2));
  return schema;
}

TEST(PartitionSpec, ReadsBothOrdersOfArgumentsAndNamesFieldsAsJavaDoes) {
  const auto spec = parse_partition_spec({"bucket(64, id)", "days(ts)", "truncate(name, 4)", "d", "void(raw)"}, schema());
  ASSERT_TRUE(spec.ok()) << spec.error().message();
  ASSERT_EQ(spec->fields.size(), 5U);
  EXPECT_EQ(spec->fields[0], (PartitionField{1, 1000, "id_bucket", {Transform::Kind::kBucket, 64, {}}}));
  EXPECT_EQ(spec->fields[1], (PartitionField{2, 1001, "ts_day", {Transform::Kind::kDay, 0, {}}}));
  EXPECT_EQ(spec->fields[2], (PartitionField{3, 1002, "name_trunc", {Transform::Kind::kTruncate, 4, {}}}));
  EXPECT_EQ(spec->fields[3], (PartitionField{5, 1003, "d", {}}));
  EXPECT_EQ(spec->fields[4], (PartitionField{4, 1004, "raw_null", {Transform::Kind::kVoid, 0, {}}}));
  EXPECT_EQ(to_string(spec->fields[2], schema()), "truncate(4, name)");
  const auto other = parse_partition_spec({"bucket(id, 64)"}, schema());
  EXPECT_EQ(other->fields[0], spec->fields[0]);
}

TEST(PartitionSpec, FindsNestedAndOddlyNamedColumns) {
  const auto spec = parse_partition_spec({"nested.inner", "bucket(8, odd, name(1))", "odd, name(1)"}, schema());
  ASSERT_TRUE(spec.ok()) << spec.error().message();
  EXPECT_EQ(spec->fields[0].source_id, 10);
  EXPECT_EQ(spec->fields[1].source_id, 7);
  EXPECT_EQ(spec->fields[2].transform.kind, Transform::Kind::kIdentity);
}

TEST(PartitionSpec, NamesWhatIsWrong) {
  for (const char* entry : {"nosuch", "bucket(id)", "bucket(0, id)", "bucket(-1, id)", "bucket(x, id)", "cube(3, id)", "hour(d)",
                            "day(nosuch)", "bucket(64, id", "", "nested"}) {
    const auto spec = parse_partition_spec({entry}, schema());
    ASSERT_FALSE(spec.ok()) << entry;
    EXPECT_EQ(spec.error().code(), base::Code::kInvalid) << entry;
    EXPECT_NE(spec.error().message().find(entry), std::string::npos) << spec.error().message();
  }
  EXPECT_FALSE(parse_partition_spec({"bucket(4, id)", "bucket(8, id)"}, schema()).ok());
}

std::string path(const std::vector<std::string>& entries, PartitionKey key) {
  return partition_path(parse_partition_spec(entries, schema()).value(), schema(), key);
}

TEST(PartitionPath, EscapesAsJavaDoes) {
  EXPECT_EQ(path({"bucket(64, id)", "day(ts)"}, {Literal(int32_t{5}), Literal(int32_t{17501})}), "id_bucket=5/ts_day=2017-12-01");
  EXPECT_EQ(path({"name"}, {Literal(std::string("a/b c=ä*-_.~"))}), "name=a%2Fb+c%3D%C3%A4*-_.%7E");
  EXPECT_EQ(path({"name"}, {Literal()}), "name=null");
  EXPECT_EQ(path({"odd, name(1)"}, {Literal(int32_t{-1})}), "odd%2C+name%281%29=-1");
  EXPECT_EQ(path({"raw"}, {Literal(std::string("ab"))}), "raw=YWI%3D");
  EXPECT_EQ(path({"ts"}, {Literal(int64_t{1512151975038194})}), "ts=2017-12-01T18%3A12%3A55.038194Z");
  EXPECT_EQ(path({"year(ts)"}, {Literal(int32_t{-1})}), "ts_year=1969");
  EXPECT_EQ(path({"month(ts)"}, {Literal(int32_t{-1})}), "ts_month=1969-12");
  EXPECT_EQ(path({"hour(ts)"}, {Literal(int32_t{-1})}), "ts_hour=1969-12-31-23");
  EXPECT_EQ(path({"price"}, {Literal(__int128{-5})}), "price=-0.05");
  EXPECT_EQ(path({}, {}), "");
}

TEST(PartitionPath, CutsWhatNoDiskTakesAndKeepsItApart) {
  for (size_t length = 1; length < 700; ++length) {
    std::string umlauts;
    for (size_t i = 0; i < length; ++i) umlauts += i % 7 == length % 7 ? "x" : "ä";
    const std::string made = path({"name"}, {Literal(umlauts)});
    EXPECT_LE(made.size(), 200U);
    EXPECT_NE(made, path({"name"}, {Literal(umlauts + "y")}));
    for (size_t at = made.find('%'); at != std::string::npos; at = made.find('%', at + 1)) {
      EXPECT_EQ(made.substr(at + 1, 2).find_first_not_of("0123456789ABCDEF"), std::string::npos) << made;
    }
  }
  const std::string a(200 - std::string("name=").size(), 'a');
  EXPECT_EQ(path({"name"}, {Literal(a)}), "name=" + a);
}

TEST(PartitionSpecJson, ReadsBackWhatItWrote) {
  auto spec = parse_partition_spec({"bucket(64, id)", "day(ts)", "name"}, schema()).value();
  spec.spec_id = 3;
  spec.fields[2].transform = transform_from_string("zorder[3]");
  EXPECT_EQ(spec_from_json(spec_to_json(spec)).value(), spec);
  EXPECT_EQ(spec_fields_from_json(spec_fields_to_json(spec), 3).value(), spec);
  const SortOrder order{2, {{1, transform_from_string("bucket[4]"), false, true}, {2, {}, true, false}}};
  EXPECT_EQ(sort_order_from_json(sort_order_to_json(order)).value(), order);
}

TEST(PartitionSpecJson, EqualsTheSampleOfTheSpecification) {
  const auto spec = spec_fields_from_json(R"([{"source-id":4,"field-id":1000,"name":"ts_day","transform":"day"},
      {"source-id":1,"field-id":1001,"name":"id_bucket","transform":"bucket[16]"}])", 0).value();
  EXPECT_EQ(spec.fields[0], (PartitionField{4, 1000, "ts_day", {Transform::Kind::kDay, 0, {}}}));
  EXPECT_EQ(spec.fields[1], (PartitionField{1, 1001, "id_bucket", {Transform::Kind::kBucket, 16, {}}}));
}

TEST(PartitionSpecJson, NumbersFieldsOfVersionOneFromOneThousand) {
  const auto spec = spec_fields_from_json(
      R"([{"source-id":4,"name":"a","transform":"day"},{"source-id":1,"name":"b","transform":"identity"}])", 0).value();
  EXPECT_EQ(spec.fields[1].field_id, 1001);
}

}  // namespace
}  // namespace frazil::iceberg
