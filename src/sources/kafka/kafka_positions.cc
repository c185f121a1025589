#include "sources/kafka/kafka_positions.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "format/json/json_text.h"

namespace frazil::sources {

namespace {

using clients::OffsetAndEpoch;
using clients::TopicPartition;
using Json = nlohmann::json;

constexpr char kTopicPrefix[] = "topic/";
constexpr int kVersion = 1;
// No cluster has more partitions in a topic; a larger index in a table is damage.
constexpr int32_t kMostPartitions = 1000000;

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string id_or_null(const std::string& id) { return id.empty() ? "null" : format::json_quote(id); }

// Partitions of one topic, by number.
struct TopicPositions {
  std::map<int32_t, OffsetAndEpoch> next;
};

std::string numbers_text(const TopicPositions& topic, int64_t (*number_of)(const OffsetAndEpoch&)) {
  std::string text = "[";
  int32_t index = 0;
  for (const auto& [partition, position] : topic.next) {
    for (; index < partition; ++index) text += index > 0 ? ",null" : "null";
    if (index++ > 0) text += ',';
    const int64_t number = number_of(position);
    text += number < 0 ? "null" : std::to_string(number);
  }
  return text + "]";
}

std::map<std::string, TopicPositions> by_topic(const engine::SourcePositions& positions) {
  std::map<std::string, TopicPositions> topics;
  for (const auto& [key, id] : positions.identity) {
    if (key.rfind(kTopicPrefix, 0) == 0) topics[key.substr(sizeof(kTopicPrefix) - 1)];
  }
  for (const auto& [split, text] : positions.next) {
    const auto partition = parse_split(split);
    const auto position = parse_position(text);
    CHECK(partition.has_value() && position.has_value());
    topics[partition->topic].next[partition->partition] = *position;
  }
  return topics;
}

base::Error nonsense(const char* what) {
  return base::corrupt(std::string("Kafka positions in the table cannot be read: ") + what);
}

base::Result<std::string> read_id(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return nonsense("an id is no text");
  return found->get<std::string>();
}

// A number from 0 to the largest int64; what is larger comes out of the JSON library as negative.
std::optional<int64_t> read_number(const Json& json) {
  if (!json.is_number_integer() || json.get<int64_t>() < 0) return std::nullopt;
  return json.get<int64_t>();
}

base::Status read_topic(const std::string& topic, const Json& json, engine::SourcePositions& out) {
  if (topic.empty() || !json.is_object()) return nonsense("a topic without a name, or no object");
  TRY_ASSIGN(out.identity[topic_identity(topic)], read_id(json, "id"));
  const auto next = json.find("next");
  const auto epochs = json.find("leader_epoch");
  if (next == json.end() || !next->is_array()) return nonsense("next is no array");
  if (next->size() > size_t{kMostPartitions}) return nonsense("more partitions than a topic can have");
  const bool has_epochs = epochs != json.end() && !epochs->is_null();
  if (has_epochs && (!epochs->is_array() || epochs->size() != next->size())) {
    return nonsense("leader_epoch does not match next");
  }
  for (size_t i = 0; i < next->size(); ++i) {
    const Json& offset = (*next)[i];
    if (offset.is_null()) continue;
    const auto number = read_number(offset);
    if (!number) return nonsense("an offset is no number");
    OffsetAndEpoch position{*number, -1};
    if (has_epochs && !(*epochs)[i].is_null()) {
      const auto epoch = read_number((*epochs)[i]);
      if (!epoch || *epoch > INT32_MAX) return nonsense("a leader epoch is no number");
      position.leader_epoch = static_cast<int32_t>(*epoch);
    }
    out.next[split_id({topic, static_cast<int32_t>(i)})] = position_text(position);
  }
  return {};
}

class KafkaPositionFormat : public engine::PositionFormat {
 public:
  std::string encode(const engine::SourcePositions& positions) const override {
    const auto cluster = positions.identity.find(kClusterIdentity);
    std::string json = "{\"v\":1,\"kind\":\"kafka\",\"cluster\":";
    json += cluster == positions.identity.end() ? "null" : id_or_null(cluster->second);
    json += ",\"topics\":{";
    bool is_first = true;
    for (const auto& [name, topic] : by_topic(positions)) {
      const auto id = positions.identity.find(topic_identity(name));
      if (!std::exchange(is_first, false)) json += ',';
      json += format::json_quote(name) + ":{\"id\":";
      json += id == positions.identity.end() ? "null" : id_or_null(id->second);
      json += ",\"next\":" + numbers_text(topic, [](const OffsetAndEpoch& p) { return p.offset; });
      json += ",\"leader_epoch\":" + numbers_text(topic, [](const OffsetAndEpoch& p) { return int64_t{p.leader_epoch}; });
      json += '}';
    }
    return json + "}}";
  }

  base::Result<engine::SourcePositions> decode(const std::string& text) const override {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return nonsense("no JSON object");
    const auto version = json.find("v");
    if (version == json.end() || !version->is_number_integer()) return nonsense("no version");
    if (version->get<int64_t>() > kVersion) {
      return base::unsupported("positions of version " + std::to_string(version->get<int64_t>()) +
                               " were written by a newer Frazil");
    }
    if (json.value("kind", Json()) != "kafka") return nonsense("of another kind of source");
    engine::SourcePositions positions{.kind = "kafka", .identity = {}, .next = {}};
    TRY_ASSIGN(positions.identity[kClusterIdentity], read_id(json, "cluster"));
    const auto topics = json.find("topics");
    if (topics == json.end() || !topics->is_object()) return nonsense("no topics");
    for (const auto& [name, topic] : topics->items()) TRY(read_topic(name, topic, positions));
    return positions;
  }

  std::string encode_ranges(const std::vector<engine::Range>& ranges) const override {
    std::map<std::string, std::map<int32_t, std::pair<int64_t, int64_t>>> topics;
    for (const engine::Range& range : ranges) {
      const auto partition = parse_split(range.split);
      const auto begin = parse_position(range.begin);
      const auto end = parse_position(range.end);
      CHECK(partition.has_value() && begin.has_value() && end.has_value());
      topics[partition->topic][partition->partition] = {begin->offset, end->offset};
    }
    std::string json = "{";
    for (const auto& [topic, partitions] : topics) {
      if (json.size() > 1) json += ',';
      json += format::json_quote(topic) + ":{";
      bool is_first = true;
      for (const auto& [partition, span] : partitions) {
        if (!std::exchange(is_first, false)) json += ',';
        json += '"' + std::to_string(partition) + "\":[" + std::to_string(span.first) + ',' +
                std::to_string(span.second) + ']';
      }
      json += '}';
    }
    return json + "}";
  }

  base::Result<std::vector<engine::Range>> decode_ranges(const std::string& text) const override {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return nonsense("ranges are no JSON object");
    std::vector<engine::Range> ranges;
    for (const auto& [topic, partitions] : json.items()) {
      if (topic.empty() || !partitions.is_object()) return nonsense("ranges of a topic without a name, or no object");
      for (const auto& [number, span] : partitions.items()) {
        const auto partition = parse_number<int32_t>(number);
        if (!partition || *partition < 0 || *partition >= kMostPartitions) return nonsense("a range of no partition");
        if (!span.is_array() || span.size() != 2) return nonsense("a range");
        const auto begin = read_number(span[0]);
        const auto end = read_number(span[1]);
        if (!begin || !end) return nonsense("a range");
        ranges.push_back({.split = split_id({topic, *partition}),
                          .begin = position_text({*begin, -1}),
                          .end = position_text({*end, -1})});
      }
    }
    return ranges;
  }

  // The offset: which leader wrote the record before it concerns nobody.
  std::string in_words(const std::string& position) const override {
    const auto known = parse_position(position);
    return known ? std::to_string(known->offset) : position;
  }

  engine::Relation relate(const std::string& begin, const std::string& frontier) const override {
    const auto left = parse_position(begin);
    const auto right = parse_position(frontier);
    if (!left || !right) return engine::Relation::kIncomparable;
    if (left->offset == right->offset) return engine::Relation::kAt;
    return left->offset < right->offset ? engine::Relation::kBehind : engine::Relation::kBeyond;
  }
};

}  // namespace

std::string topic_identity(const std::string& topic) { return kTopicPrefix + topic; }

engine::SplitId split_id(const TopicPartition& partition) {
  return partition.topic + "/" + std::to_string(partition.partition);
}

std::optional<TopicPartition> parse_split(const engine::SplitId& split) {
  const size_t slash = split.rfind('/');
  if (slash == std::string::npos || slash == 0) return std::nullopt;
  const auto number = parse_number<int32_t>(std::string_view(split).substr(slash + 1));
  if (!number || *number < 0 || *number >= kMostPartitions) return std::nullopt;
  return TopicPartition{split.substr(0, slash), *number};
}

std::string position_text(const OffsetAndEpoch& position) {
  return std::to_string(position.offset) + "@" + std::to_string(position.leader_epoch);
}

std::optional<OffsetAndEpoch> parse_position(const std::string& text) {
  const size_t at = text.find('@');
  const auto offset = parse_number<int64_t>(std::string_view(text).substr(0, at));
  if (!offset || *offset < 0) return std::nullopt;
  if (at == std::string::npos) return OffsetAndEpoch{*offset, -1};
  const auto epoch = parse_number<int32_t>(std::string_view(text).substr(at + 1));
  if (!epoch) return std::nullopt;
  return OffsetAndEpoch{*offset, *epoch};
}

const engine::PositionFormat& kafka_position_format() {
  static const KafkaPositionFormat format;
  return format;
}

}  // namespace frazil::sources
