// PageCodec: compresses pages, with one context for all pages of a writer's thread.
//
// Errors: kInvalid for a level that the codec has not, kUnsupported for a codec that this build has not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "columnar/column.h"
#include "format/parquet/parquet_writer.h"

namespace frazil::format {

inline constexpr int kDefaultZstdLevel = 1;

bool has_levels(ParquetCodec codec);
// Whether pages can be compressed so.
base::Status check_codec(const ParquetWriterOptions& options);
// Number of Parquet's Thrift `CompressionCodec`.
int32_t codec_number(ParquetCodec codec);

class PageCodec {
 public:
  virtual ~PageCodec() = default;
  // The page compressed, in `out` or where it was. Valid until either changes.
  virtual base::Result<std::span<const uint8_t>> compress(std::span<const uint8_t> page, columnar::Buffer& out) = 0;
};

base::Result<std::unique_ptr<PageCodec>> make_page_codec(const ParquetWriterOptions& options);

}  // namespace frazil::format
