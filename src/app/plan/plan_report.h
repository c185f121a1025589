// What `frazil plan` prints of one pipeline: facts as measured, and what they come to by the number of workers. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/plan/table_probe.h"
#include "app/plan/topic_probe.h"
#include "app/plan/worker_sizing.h"

namespace frazil::app {

struct PlannedTable {
  TableFacts facts;
  LoadFacts load;
  bool is_file_size_assumed = false;  // nothing was measured: a quarter of the values' bytes
  std::vector<WorkerSizing> workers;
};

struct PipelinePlan {
  std::string pipeline;
  TopicFacts topics;
  PlannedTable anchor;               // the table, if it is one alone
  std::vector<PlannedTable> tables;  // where rows go, if that is not one table
  std::string problem;               // of tables with each other
  bool goes_to_all = false;          // each row into each of them; else each table is taken to get as many as any other
  std::vector<WorkerSizing> workers;  // of all tables together
};

// `memory_bytes`: the budget of a process.
PipelinePlan make_plan(const PipelineConfig& config, TopicFacts topics, ProbedTables tables, int64_t memory_bytes, const std::vector<int>& workers);
// True when the pipeline would not start, or lacks a permission that was looked at.
bool has_problem(const PipelinePlan& plan);

std::string plan_as_text(const PipelinePlan& plan);
std::string plans_as_json(const std::vector<PipelinePlan>& plans);

}  // namespace frazil::app
