// ObjectDigest: what an object's bytes are, as far as a store can tell. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/objects/object_store.h"

namespace frazil::io {

struct ObjectDigest {
  struct Piece {
    int64_t bytes = 0;
    uint32_t checksum = 0;
  };
  std::vector<Piece> pieces;  // in order: for stores that report no checksum
  std::string checksum;       // of all, as the store would report it

  static ObjectDigest of(std::string_view bytes);
  int64_t bytes() const;
  // Whether the object has these bytes; nothing when sizes agree and the store reports no checksum, or one of another form.
  std::optional<bool> agrees_with(const StoredObject& object) const;
};

}  // namespace frazil::io
