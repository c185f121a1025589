// Every path of the JSON decoder gives what the reference gives: rows, counters, and the code, field and message of each reject.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "format/json/decoded_rows.h"
#include "format/json/guarded_text.h"
#include "format/json/json_samples.h"

namespace frazil::format {
namespace {

std::string described(const JsonCounters& counters) {
  std::string text;
  for (const int64_t count : {counters.rows, counters.unknown_fields, counters.duplicate_keys, counters.bad_fields_nulled,
                              counters.case_mismatches}) {
    text += std::to_string(count) + " ";
  }
  return text + counters.first_case_mismatch;
}

// Decoders of all paths, each of which sees all documents, so that they learn the same.
class AllPaths {
 public:
  explicit AllPaths(const Fields& fields, const JsonOptions& options = {}) {
    for (const JsonPath path : {JsonPath::kReference, JsonPath::kPlain, JsonPath::kAvx2, JsonPath::kAvx512}) {
      if (!has_path(path)) continue;
      JsonOptions with_path = options;
      with_path.path = path;
      decoders_.push_back(std::make_unique<DecodedRows>(fields, with_path));
    }
  }

  // What the reference makes of a document; empty where another path makes something else of it.
  std::string agreed(std::string_view document) {
    const GuardedText guarded(document);
    std::string first;
    for (const auto& decoder : decoders_) {
      const std::string result = outcome(*decoder, guarded.view());
      if (decoder == decoders_.front()) first = result;
      if (result != first) {
        ADD_FAILURE() << document << "\nreference: " << first << "\nother:     " << result;
        return "";
      }
    }
    return first;
  }

 private:
  static std::string outcome(DecodedRows& rows, std::string_view document) {
    if (rows.batch.rows() > 100) rows.batch.clear();
    const int64_t before = rows.batch.rows();
    const auto reject = rows.decode_in_place(document);
    std::string text = reject ? "!" + reject->code + " " + reject->field + " " + reject->message
                              : "=" + rows.rows_from(before);
    for (const columnar::Column& column : rows.batch.columns) {
      if (column.length() != before + (reject ? 0 : rows.rows_appended)) text += " uneven";
    }
    return text + " | " + described(rows.decoder->counters());
  }

  std::vector<std::unique_ptr<DecodedRows>> decoders_;
};

JsonOptions any_options() {
  JsonOptions options;
  options.bad_field_null = sometimes(3);
  options.missing_field_reject = sometimes(6);
  options.case_insensitive = sometimes(3);
  options.coerce_strings = sometimes(3);
  options.decimal_round = sometimes(3);
  options.timestamp_numbers = static_cast<TimestampNumbers>(any(0, 5));
  if (sometimes(3)) options.assume_zone = "+02:00";
  if (sometimes(8)) options.max_depth = any(1, 5);
  if (sometimes(8)) options.max_decoded_bytes = any(1, 4000);
  return options;
}

const char* const kTokens[] = {"{",     "}",      "[",     "]",      ",",        ":",    "\"",       "\\",        "\\u00e9", "\\ud83d\\ude00",
                               "\\ud8", "\\ud83d", "\\ude00", "\\n", "\\x", "1", "-", "0", ".5", "e9",  "E+400", "true", "fals", "null", "nul",
                               " ",     "\n",     "\t",    "\x01",   "\xc3\xa9", "\xff", "\xed\xa0\x80", "\"a\":1,", "\"u\":[{}],", "00",
                               "99999999999999999999", "NaN", "Infinity"};

std::string spoiled(std::string document) {
  for (int edits = any(1, 4); edits > 0 && !document.empty(); --edits) {
    const auto at = any<size_t>(0, document.size());
    switch (any(0, 5)) {
      case 0:
        document.resize(at);
        break;
      case 1:
        document[at] = static_cast<char>(document[at] ^ 1 << any(0, 8));
        break;
      case 2:
        document.erase(at, any<size_t>(1, 4));
        break;
      default:
        document.insert(at, kTokens[any<size_t>(0, std::size(kTokens))]);
    }
  }
  return document;
}

TEST(JsonPaths, AgreeOnDocumentsOfAllTypes) {
  EXPECT_TRUE(rc::check("paths agree", [] {
    AllPaths paths(kAllTypes, any_options());
    const auto fields = DecodedRows::schema_of(kAllTypes)->fields;
    std::vector<std::string> plains;
    std::string document;
    for (int i = 0; i < 10; ++i) {
      if (document.empty() || sometimes(3)) document = members(fields, plains);
      RC_ASSERT(!paths.agreed(sometimes(5) ? "[" + document + spaces() + "," + document + "]" : document).empty());
      RC_ASSERT(!paths.agreed(spoiled(document)).empty());
    }
  }));
}

const std::string kDocument =
    R"({"b":true,"i":42,"l":-9223372036854775808,"d":1.5,"n":12345.67890,"n38":1e37,"date":"2026-01-31",)"
    R"("time":"12:34:56.123456","ts":"2026-01-31 12:34:56","tz":"2026-01-31T12:34:56.123456Z","s":"a\u00e9\ud83d\ude00é",)"
    R"("uuid":"123e4567-e89b-12d3-a456-426614174000","f":"AQIDBAU=","bin":"YWI","list":[{"a":1,"b":["x","y"]},null],)"
    R"("map":{"1":{"x":1.5,"y":"1970-01-02"},"2":null},"st":{"p":{"q":"z","r":false},"m":{"k":[1,2,3]}},"ignored":[{"a":"b"}]})";

TEST(JsonPaths, AgreeOnEveryTruncation) {
  AllPaths paths(kAllTypes);
  for (size_t size = 0; size <= kDocument.size(); ++size) {
    ASSERT_NE(paths.agreed(kDocument.substr(0, size)), "");
    if (size % 16 == 0) {
      ASSERT_NE(paths.agreed(kDocument), "");
    }
  }
}

TEST(JsonPaths, AgreeOnEveryByteReplaced) {
  AllPaths paths(kAllTypes);
  for (size_t at = 0; at < kDocument.size(); ++at) {
    for (const char c : {'"', '\\', '{', '}', ']', ',', '0', ' ', 'n', '\0', '\xff'}) {
      std::string document = kDocument;
      document[at] = c;
      ASSERT_NE(paths.agreed(document), "");
    }
    if (at % 16 == 0) {
      ASSERT_NE(paths.agreed(kDocument), "");
    }
  }
}

TEST(JsonPaths, AgreeWhereverADocumentBegins) {
  AllPaths paths(kAllTypes);
  for (size_t spaces = 0; spaces <= 130; ++spaces) ASSERT_EQ(paths.agreed(std::string(spaces, ' ') + kDocument)[0], '=');
}

// Texts of the characters that numbers have, grammatical or not.
std::string number_like() {
  if (sometimes(3)) return std::to_string(any<int64_t>(-1'000'000, 1'000'000));
  std::string text = sometimes(3) ? "-" : "";
  const auto digits = [&](int most) {
    for (int i = any(0, most + 1); i > 0; --i) text += static_cast<char>('0' + any(0, 10));
  };
  digits(sometimes(2) ? 3 : 20);
  if (!sometimes(3)) text += '.', digits(sometimes(2) ? 4 : 20);
  if (sometimes(4)) text += std::string("eE")[any<size_t>(0, 2)] + std::string(sometimes(2) ? "-" : ""), digits(3);
  if (sometimes(10)) text += std::string(".-+e5x")[any<size_t>(0, 6)];
  return text;
}

TEST(JsonPaths, AgreeOnNumbers) {
  const char* const types[] = {"int", "long", "float", "double", "decimal(18, 4)", "string", "timestamp", "boolean", "list<double>"};
  EXPECT_TRUE(rc::check("numbers agree", [&] {
    for (const char* type : types) {
      AllPaths paths(Fields{{"v", type}, {"w", "long"}}, any_options());
      for (int i = 0; i < 5; ++i) {
        const std::string number = type[0] == 'l' && type[1] == 'i' ? "[" + number_like() + "]" : number_like();
        RC_ASSERT(!paths.agreed("{\"v\":" + number + ",\"w\":" + number_like() + "}").empty());
      }
    }
  }));
}

TEST(JsonPaths, AgreeOnIntegersOfEveryLength) {
  AllPaths paths(Fields{{"i", "int"}, {"l", "long"}, {"d", "double"}});
  for (const std::string sign : {"", "-"}) {
    for (const std::string rest : {"", ".0", ".25", "e1", ".", "x", " "}) {
      for (size_t size = 1; size < 40; ++size) {
        for (const char digit : {'1', '0', '9'}) {
          const std::string number = sign + std::string(size, digit) + rest;
          for (const char* name : {"i", "l", "d"}) ASSERT_NE(paths.agreed("{\"" + std::string(name) + "\":" + number + "}"), "");
        }
      }
    }
  }
}

TEST(JsonPaths, AgreeOnTimes) {
  const Fields fields = {{"date", "date"}, {"time", "time"}, {"ts", "timestamp"}, {"tz", "timestamptz"}, {"uuid", "uuid"}};
  const std::string characters = "0123456789:-.TtZz +\"\\";
  EXPECT_TRUE(rc::check("times agree", [&] {
    AllPaths paths(fields, any_options());
    for (int i = 0; i < 20; ++i) {
      const columnar::Field field = DecodedRows::schema_of(fields)->fields[any<size_t>(0, fields.size())];
      std::string text = value_sample(field).json;
      if (!sometimes(3)) {
        const auto at = any<size_t>(0, text.size());
        const char c = characters[any<size_t>(0, characters.size())];
        if (sometimes(2)) text[at] = c;
        else if (sometimes(2)) text.insert(at, 1, c);
        else text.erase(at, 1);
      }
      RC_ASSERT(!paths.agreed("{\"" + field.name + "\":" + text + "}").empty());
    }
  }));
}

// A decoder's first date too is compared with the one before.
TEST(JsonPaths, AgreeOnTextsOfOneByteAlone) {
  for (int c = 0; c < 256; ++c) {
    for (const size_t size : {8, 10, 19, 20, 26, 36}) {
      AllPaths paths(Fields{{"date", "date"}, {"time", "time"}, {"ts", "timestamp"}, {"uuid", "uuid"}});
      for (const char* name : {"date", "time", "ts", "uuid"}) {
        ASSERT_NE(paths.agreed("{\"" + std::string(name) + "\":\"" + std::string(size, static_cast<char>(c)) + "\"}"), "");
      }
    }
  }
}

TEST(JsonPaths, AgreeOnStringsOfEveryLength) {
  AllPaths paths(Fields{{"s", "string"}, {"l", "list<string>"}});
  for (size_t size = 0; size < 600; size += size < 140 ? 1 : 13) {
    const std::string text(size, 'x');
    ASSERT_EQ(paths.agreed("{\"s\":\"" + text + "\",\"l\":[\"" + text + "\",\"\",\"" + text + "é\"]}")[0], '=');
    ASSERT_EQ(paths.agreed("{\"s\":\"" + text + "\\n" + text + "\"}")[0], '=');
    ASSERT_EQ(paths.agreed("{\"s\":\"" + text + "\n" + text + "\"}")[0], '!');
    ASSERT_EQ(paths.agreed("{\"s\":\"" + text)[0], '!');
  }
}

// Names that are prefixes of each other, of every length, with quotes and upper case.
Fields fields_of_many_names() {
  Fields fields;
  for (size_t size = 1; size < 40; ++size) fields.push_back({std::string("column_with_a_long_name_and_a_tail_of_words").substr(0, size), "int"});
  for (const char* name : {"Column", "quo\"te", "back\\slash", "é", "e\n", "", " "}) fields.push_back({name, "int"});
  return fields;
}

std::string other_case(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z' && sometimes(3)) c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string any_name(const Fields& fields) {
  if (sometimes(10)) return "unknown_" + std::to_string(any(0, 600));
  std::string name = fields[any<size_t>(0, fields.size())].first;
  return sometimes(10) ? other_case(name) : name;
}

std::string quoted_name(const std::string& name) {
  if (name.empty() || !sometimes(20)) return json_quote(name);
  return "\"" + unicode_escape('x') + name.substr(1) + "\"";
}

TEST(JsonPaths, AgreeOnNames) {
  const Fields fields = fields_of_many_names();
  EXPECT_TRUE(rc::check("names agree", [&] {
    JsonOptions options = any_options();
    options.case_insensitive = false;  // two of the names differ by case
    AllPaths paths(fields, options);
    std::vector<std::string> names;
    for (int i = any(0, 30); i > 0; --i) names.push_back(any_name(fields));
    for (int documents = 0; documents < 10; ++documents) {
      if (sometimes(2) && !names.empty()) std::swap(names[any<size_t>(0, names.size())], names[any<size_t>(0, names.size())]);
      if (sometimes(2)) names.insert(names.begin() + any<int64_t>(0, static_cast<int64_t>(names.size()) + 1), any_name(fields));
      if (sometimes(2) && !names.empty()) names.erase(names.begin() + any<int64_t>(0, static_cast<int64_t>(names.size())));
      std::string document = "{";
      for (const std::string& name : names) document += (document.size() == 1 ? "" : ",") + quoted_name(name) + spaces() + ":" + spaces() + "7";
      RC_ASSERT(!paths.agreed(document + "}").empty());
    }
  }));
}

TEST(JsonPaths, AgreeWhenMoreNamesComeThanAreLearned) {
  AllPaths paths(Fields{{"id", "long"}, {"Name", "string"}});
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "key_" + std::to_string(i % 700);
    ASSERT_EQ(paths.agreed("{\"" + name + "\":{\"a\":[1]},\"id\":1,\"name\":2,\"" + name + "x\":null,\"nAme\":3}")[0], '=');
  }
}

}  // namespace
}  // namespace frazil::format
