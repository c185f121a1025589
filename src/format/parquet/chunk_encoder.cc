#include "format/parquet/chunk_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "format/parquet/bit_packing.h"
#include "format/parquet/dictionary_choice.h"

namespace frazil::format {
namespace {

using columnar::Buffer;

// What may be looked up at once in a dictionary that is nearly full.
constexpr int64_t kDictionaryOvershoot = 4096;
constexpr size_t kMaxPageBytes = std::numeric_limits<int32_t>::max();

int64_t ones_in(const uint8_t* bits, int64_t from, int64_t to) {
  int64_t ones = 0;
  for (; from < to && (from & 7) != 0; ++from) ones += (bits[from >> 3] >> (from & 7)) & 1;
  for (; from + 64 <= to; from += 64) {
    uint64_t word;
    std::memcpy(&word, bits + (from >> 3), sizeof word);
    ones += std::popcount(word);
  }
  for (; from < to; ++from) ones += (bits[from >> 3] >> (from & 7)) & 1;
  return ones;
}

int64_t count_equal(const int16_t* levels, int64_t from, int64_t to, int16_t wanted) {
  return std::count(levels + from, levels + to, wanted);
}

int id_width(int64_t size) {
  if (size <= 1) return static_cast<int>(size);
  return bit_width(static_cast<uint64_t>(size - 1));
}

}  // namespace

ChunkEncoder::ChunkEncoder(const Leaf& leaf, const ParquetWriterOptions& options, PageCodec& codec,
                           EncoderScratch& scratch, LeafMetrics& metrics)
    : leaf_(leaf),
      options_(options),
      codec_(codec),
      scratch_(scratch),
      metrics_(metrics),
      physical_(physical_type_of(leaf.type)),
      levels_(leaf),
      values_(physical_, options.uses_delta_encodings && leaf.type.id() != columnar::TypeId::kDecimal),
      page_range_(leaf.type),
      chunk_range_(leaf.type),
      last_range_(leaf.type) {
  if (physical_.type != Physical::kBoolean) dictionary_ = make_value_dictionary(physical_);
  is_dictionary_ = dictionary_ != nullptr;
}

int64_t ChunkEncoder::value_bytes() const {
  if (!is_dictionary_) return values_.size();
  return page_values_ * id_width(dictionary_->size()) / 8;
}

int64_t ChunkEncoder::open_bytes() const {
  const int64_t dictionary = dictionary_ == nullptr ? 0 : dictionary_->plain().size();
  return value_bytes() + levels_.size() / 4 + dictionary;
}

int64_t ChunkEncoder::bytes() const {
  const int64_t dictionary = dictionary_ == nullptr ? 0 : dictionary_->bytes();
  return levels_.bytes() + values_.bytes() + ids_.capacity() + dictionary + pages_.capacity();
}

base::Status ChunkEncoder::add(const LeafEntries& entries) {
  const DenseValues values = scratch_.dense.values_of(*entries.column, physical_);
  Place at;
  while (at.entry < entries.count) {
    const Place end = portion_end(entries, values, at, entries.count - at.entry);
    add_levels(entries, at, end);
    add_values(values, at.value, end.value);
    page_rows_ += end.row - at.row;
    at = end;
    TRY(close_page_if_full());
  }
  return {};
}

ChunkEncoder::Place ChunkEncoder::advance(const LeafEntries& entries, Place from, int64_t rows) const {
  Place to = from;
  if (entries.repetition == nullptr) {
    to.row += rows;
    to.entry += rows;
  } else {
    for (; rows > 0 && to.entry < entries.count; --rows, ++to.row) {
      ++to.entry;
      while (to.entry < entries.count && entries.repetition[to.entry] != 0) ++to.entry;
    }
  }
  if (entries.definition != nullptr) {
    to.value += count_equal(entries.definition, from.entry, to.entry, leaf_.max_definition);
  } else if (entries.column->null_count() != 0) {
    to.value += ones_in(entries.column->validity().data(), from.entry, to.entry);
  } else {
    to.value += to.entry - from.entry;
  }
  return to;
}

bool ChunkEncoder::fits(const DenseValues& values, Place from, Place to) const {
  const int64_t count = to.value - from.value;
  const int64_t bytes = values.size(from.value, to.value) + (values.width == 0 ? 4 * count : 0);
  if (!is_dictionary_) return values_.size() + bytes <= options_.page_bytes;
  const int64_t room = options_.dictionary_bytes - dictionary_->plain().size();
  return bytes <= std::max(room, kDictionaryOvershoot) &&
         (page_values_ + count) * id_width(dictionary_->size()) / 8 <= options_.page_bytes;
}

ChunkEncoder::Place ChunkEncoder::portion_end(const LeafEntries& entries, const DenseValues& values, Place from,
                                              int64_t rows_left) const {
  int64_t rows = std::min(rows_left, std::max<int64_t>(options_.page_rows - page_rows_, 1));
  if (is_undecided()) rows = std::min(rows, std::max<int64_t>(kDictionarySample - chunk_values_, 1));
  for (;; rows /= 2) {
    const Place to = advance(entries, from, rows);
    if (rows == 1 || fits(values, from, to)) return to;
  }
}

void ChunkEncoder::add_levels(const LeafEntries& entries, Place from, Place to) {
  const int64_t count = to.entry - from.entry;
  if (entries.definition != nullptr) {
    const int16_t* repetition = entries.repetition == nullptr ? nullptr : entries.repetition + from.entry;
    levels_.add(entries.definition + from.entry, repetition, count);
  } else if (entries.column->null_count() == 0) {
    levels_.add_present(count);
  } else {
    levels_.add_bits(entries.column->validity().data(), from.entry, count);
  }
}

void ChunkEncoder::add_values(const DenseValues& values, int64_t from, int64_t to) {
  page_values_ += to - from;
  chunk_values_ += to - from;
  if (from == to) return;
  if (physical_.is_number) page_range_.add(values, from, to);
  if (!is_dictionary_) return append_plain(values, from, to);
  dictionary_->encode(values, from, to, ids_);
  if (!is_decided_ && chunk_values_ >= kDictionarySample) decide();
}

void ChunkEncoder::append_plain(const DenseValues& values, int64_t from, int64_t to) {
  if (!physical_.is_number) page_range_.add(values, from, to);
  values_.append(values, from, to);
}

void ChunkEncoder::decide() {
  is_decided_ = true;
  if (!repeats_enough(chunk_values_, chunk_values_ - dictionary_->size())) give_up_dictionary();
}

// The ids of the open page become values. Where no page of ids was closed, the dictionary is as if it had never been.
void ChunkEncoder::give_up_dictionary() {
  is_dictionary_ = false;
  const std::span ids(reinterpret_cast<const uint32_t*>(ids_.data()), static_cast<size_t>(page_values_));
  if (!ids.empty()) {
    const DenseValues values = dictionary_->decode(ids, scratch_.decoded, scratch_.decoded_offsets);
    append_plain(values, 0, values.count);
  }
  ids_.clear();
  if (chunk_.dictionary_pages == 0) dictionary_->clear();
}

base::Status ChunkEncoder::close_page_if_full() {
  const bool is_dictionary_full = is_dictionary_ && dictionary_->plain().size() >= options_.dictionary_bytes;
  if (is_dictionary_full || page_rows_ >= options_.page_rows || value_bytes() >= options_.page_bytes) TRY(close_page());
  if (is_dictionary_full) is_dictionary_ = false;
  return {};
}

// Of bytes in a dictionary, which entries the page uses tells more cheaply than its values.
void ChunkEncoder::finish_page_range() {
  if (!is_dictionary_ || physical_.is_number || page_values_ == 0) return;
  Buffer& used = scratch_.used;
  used.resize(dictionary_->size());
  const bool is_first = chunk_.dictionary_pages == 0;
  std::memset(used.data(), is_first ? 1 : 0, static_cast<size_t>(used.size()));
  if (!is_first) {
    const auto* ids = reinterpret_cast<const uint32_t*>(ids_.data());
    for (int64_t i = 0; i < page_values_; ++i) used.data()[ids[i]] = 1;
  }
  ByteRange range;
  dictionary_->add_range(used.data(), range);
  page_range_.add(range);
}

std::span<const uint8_t> ChunkEncoder::finish_ids() {
  const int width = id_width(dictionary_->size());
  scratch_.page.push(static_cast<uint8_t>(width));
  append_hybrid(reinterpret_cast<const uint32_t*>(ids_.data()), page_values_, width, scratch_.page);
  ids_.clear();
  return {scratch_.page.data(), static_cast<size_t>(scratch_.page.size())};
}

base::Status ChunkEncoder::close_page() {
  if (is_undecided() && chunk_values_ >= kMinDictionarySample) decide();
  finish_page_range();
  const int64_t entries = levels_.count();
  const int64_t nulls = entries - page_values_;
  scratch_.page.clear();
  levels_.finish(scratch_.page);
  const auto page = is_dictionary_ ? finish_ids() : values_.finish(scratch_.page);
  PageHeader header;
  header.values = static_cast<int32_t>(entries);
  header.encoding = is_dictionary_ ? Encoding::kRleDictionary : values_.encoding();
  const int64_t offset = pages_.size();
  TRY(append_page(page, header));
  append_index_entry(chunk_rows_, nulls, offset);
  chunk_.values += entries;
  chunk_.nulls += nulls;
  chunk_.dictionary_pages += is_dictionary_ ? 1 : 0;
  chunk_rows_ += page_rows_;
  chunk_range_.add(page_range_);
  page_range_.clear();
  page_rows_ = 0;
  page_values_ = 0;
  return {};
}

void ChunkEncoder::append_index_entry(int64_t first_row, int64_t nulls, int64_t offset) {
  DataPage& page = chunk_.pages.emplace_back();
  page.offset = offset;
  page.bytes = static_cast<int32_t>(pages_.size() - offset);
  page.first_row = first_row;
  page.nulls = nulls;
  page.has_values = page_values_ > 0;
  if (!page_range_.has_values()) return;
  page.bounds = plain_bounds(page_range_, physical_);
  if (last_range_.has_values()) {
    is_ascending_ = is_ascending_ && page_range_.is_at_least(last_range_);
    is_descending_ = is_descending_ && last_range_.is_at_least(page_range_);
  }
  last_range_ = page_range_;
}

base::Status ChunkEncoder::append_page(std::span<const uint8_t> page, PageHeader header) {
  if (page.size() > kMaxPageBytes) return base::invalid("column '" + leaf_.path + "': a page of more than 2 GB");
  TRY_ASSIGN(const auto packed, codec_.compress(page, scratch_.packed));
  if (packed.size() > kMaxPageBytes) return base::invalid("column '" + leaf_.path + "': a page of more than 2 GB");
  header.unpacked_bytes = static_cast<int32_t>(page.size());
  header.packed_bytes = static_cast<int32_t>(packed.size());
  scratch_.header.clear();
  append_data_page_header(header, scratch_.header);
  const auto header_bytes = static_cast<int64_t>(scratch_.header.size());
  pages_.append(scratch_.header.data(), header_bytes);
  pages_.append(packed.data(), static_cast<int64_t>(packed.size()));
  chunk_.unpacked_bytes += header_bytes + static_cast<int64_t>(page.size());
  return {};
}

// With its header; empty when no page needs it.
base::Result<std::string> ChunkEncoder::dictionary_page() {
  if (chunk_.dictionary_pages == 0) return std::string();
  const Buffer& plain = dictionary_->plain();
  const std::span page(plain.data(), static_cast<size_t>(plain.size()));
  if (page.size() > kMaxPageBytes) return base::invalid("column '" + leaf_.path + "': a dictionary of more than 2 GB");
  TRY_ASSIGN(const auto packed, codec_.compress(page, scratch_.packed));
  std::string out;
  append_dictionary_page_header({static_cast<int32_t>(page.size()), static_cast<int32_t>(packed.size()),
                                 static_cast<int32_t>(dictionary_->size()), Encoding::kPlain},
                                out);
  chunk_.unpacked_bytes += static_cast<int64_t>(out.size() + page.size());
  out.append(reinterpret_cast<const char*>(packed.data()), packed.size());
  return out;
}

base::Result<ColumnChunk> ChunkEncoder::close(int64_t offset, const ByteSink& sink) {
  if (levels_.count() > 0) TRY(close_page());
  TRY_ASSIGN(const std::string dictionary, dictionary_page());
  if (!dictionary.empty()) TRY(sink(dictionary));
  TRY(sink({reinterpret_cast<const char*>(pages_.data()), static_cast<size_t>(pages_.size())}));
  metrics_.add(chunk_range_, chunk_.values, chunk_.nulls);
  chunk_.physical = physical_.type;
  chunk_.is_number = physical_.is_number;
  chunk_.offset = offset;
  chunk_.dictionary_bytes = static_cast<int64_t>(dictionary.size());
  chunk_.packed_bytes = chunk_.dictionary_bytes + pages_.size();
  chunk_.encoding = values_.encoding();
  if (chunk_range_.has_values()) chunk_.bounds = plain_bounds(chunk_range_, physical_);
  if (last_range_.has_values()) {
    chunk_.order = is_ascending_    ? PageOrder::kAscending
                   : is_descending_ ? PageOrder::kDescending
                                    : PageOrder::kUnordered;
  }
  pages_.clear();
  if (dictionary_ != nullptr) dictionary_->clear();
  is_dictionary_ = dictionary_ != nullptr;
  is_decided_ = false;
  chunk_values_ = 0;
  chunk_rows_ = 0;
  chunk_range_.clear();
  last_range_.clear();
  is_ascending_ = is_descending_ = true;
  return std::exchange(chunk_, ColumnChunk());
}

}  // namespace frazil::format
