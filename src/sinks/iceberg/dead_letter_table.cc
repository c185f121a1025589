#include "sinks/iceberg/dead_letter_table.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "engine/dead_letters.h"
#include "iceberg/scan.h"
#include "iceberg/table_properties.h"
#include "io/stored_files.h"
#include "sinks/iceberg/data_file_writer.h"

namespace frazil::sinks {
namespace {

using columnar::Field;
using columnar::Schema;
using columnar::Type;

base::Status ensure_namespace(iceberg::Catalog& catalog, const iceberg::Namespace& ns) {
  base::Status made = catalog.create_namespace(ns);
  if (!made.ok() && made.error().code() != base::Code::kExists) return made;
  return {};
}

// The ids are the catalog's, and catalogs do not agree on the order in which nested fields get theirs; comments are anybody's.
bool is_same_type(const Type& a, const Type& b) {
  const auto is_same = [](const Field& x, const Field& y) { return x.name == y.name && x.required == y.required && is_same_type(x.type, y.type); };
  return a.id() == b.id() && a.precision() == b.precision() && a.scale() == b.scale() && a.length() == b.length() &&
         std::equal(a.fields().begin(), a.fields().end(), b.fields().begin(), b.fields().end(), is_same);
}

// The columns of a dead letter with the table's ids, in our order. Others may add columns, which stay null; they may move ours and
// allow them to be null.
base::Result<std::shared_ptr<const Schema>> letter_schema(const iceberg::TableId& id, const Schema& table) {
  std::string problems;
  const auto add = [&](const Field& field, const std::string& what) { problems += "\n  " + field.name + ": " + what; };
  Schema letters;
  letters.schema_id = table.schema_id;
  for (const Field& own : engine::dead_letter_schema()->fields) {
    const Field* there = table.find(own.name);
    if (there == nullptr) {
      add(own, "the table has no such column, it is to be " + own.type.name());
    } else if (!is_same_type(own.type, there->type)) {
      add(own, "the table says " + there->type.name() + ", it is to be " + own.type.name());
    } else if (there->required && !own.required) {
      add(own, "it is required in the table, and not every dead letter has one");
    } else {
      letters.fields.push_back(*there);
    }
  }
  for (const Field& field : table.fields) {
    const bool is_foreign = engine::dead_letter_schema()->find(field.name) == nullptr;
    if (is_foreign && field.required) add(field, "it is required in the table, and no dead letter has one");
  }
  if (problems.empty()) return std::make_shared<const Schema>(std::move(letters));
  return base::invalid("table " + id.text() + " cannot take dead letters:" + problems +
                       "\n  Mend the table, or name another one in dead_letters:.");
}

// Dead letters are one file an epoch, so they stay unpartitioned in a table that others have partitioned since it was made.
base::Result<iceberg::PartitionSpec> unpartitioned_spec(const iceberg::TableId& id, const iceberg::TableMetadata& metadata) {
  if (metadata.default_spec().is_unpartitioned()) return metadata.default_spec();
  const auto found = std::find_if(metadata.specs.begin(), metadata.specs.end(),
                                  [](const iceberg::PartitionSpec& spec) { return spec.is_unpartitioned(); });
  if (found != metadata.specs.end()) return *found;
  return base::invalid("table " + id.text() + " cannot take dead letters: it was made with partitions, and dead letters have none. "
                       "Name another table in dead_letters:, Frazil makes it when the first dead letter comes.");
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
  TRY(letter_schema(id, *loaded->metadata.current_schema()));
  return unpartitioned_spec(id, loaded->metadata).status();
}

base::Result<std::string> write_dead_letters(iceberg::Catalog& catalog, const iceberg::TableId& id, const iceberg::TableMetadata& metadata,
                                             const columnar::Batch& rows, int64_t epoch) {
  TRY_ASSIGN(const auto schema, letter_schema(id, *metadata.current_schema()));
  TRY_ASSIGN(const iceberg::PartitionSpec spec, unpartitioned_spec(id, metadata));
  TRY_ASSIGN(const iceberg::TableProperties properties,
             iceberg::read_table_properties(metadata.properties, metadata.location));
  TRY_ASSIGN(const WriteTarget target, make_write_target(metadata, schema, spec));
  DataFileWriter writer(catalog.file_io(), target, {}, data_file_location(target, {}, epoch, 0));
  TRY(writer.write(rows));
  TRY_ASSIGN(const iceberg::DataFile file, writer.close());
  const std::string location = properties.metadata_path + "/" + base::random_uuid() + "-owed.avro";
  TRY_ASSIGN(const iceberg::ManifestFile manifest,
             iceberg::write_manifest(*catalog.file_io(), location, *metadata.current_schema(), spec,
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
