#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "iceberg/bucket_hash.h"
#include "iceberg/literal_text.h"
#include "iceberg/partition_spec.h"

namespace frazil::iceberg {
namespace {

using columnar::Column;
using columnar::Type;
using columnar::TypeId;
using Kind = Transform::Kind;

Type type_of(TypeId id) { return Type::primitive(id); }

void append(Column& column, const Literal& value) {
  if (value.is_null()) return column.append_null();
  std::visit([&](const auto& v) {
    using T = std::decay_t<decltype(v)>;
    if constexpr (std::is_same_v<T, bool>) column.append_boolean(v);
    if constexpr (std::is_same_v<T, int32_t>) column.append_int(v);
    if constexpr (std::is_same_v<T, int64_t>) column.append_long(v);
    if constexpr (std::is_same_v<T, float>) column.append_float(v);
    if constexpr (std::is_same_v<T, double>) column.append_double(v);
    if constexpr (std::is_same_v<T, __int128>) column.append_decimal(v);
    if constexpr (std::is_same_v<T, std::string>) column.append_bytes(v);
  }, value.value);
}

Literal transformed(const Transform& transform, const Type& type, const Literal& value) {
  Column column(type);
  append(column, value);
  const auto result = apply(transform, column);
  EXPECT_TRUE(result.ok()) << result.error().message();
  return literal_at(*result, 0);
}

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out.push_back(static_cast<char>(value));
  return out;
}

// Days from a date, by counting: independent of the code under test.
int64_t days_before(int year) {
  int64_t days = 0;
  const auto length = [](int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0 ? 366 : 365; };
  for (int y = 1970; y < year; ++y) days += length(y);
  for (int y = year; y < 1970; ++y) days -= length(y);
  return days;
}

TEST(BucketHash, EqualsTheSamplesOfTheSpecification) {
  EXPECT_EQ(bucket_hash(type_of(TypeId::kInt), Literal(int32_t{34})), 2017239379);
  EXPECT_EQ(bucket_hash(type_of(TypeId::kLong), Literal(int64_t{34})), 2017239379);
  EXPECT_EQ(bucket_hash(Type::decimal(9, 2), Literal(__int128{1420})), -500754589);
  EXPECT_EQ(bucket_hash(type_of(TypeId::kDate), Literal(int32_t{17486})), -653330422);  // 2017-11-16
  EXPECT_EQ(bucket_hash(type_of(TypeId::kTime), Literal(int64_t{81068} * 1'000'000)), -662762989);  // 22:31:08
  constexpr int64_t kMoment = 1510871468LL * 1'000'000;  // 2017-11-16T22:31:08
  EXPECT_EQ(bucket_hash(type_of(TypeId::kTimestamp), Literal(kMoment)), -2047944441);
  EXPECT_EQ(bucket_hash(type_of(TypeId::kTimestamptz), Literal(kMoment)), -2047944441);  // 14:31:08-08:00
  EXPECT_EQ(bucket_hash(type_of(TypeId::kTimestamp), Literal(kMoment + 1)), -1207196810);
  EXPECT_EQ(bucket_hash(type_of(TypeId::kString), Literal(std::string("iceberg"))), 1210000089);
  const std::string uuid = bytes({0xf7, 0x9c, 0x3e, 0x09, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7});
  EXPECT_EQ(bucket_hash(type_of(TypeId::kUuid), Literal(uuid)), 1488055340);
  EXPECT_EQ(bucket_hash(Type::fixed(4), Literal(bytes({0, 1, 2, 3}))), -188683207);
  EXPECT_EQ(bucket_hash(type_of(TypeId::kBinary), Literal(bytes({0, 1, 2, 3}))), -188683207);
}

TEST(BucketHash, HashesEveryLengthOfTailAsMurmur3Does) {
  EXPECT_EQ(murmur3_32(""), 0);
  EXPECT_EQ(static_cast<uint32_t>(murmur3_32("a")), 0x3C2569B2U);
  EXPECT_EQ(static_cast<uint32_t>(murmur3_32("aa")), 0x371091A9U);
  EXPECT_EQ(static_cast<uint32_t>(murmur3_32("test")), 0xBA6BD213U);
  EXPECT_EQ(static_cast<uint32_t>(murmur3_32("abcdef")), 0x6181C085U);
}

RC_GTEST_PROP(BucketHash, HashesLongsAsTheirEightBytes, (int64_t value)) {
  std::string little;
  for (int i = 0; i < 8; ++i) little.push_back(static_cast<char>(value >> (8 * i)));
  RC_ASSERT(hash_long(value) == murmur3_32(little));
}

TEST(Bucket, MasksTheSignBeforeTheModulo) {
  EXPECT_EQ(transformed({Kind::kBucket, 16, {}}, type_of(TypeId::kLong), Literal(int64_t{34})), Literal(2017239379 % 16));
  const int32_t hash = bucket_hash(type_of(TypeId::kDate), Literal(int32_t{17486}));
  EXPECT_LT(hash, 0);
  EXPECT_EQ(transformed({Kind::kBucket, 10, {}}, type_of(TypeId::kDate), Literal(int32_t{17486})),
            Literal(static_cast<int32_t>((hash & INT32_MAX) % 10)));
}

RC_GTEST_PROP(Bucket, AgreesWithTheHashOfSingleValues, (int64_t number, std::string text)) {
  const auto width = *rc::gen::inRange<int32_t>(1, 1000);
  const auto expect = [&](const Type& type, const Literal& value) {
    const Literal bucket((bucket_hash(type, value) & INT32_MAX) % width);
    RC_ASSERT(transformed({Kind::kBucket, width, {}}, type, value) == bucket);
  };
  expect(type_of(TypeId::kLong), Literal(number));
  expect(type_of(TypeId::kInt), Literal(static_cast<int32_t>(number)));
  expect(type_of(TypeId::kTime), Literal(number));
  expect(Type::decimal(38, 3), Literal(static_cast<__int128>(number) * 1'000'003));
  expect(type_of(TypeId::kString), Literal(text));
  expect(type_of(TypeId::kBinary), Literal(text));
}

TEST(Truncate, EqualsTheSamplesOfTheSpecification) {
  const Transform ten{Kind::kTruncate, 10, {}};
  EXPECT_EQ(transformed(ten, type_of(TypeId::kInt), Literal(int32_t{1})), Literal(int32_t{0}));
  EXPECT_EQ(transformed(ten, type_of(TypeId::kInt), Literal(int32_t{-1})), Literal(int32_t{-10}));
  EXPECT_EQ(transformed(ten, type_of(TypeId::kLong), Literal(int64_t{1})), Literal(int64_t{0}));
  EXPECT_EQ(transformed(ten, type_of(TypeId::kLong), Literal(int64_t{-1})), Literal(int64_t{-10}));
  EXPECT_EQ(transformed({Kind::kTruncate, 50, {}}, Type::decimal(9, 2), Literal(__int128{1065})), Literal(__int128{1050}));
  const Transform three{Kind::kTruncate, 3, {}};
  EXPECT_EQ(transformed(three, type_of(TypeId::kString), Literal(std::string("iceberg"))), Literal(std::string("ice")));
  EXPECT_EQ(transformed(three, type_of(TypeId::kBinary), Literal(bytes({1, 2, 3, 4, 5}))), Literal(bytes({1, 2, 3})));
}

TEST(Truncate, FloorsNegativeDecimals) {
  EXPECT_EQ(transformed({Kind::kTruncate, 10, {}}, Type::decimal(9, 2), Literal(__int128{-5})), Literal(__int128{-10}));
}

TEST(Truncate, CutsTextByCodePoints) {
  const Transform two{Kind::kTruncate, 2, {}};
  const auto cut = [&](const char* text) {
    return std::get<std::string>(transformed(two, type_of(TypeId::kString), Literal(std::string(text))).value);
  };
  EXPECT_EQ(cut("😀😁😂"), "😀😁");
  EXPECT_EQ(cut("äöü"), "äö");
  EXPECT_EQ(cut("a"), "a");
  EXPECT_EQ(cut("é"), "é");
  EXPECT_EQ(cut(""), "");
}

TEST(Truncate, CutsBinaryByBytes) {
  EXPECT_EQ(transformed({Kind::kTruncate, 2, {}}, type_of(TypeId::kBinary), Literal(std::string("😀"))),
            Literal(std::string("😀").substr(0, 2)));
}

RC_GTEST_PROP(Truncate, GivesTheMultipleBelow, (int64_t value)) {
  const auto width = *rc::gen::inRange<int32_t>(1, 100'000);
  RC_PRE(value > INT64_MIN + width);
  const auto cut = std::get<int64_t>(transformed({Kind::kTruncate, width, {}}, type_of(TypeId::kLong), Literal(value)).value);
  RC_ASSERT(cut % width == 0);
  RC_ASSERT(cut <= value && value - cut < width);
}

int32_t int_result(Kind kind, TypeId type, const Literal& value) {
  return std::get<int32_t>(transformed({kind, 0, {}}, type_of(type), value).value);
}

TEST(TimeTransforms, GoBelow1970TowardThePast) {
  const Literal before(int64_t{-1});  // 1969-12-31T23:59:59.999999
  EXPECT_EQ(int_result(Kind::kYear, TypeId::kTimestamp, before), -1);
  EXPECT_EQ(int_result(Kind::kMonth, TypeId::kTimestamp, before), -1);
  EXPECT_EQ(int_result(Kind::kDay, TypeId::kTimestamp, before), -1);
  EXPECT_EQ(int_result(Kind::kHour, TypeId::kTimestamp, before), -1);
  EXPECT_EQ(int_result(Kind::kYear, TypeId::kDate, Literal(int32_t{-1})), -1);
  EXPECT_EQ(int_result(Kind::kMonth, TypeId::kDate, Literal(int32_t{-1})), -1);
  EXPECT_EQ(int_result(Kind::kDay, TypeId::kDate, Literal(int32_t{-1})), -1);
}

TEST(TimeTransforms, GiveZeroAtTheEpoch) {
  for (const Kind kind : {Kind::kYear, Kind::kMonth, Kind::kDay, Kind::kHour}) {
    EXPECT_EQ(int_result(kind, TypeId::kTimestamptz, Literal(int64_t{0})), 0);
  }
}

TEST(TimeTransforms, EqualKnownMoments) {
  const Literal moment(int64_t{1512151975038194});  // 2017-12-01T18:12:55.038194
  EXPECT_EQ(int_result(Kind::kYear, TypeId::kTimestamp, moment), 47);
  EXPECT_EQ(int_result(Kind::kMonth, TypeId::kTimestamp, moment), 47 * 12 + 11);
  EXPECT_EQ(int_result(Kind::kDay, TypeId::kTimestamp, moment), 17501);
  EXPECT_EQ(int_result(Kind::kHour, TypeId::kTimestamp, moment), 17501 * 24 + 18);
}

// A twelve-hour clock would give 6 for 18 and 0 for 12.
TEST(TimeTransforms, CountHoursOfTheWholeDay) {
  for (int hour = 0; hour < 24; ++hour) {
    const Literal moment((int64_t{17501} * 24 + hour) * 3600 * 1'000'000 + 1);
    EXPECT_EQ(int_result(Kind::kHour, TypeId::kTimestamptz, moment), 17501 * 24 + hour);
    EXPECT_EQ(hour_text(int64_t{17501} * 24 + hour), "2017-12-01-" + std::string(hour < 10 ? "0" : "") + std::to_string(hour));
  }
}

TEST(TimeTransforms, StartEveryYearOnItsFirstDay) {
  for (int year = 1; year <= 9999; ++year) {
    const auto first = static_cast<int32_t>(days_before(year));
    ASSERT_EQ(int_result(Kind::kYear, TypeId::kDate, Literal(first)), year - 1970) << year;
    ASSERT_EQ(int_result(Kind::kMonth, TypeId::kDate, Literal(first)), (year - 1970) * 12) << year;
    ASSERT_EQ(int_result(Kind::kYear, TypeId::kDate, Literal(first - 1)), year - 1971) << year;
    ASSERT_EQ(int_result(Kind::kMonth, TypeId::kDate, Literal(first - 1)), (year - 1970) * 12 - 1) << year;
  }
}

TEST(Transform, KeepsNullsEverywhere) {
  for (const char* text : {"identity", "bucket[4]", "truncate[4]", "void"}) {
    EXPECT_TRUE(transformed(transform_from_string(text), type_of(TypeId::kLong), Literal()).is_null()) << text;
  }
  for (const char* text : {"year", "month", "day", "hour"}) {
    EXPECT_TRUE(transformed(transform_from_string(text), type_of(TypeId::kTimestamp), Literal()).is_null()) << text;
  }
  EXPECT_TRUE(transformed({Kind::kVoid, 0, {}}, type_of(TypeId::kString), Literal(std::string("x"))).is_null());
}

TEST(Transform, ReadsItsOwnTextAndKeepsThatOfOthers) {
  for (const char* text : {"identity", "bucket[16]", "truncate[4]", "year", "month", "day", "hour", "void", "zorder[3]", "bucket[0]"}) {
    EXPECT_EQ(to_string(transform_from_string(text)), text);
  }
  EXPECT_EQ(transform_from_string("bucket[0]").kind, Kind::kUnknown);
  EXPECT_EQ(result_type(transform_from_string("zorder[3]"), type_of(TypeId::kInt)).error().code(), base::Code::kUnsupported);
}

TEST(Transform, RefusesTypesThatItCannotTake) {
  const auto refuses = [](Kind kind, const Type& type) {
    const auto result = result_type({kind, 4, {}}, type);
    return !result.ok() && result.error().code() == base::Code::kInvalid;
  };
  EXPECT_TRUE(refuses(Kind::kBucket, type_of(TypeId::kDouble)));
  EXPECT_TRUE(refuses(Kind::kBucket, type_of(TypeId::kBoolean)));
  EXPECT_TRUE(refuses(Kind::kTruncate, type_of(TypeId::kDate)));
  EXPECT_TRUE(refuses(Kind::kHour, type_of(TypeId::kDate)));
  EXPECT_TRUE(refuses(Kind::kDay, type_of(TypeId::kLong)));
  EXPECT_TRUE(refuses(Kind::kIdentity, Type::list({1, "element", true, type_of(TypeId::kInt), ""})));
}

TEST(Transform, GivesDaysAsDates) {
  EXPECT_EQ(result_type({Kind::kDay, 0, {}}, type_of(TypeId::kTimestamptz)).value(), type_of(TypeId::kDate));
  EXPECT_EQ(result_type({Kind::kHour, 0, {}}, type_of(TypeId::kTimestamptz)).value(), type_of(TypeId::kInt));
}

}  // namespace
}  // namespace frazil::iceberg
