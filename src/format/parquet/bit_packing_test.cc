#include "format/parquet/bit_packing.h"

#include <vector>

#include <gtest/gtest.h>

#include "format/parquet/random_batch.h"

namespace frazil::format {
namespace {

using columnar::Buffer;

std::string bytes_of(const Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

// A reader of the hybrid, by the words of the specification and bit by bit.
std::vector<uint32_t> read_hybrid(const Buffer& buffer, size_t count, int width) {
  std::vector<uint32_t> values;
  const uint8_t* at = buffer.data();
  while (values.size() < count) {
    uint64_t header = 0;
    for (int shift = 0;; shift += 7) {
      header |= static_cast<uint64_t>(*at & 0x7F) << shift;
      if ((*at++ & 0x80) == 0) break;
    }
    if ((header & 1) == 0) {
      uint32_t value = 0;
      for (int i = 0; i < (width + 7) / 8; ++i) value |= static_cast<uint32_t>(*at++) << (8 * i);
      values.insert(values.end(), header >> 1, value);
      continue;
    }
    for (uint64_t i = 0; i < (header >> 1) * 8; ++i) {
      uint32_t value = 0;
      for (int bit = 0; bit < width; ++bit) {
        const uint64_t place = i * static_cast<uint64_t>(width) + static_cast<uint64_t>(bit);
        value |= static_cast<uint32_t>((at[place / 8] >> (place % 8)) & 1) << bit;
      }
      values.push_back(value);
    }
    at += (header >> 1) * static_cast<uint64_t>(width);
  }
  EXPECT_EQ(at, buffer.data() + buffer.size());
  EXPECT_LT(values.size(), count + 8);
  values.resize(count);
  return values;
}

TEST(BitPacking, PacksTheExampleOfTheSpecification) {
  Buffer out;
  const uint32_t values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  append_packed(values, 8, 3, out);
  EXPECT_EQ(bytes_of(out), "\x88\xC6\xFA");
}

TEST(BitPacking, KeepsValuesOfEveryWidthAndLength) {
  Dice dice(1);
  for (int width = 0; width <= 32; ++width) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{100}, size_t{1001}}) {
      std::vector<uint32_t> values(count);
      const uint64_t mask = (uint64_t{1} << width) - 1;
      for (size_t i = 0; i < count; ++i) {
        const bool repeats = i > 0 && !dice.one_in(1 + (i / 100) * 10);
        values[i] = repeats ? values[i - 1] : static_cast<uint32_t>(dice.next() & mask);
      }
      Buffer out;
      append_hybrid(values.data(), static_cast<int64_t>(count), width, out);
      EXPECT_EQ(read_hybrid(out, count, width), values) << width << " " << count;
    }
  }
}

TEST(BitPacking, WritesAConstantAsOneRun) {
  Buffer out;
  const std::vector<uint32_t> values(1000, 300);
  append_hybrid(values.data(), 1000, 9, out);
  EXPECT_EQ(bytes_of(out), std::string("\xD0\x0F\x2C\x01"));
}

TEST(BitPacking, KeepsLevels) {
  Dice dice(2);
  for (int round = 0; round < 100; ++round) {
    const int width = 1 + static_cast<int>(dice.below(8));
    std::vector<uint8_t> levels(dice.below(300));
    for (auto& level : levels) level = dice.one_in(20) ? static_cast<uint8_t>(dice.below(1U << width)) : 1;
    Buffer out;
    append_hybrid(levels.data(), static_cast<int64_t>(levels.size()), width, out);
    EXPECT_EQ(read_hybrid(out, levels.size(), width), std::vector<uint32_t>(levels.begin(), levels.end()));
  }
}

TEST(BitPacking, KeepsBits) {
  Dice dice(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> values(dice.below(2000));
    std::vector<uint8_t> bits((values.size() + 7) / 8);
    bool value = false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (dice.one_in(1 + dice.below(200))) value = !value;
      values[i] = value ? 1 : 0;
      bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | values[i] << (i % 8));
    }
    Buffer out;
    append_hybrid_bits(bits.data(), static_cast<int64_t>(values.size()), out);
    EXPECT_EQ(read_hybrid(out, values.size(), 1), values);
  }
}

}  // namespace
}  // namespace frazil::format
