// ChunkEncoder: one leaf column of the open row group, encoded page by page while batches come in.
//
// 1. A batch's values are taken without their nulls (dense_values.h) and cut into portions at row starts, so that no
// page
//    exceeds its rows, or its bytes by more than a row.
// 2. A portion adds its levels, its range and its values to the open page. A chunk begins with a dictionary. After the
// first
//    few hundred values it is given up where they repeat too little, and the ids of the open page become values; when
//    it is full the page is closed, and later pages do without.
// 3. A full page is compressed and waits in memory for the row group's end, as the dictionary must stand before it.
//
// Owned by a writer and kept for its memory from one row group to the next. One thread. kInvalid: a page beyond 2 GB.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "format/parquet/file_metadata.h"
#include "format/parquet/leaf_levels.h"
#include "format/parquet/leaf_metrics.h"
#include "format/parquet/page_codec.h"
#include "format/parquet/page_levels.h"
#include "format/parquet/page_values.h"
#include "format/parquet/parquet_writer.h"
#include "format/parquet/value_dictionary.h"

namespace frazil::format {

// What the chunks of one writer share, and none keeps: memory for a page on its way.
struct EncoderScratch {
  DenseScratch dense;
  columnar::Buffer page;
  columnar::Buffer packed;
  columnar::Buffer used;  // of a dictionary's entries
  columnar::Buffer decoded;
  columnar::Buffer decoded_offsets;
  std::string header;

  int64_t bytes() const {
    return dense.bytes() + page.capacity() + packed.capacity() + used.capacity() + decoded.capacity() +
           decoded_offsets.capacity();
  }
};

class ChunkEncoder {
 public:
  // All outlive the encoder.
  ChunkEncoder(const Leaf& leaf, const ParquetWriterOptions& options, PageCodec& codec, EncoderScratch& scratch,
               LeafMetrics& metrics);

  // Takes the entries of a batch. Without definition levels each entry is a row, and the column tells its nulls.
  base::Status add(const LeafEntries& entries);
  // Ends the chunk: the last page is closed and the pages are handed to `sink`, which counts from `offset`. Gives what
  // the footer wants of it; the encoder is empty afterwards.
  base::Result<ColumnChunk> close(int64_t offset, const ByteSink& sink);

  // Memory held; finished pages; and the bytes of the open page and the dictionary as they will be compressed.
  int64_t bytes() const;
  int64_t packed_bytes() const { return pages_.size(); }
  int64_t unpacked_bytes() const { return chunk_.unpacked_bytes; }
  int64_t open_bytes() const;

 private:
  // A place among the entries of a batch: the row, its first entry, and the first value from there on.
  struct Place {
    int64_t row = 0;
    int64_t entry = 0;
    int64_t value = 0;
  };

  Place advance(const LeafEntries& entries, Place from, int64_t rows) const;
  Place portion_end(const LeafEntries& entries, const DenseValues& values, Place from, int64_t rows_left) const;
  bool fits(const DenseValues& values, Place from, Place to) const;
  void add_levels(const LeafEntries& entries, Place from, Place to);
  void add_values(const DenseValues& values, int64_t from, int64_t to);
  void append_plain(const DenseValues& values, int64_t from, int64_t to);
  bool is_undecided() const { return is_dictionary_ && !is_decided_; }
  void decide();
  void give_up_dictionary();
  base::Status close_page_if_full();
  base::Status close_page();
  void finish_page_range();
  std::span<const uint8_t> finish_ids();
  void append_index_entry(int64_t first_row, int64_t nulls, int64_t offset);
  base::Status append_page(std::span<const uint8_t> page, PageHeader header);
  base::Result<std::string> dictionary_page();
  int64_t value_bytes() const;

  const Leaf& leaf_;
  const ParquetWriterOptions& options_;
  PageCodec& codec_;
  EncoderScratch& scratch_;
  LeafMetrics& metrics_;
  PhysicalType physical_;

  // The open page.
  PageLevels levels_;
  PageValues values_;
  columnar::Buffer ids_;
  LeafRange page_range_;
  int64_t page_rows_ = 0;
  int64_t page_values_ = 0;

  // The chunk.
  std::unique_ptr<ValueDictionary> dictionary_;
  bool is_dictionary_ = false;  // values become ids
  bool is_decided_ = false;
  int64_t chunk_values_ = 0;
  int64_t chunk_rows_ = 0;
  columnar::Buffer pages_;  // finished ones, with their headers
  LeafRange chunk_range_;
  LeafRange last_range_;  // of the last page with bounds
  bool is_ascending_ = true;
  bool is_descending_ = true;
  ColumnChunk chunk_;
};

}  // namespace frazil::format
