// For tests of the JSON decoder: a schema from type names, documents decoded into it, and rows written as plain text.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "columnar/column.h"
#include "format/json/json_decoder.h"

namespace frazil::format {

inline std::string plain(const columnar::Column& column, int64_t row);

inline std::string plain_entries(const columnar::Column& column, int64_t begin, int64_t end, const char* between) {
  std::string text;
  for (int64_t i = begin; i < end; ++i) {
    for (size_t c = 0; c < column.child_count(); ++c) {
      if (i != begin || c != 0) text += c == 0 ? "," : between;
      text += plain(column.child(c), i);
    }
  }
  return text;
}

inline std::string plain_decimal(__int128 value) {
  if (value < 0) return "-" + plain_decimal(-value);
  const std::string last(1, static_cast<char>('0' + static_cast<int>(value % 10)));
  return value < 10 ? last : plain_decimal(value / 10) + last;
}

// Numbers as counts and unscaled values, text and bytes as they are.
inline std::string plain(const columnar::Column& column, int64_t row) {
  using columnar::TypeId;
  if (column.is_null(row)) return "null";
  char number[64];
  switch (column.type().id()) {
    case TypeId::kBoolean:
      return column.boolean_at(row) ? "true" : "false";
    case TypeId::kInt:
    case TypeId::kDate:
      return std::to_string(column.int_at(row));
    case TypeId::kFloat:
      snprintf(number, sizeof(number), "%.9g", static_cast<double>(column.float_at(row)));
      return number;
    case TypeId::kDouble:
      snprintf(number, sizeof(number), "%.17g", column.double_at(row));
      return number;
    case TypeId::kDecimal:
      return plain_decimal(column.decimal_at(row));
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return std::string(column.bytes_at(row));
    case TypeId::kStruct:
      return "{" + plain_entries(column, row, row + 1, ",") + "}";
    case TypeId::kList:
      return "[" + plain_entries(column, column.list_begin(row), column.list_end(row), ",") + "]";
    case TypeId::kMap:
      return "{" + plain_entries(column, column.list_begin(row), column.list_end(row), ":") + "}";
    default:
      return std::to_string(column.long_at(row));
  }
}

// Names and types; "!" behind a type makes the field required: {{"id", "long!"}, {"tags", "list<string>"}}.
using Fields = std::vector<std::pair<std::string, std::string>>;

class DecodedRows {
 public:
  explicit DecodedRows(const Fields& fields, JsonOptions options = {}) : batch(schema_of(fields)) {
    auto made = JsonDecoder::make(batch.schema, std::move(options));
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message());
    if (made.ok()) decoder = std::move(made).value();
  }

  static std::shared_ptr<const columnar::Schema> schema_of(const Fields& fields) {
    auto schema = std::make_shared<columnar::Schema>();
    for (auto [name, type] : fields) {
      const bool required = type.back() == '!';
      if (required) type.pop_back();
      schema->fields.push_back({.name = name, .required = required, .type = *columnar::parse_type(type)});
    }
    *schema = columnar::assign_fresh_ids(*schema);
    return schema;
  }

  std::optional<Reject> decode(std::string_view document) {
    // A copy of exactly that size: reading past the end is found by the sanitizer.
    const std::vector<char> bytes(document.begin(), document.end());
    return decode_in_place({bytes.data(), bytes.size()});
  }

  std::optional<Reject> decode_in_place(std::string_view document) {
    std::vector<columnar::Column*> columns;
    for (columnar::Column& column : batch.columns) columns.push_back(&column);
    return decoder->decode(document, columns, &rows_appended);
  }

  // The rows of one document, "a,b" each, "; " between; or the code and field of the reject: "!OUT_OF_RANGE count".
  std::string outcome(std::string_view document) {
    const int64_t before = batch.rows();
    const auto reject = decode(document);
    for (const columnar::Column& column : batch.columns) {
      EXPECT_EQ(column.length(), before + (reject ? 0 : rows_appended)) << document;
    }
    if (reject) {
      EXPECT_FALSE(reject->message.empty()) << reject->code;
      return "!" + reject->code + (reject->field.empty() ? "" : " " + reject->field);
    }
    return rows_from(before);
  }

  std::string rows_from(int64_t first) const {
    std::string text;
    for (int64_t row = first; row < batch.rows(); ++row) {
      if (row != first) text += "; ";
      for (size_t i = 0; i < batch.columns.size(); ++i) text += (i == 0 ? "" : ",") + plain(batch.columns[i], row);
    }
    return text;
  }

  columnar::Batch batch;
  std::unique_ptr<JsonDecoder> decoder;
  int64_t rows_appended = 0;
};

// What becomes of one value in a column "v" of that type.
inline std::string decoded(const std::string& type, const std::string& value, const JsonOptions& options = {}) {
  DecodedRows rows(Fields{{"v", type}}, options);
  return rows.outcome("{\"v\":" + value + "}");
}

}  // namespace frazil::format
