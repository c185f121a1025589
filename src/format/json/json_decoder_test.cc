// One test for each rule of how JSON becomes rows, in the order of the table in docs/json.md.

#include "format/json/json_decoder.h"

#include <gtest/gtest.h>

#include "format/json/decoded_rows.h"

namespace frazil::format {
namespace {

using namespace std::string_literals;

TEST(JsonDecoder, NullsABadFieldWhenAskedAndOptional) {
  DecodedRows rows(Fields{{"a", "int"}, {"b", "string"}, {"c", "int!"}}, {.bad_field_null = true});
  EXPECT_EQ(rows.outcome(R"({"a":"x","b":"y","c":1})"), "null,y,1");
  EXPECT_EQ(rows.outcome(R"({"a":{"deep":[1,2]},"b":"y","c":1})"), "null,y,1");
  EXPECT_EQ(rows.outcome(R"({"a":1,"b":"y","c":"x"})"), "!TYPE_MISMATCH c");
  EXPECT_EQ(rows.decoder->counters().bad_fields_nulled, 2);
}

TEST(JsonDecoder, NullsTheInnermostBadField) {
  DecodedRows rows(Fields{{"s", "struct<a: int, b: list<int>>"}, {"m", "map<int, date>"}}, {.bad_field_null = true});
  EXPECT_EQ(rows.outcome(R"({"s":{"a":"x","b":[1,"y",3]},"m":{"1":"2026-01-31","2":3}})"),
            "{null,[1,null,3]},{1:20484,2:null}");
  EXPECT_EQ(rows.outcome(R"({"s":[1],"m":7})"), "null,null");
  EXPECT_EQ(rows.outcome(R"({"m":{"x":"2026-01-31"}})"), "!TYPE_MISMATCH m.key");
}

TEST(JsonDecoder, NeverNullsWhatIsNotJson) {
  EXPECT_EQ(decoded("int", R"("\ud800")", {.bad_field_null = true}), "!NOT_JSON");
  EXPECT_EQ(decoded("int", R"([1,})", {.bad_field_null = true}), "!NOT_JSON");
}

TEST(JsonDecoder, RejectsABadFieldByDefault) {
  DecodedRows rows(Fields{{"s", "struct<a: int, tags: list<int>>"}, {"m", "map<string, int>"}});
  EXPECT_EQ(rows.outcome(R"({"s":{"a":"x"}})"), "!TYPE_MISMATCH s.a");
  EXPECT_EQ(rows.outcome(R"({"s":{"a":1,"tags":[1,true]}})"), "!TYPE_MISMATCH s.tags.element");
  EXPECT_EQ(rows.outcome(R"({"m":{"k":"v"}})"), "!TYPE_MISMATCH m.value");
  EXPECT_EQ(rows.outcome(R"({"s":{"a":1,"tags":[1]},"m":{}})"), "{1,[1]},{}");
}

TEST(JsonDecoder, SaysWhatDoesNotFit) {
  DecodedRows rows(Fields{{"count", "int"}});
  EXPECT_EQ(rows.decode(R"({"count":"forty"})")->message, R"(expected int, found the string "forty")");
  EXPECT_EQ(rows.decode(R"({"count":4.25})")->message, "4.25 is not a whole number");
  EXPECT_EQ(rows.decode(R"({"count":4)")->message, "expected ',' or '}' at byte 10");
  const auto reject = rows.decode("{\"count\":\"" + std::string(10'000, 'x') + "\"}");
  EXPECT_LT(reject->message.size(), 150U);
}

// What a message recommends, the column takes.
TEST(JsonDecoder, TakesTheExamplesOfItsOwnMessages) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"date", "yesterday"}, {"time", "noon"}, {"timestamp", "yesterday"}, {"timestamp", "2026-01-31T12:34:56Z"}, {"timestamptz", "yesterday"}, {"timestamptz", "2026-01-31T12:34:56"}, {"uuid", "mine"}};
  for (const auto& [type, text] : refused) {
    DecodedRows rows(Fields{{"v", type}});
    const auto reject = rows.decode(R"({"v":")" + text + R"("})");
    ASSERT_TRUE(reject) << type;
    const size_t begin = reject->message.rfind("; "), end = reject->message.rfind(" is one");
    ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << reject->message;
    const std::string example = reject->message.substr(begin + 2, end - begin - 2);
    EXPECT_FALSE(rows.outcome(R"({"v":")" + example + R"("})").starts_with("!")) << type << ": " << reject->message;
  }
}

TEST(JsonDecoder, FillsMissingOptionalFieldsWithNull) {
  DecodedRows rows(Fields{{"a", "int"}, {"b", "string!"}, {"s", "struct<x: int, y: int>"}});
  EXPECT_EQ(rows.outcome(R"({"b":"y","s":{"y":2}})"), "null,y,{null,2}");
  EXPECT_EQ(rows.outcome(R"({"a":1})"), "!MISSING_FIELD b");
  EXPECT_EQ(rows.outcome("{}"), "!MISSING_FIELD b");
}

TEST(JsonDecoder, RejectsAMissingFieldWhenAskedButTakesNull) {
  DecodedRows rows(Fields{{"a", "int"}, {"s", "struct<x: int>"}}, {.missing_field_reject = true});
  EXPECT_EQ(rows.outcome(R"({"a":null,"s":{"x":null}})"), "null,{null}");
  EXPECT_EQ(rows.outcome(R"({"s":{"x":1}})"), "!MISSING_FIELD a");
  EXPECT_EQ(rows.outcome(R"({"a":1,"s":{}})"), "!MISSING_FIELD s.x");
}

TEST(JsonDecoder, RejectsNullInARequiredField) {
  DecodedRows rows(Fields{{"a", "int!"}, {"b", "int"}}, {.bad_field_null = true});
  EXPECT_EQ(rows.outcome(R"({"a":null})"), "!NULL_IN_REQUIRED a");
  EXPECT_EQ(rows.outcome(R"({"a":1,"b":null})"), "1,null");
}

TEST(JsonDecoder, IgnoresAndCountsUnknownFields) {
  DecodedRows rows(Fields{{"a", "int"}});
  EXPECT_EQ(rows.outcome(R"({"x":{"a":7,"y":[1,{"z":null}]},"a":1,"w":"\u00e9"})"), "1");
  EXPECT_EQ(rows.outcome(R"({"x":1,"a":"bad"})"), "!TYPE_MISMATCH a");
  EXPECT_EQ(rows.decoder->counters().unknown_fields, 2);
  EXPECT_EQ(rows.decoder->counters().rows, 1);
}

TEST(JsonDecoder, ChecksTheFieldsThatItIgnores) {
  for (const char* value : {"NaN",
                            "01",
                            "1.",
                            "1e",
                            ".5",
                            "+1",
                            "tru",
                            "nul",
                            R"("\x")",
                            R"("\ud800")",
                            R"("\udc00\ud800")",
                            R"("\ud800\u0041")",
                            R"("\u12g4")",
                            "[1,]",
                            "[1 2]",
                            R"({"a"})",
                            R"({"a":1,})",
                            "{,}",
                            "'x'",
                            "",
                            "\"a\nb\"",
                            R"({a:1})",
                            "[}",
                            "{]",
                            "-",
                            "1-",
                            "Infinity"}) {
    DecodedRows rows(Fields{{"a", "int"}});
    EXPECT_EQ(rows.outcome(std::string("{\"a\":1,\"x\":") + value + "}"), "!NOT_JSON") << value;
  }
  DecodedRows rows(Fields{{"a", "int"}});
  EXPECT_EQ(rows.outcome("{\"a\":1,\"x\":\"\xc3\x28\"}"), "!BAD_UTF8");
}

TEST(JsonDecoder, TakesTheLastOfADuplicateKeyAndDoesNotCheckTheOthers) {
  DecodedRows rows(Fields{{"a", "int"}, {"s", "struct<b: int, c: string>"}, {"m", "map<int, int>"}});
  EXPECT_EQ(rows.outcome(R"({"a":1,"a":2})"), "2,null,null");
  EXPECT_EQ(rows.outcome(R"({"a":"bad","a":[],"a":3})"), "3,null,null");
  EXPECT_EQ(rows.outcome(R"({"a":1,"a":"bad"})"), "!TYPE_MISMATCH a");
  EXPECT_EQ(rows.outcome(R"({"a":1,"\u0061":4})"), "4,null,null");
  EXPECT_EQ(rows.outcome(R"({"s":{"b":{},"c":"x","b":5},"s":{"b":6,"b":7}})"), "null,{7,null},null");
  EXPECT_EQ(rows.outcome(R"({"m":{"1":"bad","2":2,"1":3,"1.0":4}})"), "null,null,{2:2,1:4}");
  EXPECT_EQ(rows.decoder->counters().duplicate_keys, 1 + 2 + 1 + 2 + 2);
}

TEST(JsonDecoder, TakesTheLastOfADuplicateKeyWhenBadFieldsAreNulled) {
  DecodedRows rows(Fields{{"a", "int"}}, {.bad_field_null = true});
  EXPECT_EQ(rows.outcome(R"({"a":"bad","a":3})"), "3");
  EXPECT_EQ(rows.outcome(R"({"a":3,"a":"bad"})"), "null");
  EXPECT_EQ(rows.decoder->counters().bad_fields_nulled, 1);
}

TEST(JsonDecoder, RejectsAnOverriddenValueThatIsNoJson) {
  DecodedRows rows(Fields{{"a", "int"}});
  EXPECT_EQ(rows.outcome(R"({"a":NaN,"a":3})"), "!NOT_JSON");
}

TEST(JsonDecoder, TakesOnlyTrueAndFalseForBooleans) {
  EXPECT_EQ(decoded("boolean", "true"), "true");
  EXPECT_EQ(decoded("boolean", "false"), "false");
  for (const char* value : {"1", "0", R"("true")", R"("yes")", "[]", "{}"}) {
    EXPECT_EQ(decoded("boolean", value), "!TYPE_MISMATCH v") << value;
  }
  const JsonOptions coerce{.coerce_strings = true};
  EXPECT_EQ(decoded("boolean", R"("true")", coerce), "true");
  EXPECT_EQ(decoded("boolean", R"("false")", coerce), "false");
  EXPECT_EQ(decoded("boolean", R"("TRUE")", coerce), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("boolean", "1", coerce), "!TYPE_MISMATCH v");
}

TEST(JsonDecoder, CountsNamesThatDifferOnlyByCase) {
  DecodedRows rows(Fields{{"custid", "long"}});
  EXPECT_EQ(rows.outcome(R"({"custId":1})"), "null");
  EXPECT_EQ(rows.outcome(R"({"CUSTID":2})"), "null");
  EXPECT_EQ(rows.outcome(R"({"custid":3,"custId":4})"), "3");
  EXPECT_EQ(rows.decoder->counters().case_mismatches, 3);
  EXPECT_EQ(rows.decoder->counters().first_case_mismatch, "custId");
}

TEST(JsonDecoder, DoesNotCountTheCaseOfARejectedDocument) {
  DecodedRows rows(Fields{{"custid", "long"}});
  EXPECT_EQ(rows.outcome(R"({"CustID":1,"custid":"x"})"), "!TYPE_MISMATCH custid");
  EXPECT_EQ(rows.decoder->counters().case_mismatches, 0);
  EXPECT_EQ(rows.outcome(R"({"custId":1})"), "null");
  EXPECT_EQ(rows.decoder->counters().first_case_mismatch, "custId");
}

TEST(JsonDecoder, MatchesNamesWithoutCaseWhenAsked) {
  DecodedRows rows(Fields{{"custid", "long"}, {"S", "struct<In: int>"}}, {.case_insensitive = true});
  EXPECT_EQ(rows.outcome(R"({"custId":1})"), "1,null");
  EXPECT_EQ(rows.outcome(R"({"CUSTID":2,"s":{"IN":5}})"), "2,{5}");
  EXPECT_EQ(rows.outcome(R"({"custid":3,"custid":4})"), "4,null");
  EXPECT_EQ(rows.outcome(R"({"custId":3,"custId":4})"), "4,null");
  EXPECT_EQ(rows.outcome(R"({"custid":3,"custId":4})"), "!AMBIGUOUS_FIELD custid");
  EXPECT_EQ(rows.outcome(R"({"s":{"in":1,"iN":1}})"), "!AMBIGUOUS_FIELD S.In");
  EXPECT_EQ(rows.decoder->counters().unknown_fields, 0);
}

TEST(JsonDecoder, RefusesColumnsThatJsonCannotTellApart) {
  const auto schema = DecodedRows::schema_of(Fields{{"id", "int"}, {"ID", "int"}});
  EXPECT_TRUE(JsonDecoder::make(schema, {}).ok());
  EXPECT_EQ(JsonDecoder::make(schema, {.case_insensitive = true}).error().code(), base::Code::kInvalid);
  DecodedRows rows(Fields{{"id", "int"}, {"ID", "int"}});
  EXPECT_EQ(rows.outcome(R"({"ID":2,"id":1})"), "1,2");
}

TEST(JsonDecoder, GivesStringColumnsTheTextOfOtherValues) {
  EXPECT_EQ(decoded("string", "1.50e+2"), "1.50e+2");
  EXPECT_EQ(decoded("string", "-0"), "-0");
  EXPECT_EQ(decoded("string", "true"), "true");
  EXPECT_EQ(decoded("string", "false"), "false");
  EXPECT_EQ(decoded("string", R"({ "a" : [1, "\u00e9"] } )"), R"({ "a" : [1, "\u00e9"] })");
  EXPECT_EQ(decoded("string", R"([ 1 ])"), "[ 1 ]");
  EXPECT_EQ(decoded("string", "[1,]"), "!NOT_JSON");
  EXPECT_EQ(decoded("string", "null"), "null");
}

TEST(JsonDecoder, UnescapesStrings) {
  EXPECT_EQ(decoded("string", R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decoded("string", R"("\u0041\u00e9\u20AC\ud83d\ude00z")"), "Aé€😀z");
  EXPECT_EQ(decoded("string", R"("plain é€😀")"), "plain é€😀");
  EXPECT_EQ(decoded("string", R"("")"), "");
}

TEST(JsonDecoder, TakesIntegralNumbersForIntegerColumns) {
  for (const char* value :
       {"42", "42.0", "4.2e1", "420e-1", "0.42E+2", "42.000000000000000000000000000000000000000000"}) {
    EXPECT_EQ(decoded("int", value), "42") << value;
    EXPECT_EQ(decoded("long", value), "42") << value;
  }
  EXPECT_EQ(decoded("int", "-0"), "0");
  EXPECT_EQ(decoded("int", "42.5"), "!NOT_INTEGRAL v");
  EXPECT_EQ(decoded("int", "1e-400000"), "!NOT_INTEGRAL v");
  EXPECT_EQ(decoded("int", R"("42")"), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("int", "true"), "!TYPE_MISMATCH v");
}

TEST(JsonDecoder, KeepsIntegersExactToTheirLimits) {
  EXPECT_EQ(decoded("int", "2147483647"), "2147483647");
  EXPECT_EQ(decoded("int", "-2147483648"), "-2147483648");
  EXPECT_EQ(decoded("int", "2147483648"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("int", "-2147483649"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("long", "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(decoded("long", "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(decoded("long", "9007199254740993.0"), "9007199254740993");
  EXPECT_EQ(decoded("long", "9223372036854775808"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("long", "-9223372036854775809"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("long", "1e400000"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("long", "0e400000"), "0");
}

TEST(JsonDecoder, CoercesStringsToNumbersWhenAsked) {
  const JsonOptions coerce{.coerce_strings = true};
  EXPECT_EQ(decoded("int", R"("42")", coerce), "42");
  EXPECT_EQ(decoded("long", R"("4.2e1")", coerce), "42");
  EXPECT_EQ(decoded("int", R"("42.5")", coerce), "!NOT_INTEGRAL v");
  EXPECT_EQ(decoded("int", R"("")", coerce), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("int", R"(" 42")", coerce), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("int", R"("0x2a")", coerce), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("double", R"("21.5")", coerce), "21.5");
  EXPECT_EQ(decoded("double", R"("NaN")", coerce), "nan");
  EXPECT_EQ(decoded("float", R"("1e39")", coerce), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("decimal(5, 2)", R"("21.5")", coerce), "2150");
  EXPECT_EQ(decoded("double", R"("21.5")"), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("decimal(5, 2)", R"("21.5")"), "!TYPE_MISMATCH v");
}

TEST(JsonDecoder, RoundsFloatingNumbersToTheNearest) {
  EXPECT_EQ(decoded("double", "21"), "21");
  EXPECT_EQ(decoded("double", "0.1"), "0.10000000000000001");
  EXPECT_EQ(decoded("double", "-0.0"), "-0");
  EXPECT_EQ(decoded("double", "1.7976931348623157e308"), "1.7976931348623157e+308");
  EXPECT_EQ(decoded("double", "5e-324"), "4.9406564584124654e-324");
  EXPECT_EQ(decoded("double", "1e-400000"), "0");
  EXPECT_EQ(decoded("double", "-1e-400000"), "-0");
  EXPECT_EQ(decoded("double", "1e309"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("double", "-1e400000"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("float", "16777217"), "16777216");
  EXPECT_EQ(decoded("float", "1e39"), "!OUT_OF_RANGE v");
  // Rounded once: by way of a double this would become 1.
  EXPECT_EQ(decoded("float", "1.00000005960464477540"), "1.00000012");
}

TEST(JsonDecoder, TakesNamedFloatsOnlyAsStringsAndOnlyInFloats) {
  EXPECT_EQ(decoded("double", R"("NaN")"), "nan");
  EXPECT_EQ(decoded("double", R"("Infinity")"), "inf");
  EXPECT_EQ(decoded("float", R"("-Infinity")"), "-inf");
  EXPECT_EQ(decoded("double", "NaN"), "!NOT_JSON");
  EXPECT_EQ(decoded("double", "-Infinity"), "!NOT_JSON");
  EXPECT_EQ(decoded("double", R"("nan")"), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("double", R"("inf")"), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("decimal(9, 2)", R"("NaN")"), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("int", R"("NaN")", {.coerce_strings = true}), "!TYPE_MISMATCH v");
}

TEST(JsonDecoder, KeepsEveryDigitOfADecimal) {
  EXPECT_EQ(decoded("decimal(38, 10)", "1234567890123456789012345678.0123456789"),
            "12345678901234567890123456780123456789");
  EXPECT_EQ(decoded("decimal(38, 0)", "-99999999999999999999999999999999999999"),
            "-99999999999999999999999999999999999999");
  EXPECT_EQ(decoded("decimal(9, 2)", "12.3"), "1230");
  EXPECT_EQ(decoded("decimal(9, 2)", "1.23e3"), "123000");
  EXPECT_EQ(decoded("decimal(9, 2)", "0.1"), "10");
  EXPECT_EQ(decoded("decimal(38, 38)", "1e-38"), "1");
  EXPECT_EQ(decoded("decimal(9, 2)", "0e999999999999999999999999"), "0");
  EXPECT_EQ(decoded("decimal(4, 2)", "100"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("decimal(38, 0)", "100000000000000000000000000000000000000"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("decimal(38, 2)", "1e400000"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("decimal(9, 2)", "true"), "!TYPE_MISMATCH v");
}

TEST(JsonDecoder, RejectsExcessScaleUnlessItIsZeros) {
  EXPECT_EQ(decoded("decimal(9, 2)", "1.230000"), "123");
  EXPECT_EQ(decoded("decimal(9, 2)", "1.234"), "!EXCESS_SCALE v");
  EXPECT_EQ(decoded("decimal(9, 2)", "1e-3"), "!EXCESS_SCALE v");
  EXPECT_EQ(decoded("decimal(9, 2)", "1e-400000"), "!EXCESS_SCALE v");
}

TEST(JsonDecoder, RoundsExcessScaleHalfToEvenWhenAsked) {
  const JsonOptions round{.decimal_round = true};
  EXPECT_EQ(decoded("decimal(9, 2)", "1.234", round), "123");
  EXPECT_EQ(decoded("decimal(9, 2)", "1.235", round), "124");
  EXPECT_EQ(decoded("decimal(9, 2)", "1.225", round), "122");
  EXPECT_EQ(decoded("decimal(9, 2)", "1.2250001", round), "123");
  EXPECT_EQ(decoded("decimal(9, 2)", "-1.235", round), "-124");
  EXPECT_EQ(decoded("decimal(9, 2)", "0.005", round), "0");
  EXPECT_EQ(decoded("decimal(9, 2)", "0.0051", round), "1");
  EXPECT_EQ(decoded("decimal(9, 2)", "0.0009", round), "0");
  EXPECT_EQ(decoded("decimal(9, 0)", "2.5", round), "2");
  EXPECT_EQ(decoded("decimal(3, 2)", "9.995", round), "!OUT_OF_RANGE v");
}

TEST(JsonDecoder, ReadsTimestampsInIsoAndSqlForm) {
  const std::string micros = "1769862896123456";
  for (const char* value :
       {"2026-01-31T12:34:56.123456", "2026-01-31 12:34:56.123456", "2026-01-31t12:34:56.123456789"}) {
    EXPECT_EQ(decoded("timestamp", "\"" + std::string(value) + "\""), micros) << value;
  }
  for (const char* value :
       {"2026-01-31T12:34:56.123456Z", "2026-01-31t12:34:56.1234569z", "2026-01-31 14:34:56.123456+02:00",
        "2026-01-31T14:34:56.123456+0200", "2026-01-31 10:34:56.123456-02"}) {
    EXPECT_EQ(decoded("timestamptz", "\"" + std::string(value) + "\""), micros) << value;
  }
  EXPECT_EQ(decoded("timestamp", R"("2026-01-31T12:34:56.5")"), "1769862896500000");
  EXPECT_EQ(decoded("timestamp", R"("2026-01-31T12:34")"), "1769862840000000");
}

TEST(JsonDecoder, KeepsAllSixDigitsOfTheFraction) {
  EXPECT_EQ(decoded("timestamp", R"("2024-02-29 23:59:59.999999")"), "1709251199999999");
  EXPECT_EQ(decoded("timestamptz", R"("2024-02-29T23:59:59.000001Z")"), "1709251199000001");
  EXPECT_EQ(decoded("time", R"("00:00:00.000001")"), "1");
}

TEST(JsonDecoder, CutsDigitsBeyondMicrosTowardsThePast) {
  EXPECT_EQ(decoded("timestamp", R"("1969-12-31T23:59:59.9999999")"), "-1");
  EXPECT_EQ(decoded("timestamp", R"("1969-12-31T23:59:59.9999991")"), "-1");
  EXPECT_EQ(decoded("timestamp", R"("1970-01-01T00:00:00.0000009")"), "0");
  EXPECT_EQ(decoded("time", R"("12:34:56.123456789")"), "45296123456");
}

TEST(JsonDecoder, KnowsTheYearsFromOneTo9999) {
  EXPECT_EQ(decoded("timestamp", R"("0001-01-01T00:00:00")"), "-62135596800000000");
  EXPECT_EQ(decoded("timestamp", R"("9999-12-31T23:59:59.999999")"), "253402300799999999");
  EXPECT_EQ(decoded("date", R"("0001-01-01")"), "-719162");
  EXPECT_EQ(decoded("date", R"("9999-12-31")"), "2932896");
  EXPECT_EQ(decoded("date", R"("1969-12-31")"), "-1");
  EXPECT_EQ(decoded("timestamp", R"("0000-01-01T00:00:00")"), "!BAD_TIMESTAMP v");
  EXPECT_EQ(decoded("timestamptz", R"("0001-01-01T00:00:00+02:00")"), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("timestamptz", R"("9999-12-31T23:59:59-02:00")"), "!OUT_OF_RANGE v");
}

TEST(JsonDecoder, AsksTimestamptzForAnOffsetAndTimestampForNone) {
  EXPECT_EQ(decoded("timestamptz", R"("2026-01-31T12:34:56")"), "!BAD_TIMESTAMP v");
  EXPECT_EQ(decoded("timestamp", R"("2026-01-31T12:34:56Z")"), "!BAD_TIMESTAMP v");
  EXPECT_EQ(decoded("timestamp", R"("2026-01-31T12:34:56Z")", {.assume_zone = "Z"}), "!BAD_TIMESTAMP v");
  EXPECT_EQ(decoded("timestamptz", R"("2026-01-31T12:34:56")", {.assume_zone = "Z"}), "1769862896000000");
  EXPECT_EQ(decoded("timestamptz", R"("2026-01-31T14:34:56")", {.assume_zone = "+02:00"}), "1769862896000000");
  EXPECT_EQ(decoded("timestamptz", R"("2026-01-31T12:34:56Z")", {.assume_zone = "+02:00"}), "1769862896000000");
}

TEST(JsonDecoder, RefusesZonesByName) {
  const auto schema = DecodedRows::schema_of(Fields{{"t", "timestamptz"}});
  EXPECT_EQ(JsonDecoder::make(schema, {.assume_zone = "Europe/Berlin"}).error().code(), base::Code::kUnsupported);
  EXPECT_TRUE(JsonDecoder::make(schema, {.assume_zone = "UTC"}).ok());
}

TEST(JsonDecoder, RejectsWhatIsNoTimestamp) {
  for (const char* value : {"2026-02-29T00:00:00",
                            "2026-13-01T00:00:00",
                            "2026-00-10T00:00:00",
                            "2026-01-32T00:00:00",
                            "2026-01-00T00:00:00",
                            "2026-01-31T24:00:00",
                            "2026-01-31T12:60:00",
                            "2026-01-31T12:34:60",
                            "2026-01-31",
                            "2026-1-31T12:34:56",
                            "26-01-31T12:34:56",
                            "2026-01-31T12:34:56.",
                            "2026-01-31T12:34:56.1x",
                            "2026-01-31  12:34:56",
                            "2026-01-31T12",
                            "",
                            "now",
                            " 2026-01-31T12:34:56",
                            "2026-01-31T12:34:56 ",
                            "20260131T123456",
                            "+2026-01-31T12:34:56"}) {
    EXPECT_EQ(decoded("timestamp", "\"" + std::string(value) + "\""), "!BAD_TIMESTAMP v") << value;
  }
  for (const char* value :
       {"2026-01-31T12:34:56+", "2026-01-31T12:34:56+2", "2026-01-31T12:34:56+02:", "2026-01-31T12:34:56+19:00",
        "2026-01-31T12:34:56+02:60", "2026-01-31T12:34:56ZZ", "2026-01-31T12:34:56+02:00x"}) {
    EXPECT_EQ(decoded("timestamptz", "\"" + std::string(value) + "\""), "!BAD_TIMESTAMP v") << value;
  }
}

TEST(JsonDecoder, TakesNumbersAsTimestampsOnlyWhenToldWhatTheyCount) {
  EXPECT_EQ(decoded("timestamp", "1700000000"), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("timestamp", "1700000000", {.timestamp_numbers = TimestampNumbers::kSeconds}), "1700000000000000");
  EXPECT_EQ(decoded("timestamptz", "1700000000.1234567", {.timestamp_numbers = TimestampNumbers::kSeconds}),
            "1700000000123456");
  EXPECT_EQ(decoded("timestamptz", "1700000000123", {.timestamp_numbers = TimestampNumbers::kMillis}),
            "1700000000123000");
  EXPECT_EQ(decoded("timestamp", "1700000000123456", {.timestamp_numbers = TimestampNumbers::kMicros}),
            "1700000000123456");
  EXPECT_EQ(decoded("timestamp", "1700000000123456789", {.timestamp_numbers = TimestampNumbers::kNanos}),
            "1700000000123456");
  EXPECT_EQ(decoded("timestamp", "-1", {.timestamp_numbers = TimestampNumbers::kNanos}), "-1");
  EXPECT_EQ(decoded("timestamp", "1e300", {.timestamp_numbers = TimestampNumbers::kMillis}), "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("timestamp", "1700000000000", {.timestamp_numbers = TimestampNumbers::kSeconds}),
            "!OUT_OF_RANGE v");
  EXPECT_EQ(decoded("timestamp", R"("2026-01-31T12:34:56")", {.timestamp_numbers = TimestampNumbers::kMillis}),
            "1769862896000000");
}

TEST(JsonDecoder, ReadsDatesAndTimesFromIsoTextOnly) {
  EXPECT_EQ(decoded("date", R"("2024-02-29")"), "19782");
  EXPECT_EQ(decoded("date", R"("2023-02-29")"), "!BAD_DATE v");
  EXPECT_EQ(decoded("date", R"("2024-02-29T00:00:00")"), "!BAD_DATE v");
  EXPECT_EQ(decoded("date", "19782", {.timestamp_numbers = TimestampNumbers::kSeconds}), "!TYPE_MISMATCH v");
  EXPECT_EQ(decoded("time", R"("23:59:59.999999")"), "86399999999");
  EXPECT_EQ(decoded("time", R"("23:59")"), "86340000000");
  EXPECT_EQ(decoded("time", R"("24:00:00")"), "!BAD_TIME v");
  EXPECT_EQ(decoded("time", R"("-00:00:00.000001")"), "!BAD_TIME v");
  EXPECT_EQ(decoded("time", R"("12:00:00Z")"), "!BAD_TIME v");
  EXPECT_EQ(decoded("time", "0"), "!TYPE_MISMATCH v");
}

TEST(JsonDecoder, ReadsNestedValues) {
  DecodedRows rows(Fields{{"l", "list<struct<a: list<int>, m: map<string, struct<x: double>>>>"}});
  EXPECT_EQ(rows.outcome(R"({"l":[{"a":[1,2],"m":{"k":{"x":1.5},"j":null}},null,{"m":{}},{}]})"),
            "[{[1,2],{k:{1.5},j:null}},null,{null,{}},{null,null}]");
  EXPECT_EQ(rows.outcome(R"({"l":[]})"), "[]");
  EXPECT_EQ(rows.outcome(R"({"l":{}})"), "!TYPE_MISMATCH l");
  EXPECT_EQ(rows.outcome(R"({"l":[[]]})"), "!TYPE_MISMATCH l.element");
  EXPECT_EQ(rows.outcome(R"({"l":[{"a":{}}]})"), "!TYPE_MISMATCH l.element.a");
  EXPECT_EQ(rows.outcome(R"({"l":[{"m":[]}]})"), "!TYPE_MISMATCH l.element.m");
  EXPECT_EQ(rows.outcome(R"({"l":[{"m":{"k":{"x":true}}}]})"), "!TYPE_MISMATCH l.element.m.value.x");
  EXPECT_EQ(rows.outcome(R"({"l":"x"})"), "!TYPE_MISMATCH l");
}

TEST(JsonDecoder, ParsesMapKeysByTheRulesOfTheirType) {
  EXPECT_EQ(decoded("map<int, int>", R"({"42":1,"4.3e1":2})"), "{42:1,43:2}");
  EXPECT_EQ(decoded("map<int, int>", R"({"x":1})"), "!TYPE_MISMATCH v.key");
  EXPECT_EQ(decoded("map<int, int>", R"({"42.5":1})"), "!NOT_INTEGRAL v.key");
  EXPECT_EQ(decoded("map<boolean, int>", R"({"true":1,"false":2})"), "{true:1,false:2}");
  EXPECT_EQ(decoded("map<boolean, int>", R"({"true":1,"false":2,"true":3})"), "{false:2,true:3}");
  EXPECT_EQ(decoded("map<double, int>", R"({"1.5":1,"NaN":2})"), "{1.5:1,nan:2}");
  EXPECT_EQ(decoded("map<decimal(5, 2), int>", R"({"1.5":1})"), "{150:1}");
  EXPECT_EQ(decoded("map<date, int>", R"({"1970-01-02":1})"), "{1:1}");
  EXPECT_EQ(decoded("map<timestamptz, int>", R"({"1970-01-01T00:00:01Z":1})"), "{1000000:1}");
  EXPECT_EQ(decoded("map<timestamp, int>", R"({"5":1})", {.timestamp_numbers = TimestampNumbers::kMicros}), "{5:1}");
  EXPECT_EQ(decoded("map<binary, int>", R"({"YWI=":1})"), "{ab:1}");
  EXPECT_EQ(decoded("map<string, int>", R"({"a":1,"b":2,"\u0061":3})"), "{b:2,a:3}");
  const auto schema = DecodedRows::schema_of(Fields{{"m", "map<list<int>, int>"}});
  EXPECT_EQ(JsonDecoder::make(schema, {}).error().code(), base::Code::kUnsupported);
}

TEST(JsonDecoder, DecodesBothAlphabetsOfBase64) {
  EXPECT_EQ(decoded("binary", R"("+/+/")"), "\xfb\xff\xbf"s);
  EXPECT_EQ(decoded("binary", R"("-_-_")"), "\xfb\xff\xbf"s);
  EXPECT_EQ(decoded("binary", R"("YQ==")"), "a");
  EXPECT_EQ(decoded("binary", R"("YQ")"), "a");
  EXPECT_EQ(decoded("binary", R"("")"), "");
  EXPECT_EQ(decoded("binary", R"("\u0059Q")"), "a");
  for (const char* value : {"Y", "YQ=", "YQ===", "Y Q=", "YR==", "=", "YWI*", "Y===", "YQ==YQ=="}) {
    EXPECT_EQ(decoded("binary", "\"" + std::string(value) + "\""), "!BAD_BASE64 v") << value;
  }
  EXPECT_EQ(decoded("binary", "1"), "!TYPE_MISMATCH v");
}

TEST(JsonDecoder, AsksFixedForItsLength) {
  EXPECT_EQ(decoded("fixed[2]", R"("YWI=")"), "ab");
  EXPECT_EQ(decoded("fixed[2]", R"("YWJj")"), "!WRONG_LENGTH v");
  EXPECT_EQ(decoded("fixed[2]", R"("YQ==")"), "!WRONG_LENGTH v");
}

TEST(JsonDecoder, ReadsUuidsInEitherCase) {
  const std::string bytes = "\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00"s;
  EXPECT_EQ(decoded("uuid", R"("123e4567-e89b-12d3-a456-426614174000")"), bytes);
  EXPECT_EQ(decoded("uuid", R"("123E4567-E89B-12D3-A456-426614174000")"), bytes);
  for (const char* value : {"123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}",
                            "123e4567-e89b-12d3-a456-42661417400g", "123e4567-e89b-12d3-a456-42661417400", ""}) {
    EXPECT_EQ(decoded("uuid", "\"" + std::string(value) + "\""), "!BAD_UUID v") << value;
  }
}

TEST(JsonDecoder, KeepsTheNullCharacter) {
  EXPECT_EQ(decoded("string", R"("a\u0000b")"), "a\0b"s);
  DecodedRows rows(Fields{{"v", "string"}});
  EXPECT_EQ(rows.outcome("{\"v\":\"a\0b\"}"s), "!NOT_JSON");
  EXPECT_EQ(rows.outcome("{\"v\":\"a\"}\0"s), "!NOT_JSON");
}

TEST(JsonDecoder, RejectsTextThatIsNotUnicode) {
  DecodedRows rows(Fields{{"v", "string"}});
  EXPECT_EQ(rows.decode("{\"v\":\"\xc3\x28\"}")->message, "invalid UTF-8 at byte 6");
  for (const char* text : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff", "\x80"}) {
    EXPECT_EQ(rows.outcome("{\"v\":\"" + std::string(text) + "\"}"), "!BAD_UTF8");
  }
  for (const char* text : {R"("\uD800")", R"("\uDC00")", R"("\uD800\uD800")", R"("\uD800x")", R"("\uDBFF\n")"}) {
    EXPECT_EQ(decoded("string", text), "!NOT_JSON") << text;
  }
}

TEST(JsonDecoder, SkipsALeadingByteOrderMarkOnly) {
  DecodedRows rows(Fields{{"v", "string"}});
  EXPECT_EQ(rows.outcome("\xef\xbb\xbf{\"v\":\"x\"}"), "x");
  EXPECT_EQ(rows.outcome("\xef\xbb\xbf\xef\xbb\xbf{\"v\":\"x\"}"), "!NOT_JSON");
  EXPECT_EQ(rows.outcome("{\"v\":\"x\"}\xef\xbb\xbf"), "!NOT_JSON");
  EXPECT_EQ(rows.outcome("{\"v\":\"\xef\xbb\xbf\"}"), "\xef\xbb\xbf");
  EXPECT_EQ(rows.outcome("\xef\xbb\xbf"), "!EMPTY");
}

std::string nested(int levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(JsonDecoder, RejectsWhatIsNestedTooDeep) {
  DecodedRows rows(Fields{{"v", "string"}});
  // The object is the first level.
  EXPECT_EQ(rows.outcome("{\"v\":" + nested(127) + "}"), nested(127));
  EXPECT_EQ(rows.outcome("{\"v\":" + nested(128) + "}"), "!TOO_DEEP");
  EXPECT_EQ(rows.outcome("{\"ignored\":" + nested(127) + "}"), "null");
  EXPECT_EQ(rows.outcome("{\"ignored\":" + nested(128) + "}"), "!TOO_DEEP");
  EXPECT_EQ(rows.outcome("[{\"ignored\":" + nested(127) + "}]"), "!TOO_DEEP");
  EXPECT_EQ(rows.outcome(std::string(10'000, '[')), "!TOO_DEEP");
  EXPECT_EQ(rows.outcome("{\"x\":" + std::string(1'000'000, '[')), "!TOO_DEEP");
}

TEST(JsonDecoder, ReadsSchemasAsDeepAsDocumentsMayBe) {
  std::string type = "int";
  for (int i = 0; i < 127; ++i) type = "list<" + type + ">";
  EXPECT_EQ(decoded(type, std::string(127, '[') + "7" + std::string(127, ']')),
            std::string(127, '[') + "7" + std::string(127, ']'));
  EXPECT_EQ(decoded(type, std::string(128, '[') + "7" + std::string(128, ']')), "!TOO_DEEP");
}

TEST(JsonDecoder, RejectsDocumentsThatAreTooLarge) {
  DecodedRows rows(Fields{{"v", "string"}}, {.max_document_bytes = 20});
  EXPECT_EQ(rows.outcome(R"({"v":"123456789012"})"), "123456789012");
  EXPECT_EQ(rows.outcome(R"({"v":"1234567890123"})"), "!TOO_LARGE");
}

TEST(JsonDecoder, ExplodesATopLevelArray) {
  DecodedRows rows(Fields{{"id", "int"}});
  EXPECT_EQ(rows.outcome(R"( [ {"id":1} , {"id":2} ,{"id":3}] )"), "1; 2; 3");
  EXPECT_EQ(rows.outcome("[]"), "");
  EXPECT_EQ(rows.outcome(R"([{"id":1},{"id":"bad"},{"id":3}])"), "!TYPE_MISMATCH id");
  EXPECT_EQ(rows.outcome(R"([{"id":1},2])"), "!NOT_AN_OBJECT");
  EXPECT_EQ(rows.outcome(R"([{"id":1},[{"id":2}]])"), "!NOT_AN_OBJECT");
  EXPECT_EQ(rows.outcome(R"([{"id":1},{"id":"bad"},)"), "!NOT_JSON");
  EXPECT_EQ(rows.outcome(R"([{"id":1},{"id":2,"id":3}])"), "1; 3");
  EXPECT_EQ(rows.decoder->counters().rows, 5);
}

// An array or object of `count` entries.
std::string entries_of(const char* open, const std::string& entry, int count, const char* close) {
  std::string text = open;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + entry;
  return text + close;
}

TEST(JsonDecoder, RejectsFewBytesThatStandForTooManyRows) {
  const std::string nine = "struct<a: long, b: long, c: long, d: long, e: long, f: long, g: long, h: long, i: long>";
  const JsonOptions options{.max_decoded_bytes = 100'000};
  DecodedRows rows(Fields{{"id", "long"}, {"s", nine}, {"l", "list<" + nine + ">"}, {"m", "map<string, list<" + nine + ">>"}}, options);
  EXPECT_EQ(rows.outcome(R"([{"id":1},{"id":2}])"), "1,null,null,null; 2,null,null,null");
  EXPECT_EQ(rows.outcome(entries_of("[", "{}", 5000, "]")), "!ROWS_TOO_LARGE");
  EXPECT_EQ(rows.outcome(R"({"l":)" + entries_of("[", "{}", 5000, "]}")), "!ROWS_TOO_LARGE l");
  EXPECT_EQ(rows.outcome(R"({"l":)" + entries_of("[", "null", 5000, "]}")), "!ROWS_TOO_LARGE l");
  EXPECT_EQ(rows.outcome(R"({"m":{"k":)" + entries_of("[", "{}", 5000, "]}}")), "!ROWS_TOO_LARGE m.value");
  EXPECT_EQ(rows.outcome(entries_of("[", R"({"l":[{},{},{},{},{},{},{},{},{},{}]})", 1000, "]")), "!ROWS_TOO_LARGE l");
  EXPECT_EQ(rows.outcome(entries_of("[", "{}", 5000, "")), "!NOT_JSON");
  EXPECT_EQ(rows.outcome(R"({"id":3})"), "3,null,null,null");
  EXPECT_EQ(rows.batch.rows(), 3);
  EXPECT_EQ(rows.decoder->counters().rows, 3);
}

TEST(JsonDecoder, TakesRowsThatAreNotMuchLargerThanTheirDocument) {
  DecodedRows rows(Fields{{"id", "long"}, {"text", "string"}}, {.max_decoded_bytes = 1});
  const std::string row = R"({"id":123456789,"text":"as long as it is"})";
  EXPECT_NE(rows.outcome(entries_of("[", row, 5000, "]")), "");
  EXPECT_EQ(rows.batch.rows(), 5000);
}

TEST(JsonDecoder, RejectsATopLevelArrayWhenAsked) {
  DecodedRows rows(Fields{{"id", "int"}}, {.explode_top_level_array = false});
  EXPECT_EQ(rows.outcome(R"([{"id":1}])"), "!TOP_LEVEL_ARRAY");
  EXPECT_EQ(rows.outcome(R"([{"id":1})"), "!NOT_JSON");
  EXPECT_EQ(rows.outcome(R"({"id":1})"), "1");
}

TEST(JsonDecoder, RejectsWhatIsNoObject) {
  DecodedRows rows(Fields{{"id", "int"}});
  EXPECT_EQ(rows.outcome(""), "!EMPTY");
  for (const char* document : {"null", "42", "true", R"("text")", " \"{}\" "}) {
    EXPECT_EQ(rows.outcome(document), "!NOT_AN_OBJECT") << document;
  }
  for (const char* document : {" ", "x", "{", "}", R"({"id":1)", R"({"id":1}{"id":2})", R"({"id":1} x)", R"({"id":1},)",
                               "nulll", R"({"id" 1})", R"({"id":1 "x":2})", "<xml/>", "{'id':1}", "{\"id\":\v1}"}) {
    EXPECT_EQ(rows.outcome(document), "!NOT_JSON") << document;
  }
  EXPECT_EQ(rows.outcome("\0\0\0\x2a\xff"s), "!BAD_UTF8");
}

TEST(JsonDecoder, TakesTheGoodRecordsAmongBadOnes) {
  DecodedRows rows(Fields{{"id", "long"}, {"t", "string"}});
  const std::vector<std::string> documents = {R"({"id":0})",
                                              "\0\0\0\x2a\xff"s,
                                              R"({"id":1)",
                                              R"({"id":1}{"id":2})",
                                              R"({"id":NaN})",
                                              R"({"id":1,"id":2})",
                                              "\xef\xbb\xbf{\"id\":6}",
                                              R"({"id":7,"t":"\uD800"})",
                                              R"({"id":8,"t":"a\u0000b"})",
                                              "{\"id\":9,\"t\":\"\xc3\x28\"}",
                                              std::string(10'000, '['),
                                              R"({"id":11})"};
  std::string taken;
  int rejected = 0;
  for (const std::string& document : documents) {
    if (rows.decode(document)) {
      ++rejected;
    } else {
      taken += plain(rows.batch.columns[0], rows.batch.rows() - 1) + " ";
    }
  }
  EXPECT_EQ(taken, "0 2 6 8 11 ");
  EXPECT_EQ(rejected, 7);
}

TEST(JsonDecoder, FindsFieldsInAnyOrder) {
  DecodedRows rows(Fields{{"a", "int"}, {"b", "int"}, {"c", "int"}, {"d", "int"}});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(rows.outcome(R"({"d":4,"c":3,"b":2,"a":1})"), "1,2,3,4");
    EXPECT_EQ(rows.outcome(R"({"a":1,"c":3,"d":4})"), "1,null,3,4");
    EXPECT_EQ(rows.outcome(R"({"b":2,"x":0,"a":1,"y":0,"d":4,"c":3})"), "1,2,3,4");
    EXPECT_EQ(rows.outcome(R"({"d":4})"), "null,null,null,4");
  }
}

TEST(JsonDecoder, KnowsNamesThatJsonEscapes) {
  DecodedRows rows(Fields{{"a\"b", "int"}, {"c\\d", "int"}, {"é", "int"}, {"", "int"}});
  EXPECT_EQ(rows.outcome(R"({"a\"b":1,"c\\d":2,"\u00e9":3,"":4})"), "1,2,3,4");
  EXPECT_EQ(rows.outcome(R"({"a\"b":1,"c\\d":2,"é":3,"":4})"), "1,2,3,4");
  EXPECT_EQ(rows.outcome(R"({"a"b":1})"), "!NOT_JSON");
}

TEST(JsonDecoder, FillsColumnsThatStandAmongOthers) {
  const auto schema =
      DecodedRows::schema_of(Fields{{"offset", "long"}, {"a", "int"}, {"topic", "string"}, {"b", "int"}});
  columnar::Batch batch(schema);
  auto decoder = JsonDecoder::make(DecodedRows::schema_of(Fields{{"b", "int"}, {"a", "int"}}), {}).value();
  columnar::Column* const columns[] = {&batch.columns[3], &batch.columns[1]};
  int64_t rows = 0;
  EXPECT_FALSE(decoder->decode(R"({"a":1,"b":2})", columns, &rows).has_value());
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(batch.columns[1].int_at(0), 1);
  EXPECT_EQ(batch.columns[3].int_at(0), 2);
  EXPECT_EQ(batch.columns[0].length(), 0);
}

TEST(JsonDecoder, RefusesOptionsOutOfRange) {
  const auto schema = DecodedRows::schema_of(Fields{{"a", "int"}});
  EXPECT_FALSE(JsonDecoder::make(schema, {.max_document_bytes = 0}).ok());
  EXPECT_FALSE(JsonDecoder::make(schema, {.max_depth = 0}).ok());
  EXPECT_FALSE(JsonDecoder::make(schema, {.max_depth = 100'000}).ok());
}

}  // namespace
}  // namespace frazil::format
