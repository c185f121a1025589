#include "iceberg/bucket_hash.h"

#include <bit>

#include "iceberg/literal.h"
#include "iceberg/partition_spec.h"

namespace frazil::iceberg {

namespace {

constexpr uint32_t scramble(uint32_t block) { return std::rotl(block * 0xCC9E2D51U, 15) * 0x1B873593U; }

constexpr uint32_t mix(uint32_t hash, uint32_t block) { return std::rotl(hash ^ scramble(block), 13) * 5 + 0xE6546B64U; }

constexpr uint32_t finish(uint32_t hash, size_t length) {
  hash ^= static_cast<uint32_t>(length);
  hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
  hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
  return hash ^ hash >> 16;
}

}  // namespace

int32_t murmur3_32(std::string_view bytes) {
  uint32_t hash = 0;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    uint32_t block;
    __builtin_memcpy(&block, bytes.data() + at, 4);
    hash = mix(hash, block);
  }
  uint32_t tail = 0;
  for (size_t i = bytes.size(); i > at; --i) tail = tail << 8 | static_cast<uint8_t>(bytes[i - 1]);
  if (at < bytes.size()) hash ^= scramble(tail);
  return static_cast<int32_t>(finish(hash, bytes.size()));
}

int32_t hash_long(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  const uint32_t hash = mix(mix(0, static_cast<uint32_t>(bits)), static_cast<uint32_t>(bits >> 32));
  return static_cast<int32_t>(finish(hash, 8));
}

int32_t bucket_hash(const columnar::Type& type, const Literal& value) {
  if (const auto* narrow = std::get_if<int32_t>(&value.value)) return hash_long(*narrow);
  if (const auto* wide = std::get_if<int64_t>(&value.value)) return hash_long(*wide);
  return murmur3_32(to_binary(type, value));
}

}  // namespace frazil::iceberg
