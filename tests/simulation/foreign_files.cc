#include "tests/simulation/foreign_files.h"

#include "base/random.h"
#include "format/parquet/parquet_writer.h"
#include "iceberg/change/new_snapshot.h"
#include "iceberg/scan.h"
#include "sinks/iceberg/data_file_writer.h"

namespace frazil::simulation {
namespace {

columnar::Batch foreign_row(std::shared_ptr<const columnar::Schema> schema) {
  columnar::Batch batch(schema);
  for (size_t i = 0; i < schema->fields.size(); ++i) {
    columnar::Column& column = batch.columns[i];
    if (!schema->fields[i].required) {
      column.append_null();
    } else if (column.type().id() == columnar::TypeId::kInt) {
      column.append_int(-1);
    } else {
      column.append_long(0);
    }
  }
  return batch;
}

columnar::Batch rows_kept(const columnar::Batch& batch, const RowFilter& keeps) {
  std::vector<int32_t> rows;
  for (int32_t row = 0; row < batch.rows(); ++row) {
    if (keeps(batch.columns[0].int_at(row), batch.columns[1].long_at(row))) rows.push_back(row);
  }
  columnar::Batch kept(batch.schema);
  kept.append_rows(batch, rows);
  return kept;
}

base::Result<std::vector<iceberg::DataFile>> rewritten(std::shared_ptr<KeepingFileIO> store, const iceberg::TableMetadata& metadata,
                                                       const std::vector<iceberg::LiveFile>& live, const RowFilter& keeps) {
  TRY_ASSIGN(const sinks::WriteTarget target,
             sinks::make_write_target(metadata, metadata.current_schema(), metadata.default_spec()));
  const auto open = [&](const iceberg::PartitionKey& partition) {
    return std::make_unique<sinks::DataFileWriter>(store, target, partition, sinks::data_file_location(target, partition, 0, 0));
  };
  const bool is_partitioned = !metadata.default_spec().fields.empty();
  std::vector<iceberg::DataFile> files;
  std::unique_ptr<sinks::DataFileWriter> writer;
  const auto close = [&]() -> base::Status {
    if (writer == nullptr) return {};
    TRY_ASSIGN(iceberg::DataFile file, std::exchange(writer, nullptr)->close());
    files.push_back(std::move(file));
    return {};
  };
  for (const iceberg::LiveFile& old : live) {
    TRY_ASSIGN(const std::string bytes, store->read(old.file.file_path));
    TRY_ASSIGN(const auto batches, format::read_parquet(bytes, metadata.current_schema()));
    for (const columnar::Batch& batch : batches) {
      const columnar::Batch kept = rows_kept(batch, keeps);
      if (kept.rows() == 0) continue;
      if (writer == nullptr) writer = open(old.file.partition);
      TRY(writer->write(kept));
    }
    if (is_partitioned) TRY(close());
  }
  TRY(close());
  return files;
}

}  // namespace

iceberg::AssertRefSnapshotId at_head(const iceberg::TableMetadata& metadata) { return {"main", metadata.current_snapshot_id}; }

iceberg::SnapshotRef branch_at(int64_t snapshot_id) { return {snapshot_id, true, {}, {}, {}}; }

base::Result<iceberg::DataFile> foreign_file(std::shared_ptr<io::FileIO> store, const iceberg::TableMetadata& metadata) {
  TRY_ASSIGN(const sinks::WriteTarget target,
             sinks::make_write_target(metadata, metadata.current_schema(), metadata.default_spec()));
  sinks::DataFileWriter writer(std::move(store), target, {}, sinks::data_file_location(target, {}, 0, 0));
  TRY(writer.write(foreign_row(metadata.current_schema())));
  return writer.close();
}

base::Result<bool> rewrite_table(Lakehouse& house, const iceberg::TableId& id, const std::string& operation, const RowFilter& keeps,
                                 const std::string& cause) {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house.catalog().load_table(id));
  const iceberg::TableMetadata& metadata = loaded.metadata;
  if (metadata.current_snapshot() == nullptr) return false;
  TRY_ASSIGN(const auto live, iceberg::live_files(*house.store(), metadata, *metadata.current_snapshot_id));
  if (live.empty()) return false;
  TRY_ASSIGN(const std::vector<iceberg::DataFile> files, rewritten(house.store(), metadata, live, keeps));
  iceberg::Snapshot snapshot = iceberg::next_snapshot(metadata, base::random_snapshot_id());
  const std::string folder = metadata.location + "/metadata";
  TRY_ASSIGN(const iceberg::ManifestFile manifest,
             iceberg::write_manifest(*house.store(), folder + "/" + base::random_uuid() + "-m0.avro", *metadata.current_schema(),
                                     metadata.default_spec(), snapshot.snapshot_id, files, {}));
  snapshot.summary = {{"operation", operation}};
  snapshot.manifest_list = iceberg::manifest_list_location(folder, snapshot.snapshot_id, 1);
  TRY(iceberg::write_manifest_list(*house.store(), snapshot.manifest_list, snapshot.snapshot_id, snapshot.parent_snapshot_id,
                                   snapshot.sequence_number, {manifest}, {}, {})
          .status());
  iceberg::TableCommit commit;
  commit.requirements = {at_head(metadata)};
  commit.updates = {iceberg::AddSnapshot{snapshot}, iceberg::SetSnapshotRef{"main", branch_at(snapshot.snapshot_id)}};
  TRY(house.apply(id, commit, cause).status());
  return true;
}

}  // namespace frazil::simulation
