#include "iceberg/literal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "iceberg/literal_text.h"

namespace frazil::iceberg {
namespace {

using columnar::Type;
using columnar::TypeId;

Type type_of(TypeId id) { return Type::primitive(id); }

TEST(Literal, WritesDecimalsInTheirShortestForm) {
  EXPECT_EQ(decimal_to_binary(0), std::string(1, '\0'));
  EXPECT_EQ(decimal_to_binary(127), "\x7f");
  EXPECT_EQ(decimal_to_binary(128), std::string("\x00\x80", 2));
  EXPECT_EQ(decimal_to_binary(-1), "\xff");
  EXPECT_EQ(decimal_to_binary(-128), "\x80");
  EXPECT_EQ(decimal_to_binary(-129), std::string("\xff\x7f", 2));
  EXPECT_EQ(decimal_to_binary(1420), std::string("\x05\x8c", 2));
  EXPECT_EQ(decimal_to_binary(static_cast<__int128>(1) << 126).size(), 16U);
}

RC_GTEST_PROP(Literal, ReadsBackEveryDecimal, (int64_t high, uint64_t low)) {
  const auto value = static_cast<__int128>(static_cast<unsigned __int128>(static_cast<__int128>(high)) << 64 | low);
  RC_ASSERT(decimal_from_binary(decimal_to_binary(value)).value() == value);
}

RC_GTEST_PROP(Literal, ReadsBackItsBinaryForm, (int64_t number, double real, std::string text)) {
  const auto holds = [](const Type& type, const Literal& value) {
    return from_binary(type, to_binary(type, value)).value() == value;
  };
  RC_ASSERT(holds(type_of(TypeId::kLong), Literal(number)));
  RC_ASSERT(holds(type_of(TypeId::kTimestamptz), Literal(number)));
  RC_ASSERT(holds(type_of(TypeId::kDate), Literal(static_cast<int32_t>(number))));
  RC_ASSERT(holds(type_of(TypeId::kDouble), Literal(real)));
  RC_ASSERT(holds(type_of(TypeId::kBoolean), Literal(number % 2 == 0)));
  RC_ASSERT(holds(type_of(TypeId::kString), Literal(text)));
  RC_ASSERT(holds(Type::fixed(static_cast<int>(text.size())), Literal(text)));
}

TEST(Literal, WritesNumbersLittleEndian) {
  EXPECT_EQ(to_binary(type_of(TypeId::kInt), Literal(int32_t{0x01020304})), "\x04\x03\x02\x01");
  EXPECT_EQ(to_binary(type_of(TypeId::kBoolean), Literal(true)), "\x01");
}

TEST(Literal, RefusesWrongLengths) {
  EXPECT_EQ(from_binary(type_of(TypeId::kInt), "abc").error().code(), base::Code::kCorrupt);
  EXPECT_FALSE(from_binary(type_of(TypeId::kUuid), "short").ok());
  EXPECT_FALSE(from_binary(Type::fixed(3), "ab").ok());
  EXPECT_FALSE(from_binary(type_of(TypeId::kBoolean), "").ok());
  EXPECT_FALSE(from_binary(Type::decimal(9, 2), std::string(17, 'x')).ok());
  EXPECT_FALSE(from_binary(Type::decimal(9, 2), "").ok());
}

TEST(Literal, ReadsBoundsFromBeforeAPromotion) {
  EXPECT_EQ(from_binary(type_of(TypeId::kLong), std::string("\xff\xff\xff\xff", 4)).value(), Literal(int64_t{-1}));
  const std::string narrow = to_binary(type_of(TypeId::kFloat), Literal(1.5F));
  EXPECT_EQ(from_binary(type_of(TypeId::kDouble), narrow).value(), Literal(1.5));
}

TEST(Literal, OrdersFloatsAsIcebergDoes) {
  const Type type = type_of(TypeId::kDouble);
  EXPECT_TRUE(compare(type, Literal(-0.0), Literal(0.0)) < 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(compare(type, Literal(nan), Literal(std::numeric_limits<double>::infinity())) > 0);
  EXPECT_TRUE(compare(type, Literal(nan), Literal(-nan)) == 0);
  EXPECT_TRUE(compare(type, Literal(-1.0), Literal(1.0)) < 0);
}

TEST(Literal, OrdersDecimalsSignedAndTextByBytes) {
  EXPECT_TRUE(compare(Type::decimal(9, 2), Literal(__int128{-1}), Literal(__int128{0})) < 0);
  EXPECT_TRUE(compare(type_of(TypeId::kString), Literal(std::string("z")), Literal(std::string("ä"))) < 0);
  EXPECT_TRUE(compare(type_of(TypeId::kString), Literal(std::string("a")), Literal(std::string("ab"))) < 0);
}

TEST(Literal, PrintsAsJavaDoes) {
  EXPECT_EQ(to_text(type_of(TypeId::kDate), Literal(int32_t{17501})), "2017-12-01");
  EXPECT_EQ(to_text(type_of(TypeId::kDate), Literal(int32_t{-1})), "1969-12-31");
  EXPECT_EQ(to_text(type_of(TypeId::kTimestamp), Literal(int64_t{1512151975038194})), "2017-12-01T18:12:55.038194");
  EXPECT_EQ(to_text(type_of(TypeId::kTimestamptz), Literal(int64_t{1512151975038000})), "2017-12-01T18:12:55.038Z");
  EXPECT_EQ(to_text(type_of(TypeId::kTimestamp), Literal(int64_t{-1})), "1969-12-31T23:59:59.999999");
  EXPECT_EQ(to_text(type_of(TypeId::kTime), Literal(int64_t{36775} * 1'000'000)), "10:12:55");
  EXPECT_EQ(to_text(type_of(TypeId::kTime), Literal(int64_t{0})), "00:00");
  EXPECT_EQ(to_text(Type::decimal(9, 2), Literal(__int128{-5})), "-0.05");
  EXPECT_EQ(to_text(Type::decimal(9, 0), Literal(__int128{1420})), "1420");
  EXPECT_EQ(to_text(type_of(TypeId::kDouble), Literal(1.0)), "1.0");
  EXPECT_EQ(to_text(type_of(TypeId::kUuid), Literal(std::string(16, '\x11'))), "11111111-1111-1111-1111-111111111111");
  EXPECT_EQ(to_text(type_of(TypeId::kLong), Literal()), "null");
  EXPECT_EQ(base64_text("ab"), "YWI=");
  EXPECT_EQ(base64_text("abc"), "YWJj");
  EXPECT_EQ(base64_text("a"), "YQ==");
}

}  // namespace
}  // namespace frazil::iceberg
