// FileIO in memory ("memory://..."): for tests and simulations. Any thread.
//
// Durable as the interface asks: a file exists from the return of close(), whole, and outlives whoever wrote it; what
// was not closed never existed. So a simulated crash destroys pipelines and keeps the store.
#pragma once

#include <memory>

#include "io/file_io.h"

namespace frazil::io {

// A store of its own, empty.
std::shared_ptr<FileIO> make_memory_file_io();

}  // namespace frazil::io
