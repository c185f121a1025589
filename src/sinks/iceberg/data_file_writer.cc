#include "sinks/iceberg/data_file_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "iceberg/bucket_hash.h"
#include "iceberg/table_properties.h"

namespace frazil::sinks {
namespace {

base::Result<format::ParquetCodec> codec_of(const std::string& name) {
  using Codec = format::ParquetCodec;
  static const std::array<std::pair<const char*, Codec>, 6> kCodecs{{{"uncompressed", Codec::kUncompressed},
                                                                     {"snappy", Codec::kSnappy},
                                                                     {"gzip", Codec::kGzip},
                                                                     {"zstd", Codec::kZstd},
                                                                     {"lz4", Codec::kLz4},
                                                                     {"brotli", Codec::kBrotli}}};
  for (const auto& [known, codec] : kCodecs) {
    if (name == known) return codec;
  }
  return base::invalid("table property write.parquet.compression-codec=" + name +
                       "; known: uncompressed, snappy, gzip, zstd, lz4, brotli");
}

base::Result<format::MetricsMode> metrics_mode_of(const std::string& text) {
  using Kind = format::MetricsMode::Kind;
  if (text == "none") return format::MetricsMode{Kind::kNone, 0};
  if (text == "counts") return format::MetricsMode{Kind::kCounts, 0};
  if (text == "full") return format::MetricsMode{Kind::kFull, 0};
  int length = 0;
  if (text.starts_with("truncate(") && text.ends_with(")")) {
    const auto parsed = std::from_chars(text.data() + 9, text.data() + text.size() - 1, length);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() - 1 && length > 0) {
      return format::MetricsMode{Kind::kTruncate, length};
    }
  }
  return base::invalid("metrics mode \"" + text + "\"; known: none, counts, full, truncate(N)");
}

// Every leaf below `field` gets the mode of the longest path that the properties name.
base::Status set_column_metrics(const columnar::Schema& schema, const iceberg::TableProperties& properties,
                                format::ParquetWriterOptions& options) {
  for (int32_t id = 1; id <= schema.highest_field_id(); ++id) {
    const std::string path = schema.path_of(id);
    const auto mode = properties.metrics_by_column.find(path);
    if (path.empty() || mode == properties.metrics_by_column.end()) continue;
    TRY_ASSIGN(options.metrics_by_field_id[id], metrics_mode_of(mode->second));
  }
  return {};
}

// Iceberg's object-storage layout: 20 bits of a murmur3 hash as 4/4/4/8 binary digits in front of the path.
std::string entropy_of(const std::string& path) {
  const auto hash = static_cast<uint32_t>(iceberg::murmur3_32(path));
  std::string bits;
  for (int i = 19; i >= 0; --i) bits += ((hash >> i) & 1) != 0 ? '1' : '0';
  return bits.substr(0, 4) + "/" + bits.substr(4, 4) + "/" + bits.substr(8, 4) + "/" + bits.substr(12);
}

}  // namespace

base::Result<WriteTarget> make_write_target(const iceberg::TableMetadata& metadata,
                                            std::shared_ptr<const columnar::Schema> schema,
                                            const iceberg::PartitionSpec& spec) {
  TRY_ASSIGN(const iceberg::TableProperties properties,
             iceberg::read_table_properties(metadata.properties, metadata.location));
  WriteTarget target;
  target.schema = std::move(schema);
  target.spec = spec;
  target.metadata_path = properties.metadata_path;
  target.avro = properties.avro;
  target.data_path = properties.data_path;
  target.object_storage = properties.object_storage;
  target.object_storage_partitioned_paths = properties.object_storage_partitioned_paths;
  target.target_file_bytes = properties.target_file_bytes;
  TRY_ASSIGN(target.parquet.codec, codec_of(properties.parquet_codec));
  target.parquet.level = properties.parquet_level;
  if (!target.parquet.level && target.parquet.codec == format::ParquetCodec::kZstd) target.parquet.level = 1;
  target.parquet.row_group_bytes = properties.parquet_row_group_bytes;
  target.parquet.page_bytes = properties.parquet_page_bytes;
  target.parquet.page_rows = properties.parquet_page_rows;
  target.parquet.dictionary_bytes = properties.parquet_dictionary_bytes;
  TRY_ASSIGN(target.parquet.default_metrics, metrics_mode_of(properties.metrics_default));
  TRY(set_column_metrics(*target.schema, properties, target.parquet));
  return target;
}

std::string data_file_location(const WriteTarget& target, const iceberg::PartitionKey& partition, int64_t epoch, int lane) {
  char prefix[32];
  std::snprintf(prefix, sizeof prefix, "%05lld-%d-", static_cast<long long>(epoch), lane);
  std::string path = prefix + base::random_uuid() + ".parquet";
  const std::string partition_path = iceberg::partition_path(target.spec, *target.schema, partition);
  if (!partition_path.empty() && (!target.object_storage || target.object_storage_partitioned_paths)) {
    path = partition_path + "/" + path;
  }
  if (target.object_storage) path = entropy_of(path) + "/" + path;
  return target.data_path + "/" + path;
}

DataFileWriter::DataFileWriter(std::shared_ptr<io::FileIO> io, const WriteTarget& target, iceberg::PartitionKey partition,
                               std::string location)
    : io_(std::move(io)), target_(target), partition_(std::move(partition)), location_(std::move(location)) {}

DataFileWriter::~DataFileWriter() = default;

base::Status DataFileWriter::open() {
  TRY_ASSIGN(file_, io_->create(location_));
  TRY_ASSIGN(writer_, format::make_parquet_writer(target_.schema, target_.parquet,
                                                  [this](std::string_view bytes) { return file_->write(bytes); }));
  return {};
}

base::Status DataFileWriter::write(const columnar::Batch& batch) {
  if (writer_ == nullptr) TRY(open());
  rows_ += batch.rows();
  return writer_->write(batch);
}

int64_t DataFileWriter::buffered_bytes() const {
  return writer_ == nullptr ? 0 : writer_->buffered_bytes() + file_->buffered_bytes();
}

int64_t DataFileWriter::estimated_file_bytes() const { return writer_ == nullptr ? 0 : writer_->estimated_file_bytes(); }

base::Status DataFileWriter::seal() {
  CHECK(writer_ != nullptr && !metrics_);
  TRY_ASSIGN(metrics_, writer_->seal());
  if (metrics_->file_bytes != file_->size()) {
    return base::Error(base::Code::kBug, location_ + ": the encoder counts " + std::to_string(metrics_->file_bytes) +
                                             " bytes, the file holds " + std::to_string(file_->size()));
  }
  file_->seal();
  return {};
}

base::Result<iceberg::DataFile> DataFileWriter::close() {
  if (!metrics_) TRY(seal());
  TRY(file_->close());
  format::ParquetFileMetrics& metrics = *metrics_;
  iceberg::DataFile file;
  file.file_path = location_;
  file.partition = partition_;
  file.record_count = metrics.rows;
  file.file_size_in_bytes = metrics.file_bytes;
  file.column_sizes = std::move(metrics.column_sizes);
  file.value_counts = std::move(metrics.value_counts);
  file.null_value_counts = std::move(metrics.null_value_counts);
  file.nan_value_counts = std::move(metrics.nan_value_counts);
  file.lower_bounds = std::move(metrics.lower_bounds);
  file.upper_bounds = std::move(metrics.upper_bounds);
  file.split_offsets = std::move(metrics.split_offsets);
  return file;
}

}  // namespace frazil::sinks
