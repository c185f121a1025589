#include "sinks/iceberg/voided_rows.h"

#include "sinks/iceberg/dead_letter_table.h"
#include "sinks/iceberg/pipeline_state.h"
#include "sinks/iceberg/void_epochs.h"

namespace frazil::sinks {
namespace {

using Epochs = std::pair<int64_t, int64_t>;  // first and last

void take(const FilesOfEpochs& found, VoidedRows& voided) {
  voided.files = static_cast<int64_t>(found.paths.size());
  voided.rows = found.rows;
  voided.problem = found.problem;
}

base::Status count_dead_letters(io::FileIO& io, const iceberg::TableMetadata& metadata, const std::string& pipeline,
                                const std::string& anchor_uuid, const Epochs& epochs, VoidedRows& voided) {
  if (applied_epoch(metadata, pipeline, anchor_uuid) < epochs.first) return {};  // none of them has come to this table
  TRY_ASSIGN(const FilesOfEpochs found, dead_letters_of_epochs(io, metadata, pipeline, epochs.first, epochs.second));
  take(found, voided);
  return {};
}

base::Status count_routed(io::FileIO& io, const iceberg::TableMetadata& metadata, const OwedSnapshots& ids, const Epochs& epochs,
                          VoidedRows& voided) {
  if (applied_epoch(metadata, ids.pipeline, ids.anchor_uuid) < epochs.first) return {};  // none of them has come to this table
  TRY_ASSIGN(const FilesOfEpochs found, files_of_epochs(io, metadata, ids, epochs.first, epochs.second));
  take(found, voided);
  return {};
}

base::Status count(iceberg::Catalog& catalog, const IcebergSinkConfig& config, const std::string& anchor_uuid, const OwedEntry& entry,
                   VoidedRows& voided) {
  TRY_ASSIGN(const iceberg::TableId id, iceberg::parse_table_id(entry.table));
  const base::Result<iceberg::LoadedTable> loaded = catalog.load_table(id);
  voided.exists = loaded.ok() || loaded.error().code() != base::Code::kNotFound;
  if (!voided.exists) return {};
  TRY(loaded.status());
  const iceberg::TableMetadata& metadata = loaded->metadata;
  io::FileIO& io = *catalog.file_io();
  if (voided.is_dead_letters) return count_dead_letters(io, metadata, config.pipeline, anchor_uuid, *entry.void_epochs, voided);
  return count_routed(io, metadata, {anchor_uuid, config.pipeline, metadata.table_uuid}, *entry.void_epochs, voided);
}

}  // namespace

VoidedRows weigh_void(iceberg::Catalog& catalog, const IcebergSinkConfig& config, const std::string& anchor_uuid, const OwedEntry& entry) {
  CHECK(entry.void_epochs.has_value());
  VoidedRows voided;
  voided.table = entry.table;
  voided.is_dead_letters = entry.table == config.dead_letters.text();
  const base::Status counted = count(catalog, config, anchor_uuid, entry, voided);
  if (!counted.ok()) voided.problem = counted.error().message();
  return voided;
}

}  // namespace frazil::sinks
