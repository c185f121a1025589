// Pipeline: one configured pipeline, built from source, decoder, sink and worker. The only place that knows all their
// names.
//
// Made and run on one lane; status() may be read from any. `budget` and `metrics` outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/config/pipeline_config.h"
#include "base/interrupt.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/result.h"
#include "engine/pipeline_status.h"
#include "engine/source.h"
#include "engine/worker.h"
#include "sources/kafka/kafka_source_config.h"

namespace frazil::app {

struct PipelineOptions {
  bool until_caught_up = false;
  std::vector<engine::AcceptedChoice> accepted;
  bool is_accepted_for_others = false;  // so the process's other pipelines have them too
  std::string user;                  // who decided what is accepted
  int64_t memory_bytes = 2LL << 30;  // of the whole process
  decltype(engine::WorkerOptions::on_commit) on_commit;
};

class Pipeline {
 public:
  Pipeline(PipelineConfig config, PipelineOptions options, base::MemoryBudget& budget, base::Metrics& metrics);
  ~Pipeline();

  const std::string& name() const { return config_.name; }
  const engine::PipelineStatus& status() const { return status_; }
  // Builds everything and runs until stopped, caught up, halted or failed; the status says which at the end. Blocks. All that it held is given
  // back when it returns, and it may be called again.
  base::Status run(base::Interrupt& stop);
  // The next run() begins with this answer to the halt that ended the last one, and `user` is who decided.
  void answer(engine::AcceptedChoice choice, std::string user);

 private:
  base::Status build_and_run(base::Interrupt& stop);

  const PipelineConfig config_;
  PipelineOptions options_;
  base::MemoryBudget& budget_;
  base::Metrics& metrics_;
  engine::PipelineStatus status_;
};

// What a pipeline tells its Kafka source; it must have one.
sources::KafkaSourceConfig kafka_source_config(const PipelineConfig& config);
// The source that a pipeline reads, not connected yet; with a group it joins that one only when it is started.
// `merge_address`: where this worker takes epochs of others, or empty.
base::Result<std::unique_ptr<engine::Source>> make_source(const PipelineConfig& config, int lanes, const std::string& merge_address = "");

// Who runs this process, as its environment says.
std::string user_name();

// Cores that this process may use, at least 1.
int usable_cores();

}  // namespace frazil::app
