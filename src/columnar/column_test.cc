#include "columnar/column.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace frazil::columnar {
namespace {

// A cell as the simple model sees it: null, the bytes of a primitive, or the cells of what is nested.
struct Cell {
  bool is_null = false;
  std::string bytes;
  std::vector<Cell> children;  // struct: members; list: elements; map: key, value, key, value, ...
  bool operator==(const Cell&) const = default;
};

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

template <typename T>
T value_of(const std::string& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

int primitive_bytes(const Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return 1;
    case TypeId::kInt:
    case TypeId::kFloat:
    case TypeId::kDate:
      return 4;
    case TypeId::kDecimal:
    case TypeId::kUuid:
      return 16;
    case TypeId::kFixed:
      return type.length();
    case TypeId::kString:
    case TypeId::kBinary:
      return *rc::gen::inRange(0, 40);
    default:
      return 8;
  }
}

Cell random_cell(const Type& type, bool required);

Cell random_nested_cell(const Type& type) {
  Cell cell;
  const auto& fields = type.fields();
  const int entries = type.id() == TypeId::kStruct ? 1 : *rc::gen::inRange(0, 4);
  for (int i = 0; i < entries; ++i) {
    for (const Field& field : fields) cell.children.push_back(random_cell(field.type, field.required));
  }
  return cell;
}

Cell random_cell(const Type& type, bool required) {
  if (!required && *rc::gen::inRange(0, 4) == 0) return Cell{.is_null = true, .bytes = {}, .children = {}};
  if (type.is_nested()) return random_nested_cell(type);
  Cell cell;
  const int size = primitive_bytes(type);
  for (int i = 0; i < size; ++i) cell.bytes += static_cast<char>(*rc::gen::inRange(0, 256));
  if (type.id() == TypeId::kBoolean) cell.bytes[0] &= 1;
  return cell;
}

void append_cell(Column& column, const Cell& cell);

void append_children(Column& column, const Cell& cell) {
  const size_t width = column.child_count();
  for (size_t i = 0; i < cell.children.size(); ++i) append_cell(column.child(i % width), cell.children[i]);
}

void append_cell(Column& column, const Cell& cell) {
  if (cell.is_null) return column.append_null();
  const std::string& bytes = cell.bytes;
  switch (column.type().id()) {
    case TypeId::kBoolean:
      return column.append_boolean(bytes[0] != 0);
    case TypeId::kInt:
    case TypeId::kDate:
      return column.append_int(value_of<int32_t>(bytes));
    case TypeId::kFloat:
      return column.append_float(value_of<float>(bytes));
    case TypeId::kDouble:
      return column.append_double(value_of<double>(bytes));
    case TypeId::kDecimal:
      return column.append_decimal(value_of<__int128>(bytes));
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return column.append_bytes(bytes);
    case TypeId::kStruct:
      append_children(column, cell);
      return column.append_struct_end();
    case TypeId::kList:
    case TypeId::kMap:
      append_children(column, cell);
      return column.append_list_end();
    default:
      return column.append_long(value_of<int64_t>(bytes));
  }
}

Cell read_cell(const Column& column, int64_t row);

Cell read_nested(const Column& column, int64_t row) {
  Cell cell;
  const bool is_struct = column.type().id() == TypeId::kStruct;
  const int64_t begin = is_struct ? row : column.list_begin(row);
  const int64_t end = is_struct ? row + 1 : column.list_end(row);
  for (int64_t i = begin; i < end; ++i) {
    for (size_t c = 0; c < column.child_count(); ++c) cell.children.push_back(read_cell(column.child(c), i));
  }
  return cell;
}

Cell read_cell(const Column& column, int64_t row) {
  if (column.is_null(row)) return Cell{.is_null = true, .bytes = {}, .children = {}};
  if (column.type().is_nested()) return read_nested(column, row);
  Cell cell;
  switch (column.type().id()) {
    case TypeId::kBoolean:
      cell.bytes = bytes_of(static_cast<char>(column.boolean_at(row)));
      break;
    case TypeId::kInt:
    case TypeId::kDate:
      cell.bytes = bytes_of(column.int_at(row));
      break;
    case TypeId::kFloat:
      cell.bytes = bytes_of(column.float_at(row));
      break;
    case TypeId::kDouble:
      cell.bytes = bytes_of(column.double_at(row));
      break;
    case TypeId::kDecimal:
      cell.bytes = bytes_of(column.decimal_at(row));
      break;
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      cell.bytes = column.bytes_at(row);
      break;
    default:
      cell.bytes = bytes_of(column.long_at(row));
      break;
  }
  return cell;
}

void expect_equal(const Column& column, const std::vector<Cell>& model) {
  RC_ASSERT(column.length() == static_cast<int64_t>(model.size()));
  int64_t nulls = 0;
  for (size_t i = 0; i < model.size(); ++i) {
    RC_ASSERT(read_cell(column, static_cast<int64_t>(i)) == model[i]);
    nulls += model[i].is_null;
  }
  RC_ASSERT(column.null_count() == nulls);
  RC_ASSERT((column.validity().size() == 0) == (nulls == 0));
}

const char* const kTypes[] = {
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "decimal(20, 3)",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "string",
    "uuid",
    "fixed[5]",
    "fixed[16]",
    "binary",
    "list<int>",
    "list<string>",
    "map<string, long>",
    "struct<a: boolean, b: string, c: int>",
    "list<struct<a: list<string>, b: map<int, boolean>>>",
    "struct<x: struct<y: list<double>, z: fixed[3]>, m: map<string, struct<q: uuid, r: decimal(5, 1)>>>"};

std::vector<Cell> random_cells(const Type& type, int at_most) {
  std::vector<Cell> cells;
  const bool required = *rc::gen::arbitrary<bool>();
  const int n = *rc::gen::inRange(0, at_most);
  for (int i = 0; i < n; ++i) cells.push_back(random_cell(type, required));
  return cells;
}

void append_all(Column& column, std::vector<Cell>& model, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    append_cell(column, cell);
    model.push_back(cell);
  }
}

void gather_some(Column& column, std::vector<Cell>& model, const Type& type) {
  const std::vector<Cell> cells = random_cells(type, 20);
  if (cells.empty()) return;
  Column source(type);
  for (const Cell& cell : cells) append_cell(source, cell);
  const auto rows =
      *rc::gen::container<std::vector<int32_t>>(rc::gen::inRange<int32_t>(0, static_cast<int32_t>(cells.size())));
  column.append_rows(source, rows);
  for (const int32_t row : rows) model.push_back(cells[static_cast<size_t>(row)]);
}

// Appends to children without closing the entry, as a decoder that meets a bad value does, then takes it back.
void break_off_an_entry(Column& column, const Type& type) {
  const int64_t length = column.length();
  if (type.is_nested()) append_cell(column.child(0), random_cell(type.fields()[0].type, type.fields()[0].required));
  column.truncate(length);
}

void take_a_step(Column& column, std::vector<Cell>& model, const Type& type) {
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return append_all(column, model, random_cells(type, 20));
    case 1:
    case 2:
      return gather_some(column, model, type);
    case 3:
      return break_off_an_entry(column, type);
    case 4: {
      const auto length = *rc::gen::inRange<size_t>(0, model.size() + 1);
      column.truncate(static_cast<int64_t>(length));
      return model.resize(length);
    }
    default:
      if (*rc::gen::inRange(0, 3) != 0) return;
      column.clear();
      model.clear();
  }
}

void behave_like_the_model(const Type& type) {
  Column column(type);
  std::vector<Cell> model;
  const int steps = *rc::gen::inRange(1, 12);
  for (int step = 0; step < steps; ++step) {
    take_a_step(column, model, type);
    expect_equal(column, model);
  }
}

TEST(Column, BehavesLikeAListOfCells) {
  for (const char* name : kTypes) {
    const Type type = *parse_type(name);
    EXPECT_TRUE(rc::check(name, [&] { behave_like_the_model(type); })) << name;
  }
}

TEST(Column, HasNoValidityBitmapWithoutNulls) {
  Column column(Type::primitive(TypeId::kInt));
  column.append_int(1);
  EXPECT_EQ(column.validity().size(), 0);
  column.append_null();
  EXPECT_EQ(column.validity().size(), 1);
  EXPECT_FALSE(column.is_null(0));
  EXPECT_TRUE(column.is_null(1));
  EXPECT_EQ(column.int_at(1), 0);
  column.truncate(1);
  EXPECT_EQ(column.validity().size(), 0);
}

TEST(Column, CountsItsBytes) {
  Column column(Type::primitive(TypeId::kString));
  EXPECT_EQ(column.bytes(), 4);
  column.append_bytes("abc");
  EXPECT_EQ(column.bytes(), 11);
  column.append_null();
  EXPECT_EQ(column.bytes(), 16);
}

TEST(Column, KeepsItsMemoryWhenCleared) {
  Column column(Type::primitive(TypeId::kLong));
  for (int i = 0; i < 1000; ++i) column.append_long(i);
  const int64_t capacity = column.values().capacity();
  column.clear();
  EXPECT_EQ(column.length(), 0);
  EXPECT_EQ(column.values().capacity(), capacity);
}

TEST(ColumnDeathTest, RefusesAFixedValueOfAnotherLength) {
  Column column(Type::fixed(4));
  EXPECT_DEATH(column.append_bytes("abc"), "");
}

TEST(Batch, MovesRowsOfAllColumnsTogether) {
  auto schema = std::make_shared<Schema>();
  schema->fields = {{.id = 1, .name = "a", .type = Type::primitive(TypeId::kInt)},
                    {.id = 2, .name = "b", .type = Type::primitive(TypeId::kString)}};
  Batch source(schema);
  for (int i = 0; i < 3; ++i) {
    source.columns[0].append_int(i);
    source.columns[1].append_bytes(std::string(static_cast<size_t>(i) * 20, 'x'));
  }
  Batch batch(schema);
  const std::vector<int32_t> rows = {2, 0, 2};
  batch.append_rows(source, rows);
  EXPECT_EQ(batch.rows(), 3);
  EXPECT_EQ(batch.columns[0].int_at(2), 2);
  EXPECT_EQ(batch.columns[1].bytes_at(0).size(), 40U);
  EXPECT_EQ(batch.bytes(), 12 + 16 + 80);
  batch.truncate(1);
  EXPECT_EQ(batch.rows(), 1);
  batch.clear();
  EXPECT_EQ(batch.rows(), 0);
  EXPECT_EQ(source.rows(), 3);
}

TEST(Column, TakesBytesWithRoomBehindAsItTakesOthers) {
  Column plain(Type::primitive(TypeId::kString));
  Column roomy(Type::primitive(TypeId::kString));
  std::string text;
  for (size_t i = 0; i < 600; ++i) text += static_cast<char>('a' + i % 26);
  for (size_t size = 0; size < 400; ++size) {
    plain.append_bytes(std::string_view(text).substr(size % 7, size));
    roomy.append_roomy_bytes(std::string_view(text).substr(size % 7, size));
    if (size % 50 == 3) plain.append_null(), roomy.append_null();
  }
  ASSERT_EQ(roomy.length(), plain.length());
  EXPECT_EQ(roomy.null_count(), plain.null_count());
  for (int64_t row = 0; row < plain.length(); ++row) {
    EXPECT_EQ(roomy.is_null(row), plain.is_null(row)) << row;
    EXPECT_EQ(roomy.bytes_at(row), plain.bytes_at(row)) << row;
  }
}

TEST(Column, WritesZerosForNullsOfEveryWidth) {
  for (const char* type : {"int", "long", "decimal(38, 2)", "uuid", "fixed[5]", "fixed[16]", "fixed[17]", "fixed[100]"}) {
    Column column(*parse_type(type));
    for (int i = 0; i < 200; ++i) column.append_null();
    ASSERT_EQ(column.null_count(), 200) << type;
    const Buffer& values = column.values();
    ASSERT_EQ(values.size() % 200, 0) << type;
    EXPECT_TRUE(std::all_of(values.data(), values.data() + values.size(), [](uint8_t byte) { return byte == 0; })) << type;
    for (int64_t row = 0; row < 200; ++row) EXPECT_TRUE(column.is_null(row)) << type;
  }
}

TEST(Column, TakesUuids) {
  Column column(Type::primitive(TypeId::kUuid));
  char bytes[16];
  for (size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = static_cast<char>(i * 17);
  column.append_uuid(bytes);
  EXPECT_EQ(column.bytes_at(0), std::string_view(bytes, sizeof(bytes)));
}

}  // namespace
}  // namespace frazil::columnar
