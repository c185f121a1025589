// The dictionary, the delta encoder and the dense values by themselves.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/parquet/delta_encoder.h"
#include "format/parquet/dense_values.h"
#include "format/parquet/random_batch.h"
#include "format/parquet/value_dictionary.h"

namespace frazil::format {
namespace {

using columnar::Buffer;
using columnar::Column;
using columnar::Type;
using columnar::TypeId;

TEST(ValueDictionary, GivesIdsInOrderOfAppearanceAndTheValuesBack) {
  Dice dice(4);
  for (const Type& type : {Type::primitive(TypeId::kString), Type::fixed(3), Type::primitive(TypeId::kUuid),
                           Type::primitive(TypeId::kLong), Type::primitive(TypeId::kFloat)}) {
    const PhysicalType physical = physical_type_of(type);
    const auto dictionary = make_value_dictionary(physical);
    for (int round = 0; round < 2; ++round) {  // the second time in kept memory
      Column column(type);
      for (int i = 0; i < 5000; ++i) {
        const uint64_t number = dice.below(700);
        std::string text(physical.width == 0 ? number % 40 : static_cast<size_t>(physical.width), 'p');
        text += physical.width == 0 ? std::to_string(number) : "";
        std::memcpy(text.data(), &number, std::min<size_t>(2, text.size()));
        if (type.id() == TypeId::kLong) {
          column.append_long(static_cast<int64_t>(number));
        } else if (type.id() == TypeId::kFloat) {
          column.append_float(static_cast<float>(number));
        } else {
          column.append_bytes(text);
        }
      }
      DenseScratch scratch;
      const DenseValues values = scratch.values_of(column, physical);
      Buffer ids;
      dictionary->encode(values, 0, 100, ids);
      dictionary->encode(values, 100, 5000, ids);
      ASSERT_EQ(ids.size(), 5000 * 4);
      const auto* id = reinterpret_cast<const uint32_t*>(ids.data());
      std::map<std::string_view, uint32_t> expected;
      for (int i = 0; i < 5000; ++i) {
        const auto [at, is_new] = expected.emplace(values.bytes_at(i), static_cast<uint32_t>(expected.size()));
        EXPECT_EQ(id[i], at->second);
      }
      EXPECT_EQ(dictionary->size(), static_cast<int64_t>(expected.size()));
      Buffer bytes, offsets;
      const DenseValues back = dictionary->decode({id, 5000}, bytes, offsets);
      for (int i = 0; i < 5000; ++i) ASSERT_EQ(back.bytes_at(i), values.bytes_at(i));
      dictionary->clear();
      EXPECT_EQ(dictionary->size(), 0);
    }
  }
}

uint64_t read_varint(const uint8_t*& at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    value |= static_cast<uint64_t>(*at & 0x7F) << shift;
    if ((*at++ & 0x80) == 0) return value;
  }
}

int64_t read_zigzag(const uint8_t*& at) {
  const uint64_t value = read_varint(at);
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// By the words of the specification; differences wrap around in `Unsigned`.
template <typename Unsigned>
std::vector<int64_t> read_deltas(const Buffer& buffer) {
  using Signed = std::make_signed_t<Unsigned>;
  const uint8_t* at = buffer.data();
  EXPECT_EQ(read_varint(at), 128U);
  EXPECT_EQ(read_varint(at), 4U);
  const uint64_t count = read_varint(at);
  auto value = static_cast<Unsigned>(read_zigzag(at));
  std::vector<int64_t> values;
  if (count > 0) values.push_back(static_cast<Signed>(value));
  while (values.size() < count) {
    const auto least = static_cast<Unsigned>(read_zigzag(at));
    const uint8_t* widths = at;
    at += 4;
    for (int mini = 0; mini < 4 && values.size() < count; ++mini) {
      for (int i = 0; i < 32; ++i) {
        uint64_t bits = 0;
        for (int bit = 0; bit < widths[mini]; ++bit) {
          const int place = i * widths[mini] + bit;
          bits |= static_cast<uint64_t>((at[place / 8] >> (place % 8)) & 1) << bit;
        }
        if (values.size() == count) continue;
        value = static_cast<Unsigned>(value + least + static_cast<Unsigned>(bits));
        values.push_back(static_cast<Signed>(value));
      }
      at += 4 * widths[mini];
    }
  }
  EXPECT_EQ(at, buffer.data() + buffer.size());
  return values;
}

TEST(DeltaEncoder, KeepsNumbersOfAnySizeAndCount) {
  Dice dice(5);
  DeltaEncoder encoder;
  for (const size_t count : {0, 1, 2, 31, 33, 128, 129, 130, 257, 1000}) {
    for (int bits = 0; bits <= 64; bits += 4) {
      std::vector<int64_t> longs(count);
      std::vector<int32_t> ints(count);
      for (size_t i = 0; i < count; ++i) {
        longs[i] = bits == 0 ? 42 : static_cast<int64_t>(dice.next() >> (64 - bits)) - (dice.one_in(2) ? 5 : 0);
        ints[i] = static_cast<int32_t>(longs[i]);
      }
      Buffer out;
      encoder.add(longs.data(), static_cast<int64_t>(count));
      encoder.finish(out);
      EXPECT_EQ(read_deltas<uint64_t>(out), longs);
      out.clear();
      encoder.add(ints.data(), static_cast<int64_t>(count));
      encoder.finish(out);
      EXPECT_EQ(read_deltas<uint32_t>(out), std::vector<int64_t>(ints.begin(), ints.end()));
    }
  }
}

TEST(DenseValues, AreTheValuesBetweenTheNulls) {
  Dice dice(6);
  DenseScratch scratch;
  for (int round = 0; round < 300; ++round) {
    columnar::Batch batch(random_schema(dice));
    for (uint64_t i = dice.below(100); i > 0; --i) append_random_row(dice, batch);
    for (const Column& column : batch.columns) {
      if (column.type().is_nested() || column.type().id() == TypeId::kDecimal || column.type().id() == TypeId::kBoolean)
        continue;
      const DenseValues values = scratch.values_of(column, physical_type_of(column.type()));
      int64_t at = 0;
      for (int64_t row = 0; row < column.length(); ++row) {
        if (column.is_null(row)) continue;
        std::string_view expected;
        if (values.width == 0) {
          expected = column.bytes_at(row);
        } else {
          expected = {reinterpret_cast<const char*>(column.values().data()) + row * values.width,
                      static_cast<size_t>(values.width)};
        }
        ASSERT_EQ(values.bytes_at(at++), expected);
      }
      EXPECT_EQ(values.count, at);
    }
  }
}

}  // namespace
}  // namespace frazil::format
