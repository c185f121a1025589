#include "sources/generator/record.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sources/generator/record_random.h"
#include "sources/generator/record_words.h"

namespace frazil::sources {

using Json = nlohmann::json;

static std::string record(RecordWriter& writer, uint64_t index) {
  std::string out;
  writer.write(index, out);
  return out;
}

TEST(Record, IsTheSameForTheSameSeedAndIndex) {
  const auto one = make_record_writer({.seed = 7}), other = make_record_writer({.seed = 7});
  record(*one, 3);
  for (uint64_t index : {0u, 99999u, 1u}) EXPECT_EQ(record(*one, index), record(*other, index));
  EXPECT_NE(record(*one, 5), record(*one, 6));
  EXPECT_NE(record(*one, 5), record(*make_record_writer({.seed = 8}), 5));
}

TEST(Record, IsJsonWithTheFieldsOfTheSchema) {
  const auto writer = make_record_writer({});
  const columnar::Schema schema = generator_schema();
  for (uint64_t index = 0; index < 500; ++index) {
    const Json json = Json::parse(record(*writer, index), nullptr, false);
    ASSERT_TRUE(json.is_object()) << record(*writer, index);
    ASSERT_EQ(json.size(), schema.fields.size());
    for (const columnar::Field& field : schema.fields) EXPECT_TRUE(json.contains(field.name)) << field.name;
    EXPECT_EQ(json["id"], index);
  }
}

TEST(Record, HasAboutTheBytesThatItPromises) {
  const auto writer = make_record_writer({});
  size_t bytes = 0;
  for (uint64_t index = 0; index < 2000; ++index) bytes += record(*writer, index).size();
  EXPECT_NEAR(static_cast<double>(bytes) / 2000, 1040, 25);
}

TEST(Record, ShufflesItsKeysWithoutChangingItsValues) {
  const auto plain = make_record_writer({}), shuffled = make_record_writer({.shuffle_keys = true});
  std::set<std::string> first_keys;
  for (uint64_t index = 0; index < 200; ++index) {
    const std::string text = record(*shuffled, index);
    EXPECT_EQ(Json::parse(text), Json::parse(record(*plain, index)));
    first_keys.insert(text.substr(0, text.find(':')));
  }
  EXPECT_GT(first_keys.size(), 20u);
}

TEST(Record, SpoilsTheAskedShareInEveryWay) {
  const auto writer = make_record_writer({.bad_percent = 10});
  std::map<Spoiling, int> seen;
  std::string out;
  for (uint64_t index = 0; index < 20000; ++index) ++seen[writer->write(index, out)];
  EXPECT_EQ(seen.size(), static_cast<size_t>(kSpoilings) + 1);
  EXPECT_NEAR(20000 - seen[Spoiling::kNone], 2000, 200);
}

TEST(Record, DrawsUsersWithZipfsSkew) {
  const Zipf zipf(5000000, 1.1);
  RecordRandom random(1, 2);
  int firsts = 0, tops = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t rank = zipf.draw(random);
    ASSERT_GE(rank, 1u);
    ASSERT_LE(rank, 5000000u);
    firsts += rank == 1;
    tops += rank <= 2;
  }
  // 1 / sum of k^-1.1 up to 5 million = 0.1185; ranks 1 and 2: 0.1738
  EXPECT_NEAR(static_cast<double>(firsts) / kDraws, 0.1185, 0.005);
  EXPECT_NEAR(static_cast<double>(tops) / kDraws, 0.1738, 0.006);
}

TEST(Record, DrawsFromDictionariesOfThePromisedSizes) {
  const RecordWords& words = record_words();
  EXPECT_EQ(words.statuses.size(), 8u);
  EXPECT_EQ(words.countries.size(), 120u);
  EXPECT_EQ(words.currencies.size(), 30u);
  EXPECT_EQ(words.cities.size(), 4000u);
  EXPECT_EQ(words.devices.size(), 12u);
  EXPECT_EQ(words.browsers.size(), 40u);
  EXPECT_EQ(words.tags.size(), 200u);
  EXPECT_EQ(words.carriers.size(), 10u);
  EXPECT_EQ(std::set<std::string>(words.countries.begin(), words.countries.end()).size(), 120u);
  EXPECT_EQ(std::set<std::string>(words.user_agents.begin(), words.user_agents.end()).size(), 3000u);
  for (const std::string& agent : words.user_agents) EXPECT_EQ(agent.size(), 115u);
}

TEST(AvroRecord, FollowsEveryTypeOfTheSchema) {
  const auto writer = make_avro_record_writer(R"({"type":"record","name":"r","namespace":"n","fields":[
    {"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},{"name":"f","type":"float"},
    {"name":"s","type":"string"},{"name":"y","type":"bytes"},{"name":"x","type":{"type":"fixed","name":"fx","size":5}},
    {"name":"e","type":{"type":"enum","name":"en","symbols":["A","B"]}},{"name":"a","type":{"type":"array","items":"int"}},
    {"name":"m","type":{"type":"map","values":"string"}},{"name":"u","type":["null","string"]},
    {"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
    {"name":"t","type":{"type":"long","logicalType":"timestamp-micros"}},
    {"name":"lt","type":{"type":"long","logicalType":"local-timestamp-millis"}},
    {"name":"dt","type":{"type":"int","logicalType":"date"}},{"name":"g","type":{"type":"string","logicalType":"uuid"}},
    {"name":"e2","type":"en"},{"name":"self","type":["null","n.r"]}]})", {});
  ASSERT_TRUE(writer.ok()) << writer.error().message();
  bool saw_null = false, saw_text = false;
  for (uint64_t index = 0; index < 100; ++index) {
    const std::string text = record(*writer.value(), index);
    const Json json = Json::parse(text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << text;
    EXPECT_TRUE(json["b"].is_boolean());
    EXPECT_TRUE(json["i"].is_number_integer());
    EXPECT_TRUE(json["f"].is_number());
    EXPECT_EQ(json["x"].get<std::string>().size(), 8u);
    EXPECT_TRUE(json["e"] == "A" || json["e"] == "B");
    EXPECT_TRUE(json["d"].is_number());
    EXPECT_EQ(json["t"].get<std::string>().back(), 'Z');
    EXPECT_EQ(json["lt"].get<std::string>().size(), 26u);
    EXPECT_EQ(json["dt"].get<std::string>().size(), 10u);
    EXPECT_EQ(json["g"].get<std::string>().size(), 36u);
    saw_null |= json["u"].is_null();
    saw_text |= json["u"].is_string();
  }
  EXPECT_TRUE(saw_null && saw_text);
}

TEST(AvroRecord, RefusesWhatIsNoRecordSchema) {
  for (const char* schema : {"", "[]", R"("int")", R"({"type":"record","name":"r"})",
                             R"({"type":"record","name":"r","fields":[{"name":"x","type":"missing"}]})",
                             R"({"type":"record","name":"r","fields":[{"name":"x"}]})",
                             R"({"type":"record","name":"r","fields":[{"name":"x","type":{"type":"enum","name":"e"}}]})"}) {
    const auto writer = make_avro_record_writer(schema, {});
    ASSERT_FALSE(writer.ok()) << schema;
    EXPECT_EQ(writer.error().code(), base::Code::kInvalid);
  }
}

}  // namespace frazil::sources
