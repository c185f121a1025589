// Avro object container files (Avro specification, "Object Container Files"): header with schema and metadata, then blocks of
// records behind a sync marker.
//
// Writer and reader work on bytes in memory (manifests are small) and know nothing of what a record is: callers encode and
// decode with AvroEncoder and AvroDecoder. One thread at a time. Reading errors are kCorrupt, or kUnsupported for a codec.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/avro/avro_decoder.h"
#include "format/avro/avro_encoder.h"
#include "format/avro/avro_schema.h"
#include "format/avro/compression.h"

namespace frazil::format {

class AvroFileWriter {
 public:
  // `metadata`: header keys besides avro.schema and avro.codec.
  AvroFileWriter(std::string_view schema_json, const std::map<std::string, std::string>& metadata, AvroCodec codec,
                 std::optional<int> level);
  AvroFileWriter(const AvroFileWriter&) = delete;
  AvroFileWriter& operator=(const AvroFileWriter&) = delete;

  // Where the next record goes, whole; then end_record().
  AvroEncoder& record() { return encoder_; }
  base::Status end_record();
  // The whole file.
  base::Result<std::string> finish();

 private:
  base::Status flush_block();

  AvroCodec codec_;
  std::optional<int> level_;
  std::array<char, 16> sync_;
  std::string file_;
  std::string block_;
  int64_t block_records_ = 0;
  AvroEncoder encoder_{block_};
};

class AvroFileReader {
 public:
  // `bytes` must outlive the reader.
  static base::Result<AvroFileReader> open(std::string_view bytes);

  const AvroSchema& schema() const { return schema_; }
  // Header keys, avro.* included.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  struct Block {
    int64_t records = 0;
    std::string payload;  // decompressed
  };
  // The next block, or nullopt at the end of the file.
  base::Result<std::optional<Block>> next_block();

 private:
  AvroFileReader(std::string_view bytes, AvroSchema schema) : bytes_(bytes), schema_(std::move(schema)) {}
  std::string_view bytes_;
  size_t at_ = 0;
  AvroSchema schema_;
  std::map<std::string, std::string> metadata_;
  AvroCodec codec_ = AvroCodec::kNull;
  std::string_view sync_;
};

}  // namespace frazil::format
