// Producer: fills the simulated topic while the workers read, and changes it: transactions, leader epochs, a new partition,
// and, where the scenario says so, another topic under the same name. One lane.
//
// A record is JSON that names its own place: {"part":0,"ord":17,"amount":5}. Three kinds: plain; disputed (amount is a
// text, which one of two decoders takes); bad (no JSON, no decoder takes it). Records of a recreated topic name partitions
// from 100 on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_kafka.h"

namespace frazil::simulation {

inline constexpr char kTopic[] = "orders";
inline constexpr int kRecreatedParts = 100;

enum class RecordKind { kPlain, kDisputed, kBad };
RecordKind kind_of(const std::string& value);

class Producer {
 public:
  Producer(SimKafka& kafka, const Scenario& scenario) : kafka_(kafka), scenario_(scenario) {}
  void run();
  // The topic as it was before it was recreated.
  const std::optional<SimTopic>& first_topic() const { return first_topic_; }

 private:
  void produce(int count);
  std::vector<std::string> make_values(int32_t partition, int count);

  SimKafka& kafka_;
  const Scenario& scenario_;
  std::map<int32_t, int64_t> next_;  // by partition: the next offset
  int partitions_ = 0;
  int first_part_ = 0;
  std::optional<SimTopic> first_topic_;
};

}  // namespace frazil::simulation
