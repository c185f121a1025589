#include "columnar/column.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace frazil::columnar {
namespace {

int32_t value_width(const Type& type) {
  switch (type.id()) {
    case TypeId::kInt:
    case TypeId::kFloat:
    case TypeId::kDate:
      return 4;
    case TypeId::kLong:
    case TypeId::kDouble:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return 8;
    case TypeId::kDecimal:
    case TypeId::kUuid:
      return 16;
    case TypeId::kFixed:
      return type.length();
    default:
      return 0;
  }
}

bool has_offsets(TypeId id) {
  return id == TypeId::kString || id == TypeId::kBinary || id == TypeId::kList || id == TypeId::kMap;
}

bool get_bit(const uint8_t* bits, int64_t i) {
  return (bits[i >> 3] >> (i & 7)) & 1;
}

int64_t bitmap_bytes(int64_t bits) {
  return (bits + 7) >> 3;
}

// Appends n bits, told by `bit_of(i)`, behind the first `length` bits. Returns how many of them are set.
template <typename BitOf>
int64_t append_bits_to(Buffer& bits, int64_t length, int64_t n, BitOf bit_of) {
  bits.resize(bitmap_bytes(length + n));
  uint8_t* out = bits.data();
  int64_t ones = 0;
  uint32_t byte = (length & 7) == 0 ? 0 : out[length >> 3] & ((1U << (length & 7)) - 1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = length + i;
    const uint32_t value = bit_of(i) ? 1 : 0;
    ones += value;
    byte |= value << (at & 7);
    if ((at & 7) == 7) {
      out[at >> 3] = static_cast<uint8_t>(byte);
      byte = 0;
    }
  }
  const int64_t end = length + n;
  if ((end & 7) != 0) out[end >> 3] = static_cast<uint8_t>(byte);
  return ones;
}

template <typename T>
void gather(const uint8_t* from, std::span<const int32_t> rows, uint8_t* to) {
  for (const int32_t row : rows) {
    T value;
    std::memcpy(&value, from + static_cast<int64_t>(row) * static_cast<int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(to, &value, sizeof(T));
    to += sizeof(T);
  }
}

// Copies up to 16 bytes as 16: the slack of both buffers makes that safe, and it spares the call.
inline void copy_text(uint8_t* to, const uint8_t* from, int32_t size) {
  if (size <= 16) {
    std::memcpy(to, from, 16);
  } else {
    std::memcpy(to, from, static_cast<size_t>(size));
  }
}

int64_t nulls_from(const Buffer& validity, int64_t begin, int64_t end) {
  int64_t nulls = 0;
  for (int64_t i = begin; i < end; ++i) nulls += get_bit(validity.data(), i) ? 0 : 1;
  return nulls;
}

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

Buffer::~Buffer() {
  std::free(data_);
}

void Buffer::append(const void* bytes, int64_t size) {
  if (size == 0) return;
  const int64_t at = size_;
  resize(size_ + size);
  std::memcpy(data_ + at, bytes, static_cast<size_t>(size));
}

void Buffer::grow(int64_t at_least) {
  const int64_t capacity = std::max<int64_t>({at_least, capacity_ * 2, 64});
  auto* data = static_cast<uint8_t*>(std::realloc(data_, static_cast<size_t>(capacity + kSlack)));
  CHECK(data != nullptr);
  data_ = data;
  capacity_ = capacity;
}

Column::Column(const Type& type) : type_(type), width_(value_width(type)) {
  if (has_offsets(type.id())) offsets_.push<int32_t>(0);
  for (const Field& field : type.fields()) children_.push_back(std::make_unique<Column>(field.type));
}

int64_t Column::bytes() const {
  int64_t total = validity_.size() + values_.size() + offsets_.size();
  for (const auto& child : children_) total += child->bytes();
  return total;
}

void Column::start_validity() {
  if (validity_.size() != 0 || length_ == 0) return;
  validity_.resize(bitmap_bytes(length_));
  std::memset(validity_.data(), 0xff, static_cast<size_t>(validity_.size()));
}

// The first null, and those of types that need more than a zero behind the last value.
void Column::append_null_slowly() {
  start_validity();
  put_bit(validity_, length_, false);
  if (type_.id() == TypeId::kBoolean) {
    put_bit(values_, length_, false);
  } else if (type_.id() == TypeId::kStruct) {
    for (const auto& child : children_) child->append_null();
  } else if (offsets_.size() != 0) {
    offsets_.push(list_begin(length_));
  } else {
    const int64_t at = values_.size();
    values_.resize(at + width_);
    std::memset(values_.data() + at, 0, static_cast<size_t>(width_));
  }
  ++length_;
  ++null_count_;
}

void Column::append_bytes(std::string_view value) {
  const auto size = static_cast<int64_t>(value.size());
  if (offsets_.size() == 0) {
    CHECK(size == width_);
    values_.append(value.data(), size);
  } else {
    expect(children_.empty());
    CHECK(values_.size() + size <= kMaxOffset);
    values_.append(value.data(), size);
    offsets_.push(static_cast<int32_t>(values_.size()));
  }
  mark_valid();
}

void Column::append_list_end() {
  expect(type_.id() == TypeId::kList || type_.id() == TypeId::kMap);
  expect(children_.size() == 1 || children_[0]->length() == children_[1]->length());
  CHECK(children_[0]->length() <= kMaxOffset);
  offsets_.push(static_cast<int32_t>(children_[0]->length()));
  mark_valid();
}

void Column::append_struct_end() {
  expect(type_.id() == TypeId::kStruct);
  for (const auto& child : children_) expect(child->length() == length_ + 1);
  mark_valid();
}

void Column::append_rows(const Column& source, std::span<const int32_t> rows) {
  CHECK(&source != this && source.type_.id() == type_.id() && source.width_ == width_);
  CHECK(source.type_.scale() == type_.scale() && source.children_.size() == children_.size());
  if (rows.empty()) return;
  append_validity(source, rows);
  if (type_.id() == TypeId::kBoolean) {
    append_bits(source, rows);
  } else if (type_.id() == TypeId::kStruct) {
    for (size_t i = 0; i < children_.size(); ++i) children_[i]->append_rows(*source.children_[i], rows);
  } else if (offsets_.size() == 0) {
    append_fixed(source, rows);
  } else if (children_.empty()) {
    append_variable(source, rows);
  } else {
    append_entries(source, rows);
  }
  length_ += static_cast<int64_t>(rows.size());
}

void Column::append_validity(const Column& source, std::span<const int32_t> rows) {
  const auto n = static_cast<int64_t>(rows.size());
  if (source.null_count_ == 0) {
    if (validity_.size() != 0) append_bits_to(validity_, length_, n, [](int64_t) { return true; });
    return;
  }
  start_validity();
  const uint8_t* bits = source.validity_.data();
  const int64_t valid =
      append_bits_to(validity_, length_, n, [&](int64_t i) { return get_bit(bits, rows[static_cast<size_t>(i)]); });
  null_count_ += n - valid;
  if (null_count_ == 0) validity_.clear();
}

void Column::append_bits(const Column& source, std::span<const int32_t> rows) {
  const uint8_t* bits = source.values_.data();
  append_bits_to(values_, length_, static_cast<int64_t>(rows.size()),
                 [&](int64_t i) { return get_bit(bits, rows[static_cast<size_t>(i)]); });
}

void Column::append_fixed(const Column& source, std::span<const int32_t> rows) {
  const int64_t at = values_.size();
  values_.resize(at + width_ * static_cast<int64_t>(rows.size()));
  const uint8_t* from = source.values_.data();
  uint8_t* to = values_.data() + at;
  if (width_ == 8) return gather<int64_t>(from, rows, to);
  if (width_ == 4) return gather<int32_t>(from, rows, to);
  if (width_ == 16) return gather<__int128>(from, rows, to);
  if (width_ == 0) return;
  for (const int32_t row : rows) {
    std::memcpy(to, from + static_cast<int64_t>(row) * width_, static_cast<size_t>(width_));
    to += width_;
  }
}

void Column::append_variable(const Column& source, std::span<const int32_t> rows) {
  const auto n = static_cast<int64_t>(rows.size());
  const int64_t first = offsets_.size();
  offsets_.resize(first + n * 4);
  const auto* ranges = reinterpret_cast<const int32_t*>(source.offsets_.data());
  auto* ends = reinterpret_cast<int32_t*>(offsets_.data() + first);
  int64_t end = values_.size();
  for (const int32_t row : rows) {
    end += ranges[row + 1] - ranges[row];
    *ends++ = static_cast<int32_t>(end);
  }
  CHECK(end <= kMaxOffset);
  if (end == values_.size()) return;
  int64_t at = values_.size();
  values_.resize(end);
  uint8_t* to = values_.data();
  const uint8_t* from = source.values_.data();
  for (const int32_t row : rows) {
    const int32_t size = ranges[row + 1] - ranges[row];
    copy_text(to + at, from + ranges[row], size);
    at += size;
  }
}

void Column::append_entries(const Column& source, std::span<const int32_t> rows) {
  child_rows_.clear();
  const int64_t elements = children_[0]->length();
  const int64_t first = offsets_.size();
  offsets_.resize(first + static_cast<int64_t>(rows.size()) * 4);
  auto* ends = reinterpret_cast<int32_t*>(offsets_.data() + first);
  for (const int32_t row : rows) {
    for (int32_t i = source.list_begin(row); i < source.list_end(row); ++i) child_rows_.push_back(i);
    *ends++ = static_cast<int32_t>(elements + static_cast<int64_t>(child_rows_.size()));
  }
  CHECK(elements + static_cast<int64_t>(child_rows_.size()) <= kMaxOffset);
  for (size_t i = 0; i < children_.size(); ++i) children_[i]->append_rows(*source.children_[i], child_rows_);
}

void Column::truncate(int64_t length) {
  CHECK(length >= 0 && length <= length_);
  if (null_count_ != 0) null_count_ -= nulls_from(validity_, length, length_);
  validity_.resize(null_count_ == 0 ? 0 : bitmap_bytes(length));
  length_ = length;
  if (type_.id() == TypeId::kBoolean) {
    values_.resize(bitmap_bytes(length));
  } else if (type_.id() == TypeId::kStruct) {
    for (const auto& child : children_) child->truncate(length);
  } else if (offsets_.size() == 0) {
    values_.resize(width_ * length);
  } else {
    offsets_.resize((length + 1) * 4);
    const int32_t end = list_begin(length);
    if (children_.empty()) values_.resize(end);
    for (const auto& child : children_) child->truncate(end);
  }
}

void Column::clear() {
  length_ = 0;
  null_count_ = 0;
  validity_.clear();
  values_.clear();
  if (offsets_.size() != 0) offsets_.resize(4);
  for (const auto& child : children_) child->clear();
}

std::string_view Column::bytes_at(int64_t row) const {
  const auto* bytes = reinterpret_cast<const char*>(values_.data());
  if (offsets_.size() == 0) return {bytes + row * width_, static_cast<size_t>(width_)};
  const int32_t begin = list_begin(row);
  return {bytes + begin, static_cast<size_t>(list_end(row) - begin)};
}

Batch::Batch(std::shared_ptr<const Schema> schema) : schema(std::move(schema)) {
  columns.reserve(this->schema->fields.size());
  for (const Field& field : this->schema->fields) columns.emplace_back(field.type);
}

int64_t Batch::bytes() const {
  int64_t total = 0;
  for (const Column& column : columns) total += column.bytes();
  return total;
}

void Batch::append_rows(const Batch& source, std::span<const int32_t> rows) {
  CHECK(columns.size() == source.columns.size());
  for (size_t i = 0; i < columns.size(); ++i) columns[i].append_rows(source.columns[i], rows);
}

void Batch::truncate(int64_t rows) {
  for (Column& column : columns) column.truncate(rows);
}

void Batch::clear() {
  for (Column& column : columns) column.clear();
}

}  // namespace frazil::columnar
