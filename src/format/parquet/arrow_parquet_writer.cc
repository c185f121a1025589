// The ParquetWriter over Arrow's column writers. We shred the rows into levels and hand every leaf to Arrow without a copy;
// Arrow encodes, compresses and writes pages, row groups and footer.
#include <algorithm>
#include <exception>
#include <map>
#include <span>
#include <utility>

#include <arrow/array.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include "format/parquet/dictionary_choice.h"
#include "format/parquet/leaf_array.h"
#include "format/parquet/leaf_levels.h"
#include "format/parquet/leaf_metrics.h"
#include "format/parquet/page_codec.h"
#include "format/parquet/parquet_schema.h"
#include "format/parquet/parquet_writer.h"
#include "format/parquet/row_group_rules.h"

namespace frazil::format {
namespace {

using columnar::Batch;
using columnar::Column;
using columnar::TypeId;

// Rows are gathered to portions of this size before they are encoded: a few hundred rows at a time would find neither the
// dictionaries nor Arrow's code in the cache. Measured with 64 open writers: a fifth less CPU.
constexpr int64_t kPortionRows = 4096;
constexpr int64_t kPortionBytes = 4 << 20;
// Of a page that is not compressed yet, when no page of the row group tells better.
constexpr double kAssumedCompression = 0.5;

// Arrow's view of a ByteSink. Counts the bytes exactly; keeps the sink's own error, which Arrow's status would flatten.
class SinkStream final : public arrow::io::OutputStream {
 public:
  explicit SinkStream(ByteSink sink) : sink_(std::move(sink)) {}

  arrow::Status Write(const void* data, int64_t size) override {
    if (!status_.ok()) return arrow::Status::IOError("the sink of bytes has failed");
    if (is_cut_) return arrow::Status::OK();
    status_ = sink_({static_cast<const char*>(data), static_cast<size_t>(size)});
    if (!status_.ok()) return arrow::Status::IOError("the sink of bytes has failed");
    bytes_ += size;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return bytes_; }
  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return is_closed_; }

  // From now on bytes are dropped: Arrow's destructor writes a footer even for a file that nobody wants any more.
  void cut() { is_cut_ = true; }
  int64_t bytes() const { return bytes_; }
  const base::Status& status() const { return status_; }

 private:
  ByteSink sink_;
  base::Status status_;
  int64_t bytes_ = 0;
  bool is_cut_ = false;
  bool is_closed_ = false;
};

parquet::Compression::type arrow_codec(ParquetCodec codec) {
  switch (codec) {
    case ParquetCodec::kUncompressed:
      return parquet::Compression::UNCOMPRESSED;
    case ParquetCodec::kSnappy:
      return parquet::Compression::SNAPPY;
    case ParquetCodec::kGzip:
      return parquet::Compression::GZIP;
    case ParquetCodec::kZstd:
      return parquet::Compression::ZSTD;
    case ParquetCodec::kLz4:
      return parquet::Compression::LZ4;  // Parquet's LZ4_RAW; the Hadoop framing has another name in Arrow
    case ParquetCodec::kBrotli:
      return parquet::Compression::BROTLI;
  }
  return parquet::Compression::UNCOMPRESSED;
}

void collect_leaf_columns(const Column& column, std::vector<const Column*>& leaves) {
  if (!column.type().is_nested()) leaves.push_back(&column);
  for (size_t i = 0; i < column.child_count(); ++i) collect_leaf_columns(column.child(i), leaves);
}

parquet::Encoding::type encoding_without_dictionary(TypeId id, const ParquetWriterOptions& options) {
  if (!options.uses_delta_encodings) return parquet::Encoding::PLAIN;
  switch (id) {
    case TypeId::kInt:
    case TypeId::kDate:
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return parquet::Encoding::DELTA_BINARY_PACKED;
    case TypeId::kString:
    case TypeId::kBinary:
      return parquet::Encoding::DELTA_LENGTH_BYTE_ARRAY;
    default:
      return parquet::Encoding::PLAIN;
  }
}

class ArrowParquetWriter final : public ParquetWriter {
 public:
  ArrowParquetWriter(std::shared_ptr<const columnar::Schema> schema, std::shared_ptr<parquet::schema::GroupNode> nodes,
                     ParquetWriterOptions options, ByteSink sink)
      : pool_(arrow::system_memory_pool()),
        schema_(std::move(schema)),
        nodes_(std::move(nodes)),
        options_(std::move(options)),
        stream_(std::make_shared<SinkStream>(std::move(sink))),
        leaves_(leaves_of(*schema_)),
        pending_(schema_),
        shredder_(schema_),
        arrow_properties_(parquet::default_arrow_writer_properties()) {
    for (const Leaf& leaf : leaves_) metrics_.emplace_back(leaf, mode_of(leaf.field_id, options_));
  }

  ~ArrowParquetWriter() override { stream_->cut(); }

  base::Status write(const Batch& batch) override {
    if (is_sealed_) return base::Error(base::Code::kBug, "a Parquet writer was written to after it was sealed");
    if (!failure_.ok()) return failure_;
    if (batch.rows() == 0) return {};
    failure_ = guarded([&] { return take_rows(batch); });
    return failure_;
  }

  int64_t buffered_bytes() const override { return pool_.bytes_allocated() + pending_.bytes(); }

  int64_t estimated_file_bytes() const override {
    const double assumed = options_.codec == ParquetCodec::kUncompressed ? 1.0 : kAssumedCompression;
    const auto pending = static_cast<int64_t>(assumed * static_cast<double>(pending_.bytes()));
    if (row_group_ == nullptr) return stream_->bytes() + pending;
    const int64_t packed = row_group_->total_compressed_bytes_written() + row_group_->total_compressed_bytes();
    const int64_t unpacked = row_group_->total_bytes_written();
    const auto open = row_group_->estimated_buffered_stats();
    const int64_t open_bytes = open.def_level_bytes + open.rep_level_bytes + open.value_bytes + open.dict_bytes;
    double ratio = assumed;
    if (unpacked > 0) ratio = std::min(1.0, static_cast<double>(packed) / static_cast<double>(unpacked));
    return stream_->bytes() + pending + packed + static_cast<int64_t>(ratio * static_cast<double>(open_bytes));
  }

  base::Result<ParquetFileMetrics> seal() override {
    if (is_sealed_) return base::Error(base::Code::kBug, "a Parquet writer was sealed twice");
    if (!failure_.ok()) return failure_.error();
    is_sealed_ = true;
    failure_ = guarded([&] { return finish(); });
    if (!failure_.ok()) return failure_.error();
    return file_metrics();
  }

 private:
  // Runs `body`, turning what the library throws into an error; the sink's own error wins over what Arrow made of it.
  template <typename Body>
  base::Status guarded(Body body) {
    base::Status status;
    try {
      status = body();
    } catch (const std::exception& e) {
      status = base::Error(base::Code::kBug, std::string("Parquet writer: ") + e.what());
    }
    if (!stream_->status().ok()) return stream_->status();
    return status;
  }

  base::Status take_rows(const Batch& batch) {
    if (pending_.rows() == 0 && batch.rows() >= kPortionRows) return encode(batch);
    for (auto row = static_cast<int64_t>(all_rows_.size()); row < batch.rows(); ++row) {
      all_rows_.push_back(static_cast<int32_t>(row));
    }
    pending_.append_rows(batch, std::span(all_rows_).first(static_cast<size_t>(batch.rows())));
    if (pending_.rows() < kPortionRows && pending_.bytes() < kPortionBytes) return {};
    return encode_pending();
  }

  base::Status encode_pending() {
    TRY(encode(pending_));
    pending_.clear();
    return {};
  }

  base::Status encode(const Batch& batch) {
    if (file_ == nullptr) open_file(&batch);
    if (row_group_ == nullptr) row_group_ = file_->AppendBufferedRowGroup();
    TRY(shredder_.shred(batch, [&](size_t leaf, const LeafEntries& entries) { return write_leaf(leaf, entries); }));
    rows_ += batch.rows();
    row_group_rows_ += batch.rows();
    row_group_bytes_ += batch.bytes();
    if (row_group_bytes_ >= options_.row_group_bytes && row_group_rows_ >= kMinRowGroupRows) close_row_group();
    return {};
  }

  base::Status write_leaf(size_t index, const LeafEntries& entries) {
    const Leaf& leaf = leaves_[index];
    const std::shared_ptr<arrow::Array> array = leaf_array(leaf, *entries.column);
    parquet::ColumnWriter* writer = row_group_->column(static_cast<int>(index));
    parquet::ArrowWriteContext& context = write_context();
    // Arrow looks at the page size once per 1,024 values, so long values are handed over in smaller portions.
    const int64_t portion = leaf.in_list_or_map ? entries.count : portion_rows(*entries.column);
    for (int64_t from = 0; from < entries.count; from += portion) {
      const int64_t count = std::min(portion, entries.count - from);
      const auto slice = count == entries.count ? array : array->Slice(from, count);
      const arrow::Status status =
          writer->WriteArrow(entries.definition == nullptr ? nullptr : entries.definition + from,
                             entries.repetition == nullptr ? nullptr : entries.repetition + from, count, *slice, &context,
                             !leaf.required);
      if (!status.ok()) return base::Error(base::Code::kBug, "column '" + leaf.path + "': " + status.ToString());
    }
    metrics_[index].add(*entries.column, entries.count);
    return {};
  }

  int64_t portion_rows(const Column& column) const {
    const int64_t rows = column.length();
    if (column.values().size() <= options_.page_bytes) return rows;
    return std::clamp<int64_t>(rows * options_.page_bytes / column.values().size(), 1, rows);
  }

  parquet::ArrowWriteContext& write_context() {
    if (context_ == nullptr) context_ = std::make_unique<parquet::ArrowWriteContext>(&pool_, arrow_properties_.get());
    return *context_;
  }

  void open_file(const Batch* first) {
    std::shared_ptr<arrow::KeyValueMetadata> pairs;
    if (!options_.key_value_metadata.empty()) {
      pairs = arrow::key_value_metadata({}, {});
      for (const auto& [key, value] : options_.key_value_metadata) pairs->Append(key, value);
    }
    file_ = parquet::ParquetFileWriter::Open(stream_, nodes_, properties(first), pairs);
  }

  std::shared_ptr<parquet::WriterProperties> properties(const Batch* first) {
    parquet::WriterProperties::Builder builder;
    builder.memory_pool(&pool_)
        ->version(parquet::ParquetVersion::PARQUET_2_6)
        ->data_page_version(parquet::ParquetDataPageVersion::V1)
        ->created_by(options_.created_by)
        ->compression(arrow_codec(options_.codec))
        ->data_pagesize(options_.page_bytes)
        ->max_rows_per_page(options_.page_rows)
        ->dictionary_pagesize_limit(options_.dictionary_bytes)
        ->enable_statistics()
        ->enable_store_decimal_as_integer()
        ->set_size_statistics_level(parquet::SizeStatisticsLevel::None);
    if (options_.level && has_levels(options_.codec)) builder.compression_level(*options_.level);
    if (!options_.level && options_.codec == ParquetCodec::kZstd) builder.compression_level(kDefaultZstdLevel);
    if (options_.has_page_index) {
      builder.enable_write_page_index();
    } else {
      builder.disable_write_page_index();
    }
    if (first != nullptr) choose_encodings(*first, builder);
    return builder.build();
  }

  void choose_encodings(const Batch& first, parquet::WriterProperties::Builder& builder) {
    parquet::SchemaDescriptor descriptor;
    descriptor.Init(nodes_);
    std::vector<const Column*> columns;
    for (const Column& column : first.columns) collect_leaf_columns(column, columns);
    std::map<std::string, int> uses;  // names with dots can make two paths alike, which Arrow cannot tell apart
    for (int i = 0; i < descriptor.num_columns(); ++i) ++uses[descriptor.Column(i)->path()->ToDotString()];
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto path = descriptor.Column(static_cast<int>(i))->path();
      if (uses[path->ToDotString()] > 1) continue;
      if (!wants_dictionary(*columns[i])) builder.disable_dictionary(path);
      builder.encoding(path, encoding_without_dictionary(leaves_[i].type.id(), options_));
    }
  }

  void close_row_group() {
    row_group_->Close();
    row_group_closed.pass_by();
    row_group_ = nullptr;
    row_group_rows_ = 0;
    row_group_bytes_ = 0;
  }

  base::Status finish() {
    if (pending_.rows() != 0) TRY(encode_pending());
    if (file_ == nullptr) open_file(nullptr);
    if (row_group_ != nullptr) close_row_group();
    file_->Close();
    return {};
  }

  ParquetFileMetrics file_metrics() const {
    ParquetFileMetrics metrics;
    metrics.rows = rows_;
    metrics.file_bytes = stream_->bytes();
    const auto footer = file_->metadata();
    for (int group = 0; group < footer->num_row_groups(); ++group) {
      const auto row_group = footer->RowGroup(group);
      const auto first = row_group->ColumnChunk(0);
      const bool has_dictionary = first->has_dictionary_page() && first->dictionary_page_offset() > 0;
      metrics.split_offsets.push_back(has_dictionary ? first->dictionary_page_offset() : first->data_page_offset());
      for (size_t i = 0; i < leaves_.size(); ++i) {
        metrics.column_sizes[leaves_[i].field_id] += row_group->ColumnChunk(static_cast<int>(i))->total_compressed_size();
      }
    }
    for (const LeafMetrics& leaf : metrics_) leaf.report(metrics);
    return metrics;
  }

  arrow::ProxyMemoryPool pool_;  // counts what this writer holds; outlives everything below
  std::shared_ptr<const columnar::Schema> schema_;
  std::shared_ptr<parquet::schema::GroupNode> nodes_;
  ParquetWriterOptions options_;
  std::shared_ptr<SinkStream> stream_;
  std::vector<Leaf> leaves_;
  std::vector<LeafMetrics> metrics_;
  Batch pending_;                  // rows that wait for their portion to fill
  std::vector<int32_t> all_rows_;  // 0, 1, 2, ...
  Shredder shredder_;
  std::shared_ptr<parquet::ArrowWriterProperties> arrow_properties_;
  std::unique_ptr<parquet::ArrowWriteContext> context_;
  std::unique_ptr<parquet::ParquetFileWriter> file_;
  parquet::RowGroupWriter* row_group_ = nullptr;  // the open one, owned by file_
  base::Status failure_;
  bool is_sealed_ = false;
  int64_t rows_ = 0;
  int64_t row_group_rows_ = 0;
  int64_t row_group_bytes_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<ParquetWriter>> make_arrow_parquet_writer(std::shared_ptr<const columnar::Schema> schema,
                                                                       ParquetWriterOptions options, ByteSink sink) {
  TRY(check_codec(options));
  TRY_ASSIGN(auto nodes, parquet_schema_of(*schema));
  return std::unique_ptr<ParquetWriter>(std::make_unique<ArrowParquetWriter>(std::move(schema), std::move(nodes),
                                                                             std::move(options), std::move(sink)));
}

}  // namespace frazil::format
