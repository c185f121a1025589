// WorkerSlot: a place where one worker process runs at a time; when it crashes or ends, another starts from nothing but the
// table. Each process is built from the product's own parts: Kafka source, JSON decoder, Iceberg sink, engine worker.
//
// Processes of a slot differ: each draws anew whether its decoder takes texts for numbers. A halt that the scenario causes is
// answered as an operator would, with its token; any other halt, and any error that no fault explains, is a problem.
// run() is a lane's body; tend(), heal() and stop() belong to the world's main lane.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/sync.h"
#include "engine/sink.h"
#include "tests/simulation/lakehouse.h"
#include "tests/simulation/life.h"
#include "tests/simulation/operator.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_kafka.h"

namespace frazil::simulation {

class WorkerSlot {
 public:
  // Everything outlives the slot.
  WorkerSlot(int number, const Scenario& scenario, const Faults& faults, SimKafka& kafka, Lakehouse& house, Tally& tally)
      : number_(number), scenario_(scenario), faults_(faults), kafka_(kafka), house_(house), tally_(tally), operator_(scenario, house, tally) {}

  // Process after process until stop().
  void run();
  // One process that ends by itself when it has caught up, or is told to.
  base::Status run_until_caught_up(base::Interrupt& stop);
  // Ends a process that has lived long enough, in order.
  void tend(base::MonoMicros now);
  // No more crashes, no more orderly ends; where the table was rolled back, one last restart.
  void heal();
  void stop();

  bool is_halted() const { return is_halted_; }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  base::Status run_process(const std::shared_ptr<Life>& life, base::Interrupt& stop, bool until_caught_up);
  void doom(Life& life);
  void judge(const base::Status& ended, const Life& life);
  void answer(const base::Halt& halt);
  bool is_of_event(const std::string& code) const;
  std::string point_of_end(const std::string& code) const;

  const int number_;
  const Scenario& scenario_;
  const Faults& faults_;
  SimKafka& kafka_;
  Lakehouse& house_;
  Tally& tally_;
  Operator operator_;
  base::Interrupt stopped_;
  std::shared_ptr<Life> life_;
  std::shared_ptr<base::Interrupt> stop_process_;
  base::MonoMicros ends_at_ = base::kForever;
  bool is_healed_ = false;
  bool is_halted_ = false;
  std::vector<engine::AcceptedChoice> accepted_;
  std::vector<std::string> problems_;
};

}  // namespace frazil::simulation
