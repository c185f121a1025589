// A FileIO that stays below given folders: foreign metadata names files, and may name any file of this machine.
//
// Guards `files.allowed_roots` and the warehouse. A location is refused (kInvalid, with the roots and the option to
// change) when it has "." or ".." parts, or when its file or folder, with symbolic links resolved, lies outside of
// every root. Roots are compared as they resolve at that moment, so a root may be a link itself or appear later. It
// does not protect against somebody who changes links between the check and the access. Any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/file_io.h"

namespace frazil::io {

// `roots`: local locations, or of another scheme, for which text alone decides.
std::shared_ptr<FileIO> make_rooted_file_io(std::shared_ptr<FileIO> inner, std::vector<std::string> roots);

}  // namespace frazil::io
