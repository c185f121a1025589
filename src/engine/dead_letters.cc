#include "engine/dead_letters.h"

#include "base/hash.h"
#include "base/utf8.h"

namespace frazil::engine {
namespace {

using columnar::Column;
using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;

Field field(int32_t id, std::string name, Type type, bool required = false) {
  return Field{id, std::move(name), required, std::move(type), ""};
}

Schema make_schema() {
  const auto of = [](TypeId id) { return Type::primitive(id); };
  const Type header = Type::structure({field(0, "key", of(TypeId::kString)), field(0, "value", of(TypeId::kBinary))});
  Schema schema;
  schema.fields = {
      field(0, "epoch", of(TypeId::kLong), true),
      field(0, "topic", of(TypeId::kString), true),
      field(0, "topic_id", of(TypeId::kString)),
      field(0, "partition", of(TypeId::kInt), true),
      field(0, "offset", of(TypeId::kLong), true),
      field(0, "timestamp", of(TypeId::kTimestamptz)),
      field(0, "key", of(TypeId::kBinary)),
      field(0, "value", of(TypeId::kBinary)),
      field(0, "headers", Type::list(field(0, "element", header))),
      field(0, "code", of(TypeId::kString), true),
      field(0, "message", of(TypeId::kString)),
      field(0, "field", of(TypeId::kString)),
      field(0, "value_bytes", of(TypeId::kLong)),
      field(0, "value_xxh128", Type::fixed(16)),
      field(0, "pipeline", of(TypeId::kString), true),
      field(0, "schema_id", of(TypeId::kInt)),
      field(0, "rejected_at", of(TypeId::kTimestamptz)),
  };
  return columnar::assign_fresh_ids(schema);
}

void append_optional(Column& column, bool has, std::string_view bytes) {
  if (has) {
    column.append_bytes(bytes);
  } else {
    column.append_null();
  }
}

void append_headers(Column& column, const std::vector<RawHeader>& headers) {
  Column& entry = column.child(0);
  for (const RawHeader& header : headers) {
    entry.child(0).append_bytes(base::valid_utf8_of(header.key));
    append_optional(entry.child(1), header.has_value, header.value);
    entry.append_struct_end();
  }
  column.append_list_end();
}

void append_value(Column& value, Column& size, Column& digest, const RawRecord& record) {
  if (!record.has_value) {
    value.append_null();
    size.append_null();
    digest.append_null();
    return;
  }
  value.append_bytes(record.value.substr(0, static_cast<size_t>(kDeadLetterValueBytes)));
  size.append_long(static_cast<int64_t>(record.value.size()));
  const auto hash = base::xxh128(record.value);
  digest.append_bytes({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

}  // namespace

std::shared_ptr<const Schema> dead_letter_schema() {
  static const auto schema = std::make_shared<const Schema>(make_schema());
  return schema;
}

void append_dead_letter(columnar::Batch& batch, const RawBatch& raw, const Rejected& rejected, const std::string& pipeline,
                        int32_t schema_id, int64_t now_micros) {
  const RawRecord& record = raw.records[rejected.record];
  auto& c = batch.columns;
  c[0].append_long(0);
  c[1].append_bytes(raw.stream);
  append_optional(c[2], !raw.stream_id.empty(), raw.stream_id);
  c[3].append_int(raw.partition);
  c[4].append_long(record.offset);
  if (record.timestamp_micros >= 0) {
    c[5].append_long(record.timestamp_micros);
  } else {
    c[5].append_null();
  }
  append_optional(c[6], record.has_key, record.key);
  append_value(c[7], c[12], c[13], record);
  append_headers(c[8], record.headers);
  c[9].append_bytes(rejected.code);
  c[10].append_bytes(base::valid_utf8_of(rejected.message));
  append_optional(c[11], !rejected.field.empty(), base::valid_utf8_of(rejected.field));
  c[14].append_bytes(pipeline);
  c[15].append_int(schema_id);
  c[16].append_long(now_micros);
}

void set_epoch(columnar::Batch& batch, int64_t epoch) {
  columnar::Column& column = batch.columns[0];
  const int64_t rows = column.length();
  column.clear();
  for (int64_t row = 0; row < rows; ++row) column.append_long(epoch);
}

}  // namespace frazil::engine
