#include "sources/kafka/kafka_halts.h"

#include <algorithm>
#include <charconv>

#include "sources/kafka/kafka_positions.h"

namespace frazil::sources {

namespace {

using clients::OffsetAndEpoch;

int64_t records_in(const std::vector<OffsetSpan>& spans) {
  int64_t records = 0;
  for (const OffsetSpan& span : spans) records += span.end - span.begin;
  return records;
}

bool read_number(std::string_view& text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool read_mark(std::string_view& text, char mark) {
  if (text.empty() || text[0] != mark) return false;
  text.remove_prefix(1);
  return true;
}

// One span: orders/0[100,150)
std::optional<OffsetSpan> parse_span(std::string_view text) {
  const size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  const auto partition = parse_split(std::string(text.substr(0, bracket)));
  if (!partition) return std::nullopt;
  OffsetSpan span{.partition = *partition};
  text.remove_prefix(bracket + 1);
  const bool is_whole = read_number(text, span.begin) && read_mark(text, ',') && read_number(text, span.end) &&
                        read_mark(text, ')') && text.empty();
  if (!is_whole) return std::nullopt;
  return span;
}

base::Error no_choice(const base::Halt& halt, const std::string& choice) {
  std::string names;
  for (const base::HaltChoice& known : halt.choices) names += (names.empty() ? "" : ", ") + known.name;
  return base::invalid(halt.code + " has no choice '" + choice + "'; it has: " + names);
}

// What a choice does to each position of the range.
using Move = OffsetAndEpoch (*)(const OffsetSpan&);

// Beyond what retention removed. The epoch of the log start is not known yet.
OffsetAndEpoch to_end(const OffsetSpan& span) { return {span.end, -1}; }
// Where the log goes on without what was lost.
OffsetAndEpoch to_begin(const OffsetSpan& span) { return {span.begin, -1}; }

base::Result<engine::SourcePositions> moved(const base::Halt& halt, engine::SourcePositions positions, Move move) {
  const auto spans = parse_spans(halt.range);
  if (!spans) return base::invalid(halt.code + ": the range '" + halt.range + "' cannot be read");
  for (const OffsetSpan& span : *spans) {
    positions.next[split_id(span.partition)] = position_text(move(span));
  }
  return positions;
}

engine::SourcePositions without_topic(engine::SourcePositions positions, const std::string& topic) {
  positions.identity.erase(topic_identity(topic));
  std::erase_if(positions.next, [&](const auto& entry) {
    const auto partition = parse_split(entry.first);
    return partition && partition->topic == topic;
  });
  return positions;
}

}  // namespace

std::string spans_text(std::vector<OffsetSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const OffsetSpan& a, const OffsetSpan& b) { return a.partition < b.partition; });
  std::string text;
  for (const OffsetSpan& span : spans) {
    if (!text.empty()) text += ' ';
    text += split_id(span.partition) + "[" + std::to_string(span.begin) + "," + std::to_string(span.end) + ")";
  }
  return text;
}

std::optional<std::vector<OffsetSpan>> parse_spans(const std::string& text) {
  std::vector<OffsetSpan> spans;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const auto span = parse_span(std::string_view(text).substr(begin, end - begin));
    if (!span) return std::nullopt;
    spans.push_back(*span);
    begin = end + 1;
  }
  if (spans.empty()) return std::nullopt;
  return spans;
}

base::Halt source_gap(const std::vector<OffsetSpan>& spans) {
  const std::string range = spans_text(spans);
  const std::string records = std::to_string(records_in(spans));
  return {.code = "SOURCE_GAP",
          .text = "Kafka has removed records that are not in the table yet: " + range + ", up to " + records +
                  " offsets. They are lost unless somebody can produce them again",
          .range = range,
          .token = "",
          .choices = {{"skip", "go on at the log start and leave out " + range + " for ever"}}};
}

base::Halt source_behind(const std::vector<OffsetSpan>& spans) {
  const std::string range = spans_text(spans);
  return {.code = "SOURCE_BEHIND",
          .text = "the table has offsets that Kafka does not have: " + range +
                  ". The log ends before the table's position, though the topic is the same: restored from an older copy, "
                  "or truncated",
          .range = range,
          .token = "",
          .choices = {{"continue", "go on at the end of the log; rows of " + range +
                                       " stay in the table, new records at these offsets are added to them"},
                      {"restart", "read these partitions again from their log start; records that are in both come twice"}}};
}

base::Halt source_truncated(const OffsetSpan& span, const std::string& evidence) {
  const std::string range = spans_text({span});
  const bool is_known = span.begin < span.end;
  const std::string what = is_known ? "Kafka has lost records that are in the table: " + range
                                    : "Kafka has replaced records before offset " + std::to_string(span.end) + " of " +
                                          split_id(span.partition) + " after the table had taken them in";
  return {.code = "SOURCE_TRUNCATED",
          .text = what + " (an unclean leader election; " + evidence + ")",
          .range = range,
          .token = "",
          .choices = {{"continue", "go on at offset " + std::to_string(span.begin) + "; rows of the lost records stay"}}};
}

base::Halt source_recreated(const std::string& topic, const std::string& old_id, const std::string& new_id) {
  return {.code = "SOURCE_RECREATED",
          .text = "topic " + topic + " was deleted and created again: its id was " + old_id + " and is " + new_id +
                  ". Offsets of the old topic mean nothing in the new one; old records that are not in the table are lost",
          .range = topic + " " + old_id + " " + new_id,
          .token = "",
          .choices = {{"restart", "read the new topic from its log start; rows of the old one stay"}}};
}

base::Halt source_cluster_changed(const std::string& old_id, const std::string& new_id) {
  return {.code = "SOURCE_CLUSTER_CHANGED",
          .text = "the brokers belong to another cluster: the table's positions are of cluster " + old_id + ", this is " +
                  new_id + ". Offsets of two clusters agree only after a migration that kept them",
          .range = old_id + " " + new_id,
          .token = "",
          .choices = {{"same_offsets", "the new cluster has the same records at the same offsets: go on at the table's positions"},
                      {"start", "go on where `start` of the pipeline file says on the new cluster (for an offset map: "
                                "start: {offsets: …})"}}};
}

base::Halt source_gone(const std::string& topic) {
  return {.code = "SOURCE_GONE",
          .text = "topic " + topic + " does not exist any more; records of it that are not in the table are lost",
          .range = topic,
          .token = "",
          .choices = {{"forget", "drop the positions of " + topic + "; a new topic of this name is read from its log start"}}};
}

base::Result<engine::SourcePositions> move_positions(const base::Halt& halt, const std::string& choice,
                                                     engine::SourcePositions positions) {
  const bool is_choice = std::any_of(halt.choices.begin(), halt.choices.end(),
                                     [&](const base::HaltChoice& known) { return known.name == choice; });
  if (!is_choice) return no_choice(halt, choice);
  if (halt.code == "SOURCE_GAP") return moved(halt, std::move(positions), to_end);
  if (halt.code == "SOURCE_TRUNCATED") return moved(halt, std::move(positions), to_begin);
  if (halt.code == "SOURCE_BEHIND" && choice == "continue") return moved(halt, std::move(positions), to_begin);
  if (halt.code == "SOURCE_GONE") return without_topic(std::move(positions), halt.range);
  return base::invalid(halt.code + "=" + choice + " needs a look at Kafka");
}

}  // namespace frazil::sources
