// Column and Batch: columns on the move, in Arrow's memory layout, appended to in place and recycled.
//
// A Column is a builder and a value at once: append, then read or hand over. Layout by type: boolean one bit a value;
// int/date/float 4 bytes; long/time/timestamps/double 8; decimal 16 (two's complement, little-endian, Arrow
// decimal128); uuid/fixed `length` bytes; string/binary int32 offsets and bytes; list and map int32 offsets and
// children; struct children only. A map has two children (key, value) that share its offsets. The validity bitmap (LSB
// first) exists only once a null was appended. String bytes of one column stay below 2^31: `append_*` CHECKs it, so cut
// batches well before. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "columnar/schema.h"

namespace frazil::columnar {

// Debug builds check that appends fit the column's type.
#ifdef __OPTIMIZE__
inline constexpr bool kChecksTypes = false;
#else
inline constexpr bool kChecksTypes = true;
#endif

// Grown without zero-filling, capacity kept by clear(): the recycled memory of columns.
class Buffer {
 public:
  // Bytes behind capacity() that may be read and written, though they mean nothing: short copies need no exact length.
  static constexpr int64_t kSlack = 64;

  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  const uint8_t* data() const { return data_; }
  uint8_t* data() { return data_; }
  int64_t size() const { return size_; }
  int64_t capacity() const { return capacity_; }
  // Sets the size; new bytes are uninitialised.
  void resize(int64_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  void append(const void* bytes, int64_t size);
  template <typename T>
  void push(T value) {
    const int64_t at = size_;
    resize(size_ + static_cast<int64_t>(sizeof(T)));
    __builtin_memcpy(data_ + at, &value, sizeof(T));
  }
  void clear() { size_ = 0; }

 private:
  void grow(int64_t at_least);
  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

class Column {
 public:
  explicit Column(const Type& type);
  Column(Column&&) noexcept = default;
  Column& operator=(Column&&) noexcept = default;

  const Type& type() const { return type_; }
  int64_t length() const { return length_; }
  int64_t null_count() const { return null_count_; }
  bool is_null(int64_t row) const { return null_count_ != 0 && !bit(validity_, row); }
  // Memory in use (not capacity), children included.
  int64_t bytes() const;

  // Appends one value. The caller picks the function that fits the type (CHECKed in debug builds only).
  // A null takes a zero value; in a struct it makes every child null, in lists and maps it is an entry without
  // elements.
  void append_null() {
    const bool is_flat = (width_ != 0 && width_ <= kZeros) || offsets_.size() != 0;
    if (validity_.size() == 0 || !is_flat) return append_null_slowly();
    put_bit(validity_, length_, false);
    if (width_ != 0) {
      const int64_t at = values_.size();
      values_.resize(at + width_);
      __builtin_memset(values_.data() + at, 0, kZeros);
    } else {
      offsets_.push(list_begin(length_));
    }
    ++length_;
    ++null_count_;
  }
  void append_boolean(bool value) {
    expect(type_.id() == TypeId::kBoolean);
    put_bit(values_, length_, value);
    mark_valid();
  }
  void append_int(int32_t value) { append_value(value); }   // int, date
  void append_long(int64_t value) { append_value(value); }  // long, time, timestamps
  void append_float(float value) { append_value(value); }
  void append_double(double value) { append_value(value); }
  void append_decimal(__int128 unscaled) { append_value(unscaled); }
  void append_uuid(const char (&bytes)[16]) {
    __int128 value;
    __builtin_memcpy(&value, bytes, sizeof(value));
    append_value(value);
  }
  void append_bytes(std::string_view value);  // string, binary; uuid and fixed: exactly their length
  // For string and binary: as append_bytes, without a call for short ones. kReadAhead bytes behind the value must be readable.
  static constexpr int64_t kReadAhead = 32;
  void append_roomy_bytes(std::string_view value) {
    const auto size = static_cast<int64_t>(value.size());
    if (size > kLongBytes) return append_bytes(value);
    expect(offsets_.size() != 0 && children_.empty());
    const int64_t at = values_.size();
    CHECK(at <= kMaxOffset - size);
    values_.resize(at + size);
    copy_roomy(values_.data() + at, value.data(), size);
    offsets_.push(static_cast<int32_t>(at + size));
    mark_valid();
  }
  // Lists and maps: append the children's values first, then close the entry, which takes all since the last close.
  void append_list_end();
  // Structs: append to every child first.
  void append_struct_end();
  // Appends the rows `rows` of `source` (same type), in that order.
  void append_rows(const Column& source, std::span<const int32_t> rows);
  // Forgets all rows from `length` on, children included, and what was appended to children of an entry never closed:
  // undoes a row that turned out bad.
  void truncate(int64_t length);
  // Forgets all rows, keeps the memory.
  void clear();

  // Reading. `child(0)` of a list is its elements; `list_begin/list_end` bound row's entries there.
  bool boolean_at(int64_t row) const { return bit(values_, row); }
  int32_t int_at(int64_t row) const { return load<int32_t>(row); }
  int64_t long_at(int64_t row) const { return load<int64_t>(row); }
  float float_at(int64_t row) const { return load<float>(row); }
  double double_at(int64_t row) const { return load<double>(row); }
  __int128 decimal_at(int64_t row) const { return load<__int128>(row); }
  std::string_view bytes_at(int64_t row) const;
  int32_t list_begin(int64_t row) const { return reinterpret_cast<const int32_t*>(offsets_.data())[row]; }
  int32_t list_end(int64_t row) const { return reinterpret_cast<const int32_t*>(offsets_.data())[row + 1]; }

  Column& child(size_t i) { return *children_[i]; }
  const Column& child(size_t i) const { return *children_[i]; }
  size_t child_count() const { return children_.size(); }

  // Raw Arrow buffers, for encoders. validity() is empty when there are no nulls.
  const Buffer& validity() const { return validity_; }
  const Buffer& values() const { return values_; }
  const Buffer& offsets() const { return offsets_; }

 private:
  static constexpr int64_t kMaxOffset = INT32_MAX;
  static constexpr int64_t kZeros = 16;  // written for a null of a fixed width, into the slack if they are more
  static constexpr int64_t kLongBytes = 256;  // from here on a call is worth it
  static bool bit(const Buffer& bits, int64_t i) { return (bits.data()[i >> 3] >> (i & 7)) & 1; }
  template <typename T>
  T load(int64_t row) const {
    T value;
    __builtin_memcpy(&value, values_.data() + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
  // Assigns bit i, which may be the first one behind the end.
  static void put_bit(Buffer& bits, int64_t i, bool value) {
    if ((i & 7) == 0) {
      bits.resize((i >> 3) + 1);
      bits.data()[i >> 3] = value;
      return;
    }
    uint8_t& byte = bits.data()[i >> 3];
    const uint8_t mask = static_cast<uint8_t>(1U << (i & 7));
    byte = static_cast<uint8_t>((byte & ~mask) | static_cast<unsigned>(value) << (i & 7));
  }
  // Copies in pieces of kReadAhead bytes; the last one may reach into the slack of both sides.
  static void copy_roomy(uint8_t* to, const char* from, int64_t size) {
    static_assert(kReadAhead <= Buffer::kSlack);
    for (int64_t i = 0; i < size; i += kReadAhead) __builtin_memcpy(to + i, from + i, kReadAhead);
  }
  static void expect(bool fits) {
    if constexpr (kChecksTypes) CHECK(fits);
  }
  template <typename T>
  void append_value(T value) {
    expect(width_ == sizeof(T));
    values_.push(value);
    mark_valid();
  }
  void mark_valid() {
    if (validity_.size() != 0) put_bit(validity_, length_, true);
    ++length_;
  }
  void append_null_slowly();
  void start_validity();
  void append_validity(const Column& source, std::span<const int32_t> rows);
  void append_bits(const Column& source, std::span<const int32_t> rows);
  void append_fixed(const Column& source, std::span<const int32_t> rows);
  void append_variable(const Column& source, std::span<const int32_t> rows);
  void append_entries(const Column& source, std::span<const int32_t> rows);

  Type type_;
  int64_t length_ = 0;
  int64_t null_count_ = 0;
  int32_t width_ = 0;  // bytes a value, 0 for bits, variable and nested
  Buffer validity_;
  Buffer values_;
  Buffer offsets_;
  std::vector<std::unique_ptr<Column>> children_;
  std::vector<int32_t> child_rows_;  // of append_rows, kept for its memory
};

// Columns of equal length, one for each top-level field of the schema, in its order.
struct Batch {
  explicit Batch(std::shared_ptr<const Schema> schema);
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&&) noexcept = default;

  std::shared_ptr<const Schema> schema;
  std::vector<Column> columns;

  int64_t rows() const { return columns.empty() ? 0 : columns[0].length(); }
  int64_t bytes() const;
  void append_rows(const Batch& source, std::span<const int32_t> rows);
  void truncate(int64_t rows);
  void clear();
};

}  // namespace frazil::columnar
