// Compression for Avro blocks and for gzip files: whole buffers in, whole buffers out. Pure; any thread.
// Decompression is bounded by `max_bytes` (kCorrupt beyond it), so a small hostile input cannot take all memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::format {

enum class AvroCodec { kNull, kDeflate, kZstandard, kSnappy };

// By the names of Avro ("null", "deflate", "zstandard", "snappy") and of Iceberg's properties ("uncompressed", "none",
// "gzip", "zstd"); case does not matter. kUnsupported otherwise.
base::Result<AvroCodec> avro_codec_named(std::string_view name);
// The name that stands in a file.
std::string_view avro_codec_name(AvroCodec codec);

// A block's payload in the codec's form (deflate: raw; snappy: with the CRC-32 of the plain bytes behind it, big-endian).
base::Result<std::string> avro_compress(AvroCodec codec, std::optional<int> level, std::string_view plain);
base::Result<std::string> avro_decompress(AvroCodec codec, std::string_view packed, int64_t max_bytes);

std::string gzip_compress(std::string_view plain);
base::Result<std::string> gzip_decompress(std::string_view packed, int64_t max_bytes);
// True when the bytes start with gzip's magic number.
bool is_gzip(std::string_view bytes);

}  // namespace frazil::format
