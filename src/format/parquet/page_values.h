// PageValues: the values of an open page that no dictionary holds: PLAIN, or with delta encodings where these are asked
// for.
//
// Values go straight from the batch into the page's body, which keeps room in front for the levels, so that most pages
// are compressed from where they grew. Owned by one chunk, kept from page to page. One thread, no failures.
#pragma once

#include <cstdint>
#include <span>

#include "columnar/column.h"
#include "format/parquet/delta_encoder.h"
#include "format/parquet/dense_values.h"
#include "format/parquet/physical_type.h"

namespace frazil::format {

// Numbers of Parquet's Thrift `Encoding`.
enum class Encoding { kPlain = 0, kRle = 3, kDeltaBinaryPacked = 5, kDeltaLengthByteArray = 6, kRleDictionary = 8 };

class PageValues {
 public:
  PageValues(const PhysicalType& physical, bool uses_delta_encodings);

  Encoding encoding() const { return encoding_; }
  void append(const DenseValues& values, int64_t from, int64_t to);
  // About the bytes that finish() will give.
  int64_t size() const;
  int64_t bytes() const { return body_.capacity() + deltas_.bytes(); }
  // The whole page: `levels`, which it may append to, and the values behind them. Valid until the next append.
  std::span<const uint8_t> finish(columnar::Buffer& levels);

 private:
  static constexpr int64_t kHeadroom = 64;

  void append_deltas(const DenseValues& values, int64_t from, int64_t to);
  void append_texts(const DenseValues& values, int64_t from, int64_t to);
  void append_bits(columnar::Buffer& out) const;
  int64_t body_size() const { return body_.size() == 0 ? 0 : body_.size() - kHeadroom; }

  PhysicalType physical_;
  Encoding encoding_;
  columnar::Buffer body_;  // behind the headroom; booleans as bytes
  DeltaEncoder deltas_;
};

}  // namespace frazil::format
