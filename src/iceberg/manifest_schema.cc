#include "iceberg/manifest_schema.h"

#include <map>
#include <set>

#include "iceberg/json_view.h"

namespace frazil::iceberg {

using columnar::Type;
using columnar::TypeId;

namespace {

// Writes the fields of one record.
class RecordText {
 public:
  explicit RecordText(JsonText& json) : json_(json) {}

  void required(const char* name, int32_t id, std::string_view type) {
    open(name, type);
    json_.key("field-id").value(id).close('}');
  }

  void optional(const char* name, int32_t id, std::string_view type) {
    open(name, "[\"null\"," + std::string(type) + "]");
    json_.key("default").raw("null").key("field-id").value(id).close('}');
  }

  // A map with int keys: Avro has only string keys, so it is an array of pairs.
  void counts(const char* name, int32_t id, int32_t key_id, std::string_view value_type) {
    const std::string key = std::to_string(key_id);
    const std::string value = std::to_string(key_id + 1);
    optional(name, id,
             R"({"type":"array","items":{"type":"record","name":"k)" + key + "_v" + value +
                 R"(","fields":[{"name":"key","type":"int","field-id":)" + key + R"(},{"name":"value","type":)" +
                 std::string(value_type) + R"(,"field-id":)" + value + R"(}]},"logicalType":"map"})");
  }

 private:
  void open(const char* name, std::string_view type) { json_.open('{').key("name").value(name).key("type").raw(type); }
  JsonText& json_;
};

// Avro would have later uses refer to the first by its name; PyIceberg cannot follow that, so each gets a name of its own.
std::string fixed_type(std::set<std::string>& defined, std::string name, int size, const std::string& rest) {
  const std::string stem = name;
  for (int copy = 2; !defined.insert(name).second; ++copy) name = stem + "_copy" + std::to_string(copy);
  return R"({"type":"fixed","name":")" + name + R"(","size":)" + std::to_string(size) + rest + "}";
}

std::string logical(const char* type, const char* name, const char* rest = "") {
  return std::string(R"({"type":")") + type + R"(","logicalType":")" + name + "\"" + rest + "}";
}

// `defined`: named types that the schema holds already.
std::string avro_type(const Type& type, std::set<std::string>& defined) {
  switch (type.id()) {
    case TypeId::kBoolean: return "\"boolean\"";
    case TypeId::kInt: return "\"int\"";
    case TypeId::kLong: return "\"long\"";
    case TypeId::kFloat: return "\"float\"";
    case TypeId::kDouble: return "\"double\"";
    case TypeId::kDate: return logical("int", "date");
    case TypeId::kTime: return logical("long", "time-micros");
    case TypeId::kTimestamp: return logical("long", "timestamp-micros", R"(,"adjust-to-utc":false)");
    case TypeId::kTimestamptz: return logical("long", "timestamp-micros", R"(,"adjust-to-utc":true)");
    case TypeId::kString: return "\"string\"";
    case TypeId::kUuid: return fixed_type(defined, "uuid_fixed", 16, R"(,"logicalType":"uuid")");
    case TypeId::kFixed: return fixed_type(defined, "fixed_" + std::to_string(type.length()), type.length(), "");
    case TypeId::kDecimal: {
      const std::string precision = std::to_string(type.precision());
      const std::string scale = std::to_string(type.scale());
      return fixed_type(defined, "decimal_" + precision + "_" + scale, decimal_fixed_bytes(type.precision()),
                        R"(,"logicalType":"decimal","precision":)" + precision + R"(,"scale":)" + scale);
    }
    default: return "\"bytes\"";
  }
}

std::string partition_record(const PartitionSpec& spec, const std::vector<Type>& types) {
  JsonText json;
  json.open('{').key("type").value("record").key("name").value("r102").key("fields").open('[');
  std::set<std::string> names;
  std::set<std::string> defined;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    std::string name = format::sanitize_avro_name(field.name);
    if (!names.insert(name).second) name += "_" + std::to_string(field.field_id);
    json.open('{').key("name").value(name);
    json.key("type").raw("[\"null\"," + avro_type(types[i], defined) + "]").key("default").raw("null");
    json.key("field-id").value(field.field_id);
    if (name != field.name) json.key("iceberg-field-name").value(field.name);
    json.close('}');
  }
  json.close(']').close('}');
  return json.take();
}

std::string data_file_record(const PartitionSpec& spec, const std::vector<Type>& types) {
  using Id = ManifestField;
  JsonText json;
  json.open('{').key("type").value("record").key("name").value("r2").key("fields").open('[');
  RecordText record(json);
  record.required("content", Id::kContent, "\"int\"");
  record.required("file_path", Id::kFilePath, "\"string\"");
  record.required("file_format", Id::kFileFormat, "\"string\"");
  record.required("partition", Id::kPartition, partition_record(spec, types));
  record.required("record_count", Id::kRecordCount, "\"long\"");
  record.required("file_size_in_bytes", Id::kFileSize, "\"long\"");
  record.counts("column_sizes", Id::kColumnSizes, 117, "\"long\"");
  record.counts("value_counts", Id::kValueCounts, 119, "\"long\"");
  record.counts("null_value_counts", Id::kNullValueCounts, 121, "\"long\"");
  record.counts("nan_value_counts", Id::kNanValueCounts, 138, "\"long\"");
  record.counts("lower_bounds", Id::kLowerBounds, 126, "\"bytes\"");
  record.counts("upper_bounds", Id::kUpperBounds, 129, "\"bytes\"");
  record.optional("key_metadata", Id::kKeyMetadata, "\"bytes\"");
  record.optional("split_offsets", Id::kSplitOffsets, R"({"type":"array","items":"long","element-id":133})");
  record.optional("equality_ids", Id::kEqualityIds, R"({"type":"array","items":"int","element-id":136})");
  record.optional("sort_order_id", Id::kSortOrderId, "\"int\"");
  record.optional("referenced_data_file", Id::kReferencedDataFile, "\"string\"");
  json.close(']').close('}');
  return json.take();
}

std::string make_manifest_list_schema() {
  using Id = ManifestListField;
  JsonText json;
  json.open('{').key("type").value("record").key("name").value("manifest_file").key("fields").open('[');
  RecordText record(json);
  record.required("manifest_path", Id::kPath, "\"string\"");
  record.required("manifest_length", Id::kLength, "\"long\"");
  record.required("partition_spec_id", Id::kSpecId, "\"int\"");
  record.required("content", Id::kContent, "\"int\"");
  record.required("sequence_number", Id::kSequenceNumber, "\"long\"");
  record.required("min_sequence_number", Id::kMinSequenceNumber, "\"long\"");
  record.required("added_snapshot_id", Id::kAddedSnapshotId, "\"long\"");
  record.required("added_files_count", Id::kAddedFiles, "\"int\"");
  record.required("existing_files_count", Id::kExistingFiles, "\"int\"");
  record.required("deleted_files_count", Id::kDeletedFiles, "\"int\"");
  record.required("added_rows_count", Id::kAddedRows, "\"long\"");
  record.required("existing_rows_count", Id::kExistingRows, "\"long\"");
  record.required("deleted_rows_count", Id::kDeletedRows, "\"long\"");
  record.optional("partitions", Id::kPartitions,
                  R"({"type":"array","items":{"type":"record","name":"r508","fields":[)"
                  R"({"name":"contains_null","type":"boolean","field-id":509},)"
                  R"({"name":"contains_nan","type":["null","boolean"],"default":null,"field-id":518},)"
                  R"({"name":"lower_bound","type":["null","bytes"],"default":null,"field-id":510},)"
                  R"({"name":"upper_bound","type":["null","bytes"],"default":null,"field-id":511}]},"element-id":508})");
  record.optional("key_metadata", Id::kKeyMetadata, "\"bytes\"");
  json.close(']').close('}');
  return json.take();
}

}  // namespace

int decimal_fixed_bytes(int precision) {
  unsigned __int128 largest = 1;
  for (int i = 0; i < precision; ++i) largest *= 10;
  int bytes = 1;
  while (bytes < 16 && static_cast<unsigned __int128>(1) << (8 * bytes - 1) < largest) ++bytes;
  return bytes;
}

std::string manifest_entry_schema(const PartitionSpec& spec, const std::vector<Type>& types) {
  using Id = ManifestField;
  JsonText json;
  json.open('{').key("type").value("record").key("name").value("manifest_entry").key("fields").open('[');
  RecordText record(json);
  record.required("status", Id::kStatus, "\"int\"");
  record.optional("snapshot_id", Id::kSnapshotId, "\"long\"");
  record.optional("sequence_number", Id::kSequenceNumber, "\"long\"");
  record.optional("file_sequence_number", Id::kFileSequenceNumber, "\"long\"");
  record.required("data_file", Id::kDataFile, data_file_record(spec, types));
  json.close(']').close('}');
  return json.take();
}

const std::string& manifest_list_schema() {
  static const std::string kSchema = make_manifest_list_schema();
  return kSchema;
}

int32_t manifest_field_id(const format::AvroField& field) {
  if (field.field_id != format::kNoAvroId) return field.field_id;
  static const std::map<std::string, int32_t, std::less<>> kByName = {
      {"status", 0}, {"snapshot_id", 1}, {"data_file", 2}, {"file_sequence_number", 4}, {"file_path", 100},
      {"file_format", 101}, {"partition", 102}, {"record_count", 103}, {"file_size_in_bytes", 104}, {"column_sizes", 108},
      {"value_counts", 109}, {"null_value_counts", 110}, {"lower_bounds", 125}, {"upper_bounds", 128}, {"split_offsets", 132},
      {"equality_ids", 135}, {"nan_value_counts", 137}, {"sort_order_id", 140}, {"referenced_data_file", 143},
      {"manifest_path", 500}, {"manifest_length", 501}, {"partition_spec_id", 502}, {"added_snapshot_id", 503},
      {"added_files_count", 504}, {"added_data_files_count", 504}, {"existing_files_count", 505},
      {"existing_data_files_count", 505}, {"deleted_files_count", 506}, {"deleted_data_files_count", 506}, {"partitions", 507},
      {"contains_null", 509}, {"lower_bound", 510}, {"upper_bound", 511}, {"added_rows_count", 512},
      {"existing_rows_count", 513}, {"deleted_rows_count", 514}, {"min_sequence_number", 516}, {"contains_nan", 518},
  };
  const auto found = kByName.find(field.name);
  return found == kByName.end() ? format::kNoAvroId : found->second;
}

}  // namespace frazil::iceberg
