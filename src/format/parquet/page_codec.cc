#include "format/parquet/page_codec.h"

#include <string>
#include <utility>

#include <arrow/util/compression.h>
#include <zstd.h>

namespace frazil::format {
namespace {

using columnar::Buffer;
using Bytes = std::span<const uint8_t>;

arrow::Compression::type arrow_codec(ParquetCodec codec) {
  switch (codec) {
    case ParquetCodec::kUncompressed:
      return arrow::Compression::UNCOMPRESSED;
    case ParquetCodec::kSnappy:
      return arrow::Compression::SNAPPY;
    case ParquetCodec::kGzip:
      return arrow::Compression::GZIP;
    case ParquetCodec::kZstd:
      return arrow::Compression::ZSTD;
    case ParquetCodec::kLz4:
      return arrow::Compression::LZ4;
    case ParquetCodec::kBrotli:
      return arrow::Compression::BROTLI;
  }
  return arrow::Compression::UNCOMPRESSED;
}

class NoCodec final : public PageCodec {
 public:
  base::Result<Bytes> compress(Bytes page, Buffer&) override { return page; }
};

// A context's tables take more memory than a page, so all writers of a thread share one.
ZSTD_CCtx* zstd_context() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  static thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  CHECK(context != nullptr);
  return context.get();
}

class ZstdCodec final : public PageCodec {
 public:
  explicit ZstdCodec(int level) : level_(level) {}

  base::Result<Bytes> compress(Bytes page, Buffer& out) override {
    out.resize(static_cast<int64_t>(ZSTD_compressBound(page.size())));
    const size_t size = ZSTD_compressCCtx(zstd_context(), out.data(), static_cast<size_t>(out.size()), page.data(),
                                          page.size(), level_);
    if (ZSTD_isError(size)) return base::Error(base::Code::kBug, std::string("zstd: ") + ZSTD_getErrorName(size));
    return Bytes(out.data(), size);
  }

 private:
  int level_;
};

class ArrowCodec final : public PageCodec {
 public:
  explicit ArrowCodec(std::unique_ptr<arrow::util::Codec> codec) : codec_(std::move(codec)) {}

  base::Result<Bytes> compress(Bytes page, Buffer& out) override {
    const auto input = static_cast<int64_t>(page.size());
    out.resize(codec_->MaxCompressedLen(input, page.data()));
    const auto size = codec_->Compress(input, page.data(), out.size(), out.data());
    if (!size.ok()) return base::Error(base::Code::kBug, "page compression: " + size.status().ToString());
    return Bytes(out.data(), static_cast<size_t>(*size));
  }

 private:
  std::unique_ptr<arrow::util::Codec> codec_;
};

base::Result<std::unique_ptr<arrow::util::Codec>> make_arrow_codec(const ParquetWriterOptions& options) {
  const auto codec = arrow_codec(options.codec);
  int level = arrow::util::kUseDefaultCompressionLevel;
  if (has_levels(options.codec) && options.level) {
    level = *options.level;
    const auto lowest = arrow::util::Codec::MinimumCompressionLevel(codec);
    const auto highest = arrow::util::Codec::MaximumCompressionLevel(codec);
    if (lowest.ok() && highest.ok() && (level < *lowest || level > *highest)) {
      return base::invalid("compression level " + std::to_string(level) + " is outside " + std::to_string(*lowest) +
                           " to " + std::to_string(*highest));
    }
  }
  auto created = arrow::util::Codec::Create(codec, level);
  if (!created.ok()) return base::unsupported("Parquet codec: " + created.status().ToString());
  return std::move(created).ValueUnsafe();
}

}  // namespace

bool has_levels(ParquetCodec codec) {
  return codec == ParquetCodec::kGzip || codec == ParquetCodec::kZstd || codec == ParquetCodec::kBrotli;
}

base::Status check_codec(const ParquetWriterOptions& options) {
  if (options.codec == ParquetCodec::kUncompressed) return {};
  return make_arrow_codec(options).status();
}

int32_t codec_number(ParquetCodec codec) {
  switch (codec) {
    case ParquetCodec::kUncompressed:
      return 0;
    case ParquetCodec::kSnappy:
      return 1;
    case ParquetCodec::kGzip:
      return 2;
    case ParquetCodec::kBrotli:
      return 4;
    case ParquetCodec::kZstd:
      return 6;
    case ParquetCodec::kLz4:
      return 7;  // LZ4_RAW; 5 is the Hadoop framing
  }
  return 0;
}

base::Result<std::unique_ptr<PageCodec>> make_page_codec(const ParquetWriterOptions& options) {
  if (options.codec == ParquetCodec::kUncompressed) return std::unique_ptr<PageCodec>(std::make_unique<NoCodec>());
  TRY_ASSIGN(auto codec, make_arrow_codec(options));
  if (options.codec == ParquetCodec::kZstd) {
    return std::unique_ptr<PageCodec>(std::make_unique<ZstdCodec>(options.level.value_or(kDefaultZstdLevel)));
  }
  return std::unique_ptr<PageCodec>(std::make_unique<ArrowCodec>(std::move(codec)));
}

}  // namespace frazil::format
