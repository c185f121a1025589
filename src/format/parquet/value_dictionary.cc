#include "format/parquet/value_dictionary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace frazil::format {
namespace {

using columnar::Buffer;

// Values taken through the steps of a look-up together: each step asks for the memory that the next one needs, since
// with many open files a dictionary is never in the cache.
constexpr int64_t kBlock = 64;
constexpr size_t kMinSlots = 64;

uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
constexpr uint64_t kOdd2 = 0xD6E8FEB86659FD93ULL;

uint64_t load64(const char* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Eight readable bytes must follow the beginning of `value`.
uint64_t prefix_of(std::string_view value) {
  if (value.empty()) return 0;
  const uint64_t bytes = load64(value.data());
  return value.size() >= 8 ? bytes : bytes & (~uint64_t{0} >> (64 - 8 * value.size()));
}

uint64_t hash_of(std::string_view value, uint64_t prefix) {
  const size_t size = value.size();
  const char* bytes = value.data();
  uint64_t hash = mix(prefix ^ kOdd, size ^ kOdd2);
  if (size <= 8) return hash;
  for (size_t at = 8; at + 16 <= size; at += 16) hash = mix(load64(bytes + at) ^ hash, load64(bytes + at + 8) ^ kOdd);
  if (size < 16) return mix(load64(bytes + size - 8) ^ hash, kOdd2);
  return mix(load64(bytes + size - 16) ^ hash, load64(bytes + size - 8) ^ kOdd2);
}

// Of two values of one length above 8 whose first eight bytes are the same.
bool is_same(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  const char* x = a.data();
  const char* y = b.data();
  if (load64(x + size - 8) != load64(y + size - 8)) return false;
  for (size_t at = 8; at + 8 < size; at += 16) {  // what is left of the last step was compared above
    const uint64_t next = at + 16 <= size ? load64(x + at + 8) ^ load64(y + at + 8) : 0;
    if (((load64(x + at) ^ load64(y + at)) | next) != 0) return false;
  }
  return true;
}

// The hash table: slots of an id and a piece of its hash. Open addressing, at most half full.
class IdTable {
 public:
  struct Slot {
    uint32_t tag = 0;
    uint32_t id = kFree;
  };
  static constexpr uint32_t kFree = 0xFFFFFFFF;

  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash >> shift_]); }
  // The id that stands where a search begins; kFree, or most likely the one searched for.
  uint32_t first_id(uint64_t hash) const { return slots_[hash >> shift_].id; }
  // The id that `is_it` confirms, or kFree, with the slot where it belongs.
  template <typename IsIt>
  uint32_t find(uint64_t hash, size_t& at, IsIt is_it) const {
    const auto tag = static_cast<uint32_t>(hash);
    for (at = hash >> shift_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.id == kFree) return kFree;
      if (slot.tag == tag && is_it(slot.id)) return slot.id;
    }
  }
  void put(uint64_t hash, size_t at, uint32_t id) { slots_[at] = {static_cast<uint32_t>(hash), id}; }
  bool is_full(int64_t size) const { return static_cast<size_t>(size) * 2 >= slots_.size(); }
  // Makes room for `size` ids, whose hashes `hash_of_id` tells.
  template <typename HashOfId>
  void grow(int64_t size, HashOfId hash_of_id) {
    resize(std::max(kMinSlots, slots_.size() * 2));
    for (uint32_t id = 0; id < size; ++id) {
      const uint64_t hash = hash_of_id(id);
      size_t at = hash >> shift_;
      while (slots_[at].id != kFree) at = (at + 1) & mask_;
      put(hash, at, id);
    }
  }
  void clear() { std::fill(slots_.begin(), slots_.end(), Slot()); }
  bool is_empty() const { return slots_.empty(); }
  int64_t bytes() const { return static_cast<int64_t>(slots_.capacity() * sizeof(Slot)); }

 private:
  void resize(size_t slots) {
    slots_.assign(slots, Slot());
    mask_ = slots - 1;
    shift_ = 64 - std::countr_zero(slots);
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  int shift_ = 0;
};

// Numbers of four or eight bytes and values of 16.
template <typename T>
class FixedDictionary final : public ValueDictionary {
 public:
  void encode(const DenseValues& values, int64_t from, int64_t to, Buffer& ids) override {
    if (table_.is_empty()) table_.grow(0, [](uint32_t) { return uint64_t{0}; });
    const int64_t first = ids.size();
    ids.resize(first + (to - from) * 4);
    auto* out = reinterpret_cast<uint32_t*>(ids.data() + first);
    const T* in = reinterpret_cast<const T*>(values.bytes);
    for (int64_t at = from; at < to;) {
      const int64_t end = std::min(at + kBlock, to);
      std::array<uint64_t, kBlock> hashes;
      for (int64_t i = at; i < end; ++i) {
        hashes[static_cast<size_t>(i - at)] = hash(in[i]);
        table_.prefetch(hashes[static_cast<size_t>(i - at)]);
      }
      for (size_t i = 0; i < static_cast<size_t>(end - at); ++i) {
        const uint32_t id = table_.first_id(hashes[i]);
        if (id != IdTable::kFree) __builtin_prefetch(plain_.data() + id * sizeof(T));
      }
      for (const int64_t begin = at; at < end; ++at) {
        *out++ = id_of(in[at], hashes[static_cast<size_t>(at - begin)]);
      }
    }
  }

  DenseValues decode(std::span<const uint32_t> ids, Buffer& bytes, Buffer&) const override {
    bytes.resize(static_cast<int64_t>(ids.size() * sizeof(T)));
    T* out = reinterpret_cast<T*>(bytes.data());
    for (const uint32_t id : ids) *out++ = value(id);
    return {static_cast<int64_t>(ids.size()), static_cast<int32_t>(sizeof(T)), bytes.data(), nullptr, nullptr};
  }

  void add_range(const uint8_t* is_used, ByteRange& range) const override {
    for (uint32_t id = 0; id < size_; ++id) {
      if (is_used[id] != 0) range.add({reinterpret_cast<const char*>(plain_.data()) + id * sizeof(T), sizeof(T)});
    }
  }

  int64_t bytes() const override { return plain_.capacity() + table_.bytes(); }

  void clear() override {
    if (size_ != 0) table_.clear();
    plain_.clear();
    size_ = 0;
  }

 private:
  static uint64_t hash(T value) {
    if constexpr (sizeof(T) == 16) {
      return mix(static_cast<uint64_t>(value) ^ kOdd2, static_cast<uint64_t>(value >> 64) ^ kOdd);
    } else {
      return mix(static_cast<uint64_t>(value) ^ kOdd2, kOdd);
    }
  }
  T value(uint32_t id) const {
    T value;
    std::memcpy(&value, plain_.data() + id * sizeof(T), sizeof(T));
    return value;
  }
  uint32_t id_of(T wanted, uint64_t hash_of_it) {
    size_t at = 0;
    const uint32_t found = table_.find(hash_of_it, at, [&](uint32_t id) { return value(id) == wanted; });
    if (found != IdTable::kFree) return found;
    const auto id = static_cast<uint32_t>(size_++);
    table_.put(hash_of_it, at, id);
    plain_.push(wanted);
    if (table_.is_full(size_)) table_.grow(size_, [this](uint32_t i) { return hash(value(i)); });
    return id;
  }

  IdTable table_;
};

// Texts and bytes, and fixed arrays of odd lengths.
class BytesDictionary final : public ValueDictionary {
 public:
  explicit BytesDictionary(bool has_lengths) : length_bytes_(has_lengths ? 4 : 0) {}

  void encode(const DenseValues& values, int64_t from, int64_t to, Buffer& ids) override {
    if (table_.is_empty()) table_.grow(0, [](uint32_t) { return uint64_t{0}; });
    const int64_t first = ids.size();
    ids.resize(first + (to - from) * 4);
    auto* out = reinterpret_cast<uint32_t*>(ids.data() + first);
    for (int64_t at = from; at < to;) {
      const int64_t end = std::min(at + kBlock, to);
      std::array<Key, kBlock> keys;
      for (int64_t i = at; i < end; ++i) {
        Key& key = keys[static_cast<size_t>(i - at)];
        key.value = values.bytes_at(i);
        key.prefix = prefix_of(key.value);
        key.hash = hash_of(key.value, key.prefix);
        table_.prefetch(key.hash);
      }
      const std::span block(keys.data(), static_cast<size_t>(end - at));
      prefetch_values(block);
      for (const Key& key : block) *out++ = id_of(key);
      at = end;
    }
  }

  DenseValues decode(std::span<const uint32_t> ids, Buffer& bytes, Buffer& offsets) const override {
    bytes.clear();
    offsets.clear();
    offsets.push<int32_t>(0);
    for (const uint32_t id : ids) {
      const std::string_view text = value(id);
      bytes.append(text.data(), static_cast<int64_t>(text.size()));
      offsets.push(static_cast<int32_t>(bytes.size()));
    }
    DenseValues values;
    values.count = static_cast<int64_t>(ids.size());
    values.bytes = bytes.data();
    values.offsets = reinterpret_cast<const int32_t*>(offsets.data());
    if (length_bytes_ == 0) values.width = size_ == 0 ? 1 : entry(0).length;
    return values;
  }

  void add_range(const uint8_t* is_used, ByteRange& range) const override {
    for (uint32_t id = 0; id < size_; ++id) {
      if (is_used[id] != 0) range.add(value(id));
    }
  }

  int64_t bytes() const override { return plain_.capacity() + entries_.capacity() + table_.bytes(); }

  void clear() override {
    if (size_ != 0) table_.clear();
    plain_.clear();
    entries_.clear();
    size_ = 0;
  }

 private:
  struct Key {
    std::string_view value;
    uint64_t prefix;
    uint64_t hash;
  };
  struct Entry {
    uint64_t prefix;
    uint32_t offset;  // of the bytes, in plain_
    int32_t length;
  };

  const Entry& entry(uint32_t id) const { return reinterpret_cast<const Entry*>(entries_.data())[id]; }
  std::string_view value(uint32_t id) const {
    const Entry& at = entry(id);
    return {reinterpret_cast<const char*>(plain_.data()) + at.offset, static_cast<size_t>(at.length)};
  }
  bool is(uint32_t id, const Key& key) const {
    const Entry& at = entry(id);
    if (at.prefix != key.prefix || static_cast<size_t>(at.length) != key.value.size()) return false;
    return key.value.size() <= 8 || is_same(key.value, value(id));
  }
  void prefetch_values(std::span<const Key> block) const {
    std::array<uint32_t, kBlock> ids;
    for (size_t i = 0; i < block.size(); ++i) {
      ids[i] = table_.first_id(block[i].hash);
      if (ids[i] != IdTable::kFree) __builtin_prefetch(&entry(ids[i]));
    }
    for (size_t i = 0; i < block.size(); ++i) {
      if (ids[i] == IdTable::kFree || block[i].value.size() <= 8) continue;
      const uint8_t* bytes = plain_.data() + entry(ids[i]).offset;
      const size_t size = block[i].value.size();
      __builtin_prefetch(bytes + size - 1);
      if (size > 64) __builtin_prefetch(bytes + 64);
      __builtin_prefetch(bytes);
    }
  }
  uint32_t id_of(const Key& key) {
    size_t at = 0;
    const uint32_t found = table_.find(key.hash, at, [&](uint32_t id) { return is(id, key); });
    if (found != IdTable::kFree) return found;
    const auto id = static_cast<uint32_t>(size_++);
    table_.put(key.hash, at, id);
    const auto length = static_cast<int32_t>(key.value.size());
    if (length_bytes_ != 0) plain_.push(length);
    entries_.push(Entry{key.prefix, static_cast<uint32_t>(plain_.size()), length});
    plain_.append(key.value.data(), length);
    if (table_.is_full(size_)) {
      table_.grow(size_, [this](uint32_t i) { return hash_of(value(i), entry(i).prefix); });
    }
    return id;
  }

  int32_t length_bytes_;
  Buffer entries_;
  IdTable table_;
};

}  // namespace

std::unique_ptr<ValueDictionary> make_value_dictionary(const PhysicalType& physical) {
  if (physical.width == 4) return std::make_unique<FixedDictionary<uint32_t>>();
  if (physical.width == 8) return std::make_unique<FixedDictionary<uint64_t>>();
  if (physical.width == 16) return std::make_unique<FixedDictionary<unsigned __int128>>();
  return std::make_unique<BytesDictionary>(physical.type == Physical::kByteArray);
}

}  // namespace frazil::format
