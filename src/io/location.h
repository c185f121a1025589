// Locations: how the URIs of Iceberg metadata name files. Pure; any thread.
//
// Iceberg's writers put paths into URIs as they are: nothing is percent-encoded, so nothing is decoded here, and '?',
// '#' and '%' are ordinary characters of a name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::io {

// "s3" for "s3://bucket/key", "file" for "file:/a"; empty for a bare path. Lower case.
std::string scheme_of(std::string_view location);

// The absolute path that a local location names: "/a b" for "file:///a b", "file:/a b", "file://localhost/a b" and "/a
// b". kInvalid for relative paths, other hosts and zero bytes; kUnsupported for other schemes.
base::Result<std::string> local_path(std::string_view location);

// The form that Frazil writes: "file:///a" for every local form, without trailing slashes; other schemes keep theirs.
// What is not understood comes back unchanged (the FileIO will say what is wrong with it).
std::string canonical_location(std::string_view location);

// True when a part between slashes is ".." (or "."): such a location names another folder than it seems to.
bool has_dot_parts(std::string_view path);

}  // namespace frazil::io
