#include "tests/simulation/foreign_actor.h"

#include "base/clock.h"
#include "base/log.h"
#include "iceberg/change/append.h"
#include "sinks/iceberg/data_file_writer.h"

namespace frazil::simulation {
namespace {

iceberg::AssertRefSnapshotId at_head(const iceberg::TableMetadata& metadata) { return {"main", metadata.current_snapshot_id}; }

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

}  // namespace

void ForeignActor::run() {
  while (!stop_.wait_until(base::deadline_after(between(100'000, scenario_.foreign_pause_ms * 1000)))) act();
}

void ForeignActor::act() {
  const iceberg::TableId& id = chance(700) ? kAnchor : kDeadLetters;
  base::Status done;
  switch (base::random_below(8)) {
    case 0: done = append(id, "append"); break;
    case 1: done = append(id, "replace"); break;
    case 2: done = set_property(id); break;
    case 3: done = remove_property(id); break;
    case 4: done = expire(between(0, 3000)); break;
    case 5: done = scenario_.forgets ? forget() : has_changed_schema_ ? base::Status() : add_column(); break;
    default: done = has_rolled_back_ ? append(id, "append") : roll_back(); break;
  }
  if (!done.ok()) base::log_info("sim_foreign_failed", {{"why", done.error().message()}});
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
                    iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{snapshot.snapshot_id, true, {}, {}, {}}}};
  return house_.apply(id, commit, "foreign " + operation).status();
}

base::Status ForeignActor::set_property(const iceberg::TableId& id) {
  iceberg::TableCommit commit;
  commit.updates = {iceberg::SetProperties{{{"comment", std::to_string(base::random_below(100))}}}};
  return house_.apply(id, commit, "foreign property").status();
}

base::Status ForeignActor::remove_property(const iceberg::TableId& id) {
  const std::string name = std::string("frazil.") + kPipeline + (id == kAnchor ? "" : ".applied");
  iceberg::TableCommit commit;
  commit.updates = {iceberg::RemoveProperties{{name, std::string("frazil.") + kPipeline + ".owed"}}};
  TRY(house_.apply(id, commit, "foreign property removal").status());
  tally_.add("foreign property removals");
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
  tally_.add("foreign expiries");
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
  tally_.add("foreign schema changes");
  return {};
}

// To an older snapshot of the pipeline, so that the table still knows positions.
base::Status ForeignActor::roll_back() {
  if (!scenario_.rolls_back) return {};
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(kAnchor));
  const iceberg::Snapshot* snapshot = loaded.metadata.current_snapshot();
  const int64_t back = between(2, 5);
  std::optional<int64_t> target;
  for (int64_t seen = 0; snapshot != nullptr && seen < back;) {
    if (is_of_pipeline(*snapshot) && seen++ > 0) target = snapshot->snapshot_id;
    snapshot = snapshot->parent_snapshot_id ? loaded.metadata.snapshot(*snapshot->parent_snapshot_id) : nullptr;
  }
  if (!target) return {};
  iceberg::TableCommit commit;
  commit.requirements = {at_head(loaded.metadata)};
  commit.updates = {iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{*target, true, {}, {}, {}}}};
  TRY(house_.apply(kAnchor, commit, "foreign rollback").status());
  has_rolled_back_ = true;
  tally_.add("foreign rollbacks");
  return {};
}

}  // namespace frazil::simulation
