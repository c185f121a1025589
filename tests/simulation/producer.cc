#include "tests/simulation/producer.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"

namespace frazil::simulation {

RecordKind kind_of(const std::string& value) {
  if (value.find("broken") != std::string::npos) return RecordKind::kBad;
  return value.find("\"amount\":\"") != std::string::npos ? RecordKind::kDisputed : RecordKind::kPlain;
}

std::vector<std::string> Producer::make_values(int32_t partition, int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) {
    const std::string place = "{\"part\":" + std::to_string(first_part_ + partition) +
                              ",\"ord\":" + std::to_string(next_[partition]++) + ",\"amount\":";
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
  if (chance(50)) kafka_.bump_leader_epoch(kTopic, partition);
  std::vector<std::string> values = make_values(partition, count);
  if (!chance(200)) return kafka_.append(kTopic, partition, std::move(values));
  const int64_t open_micros = between(0, 1'500'000);
  kafka_.append_transaction(kTopic, partition, std::move(values), chance(400), base::deadline_after(open_micros));
  ++next_[partition];  // the control record
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
    if (before > change_at || made <= change_at) continue;
    if (scenario_.adds_partition) {
      kafka_.add_partition(kTopic);
      ++partitions_;
    }
    if (scenario_.recreates_topic) {
      first_topic_ = kafka_.topic(kTopic);
      kafka_.recreate_topic(kTopic);
      base::log_info("sim_topic_recreated");
      next_.clear();
      first_part_ = kRecreatedParts;
    }
  }
}

}  // namespace frazil::simulation
