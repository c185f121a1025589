// ValueDictionary: the distinct values of a column chunk and the ids that stand for them, given in the order of
// appearance.
//
// Values are told apart bit by bit (NaNs by their payload, zeros by sign). The values lie as Parquet's dictionary page
// holds them (PLAIN). The hash table only points at them, so that it stays small beside the caches. Owned by one chunk
// and kept from one row group to the next. One thread, no failures.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "columnar/column.h"
#include "format/parquet/dense_values.h"
#include "format/parquet/leaf_range.h"

namespace frazil::format {

class ValueDictionary {
 public:
  virtual ~ValueDictionary() = default;

  // Appends the ids of values [from, to) to `ids`.
  virtual void encode(const DenseValues& values, int64_t from, int64_t to, columnar::Buffer& ids) = 0;
  // The values behind `ids`, gathered in the two buffers.
  virtual DenseValues decode(std::span<const uint32_t> ids, columnar::Buffer& bytes,
                             columnar::Buffer& offsets) const = 0;
  // The range of the values whose entry in `is_used` is not 0; only for bytes that compare as such.
  virtual void add_range(const uint8_t* is_used, ByteRange& range) const = 0;

  int64_t size() const { return size_; }
  // Content of the dictionary page.
  const columnar::Buffer& plain() const { return plain_; }
  // Memory held.
  virtual int64_t bytes() const = 0;
  virtual void clear() = 0;

 protected:
  int64_t size_ = 0;
  columnar::Buffer plain_;
};

std::unique_ptr<ValueDictionary> make_value_dictionary(const PhysicalType& physical);

}  // namespace frazil::format
