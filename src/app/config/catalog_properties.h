// The names that may stand under `table.catalog.properties`: those that Iceberg's clients use and Frazil honours. Others are
// refused, never ignored. Pure; any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace frazil::app {

// kInvalid names the property and why it is refused, or the nearest known name.
base::Status check_catalog_property(const std::string& name, const std::string& value);
// True when the value is a secret: files may give it only by reference.
bool is_catalog_secret(const std::string& name);
// True for properties of a REST service; the others are the stores'.
bool is_rest_property(const std::string& name);

}  // namespace frazil::app
