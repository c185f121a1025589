#include "tests/simulation/producer.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "tests/simulation/routing.h"

namespace frazil::simulation {

RecordKind kind_of(const std::string& value) {
  if (value.find("broken") != std::string::npos) return RecordKind::kBad;
  return value.find("\"amount\":\"") != std::string::npos ? RecordKind::kDisputed : RecordKind::kPlain;
}

std::vector<std::string> Producer::make_values(int32_t partition, int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) {
    const std::string place = "{\"part\":" + std::to_string(first_part_[partition] + partition) +
                              ",\"ord\":" + std::to_string(next_[partition]++) + ",\"kind\":\"" + draw_kind() + "\",\"amount\":";
    if (chance(scenario_.bad_records)) {
      values.push_back(place + "broken");
    } else if (chance(scenario_.disputed_records)) {
      values.push_back(place + "\"42\"}");
    } else {
      values.push_back(place + std::to_string(between(0, 1000)) + "}");
    }
  }
  return values;
}

void Producer::produce(int count) {
  const auto partition = static_cast<int32_t>(base::random_below(static_cast<uint64_t>(partitions_)));
  if (closed_.contains(partition)) return;
  if (chance(50)) kafka_.bump_leader_epoch(kTopic, partition);
  std::vector<std::string> values = make_values(partition, count);
  if (!chance(200)) return kafka_.append(kTopic, partition, std::move(values));
  const bool hangs = chance(150);
  const int64_t open_micros = hangs ? between(3'000'000, 5'000'000) : between(0, 1'500'000);
  if (hangs) tally_.add("KI16");
  kafka_.append_transaction(kTopic, partition, std::move(values), chance(400), base::deadline_after(open_micros));
  ++next_[partition];  // the control record
}

void Producer::change_once() {
  if (scenario_.adds_partition) {
    kafka_.add_partition(kTopic);
    ++partitions_;
  }
  if (scenario_.forgets_group_offsets) kafka_.forget_group_offsets();
  if (scenario_.has_storms) storm();
}

void Producer::storm() {
  base::Interrupt never;
  tally_.add("KM6");
  for (int i = 0; i < 6; ++i) {
    kafka_.stir_groups();
    never.wait_until(base::deadline_after(between(10'000, 500'000)));
  }
}

bool Producer::strike() {
  switch (scenario_.source) {
    case SourceEvent::kNone: return true;
    case SourceEvent::kRecreated:
      if (!house_.newest_anchor_marks()) return false;  // whoever begins later knows no other topic
      first_topic_ = kafka_.topic(kTopic);
      kafka_.recreate_topic(kTopic);
      next_.clear();
      for (int32_t partition = 0; partition < partitions_; ++partition) first_part_[partition] = kOtherLogParts;
      return true;
    case SourceEvent::kTruncated: return cut_log_below_the_table(true);
    case SourceEvent::kRestored: return cut_log_below_the_table(false);
    case SourceEvent::kOvertaken: return overtake_the_table();
    case SourceEvent::kMoved: kafka_.move_cluster(); return true;
  }
  return true;
}

bool Producer::cut_log_below_the_table(bool is_election) {
  const std::optional<TableMarks> marks = house_.newest_anchor_marks();
  if (!marks) return false;
  for (const auto& [partition, next] : marks->next) {
    if (next < 3) continue;
    // Where the table knows no leader epoch, nothing tells that other records came in the place of those it has passed.
    const auto epoch = marks->leader_epoch.find(partition);
    if (is_election && (epoch == marks->leader_epoch.end() || epoch->second < 0)) continue;
    lost_logs_[partition] = kafka_.topic(kTopic).partitions[static_cast<size_t>(partition)];
    const int64_t end = between(next / 2, next - 1);
    kafka_.cut_log(kTopic, partition, end, is_election);
    next_[partition] = end;
    first_part_[partition] = kOtherLogParts;
    if (!is_election) closed_.insert(partition);
    // Aborted records and markers alone would not tell that others are gone.
    if (is_election) kafka_.append(kTopic, partition, make_values(partition, 1));
    return true;
  }
  return false;
}

bool Producer::overtake_the_table() {
  const std::optional<TableMarks> marks = house_.newest_anchor_marks();
  if (!marks) return false;
  for (const auto& [partition, end] : kafka_.ends(kTopic)) {
    const auto known = marks->next.find(partition.partition);
    // What the table does not know yet begins where its log begins.
    if (known == marks->next.end() || known->second + 2 > end) continue;
    const int64_t next = known->second;
    kafka_.remove_records_below(kTopic, partition.partition, between(next + 1, end));
    return true;
  }
  return false;
}

SimTopic Producer::readable_topic() {
  if (first_topic_) return *first_topic_;
  SimTopic topic = kafka_.topic(kTopic);
  for (const auto& [partition, log] : lost_logs_) topic.partitions[static_cast<size_t>(partition)] = log;
  return topic;
}

void Producer::run() {
  partitions_ = scenario_.partitions;
  const int64_t pause = scenario_.safety_ms * 1000 * 3 / (scenario_.records + 1);
  const int64_t change_at = between(scenario_.records / 4, scenario_.records * 3 / 4);
  base::Interrupt never;
  for (int64_t made = 0; made < scenario_.records;) {
    never.wait_until(base::deadline_after(between(0, pause)));
    const int64_t before = made;
    const int count = static_cast<int>(between(1, 4));
    produce(count);
    made += count;
    if (before <= change_at && made > change_at) change_once();
    if (made <= change_at || has_struck_) continue;
    has_struck_ = strike();
    if (has_struck_ && scenario_.source != SourceEvent::kNone) base::log_info("sim_source_event", {{"event", static_cast<int>(scenario_.source)}});
  }
}

}  // namespace frazil::simulation
