#include "format/parquet/leaf_levels.h"

#include <utility>

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::Field;
using columnar::TypeId;

void collect(const Field& field, Leaf at, const std::string& prefix, std::vector<Leaf>& leaves) {
  at.path = prefix.empty() ? field.name : prefix + "." + field.name;
  if (!field.required) ++at.max_definition;
  if (field.type.id() == TypeId::kList || field.type.id() == TypeId::kMap) {
    ++at.max_definition;
    ++at.max_repetition;
    at.in_list_or_map = true;
  }
  if (field.type.is_nested()) {
    const std::string path = at.path;
    for (const Field& child : field.type.fields()) collect(child, at, path, leaves);
    return;
  }
  at.field_id = field.id;
  at.type = field.type;
  at.required = field.required;
  leaves.push_back(std::move(at));
}

base::Error null_in_required(const Field& field) {
  return base::invalid("field '" + field.name + "' (id " + std::to_string(field.id) + ") is required and holds a null");
}

}  // namespace

std::vector<Leaf> leaves_of(const columnar::Schema& schema) {
  std::vector<Leaf> leaves;
  for (const Field& field : schema.fields) collect(field, Leaf(), "", leaves);
  return leaves;
}

Shredder::Shredder(std::shared_ptr<const columnar::Schema> schema, FlatLevels flat_levels)
    : schema_(std::move(schema)), leaves_(leaves_of(*schema_)), flat_(flat_levels) {}

base::Status Shredder::shred(const columnar::Batch& batch, const Visit& visit) {
  CHECK(batch.columns.size() == schema_->fields.size());
  const int64_t rows = batch.rows();
  next_leaf_ = 0;
  for (size_t i = 0; i < schema_->fields.size(); ++i) {
    const Field& field = schema_->fields[i];
    CHECK(batch.columns[i].length() == rows);
    if (!field.type.is_nested()) {
      TRY(visit_flat(field, batch.columns[i], visit));
      continue;
    }
    Stream stream;
    stream.rows.resize(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row) stream.rows[static_cast<size_t>(row)] = static_cast<int32_t>(row);
    stream.definition.assign(static_cast<size_t>(rows), 0);
    stream.repetition.assign(static_cast<size_t>(rows), 0);
    TRY(visit_field(field, batch.columns[i], std::move(stream), 0, visit));
  }
  return {};
}

base::Status Shredder::visit_flat(const Field& field, const Column& column, const Visit& visit) {
  LeafEntries entries{.column = &column, .count = column.length(), .definition = nullptr, .repetition = nullptr};
  if (field.required) {
    if (column.null_count() != 0) return null_in_required(field);
  } else if (flat_ == FlatLevels::kLeftToColumn) {
    return visit(next_leaf_++, entries);
  } else if (column.null_count() == 0) {
    if (ones_.size() < static_cast<size_t>(entries.count)) ones_.resize(static_cast<size_t>(entries.count), 1);
    entries.definition = ones_.data();
  } else {
    validity_levels_.resize(static_cast<size_t>(entries.count));
    const uint8_t* bits = column.validity().data();
    for (int64_t row = 0; row < entries.count; ++row) {
      validity_levels_[static_cast<size_t>(row)] = (bits[row >> 3] >> (row & 7)) & 1;
    }
    entries.definition = validity_levels_.data();
  }
  return visit(next_leaf_++, entries);
}

base::Status Shredder::visit_field(const Field& field, const Column& column, Stream stream, int16_t repetition,
                                   const Visit& visit) {
  TRY(enter_optional(field, column, stream));
  if (!field.type.is_nested()) return visit_leaf(column, stream, visit);
  if (field.type.id() == TypeId::kStruct) return visit_children(field, column, std::move(stream), repetition, visit);
  ++repetition;
  TRY_ASSIGN(Stream inner, enter_list(field, column, stream, repetition));
  return visit_children(field, column, std::move(inner), repetition, visit);
}

base::Status Shredder::visit_children(const Field& field, const Column& column, Stream stream, int16_t repetition,
                                      const Visit& visit) {
  const std::vector<Field>& children = field.type.fields();
  for (size_t i = 0; i + 1 < children.size(); ++i) {
    TRY(visit_field(children[i], column.child(i), stream, repetition, visit));
  }
  return visit_field(children.back(), column.child(children.size() - 1), std::move(stream), repetition, visit);
}

base::Status Shredder::visit_leaf(const Column& column, const Stream& stream, const Visit& visit) {
  const Leaf& leaf = leaves_[next_leaf_];
  LeafEntries entries{.column = &column,
                      .count = static_cast<int64_t>(stream.rows.size()),
                      .definition = leaf.max_definition > 0 ? stream.definition.data() : nullptr,
                      .repetition = leaf.max_repetition > 0 ? stream.repetition.data() : nullptr};
  return visit(next_leaf_++, entries);
}

base::Status Shredder::enter_optional(const Field& field, const Column& column, Stream& stream) {
  for (size_t i = 0; i < stream.rows.size(); ++i) {
    if (stream.rows[i] == kEnded) continue;
    if (column.is_null(stream.rows[i])) {
      if (field.required) return null_in_required(field);
      stream.rows[i] = kEnded;
    } else if (!field.required) {
      ++stream.definition[i];
    }
  }
  return {};
}

base::Result<Shredder::Stream> Shredder::enter_list(const Field& field, const Column& column, const Stream& stream,
                                                    int16_t repetition) {
  Stream inner;
  const size_t expected = stream.rows.size() + static_cast<size_t>(column.child(0).length());
  inner.rows.reserve(expected);
  inner.definition.reserve(expected);
  inner.repetition.reserve(expected);
  int32_t covered = 0;
  for (size_t i = 0; i < stream.rows.size(); ++i) {
    const int32_t row = stream.rows[i];
    const int32_t begin = row == kEnded ? 0 : column.list_begin(row);
    const int32_t end = row == kEnded ? 0 : column.list_end(row);
    if (begin == end) {
      inner.rows.push_back(kEnded);
      inner.definition.push_back(stream.definition[i]);
      inner.repetition.push_back(stream.repetition[i]);
      continue;
    }
    covered += end - begin;
    for (int32_t at = begin; at < end; ++at) {
      inner.rows.push_back(at);
      inner.definition.push_back(static_cast<int16_t>(stream.definition[i] + 1));
      inner.repetition.push_back(at == begin ? stream.repetition[i] : repetition);
    }
  }
  // The encoder takes the child's values in one run, so none may hide behind a null.
  if (covered != column.child(0).length()) {
    return base::Error(base::Code::kBug, "list '" + field.name + "' holds entries that belong to no row");
  }
  return inner;
}

}  // namespace frazil::format
