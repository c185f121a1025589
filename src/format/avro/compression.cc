#include "format/avro/compression.h"

#include <algorithm>

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

namespace frazil::format {

namespace {

// zlib's window codes: negative is raw deflate, +16 is gzip.
constexpr int kRawWindow = -15;
constexpr int kGzipWindow = 15 + 16;
constexpr int kDeflateLevel = 6;
constexpr int kZstdLevel = 1;
constexpr size_t kCrcBytes = 4;

Bytef* zlib_bytes(const char* data) { return reinterpret_cast<Bytef*>(const_cast<char*>(data)); }

base::Error out_of_bounds() { return base::corrupt("compressed data expands beyond what is allowed"); }

base::Result<std::string> deflate_all(std::string_view plain, int window, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return base::invalid("deflate refuses level " + std::to_string(level));
  }
  if (plain.size() > UINT32_MAX) {
    deflateEnd(&stream);
    return base::invalid("block of more than 4 GiB");
  }
  std::string out(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = zlib_bytes(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = zlib_bytes(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) return base::Error(base::Code::kBug, "deflate did not finish in its own bound");
  return out;
}

base::Result<std::string> inflate_all(std::string_view packed, int window, int64_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) return base::Error(base::Code::kExhausted, "no memory to inflate");
  stream.next_in = zlib_bytes(packed.data());
  stream.avail_in = static_cast<uInt>(std::min<size_t>(packed.size(), UINT32_MAX));
  std::string out;
  int code = Z_OK;
  while (code == Z_OK) {
    const size_t used = out.size();
    if (static_cast<int64_t>(used) > max_bytes) break;
    out.resize(std::max<size_t>(used * 2, packed.size() * 4 + 256));
    stream.next_out = zlib_bytes(out.data() + used);
    stream.avail_out = static_cast<uInt>(std::min<size_t>(out.size() - used, UINT32_MAX));
    const uInt given = stream.avail_out;
    code = inflate(&stream, Z_NO_FLUSH);
    out.resize(used + (given - stream.avail_out));
  }
  inflateEnd(&stream);
  if (static_cast<int64_t>(out.size()) > max_bytes) return out_of_bounds();
  if (code != Z_STREAM_END) return base::corrupt("deflate data is damaged or cut off");
  return out;
}

base::Result<std::string> zstd_compress(std::string_view plain, int level) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), level);
  if (ZSTD_isError(size)) return base::invalid(std::string("zstd: ") + ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

base::Result<std::string> zstd_decompress(std::string_view packed, int64_t max_bytes) {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  if (context == nullptr) return base::Error(base::Code::kExhausted, "no memory to decompress");
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::string out;
  size_t code = 1;
  while (code != 0 && static_cast<int64_t>(out.size()) <= max_bytes) {
    const size_t used = out.size();
    out.resize(std::max<size_t>(used * 2, packed.size() * 4 + 256));
    ZSTD_outBuffer target{out.data() + used, out.size() - used, 0};
    code = ZSTD_decompressStream(context, &target, &in);
    const bool stalled = target.pos == 0 && in.pos == in.size;
    out.resize(used + target.pos);
    if (ZSTD_isError(code) || (stalled && code != 0)) break;
    if (code == 0 && in.pos < in.size) code = 1;  // one more frame
  }
  ZSTD_freeDCtx(context);
  if (static_cast<int64_t>(out.size()) > max_bytes) return out_of_bounds();
  if (code != 0) return base::corrupt("zstd data is damaged or cut off");
  return out;
}

uint32_t crc_of(std::string_view bytes) {
  return static_cast<uint32_t>(::crc32_z(0, zlib_bytes(bytes.data()), bytes.size()));
}

std::string snappy_compress(std::string_view plain) {
  std::string out;
  snappy::Compress(plain.data(), plain.size(), &out);
  const uint32_t crc = crc_of(plain);
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(crc >> shift));
  return out;
}

base::Result<std::string> snappy_decompress(std::string_view packed, int64_t max_bytes) {
  if (packed.size() < kCrcBytes) return base::corrupt("snappy block is cut off");
  const std::string_view body = packed.substr(0, packed.size() - kCrcBytes);
  size_t size = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &size)) return base::corrupt("snappy block is damaged");
  if (static_cast<int64_t>(size) > max_bytes) return out_of_bounds();
  // Snappy packs at most 64 bytes into 3: a claim beyond that is a lie, and must not allocate.
  if (size > body.size() * 32 + 64) return base::corrupt("snappy block claims more bytes than it can hold");
  std::string out;
  if (!snappy::Uncompress(body.data(), body.size(), &out)) return base::corrupt("snappy block is damaged");
  uint32_t crc = 0;
  for (const char byte : packed.substr(body.size())) crc = crc << 8 | static_cast<uint8_t>(byte);
  if (crc != crc_of(out)) return base::corrupt("snappy block fails its checksum");
  return out;
}

}  // namespace

base::Result<AvroCodec> avro_codec_named(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (lower.empty() || lower == "null" || lower == "uncompressed" || lower == "none") return AvroCodec::kNull;
  if (lower == "deflate" || lower == "gzip") return AvroCodec::kDeflate;
  if (lower == "zstandard" || lower == "zstd") return AvroCodec::kZstandard;
  if (lower == "snappy") return AvroCodec::kSnappy;
  return base::unsupported("Avro codec \"" + std::string(name) + "\" (known: uncompressed, gzip, zstd, snappy)");
}

std::string_view avro_codec_name(AvroCodec codec) {
  switch (codec) {
    case AvroCodec::kDeflate: return "deflate";
    case AvroCodec::kZstandard: return "zstandard";
    case AvroCodec::kSnappy: return "snappy";
    case AvroCodec::kNull: break;
  }
  return "null";
}

base::Result<std::string> avro_compress(AvroCodec codec, std::optional<int> level, std::string_view plain) {
  switch (codec) {
    case AvroCodec::kDeflate: return deflate_all(plain, kRawWindow, level.value_or(kDeflateLevel));
    case AvroCodec::kZstandard: return zstd_compress(plain, level.value_or(kZstdLevel));
    case AvroCodec::kSnappy: return snappy_compress(plain);
    case AvroCodec::kNull: break;
  }
  return std::string(plain);
}

base::Result<std::string> avro_decompress(AvroCodec codec, std::string_view packed, int64_t max_bytes) {
  switch (codec) {
    case AvroCodec::kDeflate: return inflate_all(packed, kRawWindow, max_bytes);
    case AvroCodec::kZstandard: return zstd_decompress(packed, max_bytes);
    case AvroCodec::kSnappy: return snappy_decompress(packed, max_bytes);
    case AvroCodec::kNull: break;
  }
  return std::string(packed);
}

std::string gzip_compress(std::string_view plain) {
  auto packed = deflate_all(plain, kGzipWindow, kDeflateLevel);
  CHECK(packed.ok());
  return std::move(packed).value();
}

base::Result<std::string> gzip_decompress(std::string_view packed, int64_t max_bytes) {
  return inflate_all(packed, kGzipWindow, max_bytes);
}

bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

}  // namespace frazil::format
