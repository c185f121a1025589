// Checks that look beyond one option: columns that differ by case alone, and pipelines of one file against each other.
// Pure; no network.
#pragma once

#include <vector>

#include "app/config/pipeline_config.h"
#include "app/config/problems.h"

namespace frazil::app {

// Warns of names that many engines take for the same one: Spark, Trino and Hive look columns up without regard to case,
// and cannot read a table in which two match. Nested fields are looked at too.
void warn_of_case_twins(const columnar::Schema& schema, const Mark& mark, Problems& problems);

// Where the names of a pipeline's tables stand.
struct TableMarks {
  Mark pipeline;
  Mark dead_letters;
};
// A dead-letter table that is another pipeline's target would hold rows of two schemas: an error. Two pipelines that write one
// topic into one table would put its rows there twice: a warning. `marks` as `pipelines`.
void check_tables_apart(const std::vector<PipelineConfig>& pipelines, const std::vector<TableMarks>& marks,
                        Problems& problems);

}  // namespace frazil::app
