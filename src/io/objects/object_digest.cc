#include "io/objects/object_digest.h"

#include "io/crc32c.h"

namespace frazil::io {
namespace {

// "<base64>-<parts>": a checksum of the parts' checksums, which cannot be compared with one of the bytes.
bool is_of_parts(const std::string& checksum) { return checksum.find('-') != std::string::npos; }

}  // namespace

ObjectDigest ObjectDigest::of(std::string_view bytes) {
  const uint32_t checksum = crc32c(bytes);
  return {{{static_cast<int64_t>(bytes.size()), checksum}}, crc32c_base64(checksum)};
}

int64_t ObjectDigest::bytes() const {
  int64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.bytes;
  return sum;
}

std::optional<bool> ObjectDigest::agrees_with(const StoredObject& object) const {
  if (object.bytes != bytes()) return false;
  if (object.checksum.empty() || is_of_parts(object.checksum) != is_of_parts(checksum)) return std::nullopt;
  return object.checksum == checksum;
}

}  // namespace frazil::io
