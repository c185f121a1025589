// A FileIO over a store of objects: files that grow, reads in pieces, lists of all pages.
#pragma once

#include <memory>

#include "io/file_io.h"
#include "io/objects/object_store.h"

namespace frazil::io {

std::shared_ptr<FileIO> make_object_file_io(std::shared_ptr<ObjectStore> store);

}  // namespace frazil::io
