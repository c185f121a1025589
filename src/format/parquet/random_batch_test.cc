#include "format/parquet/random_batch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace frazil::format {

using columnar::Batch;
using columnar::Column;
using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;

namespace {

constexpr int kMaxDepth = 3;

Type random_type(Dice& dice, int32_t& last_id, int depth);

Field random_field(Dice& dice, int32_t& last_id, const std::string& name, int depth, bool required) {
  Field field;
  field.id = ++last_id;
  field.name = name;
  field.required = required;
  field.type = random_type(dice, last_id, depth);
  return field;
}

Type random_nested(Dice& dice, int32_t& last_id, int depth) {
  switch (dice.below(3)) {
    case 0:
      return Type::list(random_field(dice, last_id, "element", depth + 1, dice.one_in(3)));
    case 1: {
      Field key = random_field(dice, last_id, "key", kMaxDepth, true);
      return Type::map(std::move(key), random_field(dice, last_id, "value", depth + 1, dice.one_in(3)));
    }
    default: {
      std::vector<Field> members;
      const uint64_t count = 1 + dice.below(3);
      for (uint64_t i = 0; i < count; ++i) {
        members.push_back(random_field(dice, last_id, "m" + std::to_string(i), depth + 1, dice.one_in(3)));
      }
      return Type::structure(std::move(members));
    }
  }
}

Type random_type(Dice& dice, int32_t& last_id, int depth) {
  if (depth < kMaxDepth && dice.one_in(3)) return random_nested(dice, last_id, depth);
  const auto id = static_cast<TypeId>(dice.below(14));
  if (id == TypeId::kDecimal) {
    const int precision = 1 + static_cast<int>(dice.below(38));
    return Type::decimal(precision, static_cast<int>(dice.below(static_cast<uint64_t>(precision) + 1)));
  }
  if (id == TypeId::kFixed) return Type::fixed(1 + static_cast<int>(dice.below(20)));
  return Type::primitive(id);
}

int64_t random_long(Dice& dice) {
  switch (dice.below(6)) {
    case 0:
      return std::numeric_limits<int64_t>::min();
    case 1:
      return std::numeric_limits<int64_t>::max();
    case 2:
      return static_cast<int64_t>(dice.next());
    default:
      return static_cast<int64_t>(dice.below(200)) - 100;
  }
}

template <typename Float>
Float random_float(Dice& dice) {
  using Limits = std::numeric_limits<Float>;
  switch (dice.below(10)) {
    case 0:
      return Limits::quiet_NaN();
    case 1:
      return Float{0};
    case 2:
      return -Float{0};
    case 3:
      return Limits::infinity();
    case 4:
      return -Limits::infinity();
    case 5:
      return Limits::denorm_min();
    default:
      return static_cast<Float>(random_long(dice)) / Float{7};
  }
}

__int128 random_decimal(Dice& dice, int precision) {
  __int128 limit = 1;
  for (int i = 0; i < precision; ++i) limit *= 10;
  if (dice.one_in(6)) return limit - 1;
  if (dice.one_in(6)) return 1 - limit;
  const __int128 wide = (static_cast<__int128>(dice.next() >> 1) << 64) | static_cast<__int128>(dice.next());
  const __int128 value = dice.one_in(2) ? wide % limit : static_cast<__int128>(dice.below(10));
  return dice.one_in(2) ? value : -value;
}

std::string random_bytes(Dice& dice, size_t length) {
  std::string bytes;
  for (size_t i = 0; i < length; ++i) bytes.push_back(dice.one_in(4) ? '\xFF' : static_cast<char>(dice.next()));
  return bytes;
}

void append_utf8(uint32_t value, std::string& out) {
  if (value < 0x80) {
    out.push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (value >> 6)));
    out.push_back(static_cast<char>(0x80 | (value & 0x3F)));
  } else if (value < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (value >> 12)));
    out.push_back(static_cast<char>(0x80 | ((value >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (value & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (value >> 18)));
    out.push_back(static_cast<char>(0x80 | ((value >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((value >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (value & 0x3F)));
  }
}

void append_random(Dice& dice, const Field& field, Column& out) {
  if (!field.required && dice.one_in(4)) return out.append_null();
  switch (field.type.id()) {
    case TypeId::kBoolean:
      return out.append_boolean(dice.one_in(2));
    case TypeId::kInt:
    case TypeId::kDate:
      return out.append_int(static_cast<int32_t>(random_long(dice)));
    case TypeId::kFloat:
      return out.append_float(random_float<float>(dice));
    case TypeId::kDouble:
      return out.append_double(random_float<double>(dice));
    case TypeId::kDecimal:
      return out.append_decimal(random_decimal(dice, field.type.precision()));
    case TypeId::kString:
      return out.append_bytes(random_text(dice, 30));
    case TypeId::kUuid:
      return out.append_bytes(random_bytes(dice, 16));
    case TypeId::kFixed:
      return out.append_bytes(random_bytes(dice, static_cast<size_t>(field.type.length())));
    case TypeId::kBinary:
      return out.append_bytes(random_bytes(dice, dice.below(30)));
    case TypeId::kStruct:
      for (size_t i = 0; i < out.child_count(); ++i) append_random(dice, field.type.fields()[i], out.child(i));
      return out.append_struct_end();
    case TypeId::kList:
    case TypeId::kMap: {
      const uint64_t count = dice.below(4);
      for (uint64_t n = 0; n < count; ++n) {
        for (size_t i = 0; i < out.child_count(); ++i) append_random(dice, field.type.fields()[i], out.child(i));
      }
      return out.append_list_end();
    }
    default:
      return out.append_long(random_long(dice));
  }
}

bool same_entries(const Column& a, int64_t row_a, const Column& b, int64_t row_b) {
  const int32_t count = a.list_end(row_a) - a.list_begin(row_a);
  if (count != b.list_end(row_b) - b.list_begin(row_b)) return false;
  for (int32_t i = 0; i < count; ++i) {
    for (size_t child = 0; child < a.child_count(); ++child) {
      if (!same_value(a.child(child), a.list_begin(row_a) + i, b.child(child), b.list_begin(row_b) + i)) return false;
    }
  }
  return true;
}

}  // namespace

uint64_t Dice::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::string random_text(Dice& dice, size_t max_code_points) {
  constexpr uint32_t kEdges[] = {0x00, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF};
  std::string text;
  const uint64_t count = dice.below(max_code_points + 1);
  const bool is_highest = dice.one_in(8);
  for (uint64_t i = 0; i < count; ++i) {
    append_utf8(is_highest ? 0x10FFFF : dice.one_in(3) ? kEdges[dice.below(std::size(kEdges))] : 'a' + static_cast<uint32_t>(dice.below(26)),
                text);
  }
  return text;
}

std::shared_ptr<const Schema> random_schema(Dice& dice) {
  auto schema = std::make_shared<Schema>();
  int32_t last_id = static_cast<int32_t>(dice.below(100));
  const uint64_t count = 1 + dice.below(5);
  for (uint64_t i = 0; i < count; ++i) {
    schema->fields.push_back(random_field(dice, last_id, "f" + std::to_string(i), 0, dice.one_in(3)));
  }
  return schema;
}

void append_random_row(Dice& dice, Batch& batch) {
  for (size_t i = 0; i < batch.columns.size(); ++i) append_random(dice, batch.schema->fields[i], batch.columns[i]);
}

bool same_value(const Column& a, int64_t row_a, const Column& b, int64_t row_b) {
  if (a.is_null(row_a) || b.is_null(row_b)) return a.is_null(row_a) && b.is_null(row_b);
  switch (a.type().id()) {
    case TypeId::kBoolean:
      return a.boolean_at(row_a) == b.boolean_at(row_b);
    case TypeId::kInt:
    case TypeId::kDate:
    case TypeId::kFloat:
      return a.int_at(row_a) == b.int_at(row_b);
    case TypeId::kDecimal:
      return a.decimal_at(row_a) == b.decimal_at(row_b);
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return a.bytes_at(row_a) == b.bytes_at(row_b);
    case TypeId::kStruct:
      for (size_t i = 0; i < a.child_count(); ++i) {
        if (!same_value(a.child(i), row_a, b.child(i), row_b)) return false;
      }
      return true;
    case TypeId::kList:
    case TypeId::kMap:
      return same_entries(a, row_a, b, row_b);
    default:
      return a.long_at(row_a) == b.long_at(row_b);
  }
}

int64_t first_difference(const std::vector<Batch>& parts_a, const std::vector<Batch>& parts_b) {
  size_t part_b = 0;
  int64_t row_b = 0;
  int64_t row = 0;
  for (const Batch& a : parts_a) {
    for (int64_t row_a = 0; row_a < a.rows(); ++row_a, ++row_b, ++row) {
      while (part_b < parts_b.size() && row_b == parts_b[part_b].rows()) {
        ++part_b;
        row_b = 0;
      }
      if (part_b == parts_b.size()) return row;
      for (size_t i = 0; i < a.columns.size(); ++i) {
        if (!same_value(a.columns[i], row_a, parts_b[part_b].columns[i], row_b)) return row;
      }
    }
  }
  for (; part_b < parts_b.size(); ++part_b, row_b = 0) {
    if (row_b < parts_b[part_b].rows()) return row;
  }
  return -1;
}

namespace {

void collect_types(const Type& type, std::set<TypeId>& seen) {
  seen.insert(type.id());
  for (const Field& field : type.fields()) collect_types(field.type, seen);
}

TEST(RandomBatch, BringsEveryTypeAndTellsRowsApart) {
  std::set<TypeId> seen;
  Dice dice(1);
  int differences = 0;
  for (int i = 0; i < 200; ++i) {
    const auto schema = random_schema(dice);
    for (const Field& field : schema->fields) collect_types(field.type, seen);
    std::vector<Batch> a;
    std::vector<Batch> b;
    a.emplace_back(schema);
    b.emplace_back(schema);
    append_random_row(dice, a[0]);
    append_random_row(dice, b[0]);
    EXPECT_EQ(first_difference(a, a), -1);
    if (first_difference(a, b) == 0) ++differences;
  }
  EXPECT_EQ(seen.size(), 17U);
  EXPECT_GT(differences, 150);
}

}  // namespace
}  // namespace frazil::format
