// The bucket transform's hash (Iceberg specification, appendix B): Murmur3, x86 variant, 32 bits, seed 0. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace frazil::iceberg {

int32_t murmur3_32(std::string_view bytes);
// int, long, date, time and timestamps all hash as eight little-endian bytes.
int32_t hash_long(int64_t value);

}  // namespace frazil::iceberg
