#include "format/parquet/page_levels.h"

#include <algorithm>
#include <cstring>

#include "format/parquet/bit_packing.h"

namespace frazil::format {
namespace {

using columnar::Buffer;

void append_bytes(const int16_t* levels, int64_t count, Buffer& out) {
  const int64_t at = out.size();
  out.resize(at + count);
  uint8_t* to = out.data() + at;
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(levels[i]);
}

// Appends what `append` appends behind its length.
template <typename Append>
void append_with_length(Buffer& out, Append append) {
  const int64_t at = out.size();
  out.push<uint32_t>(0);
  append();
  const auto length = static_cast<uint32_t>(out.size() - at - 4);
  std::memcpy(out.data() + at, &length, sizeof length);
}

// Up to 57 bits from bit `from` on.
uint64_t bits_from(const uint8_t* bits, int64_t from, int64_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bits + (from >> 3), 8);
  return (word >> (from & 7)) & ((uint64_t{1} << count) - 1);
}

}  // namespace

void PageLevels::add_present(int64_t count) {
  if (max_definition_ > 0 && bits_.size() != 0) append_ones(count);
  count_ += count;
}

void PageLevels::start_bits() {
  if (bits_.size() != 0 || count_ == 0) return;
  bits_.resize((count_ + 7) / 8);
  std::memset(bits_.data(), 0xFF, static_cast<size_t>(bits_.size()));
  if ((count_ & 7) != 0) bits_.data()[count_ >> 3] = static_cast<uint8_t>((1U << (count_ & 7)) - 1);
}

void PageLevels::append_ones(int64_t count) {
  static constexpr uint8_t kOnes[16] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  const int64_t before = count_;
  for (int64_t done = 0; done < count; done += 56) {
    add_bits(kOnes, 0, std::min<int64_t>(56, count - done));
  }
  count_ = before;  // add_present counts
}

void PageLevels::add_bits(const uint8_t* validity, int64_t from, int64_t count) {
  start_bits();
  for (int64_t done = 0; done < count;) {
    const int64_t room = 8 - (count_ & 7);
    const int64_t step = std::min<int64_t>(count - done, room == 8 ? 56 : room);
    const uint64_t word = bits_from(validity, from + done, step);
    if (room == 8) {
      const int64_t at = bits_.size();
      bits_.resize(at + (step + 7) / 8);
      std::memcpy(bits_.data() + at, &word, sizeof word);  // the buffer has room behind its end
    } else {
      uint8_t& last = bits_.data()[count_ >> 3];
      last = static_cast<uint8_t>(last | word << (8 - room));
    }
    done += step;
    count_ += step;
  }
}

void PageLevels::add(const int16_t* definition, const int16_t* repetition, int64_t count) {
  append_bytes(definition, count, definition_);
  if (repetition != nullptr) append_bytes(repetition, count, repetition_);
  count_ += count;
}

void PageLevels::append_definition(Buffer& out) const {
  const int width = bit_width(static_cast<uint64_t>(max_definition_));
  if (definition_.size() != 0) return append_hybrid(definition_.data(), count_, width, out);
  if (bits_.size() != 0) return append_hybrid_bits(bits_.data(), count_, out);
  append_run(static_cast<uint32_t>(max_definition_), count_, width, out);
}

void PageLevels::finish(Buffer& out) {
  if (max_repetition_ > 0) {
    append_with_length(out, [&] {
      append_hybrid(repetition_.data(), count_, bit_width(static_cast<uint64_t>(max_repetition_)), out);
    });
  }
  if (max_definition_ > 0) append_with_length(out, [&] { append_definition(out); });
  count_ = 0;
  bits_.clear();
  definition_.clear();
  repetition_.clear();
}

}  // namespace frazil::format
