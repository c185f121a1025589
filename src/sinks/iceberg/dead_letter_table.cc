#include "sinks/iceberg/dead_letter_table.h"

#include <cstring>

#include "base/random.h"
#include "engine/dead_letters.h"
#include "iceberg/scan.h"
#include "iceberg/table_properties.h"
#include "io/stored_files.h"
#include "sinks/iceberg/data_file_writer.h"

namespace frazil::sinks {
namespace {

base::Status ensure_namespace(iceberg::Catalog& catalog, const iceberg::Namespace& ns) {
  base::Status made = catalog.create_namespace(ns);
  if (!made.ok() && made.error().code() != base::Code::kExists) return made;
  return {};
}

// Names, types and order; the ids are the catalog's, and catalogs do not agree on the order in which nested fields get theirs.
base::Status check_schema(const iceberg::TableMetadata& metadata) {
  const columnar::Schema own = columnar::assign_fresh_ids(*engine::dead_letter_schema());
  if (columnar::assign_fresh_ids(*metadata.current_schema()).fields == own.fields) return {};
  return base::invalid("dead-letter table at " + metadata.location +
                       " does not have the dead-letter schema; name another table in dead_letters:");
}

int64_t as_long(const std::string& bytes) {
  int64_t value = 0;
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

base::Result<iceberg::LoadedTable> open_dead_letter_table(iceberg::Catalog& catalog, const iceberg::TableId& id) {
  base::Result<iceberg::LoadedTable> loaded = catalog.load_table(id);
  if (loaded.ok() || loaded.error().code() != base::Code::kNotFound) return loaded;
  TRY(ensure_namespace(catalog, id.ns));
  iceberg::CreateTable request;
  request.schema = *engine::dead_letter_schema();
  request.properties = {{"format-version", "2"},
                        {"write.parquet.compression-codec", "zstd"},
                        {"write.metadata.metrics.column.pipeline", "full"},
                        {"write.metadata.delete-after-commit.enabled", "true"}};
  base::Result<iceberg::LoadedTable> created = catalog.create_table(id, request);
  if (!created.ok() && created.error().code() == base::Code::kExists) return catalog.load_table(id);
  return created;
}

base::Status check_dead_letter_table(iceberg::Catalog& catalog, const iceberg::TableId& id) {
  const base::Result<iceberg::LoadedTable> loaded = catalog.load_table(id);
  if (!loaded.ok()) return loaded.error().code() == base::Code::kNotFound ? base::Status() : loaded.status();
  return check_schema(loaded->metadata);
}

base::Result<std::string> write_dead_letters(iceberg::Catalog& catalog, const iceberg::LoadedTable& table,
                                             const columnar::Batch& rows, int64_t epoch) {
  const iceberg::TableMetadata& metadata = table.metadata;
  TRY(check_schema(metadata));
  TRY_ASSIGN(const iceberg::TableProperties properties,
             iceberg::read_table_properties(metadata.properties, metadata.location));
  TRY_ASSIGN(const WriteTarget target, make_write_target(metadata, metadata.current_schema(), metadata.default_spec()));
  DataFileWriter writer(catalog.file_io(), target, {}, data_file_location(target, {}, epoch, 0));
  TRY(writer.write(rows));
  TRY_ASSIGN(const iceberg::DataFile file, writer.close());
  const std::string location = properties.metadata_path + "/" + base::random_uuid() + "-owed.avro";
  TRY_ASSIGN(const iceberg::ManifestFile manifest,
             iceberg::write_manifest(*catalog.file_io(), location, *metadata.current_schema(), metadata.default_spec(),
                                     base::random_snapshot_id(), {file}, properties.avro));
  TRY(io::demand_stored(*catalog.file_io(), {{file.file_path, file.file_size_in_bytes, 0}, {location, manifest.manifest_length, 0}}));
  return location;
}

Share share_of_epochs(const columnar::Schema& schema, const iceberg::DataFile& file, const std::string& pipeline, int64_t first,
                      int64_t last) {
  const columnar::Field* epoch = schema.find("epoch");
  const columnar::Field* name = schema.find("pipeline");
  if (epoch == nullptr || name == nullptr) return Share::kSome;
  const auto bound = [](const std::map<int32_t, std::string>& bounds, int32_t id) {
    const auto found = bounds.find(id);
    return found == bounds.end() ? std::string() : found->second;
  };
  const std::string low = bound(file.lower_bounds, epoch->id);
  const std::string high = bound(file.upper_bounds, epoch->id);
  const std::string low_name = bound(file.lower_bounds, name->id);
  const std::string high_name = bound(file.upper_bounds, name->id);
  const bool has_epochs = !low.empty() && !high.empty();
  if (has_epochs && (as_long(high) < first || as_long(low) > last)) return Share::kNone;
  const bool has_names = !low_name.empty() && !high_name.empty();
  if (has_names && (high_name < pipeline || low_name > pipeline)) return Share::kNone;
  const bool is_all = has_epochs && has_names && as_long(low) >= first && as_long(high) <= last && low_name == pipeline && high_name == pipeline;
  return is_all ? Share::kAll : Share::kSome;
}

base::Result<FilesOfEpochs> dead_letters_of_epochs(io::FileIO& io, const iceberg::TableMetadata& metadata, const std::string& pipeline,
                                                   int64_t first, int64_t last) {
  FilesOfEpochs found;
  if (!metadata.current_snapshot_id) return found;
  TRY_ASSIGN(const std::vector<iceberg::LiveFile> live, iceberg::live_files(io, metadata, *metadata.current_snapshot_id));
  for (const iceberg::LiveFile& file : live) {
    if (file.file.content != iceberg::FileContent::kData) continue;
    const Share share = share_of_epochs(*metadata.current_schema(), file.file, pipeline, first, last);
    if (share == Share::kAll && found.paths.insert(file.file.file_path).second) found.rows += file.file.record_count;
    if (share == Share::kSome) found.problem = "file " + file.file.file_path + " holds dead letters of those epochs and others, or does not tell";
  }
  return found;
}

}  // namespace frazil::sinks
