// Writing of manifests (manifest.h).
#include <algorithm>
#include <cmath>

#include "format/avro/object_file.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_schema.h"
#include "iceberg/partition_spec_json.h"
#include "iceberg/schema_json.h"

namespace frazil::iceberg {

using columnar::Type;
using columnar::TypeId;
using format::AvroEncoder;

namespace {

void write_optional_long(AvroEncoder& out, const std::optional<int64_t>& value) {
  out.write_branch(value ? 1 : 0);
  if (value) out.write_long(*value);
}

void write_optional_bytes(AvroEncoder& out, const std::optional<std::string>& value) {
  out.write_branch(value ? 1 : 0);
  if (value) out.write_bytes(*value);
}

// Empty collections are written as null: unknown.
template <typename Items, typename Write>
void write_optional_items(AvroEncoder& out, const Items& items, Write write) {
  out.write_branch(items.empty() ? 0 : 1);
  if (items.empty()) return;
  out.write_block(static_cast<int64_t>(items.size()));
  for (const auto& item : items) write(item);
  out.write_block(0);
}

void write_counts(AvroEncoder& out, const std::map<int32_t, int64_t>& counts) {
  write_optional_items(out, counts, [&](const auto& entry) {
    out.write_long(entry.first);
    out.write_long(entry.second);
  });
}

void write_bounds(AvroEncoder& out, const std::map<int32_t, std::string>& bounds) {
  write_optional_items(out, bounds, [&](const auto& entry) {
    out.write_long(entry.first);
    out.write_bytes(entry.second);
  });
}

std::string decimal_fixed(__int128 unscaled, int precision) {
  std::string bytes;
  for (int i = decimal_fixed_bytes(precision) - 1; i >= 0; --i) bytes.push_back(static_cast<char>(unscaled >> (8 * i)));
  return bytes;
}

void write_partition_value(AvroEncoder& out, const Type& type, const Literal& value) {
  out.write_branch(value.is_null() ? 0 : 1);
  if (value.is_null()) return;
  switch (type.id()) {
    case TypeId::kBoolean: return out.write_boolean(std::get<bool>(value.value));
    case TypeId::kInt:
    case TypeId::kDate: return out.write_long(std::get<int32_t>(value.value));
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz: return out.write_long(std::get<int64_t>(value.value));
    case TypeId::kFloat: return out.write_float(std::get<float>(value.value));
    case TypeId::kDouble: return out.write_double(std::get<double>(value.value));
    case TypeId::kDecimal: return out.write_fixed(decimal_fixed(std::get<__int128>(value.value), type.precision()));
    case TypeId::kUuid:
    case TypeId::kFixed: return out.write_fixed(std::get<std::string>(value.value));
    default: return out.write_bytes(std::get<std::string>(value.value));
  }
}

bool is_nan(const Literal& value) {
  if (const auto* single = std::get_if<float>(&value.value)) return std::isnan(*single);
  if (const auto* wide = std::get_if<double>(&value.value)) return std::isnan(*wide);
  return false;
}

// Gathers what the manifest list says about one partition field.
class SummaryBuilder {
 public:
  explicit SummaryBuilder(Type type) : type_(std::move(type)) {}
  const Type& type() const { return type_; }

  void add(const Literal& value) {
    if (value.is_null()) {
      contains_null_ = true;
    } else if (is_nan(value)) {
      contains_nan_ = true;
    } else {
      if (lower_.is_null() || compare(type_, value, lower_) < 0) lower_ = value;
      if (upper_.is_null() || compare(type_, value, upper_) > 0) upper_ = value;
    }
  }

  FieldSummary finish() const {
    FieldSummary summary;
    summary.contains_null = contains_null_;
    summary.contains_nan = contains_nan_;
    if (!lower_.is_null()) summary.lower_bound = to_binary(type_, lower_);
    if (!upper_.is_null()) summary.upper_bound = to_binary(type_, upper_);
    return summary;
  }

 private:
  Type type_;
  bool contains_null_ = false;
  bool contains_nan_ = false;
  Literal lower_;
  Literal upper_;
};

class ManifestWriter {
 public:
  ManifestWriter(const std::vector<Type>& types, int64_t snapshot_id, format::AvroFileWriter& file)
      : file_(file) {
    for (const Type& type : types) summaries_.emplace_back(type);
    manifest_.added_snapshot_id = snapshot_id;
  }

  base::Status add(const ManifestEntry& entry) {
    AvroEncoder& out = file_.record();
    out.write_long(static_cast<int64_t>(entry.status));
    write_optional_long(out, entry.snapshot_id.value_or(manifest_.added_snapshot_id));
    write_optional_long(out, entry.sequence_number);
    write_optional_long(out, entry.file_sequence_number);
    TRY(write_data_file(out, entry.data_file));
    count(entry);
    return file_.end_record();
  }

  ManifestFile finish() {
    manifest_.sequence_number = kUnassignedSequence;
    manifest_.min_sequence_number = min_sequence_.value_or(kUnassignedSequence);
    for (const SummaryBuilder& summary : summaries_) manifest_.partitions.push_back(summary.finish());
    return std::move(manifest_);
  }

 private:
  base::Status write_data_file(AvroEncoder& out, const DataFile& file) {
    out.write_long(static_cast<int64_t>(file.content));
    out.write_bytes(file.file_path);
    out.write_bytes(file.file_format);
    TRY(write_partition(out, file));
    out.write_long(file.record_count);
    out.write_long(file.file_size_in_bytes);
    write_counts(out, file.column_sizes);
    write_counts(out, file.value_counts);
    write_counts(out, file.null_value_counts);
    write_counts(out, file.nan_value_counts);
    write_bounds(out, file.lower_bounds);
    write_bounds(out, file.upper_bounds);
    write_optional_bytes(out, file.key_metadata);
    write_optional_items(out, file.split_offsets, [&](int64_t offset) { out.write_long(offset); });
    write_optional_items(out, file.equality_ids, [&](int32_t id) { out.write_long(id); });
    write_optional_long(out, file.sort_order_id);
    write_optional_bytes(out, file.referenced_data_file);
    return {};
  }

  base::Status write_partition(AvroEncoder& out, const DataFile& file) {
    if (file.partition.size() != summaries_.size()) {
      return base::invalid("file " + file.file_path + " has " + std::to_string(file.partition.size()) +
                           " partition values, its spec has " + std::to_string(summaries_.size()) + " fields");
    }
    for (size_t i = 0; i < summaries_.size(); ++i) {
      const auto value = promote(summaries_[i].type(), file.partition[i]);
      if (!value) return base::invalid("file " + file.file_path + ": partition value " + std::to_string(i) + " is not of type " + summaries_[i].type().name());
      write_partition_value(out, summaries_[i].type(), *value);
      summaries_[i].add(*value);
    }
    return {};
  }

  void count(const ManifestEntry& entry) {
    const int64_t rows = entry.data_file.record_count;
    switch (entry.status) {
      case ManifestEntry::Status::kAdded:
        ++manifest_.added_files_count;
        manifest_.added_rows_count += rows;
        break;
      case ManifestEntry::Status::kExisting:
        ++manifest_.existing_files_count;
        manifest_.existing_rows_count += rows;
        break;
      case ManifestEntry::Status::kDeleted:
        ++manifest_.deleted_files_count;
        manifest_.deleted_rows_count += rows;
        return;  // only live files bound the sequence numbers
    }
    if (entry.sequence_number) min_sequence_ = std::min(min_sequence_.value_or(INT64_MAX), *entry.sequence_number);
  }

  format::AvroFileWriter& file_;
  ManifestFile manifest_;
  std::vector<SummaryBuilder> summaries_;
  std::optional<int64_t> min_sequence_;
};

class AvroManifestWriter : public ManifestFileWriter {
 public:
  AvroManifestWriter(const PartitionSpec& spec, const std::vector<Type>& types, int64_t snapshot_id, int32_t content,
                     const std::map<std::string, std::string>& header, format::AvroCodec codec, std::optional<int> level)
      : spec_id_(spec.spec_id),
        content_(content),
        file_(manifest_entry_schema(spec, types), header, codec, level),
        writer_(types, snapshot_id, file_) {}

  base::Status add(const ManifestEntry& entry) override {
    if ((entry.data_file.content != FileContent::kData) != (content_ == 1)) {
      return base::invalid("a manifest holds data files or delete files, never both");
    }
    return writer_.add(entry);
  }
  base::Result<ManifestFile> finish(io::FileIO& io, const std::string& location) override {
    TRY_ASSIGN(const std::string bytes, file_.finish());
    TRY(io::write_file(io, location, bytes));
    ManifestFile manifest = writer_.finish();
    manifest.manifest_path = location;
    manifest.manifest_length = static_cast<int64_t>(bytes.size());
    manifest.partition_spec_id = spec_id_;
    manifest.content = content_;
    return manifest;
  }

 private:
  const int32_t spec_id_;
  const int32_t content_;
  format::AvroFileWriter file_;
  ManifestWriter writer_;
};

}  // namespace

base::Result<std::unique_ptr<ManifestFileWriter>> ManifestFileWriter::open(const columnar::Schema& schema,
                                                                           const PartitionSpec& spec, int64_t snapshot_id,
                                                                           int32_t content, const AvroOptions& options) {
  TRY_ASSIGN(const std::vector<Type> types, partition_types(spec, schema));
  TRY_ASSIGN(const format::AvroCodec codec, format::avro_codec_named(options.codec));
  const std::map<std::string, std::string> header = {
      {"schema", schema_to_json(schema)},
      {"schema-id", std::to_string(schema.schema_id)},
      {"partition-spec", spec_fields_to_json(spec)},
      {"partition-spec-id", std::to_string(spec.spec_id)},
      {"format-version", "2"},
      {"content", content == 1 ? "deletes" : "data"},
  };
  return std::unique_ptr<ManifestFileWriter>(
      std::make_unique<AvroManifestWriter>(spec, types, snapshot_id, content, header, codec, options.level));
}

base::Result<ManifestFile> write_manifest_entries(io::FileIO& io, const std::string& location, const columnar::Schema& schema,
                                                  const PartitionSpec& spec, int64_t snapshot_id,
                                                  const std::vector<ManifestEntry>& entries, const AvroOptions& options) {
  const bool is_delete = !entries.empty() && entries.front().data_file.content != FileContent::kData;
  TRY_ASSIGN(const auto writer, ManifestFileWriter::open(schema, spec, snapshot_id, is_delete ? 1 : 0, options));
  for (const ManifestEntry& entry : entries) TRY(writer->add(entry));
  return writer->finish(io, location);
}

base::Result<ManifestFile> write_manifest(io::FileIO& io, const std::string& location, const columnar::Schema& schema,
                                          const PartitionSpec& spec, int64_t snapshot_id, const std::vector<DataFile>& added,
                                          const AvroOptions& options) {
  std::vector<ManifestEntry> entries(added.size());
  for (size_t i = 0; i < added.size(); ++i) {
    entries[i].snapshot_id = snapshot_id;
    entries[i].data_file = added[i];
  }
  return write_manifest_entries(io, location, schema, spec, snapshot_id, entries, options);
}

}  // namespace frazil::iceberg
