// DemoKafka: the demo's Kafka and its producer, in a process of their own, so that the pipeline's CPU time is measured
// alone.
//
// The Kafka is librdkafka's mock: it keeps only the last megabytes of a partition, so the producer stays close to what
// the pipeline has read. Made before any lane exists (it forks). The child ends with this object, or with the parent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace frazil::app {

struct DemoLoad {
  std::string topic;
  int partitions = 12;  // the mock keeps a few MB of each: more of them let the producer run further ahead
  int64_t records = 0;
  double bad_percent = 0;
};

// What the producer has done so far.
struct DemoProduced {
  int64_t records = 0;
  int64_t bytes = 0;
  int64_t spoiled = 0;     // known at the end
  int64_t tombstones = 0;  // known at the end
  bool is_done = false;
};

class DemoKafka {
 public:
  static base::Result<std::unique_ptr<DemoKafka>> start(const DemoLoad& load);
  ~DemoKafka();

  // Waits for the mock to listen. kUnavailable when it does not by the deadline, or with the child's own reason.
  base::Result<std::string> bootstrap_servers(base::MonoMicros deadline);
  // The producer begins with the first call, and may be ahead of `bytes` by what the mock keeps.
  void set_consumed(int64_t bytes);
  // What is produced; an error when the producer or its process failed.
  base::Result<DemoProduced> produced();

 private:
  struct Shared;
  DemoKafka(Shared* shared, int child) : shared_(shared), child_(child) {}
  static void run_child(const DemoLoad& load, Shared& shared);
  base::Status check_child();

  Shared* shared_;
  int child_;
};

}  // namespace frazil::app
