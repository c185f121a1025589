// Producer: fills the simulated topic while the workers read, and changes it: transactions, leader epochs, a new partition, and the
// event of the scenario. One lane.
//
// A record is JSON that names its own place: {"part":0,"ord":17,"kind":"click","amount":5}. Three sorts: plain; disputed (amount is a
// text, which one of two decoders takes); bad (no JSON, no decoder takes it). Records of another log under the same name, made anew or
// cut and filled again, name partitions from 100 on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/lakehouse.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_kafka.h"

namespace frazil::simulation {

inline constexpr char kTopic[] = "orders";
inline constexpr int kOtherLogParts = 100;

enum class RecordKind { kPlain, kDisputed, kBad };
RecordKind kind_of(const std::string& value);

class Producer {
 public:
  // `house`: events may depend on the table's positions.
  Producer(SimKafka& kafka, const Lakehouse& house, const Scenario& scenario, Tally& tally)
      : kafka_(kafka), house_(house), scenario_(scenario), tally_(tally) {}
  void run();
  // The topic as the table may have seen it: with what Kafka has lost, and without what came in its place.
  SimTopic readable_topic();
  // The event of the scenario has come to pass.
  bool has_struck() const { return has_struck_; }

 private:
  void produce(int count);
  std::vector<std::string> make_values(int32_t partition, int count);
  void change_once();
  // False: not now, the table is not where it must be.
  bool strike();
  bool cut_log_below_the_table(bool is_election);
  bool overtake_the_table();
  void storm();

  SimKafka& kafka_;
  const Lakehouse& house_;
  const Scenario& scenario_;
  Tally& tally_;
  std::map<int32_t, int64_t> next_;  // by partition: the next offset
  int partitions_ = 0;
  bool has_struck_ = false;
  std::map<int32_t, int> first_part_;              // by partition: added to the number that records name
  std::optional<SimTopic> first_topic_;            // recreated: as it was
  std::map<int32_t, PartitionLog> lost_logs_;      // cut: as they were
  std::set<int32_t> closed_;                       // nobody writes there any more
};

}  // namespace frazil::simulation
