#include "tests/simulation/foreign_actor.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "format/parquet/parquet_writer.h"
#include "iceberg/change/append.h"
#include "iceberg/change/new_snapshot.h"
#include "iceberg/manifest.h"
#include "iceberg/scan.h"
#include "sinks/iceberg/data_file_writer.h"

namespace frazil::simulation {
namespace {

iceberg::AssertRefSnapshotId at_head(const iceberg::TableMetadata& metadata) { return {"main", metadata.current_snapshot_id}; }

iceberg::SnapshotRef branch_at(int64_t snapshot_id) { return {snapshot_id, true, {}, {}, {}}; }

const std::string kTag = std::string("frazil-") + kPipeline;

constexpr int64_t kAllHaveBegunMicros = 4'000'000;

bool is_of_pipeline(const iceberg::Snapshot& snapshot) { return snapshot.summary.contains("frazil.positions"); }

// One row that is no record of the topic: partition -1.
columnar::Batch foreign_row(std::shared_ptr<const columnar::Schema> schema) {
  columnar::Batch batch(schema);
  for (size_t i = 0; i < schema->fields.size(); ++i) {
    columnar::Column& column = batch.columns[i];
    if (column.type().id() == columnar::TypeId::kInt) {
      column.append_int(-1);
    } else {
      column.append_long(0);
    }
  }
  return batch;
}

base::Result<iceberg::DataFile> foreign_file(std::shared_ptr<io::FileIO> store, const iceberg::TableMetadata& metadata) {
  TRY_ASSIGN(const sinks::WriteTarget target,
             sinks::make_write_target(metadata, metadata.current_schema(), metadata.default_spec()));
  sinks::DataFileWriter writer(std::move(store), target, {}, sinks::data_file_location(target, {}, 0, 0));
  TRY(writer.write(foreign_row(metadata.current_schema())));
  return writer.close();
}

// The same rows: in one file or, where the table is partitioned, file by file.
base::Result<std::vector<iceberg::DataFile>> rewrite(std::shared_ptr<KeepingFileIO> store, const iceberg::TableMetadata& metadata,
                                                     const std::vector<iceberg::LiveFile>& live) {
  TRY_ASSIGN(const sinks::WriteTarget target,
             sinks::make_write_target(metadata, metadata.current_schema(), metadata.default_spec()));
  const auto open = [&](const iceberg::PartitionKey& partition) {
    return std::make_unique<sinks::DataFileWriter>(store, target, partition, sinks::data_file_location(target, partition, 0, 0));
  };
  std::vector<iceberg::DataFile> files;
  std::unique_ptr<sinks::DataFileWriter> writer;
  for (const iceberg::LiveFile& old : live) {
    if (writer == nullptr) writer = open(old.file.partition);
    TRY_ASSIGN(const std::string bytes, store->read(old.file.file_path));
    TRY_ASSIGN(const auto batches, format::read_parquet(bytes, metadata.current_schema()));
    for (const columnar::Batch& batch : batches) TRY(writer->write(batch));
    if (metadata.default_spec().fields.empty()) continue;
    TRY_ASSIGN(iceberg::DataFile file, std::exchange(writer, nullptr)->close());
    files.push_back(std::move(file));
  }
  if (writer == nullptr) return files;
  TRY_ASSIGN(iceberg::DataFile file, writer->close());
  files.push_back(std::move(file));
  return files;
}

}  // namespace

void ForeignActor::run() {
  loses_table_from_ = base::deadline_after(kAllHaveBegunMicros);
  const base::MonoMicros busy_from = base::deadline_after(between(1'000'000, scenario_.safety_ms * 1000 / 2));
  bool has_hurried = !scenario_.is_busy;
  while (!stop_.wait_until(base::deadline_after(between(100'000, scenario_.foreign_pause_ms * 1000)))) {
    act();
    if (has_hurried || base::mono_micros() < busy_from) continue;
    has_hurried = true;
    hurry();
  }
}

// So many commits that the pipeline's own meet one every time.
void ForeignActor::hurry() {
  for (int i = 0; i < 60 && !stop_.wait_until(base::deadline_after(between(1'000, 20'000))); ++i) {
    (void)append(kAnchor, "append").ok();
  }
}

void ForeignActor::act() {
  const iceberg::TableId& id = chance(700) ? kAnchor : kDeadLetters;
  base::Status done;
  switch (base::random_below(11)) {
    case 0: done = append(id, "append"); break;
    case 1: done = append(id, "replace"); break;
    case 2: done = compact(); break;
    case 3: done = set_property(id); break;
    case 4: done = remove_property(id); break;
    case 5: done = expire(between(0, 3000)); break;
    case 6: done = scenario_.forgets ? forget() : has_changed_schema_ ? base::Status() : add_column(); break;
    case 7: done = commit_to_another_branch(); break;
    default: done = has_struck_ || scenario_.table == TableEvent::kNone ? append(id, "append") : strike(); break;
  }
  if (!done.ok()) base::log_info("sim_foreign_failed", {{"why", done.error().message()}});
}

base::Status ForeignActor::strike() {
  switch (scenario_.table) {
    case TableEvent::kNone: return {};
    case TableEvent::kRolledBack: return roll_back(false);
    case TableEvent::kBranchReplaced: return roll_back(true);
    case TableEvent::kTagRemoved: return remove_tag();
    case TableEvent::kDropped: return lose_table(false);
    case TableEvent::kRecreated: return lose_table(true);
  }
  return {};
}

base::Status ForeignActor::append(const iceberg::TableId& id, const std::string& operation) {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(id));
  iceberg::Append change(house_.store(), base::random_snapshot_id());
  const bool is_plain = id == kAnchor && operation == "append" && !scenario_.is_partitioned;
  if (is_plain) {
    TRY_ASSIGN(iceberg::DataFile file, foreign_file(house_.store(), loaded.metadata));
    change.add(std::move(file), loaded.metadata.default_spec_id);
  }
  change.set_summary({{"operation", operation}});
  TRY_ASSIGN(const iceberg::Snapshot snapshot, change.prepare(loaded.metadata));
  iceberg::TableCommit commit;
  commit.requirements = {at_head(loaded.metadata)};
  commit.updates = {iceberg::AddSnapshot{snapshot},
                    iceberg::SetSnapshotRef{"main", branch_at(snapshot.snapshot_id)}};
  TRY(house_.apply(id, commit, "foreign " + operation).status());
  if (is_plain) tally_.add("foreign:append");
  return {};
}

base::Status ForeignActor::set_property(const iceberg::TableId& id) {
  iceberg::TableCommit commit;
  commit.updates = {iceberg::SetProperties{{{"comment", std::to_string(base::random_below(100))}}}};
  return house_.apply(id, commit, "foreign property").status();
}

base::Status ForeignActor::remove_property(const iceberg::TableId& id) {
  const std::string name = std::string("frazil.") + kPipeline + (id == kAnchor ? "" : ".applied");
  // Property and tag together are all that names the newest positions: nobody takes both.
  if (id == kAnchor) {
    TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(id));
    const auto tag = snapshot_of_tag(loaded.metadata);
    if (!tag || loaded.metadata.snapshot(*tag) == nullptr) return {};
  }
  iceberg::TableCommit commit;
  commit.updates = {iceberg::RemoveProperties{{name, std::string("frazil.") + kPipeline + ".owed"}}};
  TRY(house_.apply(id, commit, "foreign property removal").status());
  tally_.add("foreign:property-removed");
  return {};
}

base::Status ForeignActor::expire(int64_t max_age_ms) {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  const auto ids = iceberg::expirable_snapshots(loaded.metadata, base::wall_millis(), max_age_ms, 1);
  if (ids.empty()) return {};
  iceberg::TableCommit commit;
  commit.requirements = {at_head(loaded.metadata)};
  commit.updates = {iceberg::RemoveSnapshots{ids}};
  TRY(house_.apply(kAnchor, commit, "foreign expiry").status());
  tally_.add("foreign:expiry");
  return {};
}

// Cuts the history: what lies between the pipeline's newest snapshot and the head is expired, and commits go on until no older
// metadata file tells of it.
base::Status ForeignActor::forget() {
  TRY(append(kAnchor, "append"));
  TRY(append(kAnchor, "append"));
  TRY(expire(0));
  for (int i = 0; i < 3; ++i) TRY(set_property(kAnchor));
  tally_.add("histories cut");
  return {};
}

base::Status ForeignActor::add_column() {
  if (!scenario_.changes_schema) return {};
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  columnar::Schema schema = *loaded.metadata.current_schema();
  columnar::Field field;
  field.id = loaded.metadata.last_column_id + 1;
  field.name = "added_by_others";
  field.type = columnar::Type::primitive(columnar::TypeId::kLong);
  schema.fields.push_back(field);
  ++schema.schema_id;
  iceberg::TableCommit commit;
  commit.requirements = {iceberg::AssertCurrentSchemaId{loaded.metadata.current_schema_id}};
  commit.updates = {iceberg::AddSchema{schema}, iceberg::SetCurrentSchema{-1}};
  TRY(house_.apply(kAnchor, commit, "foreign column").status());
  has_changed_schema_ = true;
  tally_.add("foreign:schema");
  return {};
}

base::Status ForeignActor::compact() {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  const iceberg::TableMetadata& metadata = loaded.metadata;
  if (metadata.current_snapshot() == nullptr) return {};
  TRY_ASSIGN(const auto live, iceberg::live_files(*house_.store(), metadata, *metadata.current_snapshot_id));
  if (live.empty()) return {};
  TRY_ASSIGN(const std::vector<iceberg::DataFile> rewritten, rewrite(house_.store(), metadata, live));
  iceberg::Snapshot snapshot = iceberg::next_snapshot(metadata, base::random_snapshot_id());
  const std::string folder = metadata.location + "/metadata";
  TRY_ASSIGN(const iceberg::ManifestFile manifest,
             iceberg::write_manifest(*house_.store(), folder + "/" + base::random_uuid() + "-m0.avro", *metadata.current_schema(),
                                     metadata.default_spec(), snapshot.snapshot_id, rewritten, {}));
  snapshot.summary = {{"operation", "replace"}};
  snapshot.manifest_list = iceberg::manifest_list_location(folder, snapshot.snapshot_id, 1);
  TRY(iceberg::write_manifest_list(*house_.store(), snapshot.manifest_list, snapshot.snapshot_id, snapshot.parent_snapshot_id,
                                   snapshot.sequence_number, {manifest}, {}, {})
          .status());
  iceberg::TableCommit commit;
  commit.requirements = {at_head(metadata)};
  commit.updates = {iceberg::AddSnapshot{snapshot}, iceberg::SetSnapshotRef{"main", branch_at(snapshot.snapshot_id)}};
  TRY(house_.apply(kAnchor, commit, "foreign compaction").status());
  tally_.add("foreign:compaction");
  return {};
}

// Raises the table's last sequence number, and leaves main where it is.
base::Status ForeignActor::commit_to_another_branch() {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  if (loaded.metadata.current_snapshot() == nullptr) return {};
  iceberg::Append change(house_.store(), base::random_snapshot_id());
  TRY_ASSIGN(const iceberg::Snapshot snapshot, change.prepare(loaded.metadata));
  iceberg::TableCommit commit;
  commit.updates = {iceberg::AddSnapshot{snapshot}, iceberg::SetSnapshotRef{"audit", branch_at(snapshot.snapshot_id)}};
  TRY(house_.apply(kAnchor, commit, "foreign branch").status());
  tally_.add("foreign:other-branch");
  return {};
}

// To an older snapshot of the pipeline, so that the table still knows positions.
base::Status ForeignActor::roll_back(bool replaces) {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  const iceberg::Snapshot* snapshot = loaded.metadata.current_snapshot();
  const int64_t back = between(2, 5);
  const iceberg::Snapshot* target = nullptr;
  for (int64_t seen = 0; snapshot != nullptr && seen < back;) {
    if (is_of_pipeline(*snapshot) && seen++ > 0) target = snapshot;
    snapshot = snapshot->parent_snapshot_id ? loaded.metadata.snapshot(*snapshot->parent_snapshot_id) : nullptr;
  }
  if (target == nullptr) return {};
  iceberg::TableCommit commit;
  commit.requirements = {at_head(loaded.metadata)};
  int64_t goal = target->snapshot_id;
  if (replaces) {
    iceberg::TableMetadata older = loaded.metadata;
    older.current_snapshot_id = goal;
    iceberg::Append change(house_.store(), base::random_snapshot_id());
    TRY_ASSIGN(const iceberg::Snapshot child, change.prepare(older));
    commit.updates.push_back(iceberg::AddSnapshot{child});
    goal = child.snapshot_id;
  }
  commit.updates.push_back(iceberg::SetSnapshotRef{"main", branch_at(goal)});
  TRY(house_.apply(kAnchor, commit, replaces ? "foreign branch replacement" : "foreign rollback").status());
  has_struck_ = true;
  tally_.add(replaces ? "foreign:branch-replaced" : "foreign:roll-back");
  return {};
}

// With half a chance, what the tag kept is expired as well.
base::Status ForeignActor::remove_tag() {
  TRY_ASSIGN(iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  const auto tag = snapshot_of_tag(loaded.metadata);
  if (!tag || snapshot_of_property(loaded.metadata) != tag) return {};
  const bool loses_positions = chance(500);
  if (loses_positions && *tag == loaded.metadata.current_snapshot_id) {
    TRY(append(kAnchor, "append"));
    TRY_ASSIGN(loaded, house_.catalog().load_table(kAnchor));
  }
  iceberg::TableCommit commit;
  commit.requirements = {iceberg::AssertRefSnapshotId{kTag, *tag}, at_head(loaded.metadata)};
  commit.updates = {iceberg::RemoveSnapshotRef{kTag}};
  if (loses_positions) commit.updates.push_back(iceberg::RemoveSnapshots{{*tag}});
  TRY(house_.apply(kAnchor, commit, "foreign tag removal").status());
  has_struck_ = true;
  tally_.add(loses_positions ? "foreign:watermark-lost" : "foreign:tag-removed");
  return {};
}

// Not before the pipeline has positions there and each worker has seen them: else the new table would be the first one to somebody.
base::Status ForeignActor::lose_table(bool makes_another) {
  if (base::mono_micros() < loses_table_from_) return {};
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  if (!snapshot_of_tag(loaded.metadata)) return {};
  TRY(house_.drop_anchor(makes_another));
  has_struck_ = true;
  tally_.add(makes_another ? "foreign:recreate" : "foreign:drop");
  return {};
}

}  // namespace frazil::simulation
