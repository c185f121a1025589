// Reads a file that a table names. Gateways, proxies and captive portals answer with a page of their own in the place of a file, with 200;
// such a page is no damage of the table and is gone the next time. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "io/file_io.h"

namespace frazil::iceberg {

// The bytes, which its reader judges; kUnavailable when they are a page (HTML, XML), which no file of Iceberg's metadata begins like.
base::Result<std::string> read_stored(io::FileIO& io, const std::string& location);

}  // namespace frazil::iceberg
