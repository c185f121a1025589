// What one process of the pipeline is told of its tables, as the pipeline's file would tell it.
#pragma once

#include "sinks/iceberg/iceberg_sink_config.h"
#include "tests/simulation/scenario.h"

namespace frazil::simulation {

// Draws where processes of one pipeline differ.
sinks::IcebergSinkConfig draw_sink_config(const Scenario& scenario);

}  // namespace frazil::simulation
