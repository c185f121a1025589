// Hashes: xxh64/xxh128 for identity and digests, CRC-32 where formats ask for it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace frazil::base {

uint64_t xxh64(std::string_view bytes, uint64_t seed = 0);
// Canonical (big-endian) 16 bytes of XXH3's 128-bit hash.
std::array<uint8_t, 16> xxh128(std::string_view bytes);
std::string hex(std::string_view bytes);

}  // namespace frazil::base
