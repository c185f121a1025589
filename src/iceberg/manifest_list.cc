// Manifest lists (manifest.h).
#include "format/avro/object_file.h"
#include "iceberg/avro_values.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_schema.h"
#include "iceberg/stored_file.h"

namespace frazil::iceberg {

using format::AvroDecoder;
using format::AvroEncoder;
using format::AvroField;
using format::AvroNode;
using format::AvroType;
using Id = ManifestListField;

namespace {

void write_summaries(AvroEncoder& out, const std::vector<FieldSummary>& summaries) {
  const auto write_bound = [&](const std::optional<std::string>& bound) {
    out.write_branch(bound ? 1 : 0);
    if (bound) out.write_bytes(*bound);
  };
  out.write_branch(1);
  if (!summaries.empty()) out.write_block(static_cast<int64_t>(summaries.size()));
  for (const FieldSummary& summary : summaries) {
    out.write_boolean(summary.contains_null);
    out.write_branch(summary.contains_nan ? 1 : 0);
    if (summary.contains_nan) out.write_boolean(*summary.contains_nan);
    write_bound(summary.lower_bound);
    write_bound(summary.upper_bound);
  }
  out.write_block(0);
}

void write_manifest_file(AvroEncoder& out, const ManifestFile& manifest) {
  out.write_bytes(manifest.manifest_path);
  for (const int64_t number :
       {manifest.manifest_length, int64_t{manifest.partition_spec_id}, int64_t{manifest.content}, manifest.sequence_number,
        manifest.min_sequence_number, manifest.added_snapshot_id, int64_t{manifest.added_files_count},
        int64_t{manifest.existing_files_count}, int64_t{manifest.deleted_files_count}, manifest.added_rows_count,
        manifest.existing_rows_count, manifest.deleted_rows_count}) {
    out.write_long(number);
  }
  write_summaries(out, manifest.partitions);
  out.write_branch(manifest.key_metadata ? 1 : 0);
  if (manifest.key_metadata) out.write_bytes(*manifest.key_metadata);
}

// A manifest of this very snapshot gets the snapshot's sequence number.
base::Result<ManifestFile> assigned(ManifestFile manifest, int64_t snapshot_id, int64_t sequence_number) {
  if (manifest.sequence_number == kUnassignedSequence) {
    if (manifest.added_snapshot_id != snapshot_id) {
      return base::invalid("manifest " + manifest.manifest_path + " has no sequence number and belongs to snapshot " +
                           std::to_string(manifest.added_snapshot_id));
    }
    manifest.sequence_number = sequence_number;
  }
  if (manifest.min_sequence_number == kUnassignedSequence) manifest.min_sequence_number = manifest.sequence_number;
  return manifest;
}

FieldSummary read_summary(const AvroNode& node, AvroDecoder& decoder) {
  FieldSummary summary;
  if (node.type != AvroType::kRecord) {
    decoder.fail("partition summaries are not records");
    return summary;
  }
  for (const AvroField& field : node.fields) {
    if (!decoder.ok()) break;
    switch (manifest_field_id(field)) {
      case Id::kContainsNull: summary.contains_null = read_optional_boolean(*field.type, decoder).value_or(false); break;
      case Id::kContainsNan: summary.contains_nan = read_optional_boolean(*field.type, decoder); break;
      case Id::kLowerBound: summary.lower_bound = read_optional_bytes(*field.type, decoder); break;
      case Id::kUpperBound: summary.upper_bound = read_optional_bytes(*field.type, decoder); break;
      default: decoder.skip(*field.type);
    }
  }
  return summary;
}

void read_summaries(const AvroNode& node, AvroDecoder& decoder, std::vector<FieldSummary>& summaries) {
  const AvroNode* array = enter_optional(node, decoder);
  if (array == nullptr) return;
  if (array->type != AvroType::kArray) return decoder.fail("partitions is not an array");
  for (int64_t count = decoder.read_block(); count != 0; count = decoder.read_block()) {
    for (int64_t i = 0; i < count && decoder.ok(); ++i) summaries.push_back(read_summary(*array->element, decoder));
  }
}

int32_t id_in_list(const AvroField& field) {
  if (field.field_id != format::kNoAvroId) return field.field_id;
  if (field.name == "content") return Id::kContent;
  if (field.name == "sequence_number") return Id::kSequenceNumber;
  return manifest_field_id(field);
}

void read_field(const AvroField& field, AvroDecoder& decoder, ManifestFile& manifest) {
  const AvroNode& type = *field.type;
  const auto integer = [&] { return read_optional_int(type, decoder).value_or(0); };
  const auto number = [&] { return read_optional_long(type, decoder).value_or(0); };
  switch (id_in_list(field)) {
    case Id::kPath: manifest.manifest_path = read_optional_bytes(type, decoder).value_or(""); return;
    case Id::kLength: manifest.manifest_length = number(); return;
    case Id::kSpecId: manifest.partition_spec_id = integer(); return;
    case Id::kContent: manifest.content = integer(); return;
    case Id::kSequenceNumber: manifest.sequence_number = number(); return;
    case Id::kMinSequenceNumber: manifest.min_sequence_number = number(); return;
    case Id::kAddedSnapshotId: manifest.added_snapshot_id = number(); return;
    case Id::kAddedFiles: manifest.added_files_count = integer(); return;
    case Id::kExistingFiles: manifest.existing_files_count = integer(); return;
    case Id::kDeletedFiles: manifest.deleted_files_count = integer(); return;
    case Id::kAddedRows: manifest.added_rows_count = number(); return;
    case Id::kExistingRows: manifest.existing_rows_count = number(); return;
    case Id::kDeletedRows: manifest.deleted_rows_count = number(); return;
    case Id::kPartitions: return read_summaries(type, decoder, manifest.partitions);
    case Id::kKeyMetadata: manifest.key_metadata = read_optional_bytes(type, decoder); return;
    default: decoder.skip(type);
  }
}

base::Result<ManifestList> parse_manifest_list(std::string_view bytes) {
  TRY_ASSIGN(format::AvroFileReader file, format::AvroFileReader::open(bytes));
  if (file.schema().root().type != AvroType::kRecord) return base::corrupt("manifest list does not hold records");
  ManifestList list;
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with("avro.")) list.header[key] = value;
  }
  while (true) {
    TRY_ASSIGN(const auto block, file.next_block());
    if (!block) return list;
    AvroDecoder decoder(block->payload);
    for (int64_t i = 0; i < block->records; ++i) {
      ManifestFile manifest;
      for (const AvroField& field : file.schema().root().fields) {
        if (decoder.ok()) read_field(field, decoder, manifest);
      }
      TRY(decoder.status());
      if (manifest.manifest_path.empty()) return base::corrupt("a manifest has no path");
      list.manifests.push_back(std::move(manifest));
    }
    if (!decoder.at_end()) return base::corrupt("block has bytes behind its last record");
  }
}

}  // namespace

base::Result<int64_t> write_manifest_list(io::FileIO& io, const std::string& location, int64_t snapshot_id,
                                          std::optional<int64_t> parent_snapshot_id, int64_t sequence_number,
                                          const std::vector<ManifestFile>& manifests,
                                          const std::map<std::string, std::string>& extra_header, const AvroOptions& options) {
  TRY_ASSIGN(const format::AvroCodec codec, format::avro_codec_named(options.codec));
  std::map<std::string, std::string> header = extra_header;
  header["snapshot-id"] = std::to_string(snapshot_id);
  header["parent-snapshot-id"] = parent_snapshot_id ? std::to_string(*parent_snapshot_id) : "null";
  header["sequence-number"] = std::to_string(sequence_number);
  header["format-version"] = "2";
  format::AvroFileWriter file(manifest_list_schema(), header, codec, options.level);
  for (const ManifestFile& manifest : manifests) {
    TRY_ASSIGN(const ManifestFile complete, assigned(manifest, snapshot_id, sequence_number));
    write_manifest_file(file.record(), complete);
    TRY(file.end_record());
  }
  TRY_ASSIGN(const std::string bytes, file.finish());
  TRY(io::write_file(io, location, bytes));
  return static_cast<int64_t>(bytes.size());
}

base::Result<ManifestList> read_manifest_list(io::FileIO& io, const std::string& location) {
  TRY_ASSIGN(const std::string bytes, read_stored(io, location));
  return parse_manifest_list(bytes).in(location);
}

}  // namespace frazil::iceberg
