#include "format/parquet/dictionary_choice.h"

#include <string>

#include <gtest/gtest.h>

#include "format/parquet/random_batch.h"

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::Type;
using columnar::TypeId;

Column texts(int rows, uint64_t distinct) {
  Dice dice(1);
  Column column(Type::primitive(TypeId::kString));
  for (int i = 0; i < rows; ++i) column.append_bytes("value " + std::to_string(dice.below(distinct)));
  return column;
}

TEST(DictionaryChoice, TakesColumnsThatRepeat) {
  EXPECT_TRUE(wants_dictionary(texts(1000, 5)));
  EXPECT_TRUE(wants_dictionary(texts(1000, 3000)));
  EXPECT_TRUE(wants_dictionary(texts(300, 500)));
}

TEST(DictionaryChoice, RefusesColumnsOfDistinctValues) {
  EXPECT_FALSE(wants_dictionary(texts(1000, 100'000'000)));
  Column longs(Type::primitive(TypeId::kLong));
  for (int64_t i = 0; i < 1000; ++i) longs.append_long(i);
  EXPECT_FALSE(wants_dictionary(longs));
}

TEST(DictionaryChoice, TriesWhenThereIsTooLittleToTell) {
  EXPECT_TRUE(wants_dictionary(texts(20, 100'000'000)));
  Column nulls(Type::primitive(TypeId::kString));
  for (int i = 0; i < 1000; ++i) nulls.append_null();
  EXPECT_TRUE(wants_dictionary(nulls));
}

TEST(DictionaryChoice, NeverTakesBooleans) {
  Column column(Type::primitive(TypeId::kBoolean));
  for (int i = 0; i < 1000; ++i) column.append_boolean(i % 2 == 0);
  EXPECT_FALSE(wants_dictionary(column));
}

}  // namespace
}  // namespace frazil::format
