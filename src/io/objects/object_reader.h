// Reads an object in pieces that are small enough to be repeated, all of the same version of it. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/interrupt.h"
#include "base/result.h"
#include "io/objects/object_store.h"

namespace frazil::io {

// Bytes [offset, offset + length), fewer at the end of the object. kCorrupt when it was replaced meanwhile.
base::Result<std::string> read_object(ObjectStore& store, const ObjectAddress& at, int64_t offset, int64_t length,
                                      base::Interrupt& interrupt);

}  // namespace frazil::io
