#include "iceberg/partition_spec_json.h"

#include <vector>

#include "iceberg/json_view.h"

namespace frazil::iceberg {

namespace {

constexpr int32_t kFirstPartitionFieldId = 1000;

base::Result<std::vector<PartitionField>> fields_of(const std::vector<JsonView>& views) {
  std::vector<PartitionField> fields;
  for (const JsonView& view : views) {
    PartitionField field;
    TRY_ASSIGN(field.source_id, view.int_member("source-id"));
    TRY_ASSIGN(const auto id, view.optional_int("field-id"));
    field.field_id = id.value_or(kFirstPartitionFieldId + static_cast<int32_t>(fields.size()));
    TRY_ASSIGN(field.name, view.text_member("name"));
    TRY_ASSIGN(const std::string transform, view.text_member("transform"));
    field.transform = transform_from_string(transform);
    fields.push_back(std::move(field));
  }
  return fields;
}

base::Result<SortField> sort_field(const JsonView& view) {
  SortField field;
  TRY_ASSIGN(field.source_id, view.int_member("source-id"));
  TRY_ASSIGN(const std::string transform, view.text_member("transform"));
  field.transform = transform_from_string(transform);
  TRY_ASSIGN(const std::string direction, view.text_member("direction"));
  TRY_ASSIGN(const std::string nulls, view.text_member("null-order"));
  if (direction != "asc" && direction != "desc") return base::corrupt("sort direction \"" + direction + "\" is not known");
  if (nulls != "nulls-first" && nulls != "nulls-last") return base::corrupt("null order \"" + nulls + "\" is not known");
  field.ascending = direction == "asc";
  field.nulls_first = nulls == "nulls-first";
  return field;
}

}  // namespace

std::string spec_fields_to_json(const PartitionSpec& spec) {
  JsonText json;
  json.open('[');
  for (const PartitionField& field : spec.fields) {
    json.open('{').key("name").value(field.name).key("transform").value(to_string(field.transform));
    json.key("source-id").value(field.source_id).key("field-id").value(field.field_id).close('}');
  }
  json.close(']');
  return json.take();
}

std::string spec_to_json(const PartitionSpec& spec) {
  JsonText json;
  json.open('{').key("spec-id").value(spec.spec_id).key("fields").raw(spec_fields_to_json(spec)).close('}');
  return json.take();
}

base::Result<PartitionSpec> spec_from_json(std::string_view text) {
  TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(text));
  PartitionSpec spec;
  TRY_ASSIGN(spec.spec_id, document.root().int_member("spec-id"));
  TRY_ASSIGN(const auto views, document.root().array_member("fields"));
  TRY_ASSIGN(spec.fields, fields_of(views));
  return spec;
}

base::Result<PartitionSpec> spec_fields_from_json(std::string_view text, int32_t spec_id) {
  TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(text));
  PartitionSpec spec;
  spec.spec_id = spec_id;
  TRY_ASSIGN(const auto views, document.root().elements());
  TRY_ASSIGN(spec.fields, fields_of(views));
  return spec;
}

std::string sort_order_to_json(const SortOrder& order) {
  JsonText json;
  json.open('{').key("order-id").value(order.order_id).key("fields").open('[');
  for (const SortField& field : order.fields) {
    json.open('{').key("transform").value(to_string(field.transform)).key("source-id").value(field.source_id);
    json.key("direction").value(field.ascending ? "asc" : "desc");
    json.key("null-order").value(field.nulls_first ? "nulls-first" : "nulls-last").close('}');
  }
  json.close(']').close('}');
  return json.take();
}

base::Result<SortOrder> sort_order_from_json(std::string_view text) {
  TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(text));
  SortOrder order;
  TRY_ASSIGN(order.order_id, document.root().int_member("order-id"));
  TRY_ASSIGN(const auto views, document.root().array_member("fields"));
  for (const JsonView& view : views) {
    TRY_ASSIGN(SortField field, sort_field(view));
    order.fields.push_back(std::move(field));
  }
  return order;
}

}  // namespace frazil::iceberg
