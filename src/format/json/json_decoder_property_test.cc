// What holds for every document: values survive the way through JSON, the grammar is that of simdjson, and nothing is
// left behind by a document that is cut off or spoiled.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <simdjson.h>

#include "format/json/decoded_rows.h"
#include "format/json/json_samples.h"

namespace frazil::format {
namespace {

TEST(JsonDecoderProperty, ValuesSurviveTheWayThroughJson) {
  EXPECT_TRUE(rc::check("values survive", [] {
    DecodedRows rows(kAllTypes);
    const int documents = any(1, 6);
    for (int i = 0; i < documents; ++i) {
      std::vector<std::string> plains;
      const std::string document = spaces() + members(rows.batch.schema->fields, plains) + spaces();
      RC_LOG(document);
      RC_ASSERT(rows.outcome(document) == joined(plains));
    }
  }));
}

const char* const kTokens[] = {
    "{",   "}",  "[", "]",    ",",        ":",      "\"a\"", "\"",  "\\",   "\\u00e9", "\\ud83d\\ude00",
    "\\n", "1",  "-", "0",    "1.5",      ".",      "e",     "E+1", "true", "false",   "null",
    " ",   "\n", "x", "\x01", "\xc3\xa9", "\"a\":1"};

// A document that is often right: a small one with some tokens put in, taken out or doubled.
std::string spoiled_document() {
  std::string document = R"({"a":[1,{"b":"x\u00e9"},null],"c":{"d":-1.5e3,"e":true},"f":"\ud83d\ude00"})";
  const int edits = any(0, 3);
  for (int i = 0; i < edits; ++i) {
    const auto at = any<size_t>(0, document.size());
    const std::string token = kTokens[any<size_t>(0, std::size(kTokens))];
    if (sometimes(2)) {
      document.insert(at, token);
    } else {
      document.replace(at, any<size_t>(0, 3), token);
    }
  }
  return document;
}

TEST(JsonDecoderProperty, TakesExactlyTheDocumentsThatSimdjsonTakes) {
  simdjson::dom::parser parser;
  int right = 0;
  int wrong = 0;
  const bool holds = rc::check("same grammar", [&] {
    for (int i = 0; i < 100; ++i) {
      const std::string document = spoiled_document();
      simdjson::dom::element element;
      const bool is_right = parser.parse(document).get(element) == simdjson::SUCCESS && element.is_object();
      // The columns take anything, so only the grammar decides.
      DecodedRows rows(Fields{{"a", "string"}, {"c", "string"}});
      const std::string outcome = rows.outcome(document);
      RC_LOG(document);
      RC_ASSERT(outcome.starts_with("!") == !is_right);
      (is_right ? right : wrong) += 1;
    }
  });
  EXPECT_TRUE(holds);
  EXPECT_GT(right, 500);
  EXPECT_GT(wrong, 500);
}

const std::string kDocument =
    R"({"b":true,"i":42.0,"l":-9223372036854775808,"d":1.5e-3,"n":12345.67890,"n38":1e37,"date":"2026-01-31",)"
    R"("time":"12:34:56.123456","ts":"2026-01-31 12:34:56","tz":"2026-01-31T12:34:56.123456+02:00","s":"a\u00e9\ud83d\ude00é",)"
    R"("uuid":"123e4567-e89b-12d3-a456-426614174000","f":"AQIDBAU=","bin":"YWI","list":[{"a":1,"b":["x","y"]},null],)"
    R"("map":{"1":{"x":1.5,"y":"1970-01-02"},"2":null},"st":{"p":{"q":"z","r":false},"m":{"k":[1,2,3]}},"ignored":[{"a":"b"}]})";

TEST(JsonDecoderProperty, RejectsEveryTruncationOfADocument) {
  DecodedRows rows(kAllTypes);
  ASSERT_FALSE(rows.decode(kDocument).has_value());
  for (size_t size = 0; size < kDocument.size(); ++size) {
    ASSERT_EQ(rows.outcome(kDocument.substr(0, size))[0], '!') << size;
  }
  EXPECT_EQ(rows.batch.rows(), 1);
}

TEST(JsonDecoderProperty, LeavesNothingBehindWhenADocumentIsSpoiled) {
  DecodedRows rows(kAllTypes);
  DecodedRows again(kAllTypes);
  const std::string expected = again.outcome(kDocument);
  int rejected = 0;
  for (size_t at = 0; at < kDocument.size(); ++at) {
    for (const char c : {'"', '\\', '{', '}', '[', ']', ',', '0', ' ', '\xff'}) {
      std::string document = kDocument;
      document[at] = c;
      rejected += rows.outcome(document)[0] == '!';
    }
    ASSERT_EQ(rows.outcome(kDocument), expected) << at;
  }
  EXPECT_GT(rejected, 1000);
}

}  // namespace
}  // namespace frazil::format
