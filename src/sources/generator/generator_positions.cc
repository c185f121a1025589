#include "sources/generator/generator_positions.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "format/json/json_text.h"

namespace frazil::sources {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kPrefix = "generator/";
constexpr int kMostSplits = 100000;

std::optional<int64_t> parse_count(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

base::Error nonsense(const char* what) {
  return base::corrupt(std::string("generator positions in the table cannot be read: ") + what);
}

class GeneratorPositionFormat : public engine::PositionFormat {
 public:
  std::string encode(const engine::SourcePositions& positions) const override {
    std::map<int, std::string> next;
    for (const auto& [split, position] : positions.next) {
      const auto number = generator_split_number(split);
      CHECK(number.has_value() && generator_count(position).has_value());
      next[*number] = position;
    }
    std::string json = R"({"v":1,"kind":"generator")";
    for (const auto& [key, value] : positions.identity) json += ',' + format::json_quote(key) + ':' + format::json_quote(value);
    json += ",\"next\":[";
    int index = 0;
    for (const auto& [number, position] : next) {
      for (; index < number; ++index) json += index > 0 ? ",null" : "null";
      if (index++ > 0) json += ',';
      json += position;
    }
    return json + "]}";
  }

  base::Result<engine::SourcePositions> decode(const std::string& text) const override {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return nonsense("no JSON object");
    const auto version = json.find("v");
    if (version == json.end() || !version->is_number_integer()) return nonsense("no version");
    if (version->get<int64_t>() > 1) return base::unsupported("generator positions were written by a newer Frazil");
    if (json.value("kind", Json()) != "generator") return nonsense("of another kind of source");
    engine::SourcePositions positions{.kind = "generator", .identity = {}, .next = {}};
    for (const auto& [key, value] : json.items()) {
      if (key != "kind" && value.is_string()) positions.identity[key] = value.get<std::string>();
    }
    const auto next = json.find("next");
    if (next == json.end() || !next->is_array()) return nonsense("next is no array");
    for (size_t i = 0; i < next->size(); ++i) {
      if ((*next)[i].is_null()) continue;
      if (!(*next)[i].is_number_integer() || (*next)[i].get<int64_t>() < 0) return nonsense("a count is no number");
      positions.next[generator_split(static_cast<int>(i))] = std::to_string((*next)[i].get<int64_t>());
    }
    return positions;
  }

  std::string encode_ranges(const std::vector<engine::Range>& ranges) const override {
    std::map<int, std::string> spans;
    for (const engine::Range& range : ranges) {
      const auto number = generator_split_number(range.split);
      CHECK(number.has_value() && generator_count(range.begin).has_value() && generator_count(range.end).has_value());
      spans[*number] = "[" + range.begin + "," + range.end + "]";
    }
    std::string json = "{";
    for (const auto& [number, span] : spans) {
      if (json.size() > 1) json += ',';
      json += '"' + std::to_string(number) + "\":" + span;
    }
    return json + "}";
  }

  base::Result<std::vector<engine::Range>> decode_ranges(const std::string& text) const override {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return nonsense("ranges are no JSON object");
    std::vector<engine::Range> ranges;
    for (const auto& [key, span] : json.items()) {
      const auto number = parse_count(key);
      const bool is_span = span.is_array() && span.size() == 2 && span[0].is_number_integer() && span[1].is_number_integer();
      if (!number || *number > kMostSplits || !is_span) return nonsense("a range");
      ranges.push_back({.split = generator_split(static_cast<int>(*number)),
                        .begin = std::to_string(span[0].get<int64_t>()),
                        .end = std::to_string(span[1].get<int64_t>())});
    }
    return ranges;
  }

  engine::Relation relate(const std::string& begin, const std::string& frontier) const override {
    const auto left = generator_count(begin), right = generator_count(frontier);
    if (!left || !right) return engine::Relation::kIncomparable;
    if (*left == *right) return engine::Relation::kAt;
    return *left < *right ? engine::Relation::kBehind : engine::Relation::kBeyond;
  }
};

}  // namespace

engine::SplitId generator_split(int number) { return std::string(kPrefix) + std::to_string(number); }

std::optional<int> generator_split_number(const engine::SplitId& split) {
  if (split.rfind(kPrefix, 0) != 0) return std::nullopt;
  const auto number = parse_count(std::string_view(split).substr(kPrefix.size()));
  if (!number || *number > kMostSplits) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<int64_t> generator_count(const std::string& position) { return parse_count(position); }

const engine::PositionFormat& generator_position_format() {
  static const GeneratorPositionFormat format;
  return format;
}

}  // namespace frazil::sources
