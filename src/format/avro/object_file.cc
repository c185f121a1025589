#include "format/avro/object_file.h"

#include <cstring>

#include "base/random.h"

namespace frazil::format {

namespace {

constexpr std::string_view kMagic("Obj\x01", 4);
constexpr size_t kBlockBytes = 64 << 10;
constexpr int64_t kBlockBytesMax = 1LL << 30;  // decompressed, of foreign files
constexpr int64_t kEmptyRecordsMax = 1 << 20;
constexpr int64_t kSyncBytes = 16;

}  // namespace

AvroFileWriter::AvroFileWriter(std::string_view schema_json, const std::map<std::string, std::string>& metadata,
                               AvroCodec codec, std::optional<int> level)
    : codec_(codec), level_(level) {
  const uint64_t random[2] = {base::random_u64(), base::random_u64()};
  std::memcpy(sync_.data(), random, sizeof random);
  file_ = kMagic;
  AvroEncoder header(file_);
  header.write_block(static_cast<int64_t>(metadata.size()) + 2);
  header.write_bytes("avro.schema");
  header.write_bytes(schema_json);
  header.write_bytes("avro.codec");
  header.write_bytes(avro_codec_name(codec));
  for (const auto& [key, value] : metadata) {
    header.write_bytes(key);
    header.write_bytes(value);
  }
  header.write_block(0);
  header.write_fixed({sync_.data(), sync_.size()});
}

base::Status AvroFileWriter::end_record() {
  ++block_records_;
  return block_.size() >= kBlockBytes ? flush_block() : base::Status();
}

base::Status AvroFileWriter::flush_block() {
  if (block_records_ == 0) return {};
  TRY_ASSIGN(const std::string packed, avro_compress(codec_, level_, block_));
  AvroEncoder file(file_);
  file.write_long(block_records_);
  file.write_bytes(packed);
  file.write_fixed({sync_.data(), sync_.size()});
  block_.clear();
  block_records_ = 0;
  return {};
}

base::Result<std::string> AvroFileWriter::finish() {
  TRY(flush_block());
  return std::move(file_);
}

base::Result<AvroFileReader> AvroFileReader::open(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return base::corrupt("not an Avro object file");
  AvroDecoder header(bytes);
  header.read_fixed(static_cast<int64_t>(kMagic.size()));
  std::map<std::string, std::string> metadata;
  for (int64_t count = header.read_block(); count != 0; count = header.read_block()) {
    for (int64_t i = 0; i < count && header.ok(); ++i) {
      const std::string_view key = header.read_bytes();
      metadata[std::string(key)] = header.read_bytes();
    }
  }
  const std::string_view sync = header.read_fixed(kSyncBytes);
  TRY(header.status().in("header"));
  TRY_ASSIGN(const AvroCodec codec, avro_codec_named(metadata.contains("avro.codec") ? metadata["avro.codec"] : "null"));
  TRY_ASSIGN(AvroSchema schema, AvroSchema::parse(metadata["avro.schema"]));
  AvroFileReader reader(bytes, std::move(schema));
  reader.at_ = header.position();
  reader.metadata_ = std::move(metadata);
  reader.codec_ = codec;
  reader.sync_ = sync;
  return reader;
}

base::Result<std::optional<AvroFileReader::Block>> AvroFileReader::next_block() {
  if (at_ == bytes_.size()) return std::optional<Block>();
  AvroDecoder decoder(bytes_.substr(at_));
  Block block;
  block.records = decoder.read_long();
  const std::string_view packed = decoder.read_bytes();
  const std::string_view sync = decoder.read_fixed(kSyncBytes);
  const std::string where = "block at byte " + std::to_string(at_);
  TRY(decoder.status().in(where));
  if (sync != sync_) return base::corrupt(where + ": sync marker does not match");
  auto payload = avro_decompress(codec_, packed, kBlockBytesMax);
  TRY_ASSIGN(block.payload, std::move(payload).in(where));
  if (block.records < 0 || block.records > static_cast<int64_t>(block.payload.size()) + kEmptyRecordsMax) {
    return base::corrupt(where + ": claims more records than its bytes can hold");
  }
  at_ += decoder.position();
  return std::optional<Block>(std::move(block));
}

}  // namespace frazil::format
