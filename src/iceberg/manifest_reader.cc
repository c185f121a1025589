// Reading of manifests of any writer, by field ids (manifest.h).
#include "format/avro/object_file.h"
#include "iceberg/avro_values.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_schema.h"
#include "iceberg/partition_spec_json.h"
#include "iceberg/stored_file.h"

namespace frazil::iceberg {

using format::AvroDecoder;
using format::AvroField;
using format::AvroNode;
using format::AvroType;
using Id = ManifestField;

namespace {

// Decodes the entries of one manifest.
class EntryReader {
 public:
  // `header`: the file's keys.
  explicit EntryReader(const std::map<std::string, std::string>& header) {
    const auto version = header.find("format-version");
    is_first_version_ = version == header.end() || version->second == "1";
    const auto spec_json = header.find("partition-spec");
    if (spec_json == header.end()) return;
    const auto spec = spec_fields_from_json(spec_json->second, 0);
    if (!spec.ok()) return;
    for (const PartitionField& field : spec->fields) spec_ids_.push_back(field.field_id);
  }

  base::Result<ManifestEntry> read(const AvroNode& node, AvroDecoder& decoder) {
    ManifestEntry entry;
    if (node.type != AvroType::kRecord) return base::corrupt("manifest entries are not records");
    for (const AvroField& field : node.fields) {
      if (!decoder.ok()) break;
      read_field(field, decoder, entry);
    }
    TRY(decoder.status());
    if (entry.data_file.file_path.empty()) return base::corrupt("a manifest entry has no file path");
    // Version 1 knows no sequence numbers: they are zero by definition.
    if (is_first_version_) {
      entry.sequence_number = 0;
      entry.file_sequence_number = 0;
    }
    return entry;
  }

 private:
  void read_field(const AvroField& field, AvroDecoder& decoder, ManifestEntry& entry) {
    // Its number is one of a manifest list's when it is known by name alone.
    if (field.field_id == format::kNoAvroId && field.name == "sequence_number") {
      entry.sequence_number = read_optional_long(*field.type, decoder);
      return;
    }
    switch (manifest_field_id(field)) {
      case Id::kStatus: {
        const int32_t status = read_optional_int(*field.type, decoder).value_or(-1);
        if (status < 0 || status > 2) return decoder.fail("entry status is none of 0, 1, 2");
        entry.status = static_cast<ManifestEntry::Status>(status);
        return;
      }
      case Id::kSnapshotId: entry.snapshot_id = read_optional_long(*field.type, decoder); return;
      case Id::kSequenceNumber: entry.sequence_number = read_optional_long(*field.type, decoder); return;
      case Id::kFileSequenceNumber: entry.file_sequence_number = read_optional_long(*field.type, decoder); return;
      case Id::kDataFile: return read_data_file(*field.type, decoder, entry.data_file);
      default: decoder.skip(*field.type);
    }
  }

  void read_data_file(const AvroNode& node, AvroDecoder& decoder, DataFile& file) {
    const AvroNode* record = enter_optional(node, decoder);
    if (record == nullptr || record->type != AvroType::kRecord) return decoder.fail("data_file is not a record");
    for (const AvroField& field : record->fields) {
      if (!decoder.ok()) return;
      read_file_field(field, decoder, file);
    }
  }

  void read_file_field(const AvroField& field, AvroDecoder& decoder, DataFile& file) {
    const AvroNode& type = *field.type;
    // In a manifest list this name has another number.
    const bool is_content = field.field_id == format::kNoAvroId && field.name == "content";
    switch (is_content ? Id::kContent : manifest_field_id(field)) {
      case Id::kContent: {
        const int32_t content = read_optional_int(type, decoder).value_or(0);
        if (content < 0 || content > 2) return decoder.fail("file content is none of 0, 1, 2");
        file.content = static_cast<FileContent>(content);
        return;
      }
      case Id::kFilePath: file.file_path = read_optional_bytes(type, decoder).value_or(""); return;
      case Id::kFileFormat: file.file_format = read_optional_bytes(type, decoder).value_or(""); return;
      case Id::kPartition: return read_partition(type, decoder, file.partition);
      case Id::kRecordCount: file.record_count = read_optional_long(type, decoder).value_or(0); return;
      case Id::kFileSize: file.file_size_in_bytes = read_optional_long(type, decoder).value_or(0); return;
      case Id::kColumnSizes: file.column_sizes = read_counts(type, decoder); return;
      case Id::kValueCounts: file.value_counts = read_counts(type, decoder); return;
      case Id::kNullValueCounts: file.null_value_counts = read_counts(type, decoder); return;
      case Id::kNanValueCounts: file.nan_value_counts = read_counts(type, decoder); return;
      case Id::kLowerBounds: file.lower_bounds = read_bounds(type, decoder); return;
      case Id::kUpperBounds: file.upper_bounds = read_bounds(type, decoder); return;
      case Id::kKeyMetadata: file.key_metadata = read_optional_bytes(type, decoder); return;
      case Id::kSplitOffsets: file.split_offsets = read_longs(type, decoder); return;
      case Id::kEqualityIds:
        for (const int64_t id : read_longs(type, decoder)) file.equality_ids.push_back(static_cast<int32_t>(id));
        return;
      case Id::kSortOrderId: file.sort_order_id = read_optional_int(type, decoder); return;
      case Id::kReferencedDataFile: file.referenced_data_file = read_optional_bytes(type, decoder); return;
      default: decoder.skip(type);
    }
  }

  // Values in the order of the spec that the header names; in the record's own order when that does not fit.
  void read_partition(const AvroNode& node, AvroDecoder& decoder, PartitionKey& key) {
    const AvroNode* record = enter_optional(node, decoder);
    if (record == nullptr || record->type != AvroType::kRecord) return decoder.fail("partition is not a record");
    key.resize(record->fields.size());
    for (size_t i = 0; i < record->fields.size() && decoder.ok(); ++i) {
      key[place(*record, i)] = read_partition_value(*record->fields[i].type, decoder);
    }
  }

  size_t place(const AvroNode& record, size_t at) const {
    if (spec_ids_.size() != record.fields.size() || spec_ids_[at] == record.fields[at].field_id) return at;
    for (size_t i = 0; i < spec_ids_.size(); ++i) {
      if (spec_ids_[i] == record.fields[at].field_id) return i;
    }
    return at;
  }

  bool is_first_version_ = false;
  std::vector<int32_t> spec_ids_;
};

std::map<std::string, std::string> header_of(const format::AvroFileReader& file) {
  std::map<std::string, std::string> header;
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with("avro.")) header[key] = value;
  }
  return header;
}

base::Status visit_entries(format::AvroFileReader& file, const std::map<std::string, std::string>& header,
                           const std::function<base::Status(ManifestEntry)>& visit) {
  EntryReader reader(header);
  while (true) {
    TRY_ASSIGN(const auto block, file.next_block());
    if (!block) return {};
    AvroDecoder decoder(block->payload);
    for (int64_t i = 0; i < block->records; ++i) {
      TRY_ASSIGN(ManifestEntry entry, reader.read(file.schema().root(), decoder));
      TRY(visit(std::move(entry)));
    }
    if (!decoder.at_end()) return base::corrupt("block has bytes behind its last record");
  }
}

}  // namespace

base::Result<Manifest> parse_manifest(std::string_view bytes) {
  TRY_ASSIGN(format::AvroFileReader file, format::AvroFileReader::open(bytes));
  Manifest manifest;
  manifest.header = header_of(file);
  TRY(visit_entries(file, manifest.header, [&](ManifestEntry entry) {
    manifest.entries.push_back(std::move(entry));
    return base::Status();
  }));
  return manifest;
}

base::Result<Manifest> read_manifest(io::FileIO& io, const std::string& location) {
  TRY_ASSIGN(const std::string bytes, read_stored(io, location));
  return parse_manifest(bytes).in(location);
}

base::Status visit_manifest(io::FileIO& io, const std::string& location, const std::function<base::Status(ManifestEntry)>& visit) {
  TRY_ASSIGN(const std::string bytes, read_stored(io, location));
  base::Result<format::AvroFileReader> file = format::AvroFileReader::open(bytes);
  if (!file.ok()) return file.status().in(location);
  return visit_entries(*file, header_of(*file), visit).in(location);
}

}  // namespace frazil::iceberg
