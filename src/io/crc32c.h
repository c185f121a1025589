// CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum that object stores verify for every upload.
// One instruction for 8 bytes where the processor has SSE 4.2, tables elsewhere. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace frazil::io {

// Of `bytes` alone, or of what had the checksum `before` followed by `bytes`.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
// The same by tables, whatever the processor can do.
uint32_t crc32c_by_table(std::string_view bytes, uint32_t before = 0);

// As stores write it: base64 of the four bytes, the highest first.
std::string crc32c_base64(uint32_t checksum);
// The checksum that a store gives an object of several parts: of the parts' checksums one after the other.
class Crc32cOfParts {
 public:
  void add(uint32_t checksum);
  // "<base64>-<number of parts>"
  std::string text() const;

 private:
  uint32_t checksum_ = 0;
  int64_t parts_ = 0;
};

}  // namespace frazil::io
