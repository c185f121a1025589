// Our ParquetWriter: every leaf of a batch goes to the encoder of its column, and a finished row group to the sink.
#include "format/parquet/parquet_writer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "format/parquet/chunk_encoder.h"
#include "format/parquet/file_metadata.h"
#include "format/parquet/leaf_levels.h"
#include "format/parquet/leaf_metrics.h"
#include "format/parquet/row_group_rules.h"
#include "format/parquet/schema_elements.h"

namespace frazil::format {
namespace {

using columnar::Batch;

constexpr std::string_view kMagic = "PAR1";
// Of a page that is not compressed yet, when no page of the row group tells better.
constexpr double kAssumedCompression = 0.5;

class EncodingParquetWriter final : public ParquetWriter {
 public:
  EncodingParquetWriter(std::shared_ptr<const columnar::Schema> schema, ParquetWriterOptions options,
                        std::unique_ptr<PageCodec> codec, ByteSink sink)
      : schema_(std::move(schema)),
        options_(std::move(options)),
        codec_(std::move(codec)),
        sink_(std::move(sink)),
        leaves_(leaves_of(*schema_)),
        shredder_(schema_, FlatLevels::kLeftToColumn) {
    for (const Leaf& leaf : leaves_) {
      LeafMetrics& metrics = metrics_.emplace_back(leaf, mode_of(leaf.field_id, options_));
      chunks_.emplace_back(leaf, options_, *codec_, scratch_, metrics);
    }
    file_.schema = schema_.get();
    file_.created_by = options_.created_by;
    file_.codec = codec_number(options_.codec);
    file_.has_page_index = options_.has_page_index;
    file_.key_values = &options_.key_value_metadata;
  }

  base::Status write(const Batch& batch) override {
    if (is_sealed_) return base::Error(base::Code::kBug, "a Parquet writer was written to after it was sealed");
    if (!failure_.ok()) return failure_;
    if (batch.rows() == 0) return {};
    failure_ = encode(batch);
    return failure_;
  }

  int64_t buffered_bytes() const override { return buffered_bytes_; }

  int64_t estimated_file_bytes() const override {
    double ratio = options_.codec == ParquetCodec::kUncompressed ? 1.0 : kAssumedCompression;
    if (unpacked_bytes_ > 0) {
      ratio = std::min(1.0, static_cast<double>(packed_bytes_) / static_cast<double>(unpacked_bytes_));
    }
    return file_bytes_ + packed_bytes_ + static_cast<int64_t>(ratio * static_cast<double>(open_bytes_));
  }

  base::Result<ParquetFileMetrics> seal() override {
    if (is_sealed_) return base::Error(base::Code::kBug, "a Parquet writer was sealed twice");
    if (!failure_.ok()) return failure_.error();
    is_sealed_ = true;
    failure_ = finish();
    if (!failure_.ok()) return failure_.error();
    return file_metrics();
  }

 private:
  base::Status encode(const Batch& batch) {
    TRY(begin_file());
    TRY(shredder_.shred(batch, [&](size_t leaf, const LeafEntries& entries) { return chunks_[leaf].add(entries); }));
    rows_ += batch.rows();
    row_group_rows_ += batch.rows();
    row_group_bytes_ += batch.bytes();
    if (row_group_bytes_ >= options_.row_group_bytes && row_group_rows_ >= kMinRowGroupRows) TRY(close_row_group());
    measure();
    return {};
  }

  base::Status put(std::string_view bytes) {
    TRY(sink_(bytes));
    file_bytes_ += static_cast<int64_t>(bytes.size());
    return {};
  }

  base::Status begin_file() { return file_bytes_ == 0 ? put(kMagic) : base::Status(); }

  base::Status close_row_group() {
    RowGroup& group = file_.row_groups.emplace_back();
    group.rows = row_group_rows_;
    for (ChunkEncoder& chunk : chunks_) {
      TRY_ASSIGN(ColumnChunk closed, chunk.close(file_bytes_, [this](std::string_view bytes) { return put(bytes); }));
      group.columns.push_back(std::move(closed));
    }
    row_group_closed.pass_by();
    row_group_rows_ = 0;
    row_group_bytes_ = 0;
    return {};
  }

  // Sums up what the estimates are made of, while the columns are at hand.
  void measure() {
    buffered_bytes_ = scratch_.bytes();
    packed_bytes_ = unpacked_bytes_ = open_bytes_ = 0;
    for (const ChunkEncoder& chunk : chunks_) {
      buffered_bytes_ += chunk.bytes();
      packed_bytes_ += chunk.packed_bytes();
      unpacked_bytes_ += chunk.unpacked_bytes();
      open_bytes_ += chunk.open_bytes();
    }
  }

  base::Status finish() {
    TRY(begin_file());
    if (row_group_rows_ > 0) TRY(close_row_group());
    TRY(put(file_end(file_, file_bytes_)));
    measure();
    return {};
  }

  ParquetFileMetrics file_metrics() const {
    ParquetFileMetrics metrics;
    metrics.rows = rows_;
    metrics.file_bytes = file_bytes_;
    for (const RowGroup& group : file_.row_groups) {
      metrics.split_offsets.push_back(group.columns[0].offset);
      for (size_t i = 0; i < leaves_.size(); ++i) {
        metrics.column_sizes[leaves_[i].field_id] += group.columns[i].packed_bytes;
      }
    }
    for (const LeafMetrics& leaf : metrics_) leaf.report(metrics);
    return metrics;
  }

  std::shared_ptr<const columnar::Schema> schema_;
  ParquetWriterOptions options_;
  std::unique_ptr<PageCodec> codec_;
  ByteSink sink_;
  std::vector<Leaf> leaves_;
  Shredder shredder_;
  EncoderScratch scratch_;
  std::deque<LeafMetrics> metrics_;  // whose places the chunks know
  std::deque<ChunkEncoder> chunks_;
  FileMetadata file_;
  base::Status failure_;
  bool is_sealed_ = false;
  int64_t rows_ = 0;
  int64_t row_group_rows_ = 0;
  int64_t row_group_bytes_ = 0;
  int64_t file_bytes_ = 0;  // handed to the sink
  int64_t buffered_bytes_ = 0;
  int64_t packed_bytes_ = 0;
  int64_t unpacked_bytes_ = 0;
  int64_t open_bytes_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<ParquetWriter>> make_parquet_writer(std::shared_ptr<const columnar::Schema> schema,
                                                                 ParquetWriterOptions options, ByteSink sink) {
  TRY_ASSIGN(auto codec, make_page_codec(options));
  TRY(check_parquet_schema(*schema));
  return std::unique_ptr<ParquetWriter>(std::make_unique<EncodingParquetWriter>(std::move(schema), std::move(options),
                                                                                std::move(codec), std::move(sink)));
}

}  // namespace frazil::format
