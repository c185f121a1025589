#include "format/json/json_steps.h"

#include <algorithm>
#include <string>

namespace frazil::format {
namespace {

constexpr size_t kMaxLearned = 256;
constexpr size_t kMaxLearnedBytes = 128;

bool is_plain(std::string_view name) {
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

// The first `size` bytes of eight.
uint64_t load_bytes(const char* at, size_t size) {
  uint64_t word;
  std::memcpy(&word, at, 8);
  return size == 0 ? 0 : word << (64 - 8 * size);
}

uint64_t mix(uint64_t hash, uint64_t word) {
  const auto product = static_cast<unsigned __int128>(hash ^ word ^ 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

QuotedKey::QuotedKey(std::string_view name) : size_(static_cast<uint32_t>(name.size() + 3)) {
  const std::string text = '"' + std::string(name) + "\":";
  text_ = std::make_unique_for_overwrite<char[]>(text.size());
  std::memcpy(text_.get(), text.data(), text.size());
  const size_t size = std::min(text.size(), kWords);
  std::memcpy(words_, text.data(), size);
  for (size_t i = 0; i < size; ++i) reinterpret_cast<unsigned char*>(masks_)[i] = 0xff;
}

bool QuotedKey::has_rest(const char* at) const {
  // What matched so far ends before the end of the document, so there are at least kPadding bytes more.
  for (size_t i = kWords; i < size_; i += 8) {
    const size_t size = std::min<size_t>(8, size_ - i);
    if (std::memcmp(at + i, text_.get() + i, size) != 0) return false;
  }
  return true;
}

JsonSteps::JsonSteps(const std::vector<std::string_view>& names) {
  steps_.reserve(names.size() + 1);
  steps_.emplace_back();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!is_plain(names[i])) continue;
    steps_.back().next = static_cast<int32_t>(steps_.size());
    steps_.push_back({QuotedKey(names[i]), static_cast<int32_t>(i), -1, false});
  }
  size_t size = 8;
  while (size < 2 * (steps_.size() + kMaxLearned)) size *= 2;
  table_.assign(size, -1);
  for (size_t i = 1; i < steps_.size(); ++i) insert(static_cast<int32_t>(i));
}

// Most names have up to 16 bytes, which takes no branch that depends on them.
uint64_t JsonSteps::hash(std::string_view name) {
  const char* at = name.data();
  size_t left = name.size();
  uint64_t hash = left;
  for (; left > 16; at += 8, left -= 8) hash = mix(hash, load_bytes(at, 8));
  const size_t first = std::min<size_t>(left, 8);
  return mix(mix(hash, load_bytes(at, first)), load_bytes(at + 8, left - first));
}

void JsonSteps::insert(int32_t step) {
  const size_t mask = table_.size() - 1;
  const std::string with_room = std::string(at(step).key.name()) + std::string(kReadAhead, '\0');
  size_t slot = hash(std::string_view(with_room).substr(0, with_room.size() - kReadAhead)) & mask;
  while (table_[slot] >= 0) slot = (slot + 1) & mask;
  table_[slot] = step;
}

int32_t JsonSteps::find(std::string_view name) const {
  const size_t mask = table_.size() - 1;
  for (size_t slot = hash(name) & mask; table_[slot] >= 0; slot = (slot + 1) & mask) {
    if (steps_[static_cast<size_t>(table_[slot])].key.name() == name) return table_[slot];
  }
  return -1;
}

int32_t JsonSteps::learn(std::string_view name, int32_t child, bool is_other_case) {
  if (learned_ == kMaxLearned || name.size() > kMaxLearnedBytes || !is_plain(name)) return -1;
  ++learned_;
  steps_.push_back({QuotedKey(name), child, -1, is_other_case});
  const auto step = static_cast<int32_t>(steps_.size() - 1);
  insert(step);
  return step;
}

}  // namespace frazil::format
