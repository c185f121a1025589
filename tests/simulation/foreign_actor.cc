#include "tests/simulation/foreign_actor.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "iceberg/change/append.h"
#include "tests/simulation/foreign_files.h"

namespace frazil::simulation {
namespace {

const std::string kTag = std::string("frazil-") + kPipeline;
const std::string kApplied = std::string("frazil.") + kPipeline + ".applied";

constexpr int64_t kAllHaveBegunMicros = 4'000'000;

bool is_of_pipeline(const iceberg::Snapshot& snapshot) { return snapshot.summary.contains("frazil.positions"); }

// A retained snapshot on the way from the head has `key` in its summary.
bool does_line_tell(const iceberg::TableMetadata& metadata, const std::string& key) {
  const iceberg::Snapshot* snapshot = metadata.current_snapshot();
  while (snapshot != nullptr && !snapshot->summary.contains(key)) {
    snapshot = snapshot->parent_snapshot_id ? metadata.snapshot(*snapshot->parent_snapshot_id) : nullptr;
  }
  return snapshot != nullptr;
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

iceberg::TableId ForeignActor::draw_table() {
  if (scenario_.is_routed() && chance(400)) return routed_tables()[base::random_below(kRoutedTables)];
  return chance(700) ? kAnchor : kDeadLetters;
}

void ForeignActor::tell(const std::string& what, const iceberg::TableId& id) {
  tally_.add(routed_place(id) ? "routed:" + what : what);
}

void ForeignActor::act() {
  const iceberg::TableId id = draw_table();
  const iceberg::TableId& with_rows = id == kDeadLetters ? kAnchor : id;
  base::Status done;
  switch (base::random_below(11)) {
    case 0: done = append(id, "append"); break;
    case 1: done = append(id, "replace"); break;
    case 2: done = compact(with_rows); break;
    case 3: done = set_property(id); break;
    case 4: done = remove_property(id); break;
    case 5: done = expire(with_rows, between(0, 3000)); break;
    case 6: done = scenario_.forgets ? forget() : has_changed_schema_ ? base::Status() : add_column(with_rows); break;
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
  const bool is_plain = id != kDeadLetters && operation == "append" && !scenario_.is_partitioned;
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
  if (is_plain) tell("foreign:append", id);
  return {};
}

base::Status ForeignActor::set_property(const iceberg::TableId& id) {
  iceberg::TableCommit commit;
  commit.updates = {iceberg::SetProperties{{{"comment", std::to_string(base::random_below(100))}}}};
  return house_.apply(id, commit, "foreign property").status();
}

base::Status ForeignActor::remove_property(const iceberg::TableId& id) {
  const std::string name = id == kAnchor ? std::string("frazil.") + kPipeline : kApplied;
  // Property and tag together are all that names the newest positions: nobody takes both.
  if (id == kAnchor) {
    TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(id));
    const auto tag = snapshot_of_tag(loaded.metadata);
    if (!tag || loaded.metadata.snapshot(*tag) == nullptr) return {};
  } else if (routed_place(id)) {
    TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(id));
    if (!does_line_tell(loaded.metadata, name)) return {};
  }
  iceberg::TableCommit commit;
  commit.updates = {iceberg::RemoveProperties{{name, std::string("frazil.") + kPipeline + ".owed"}}};
  TRY(house_.apply(id, commit, "foreign property removal").status());
  tally_.add("foreign:property-removed");
  return {};
}

// Of a table beside the anchor, property and snapshots together are all that tells what it has applied: nobody takes both.
base::Status ForeignActor::expire(const iceberg::TableId& id, int64_t max_age_ms) {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(id));
  if (id != kAnchor && loaded.metadata.property(kApplied).empty()) return {};
  const auto ids = iceberg::expirable_snapshots(loaded.metadata, base::wall_millis(), max_age_ms, 1);
  if (ids.empty()) return {};
  iceberg::TableCommit commit;
  commit.requirements = {at_head(loaded.metadata)};
  commit.updates = {iceberg::RemoveSnapshots{ids}};
  TRY(house_.apply(id, commit, "foreign expiry").status());
  tell("foreign:expiry", id);
  return {};
}

// Cuts the history: what lies between the pipeline's newest snapshot and the head is expired, and commits go on until no older
// metadata file tells of it.
base::Status ForeignActor::forget() {
  TRY(append(kAnchor, "append"));
  TRY(append(kAnchor, "append"));
  TRY(expire(kAnchor, 0));
  for (int i = 0; i < 3; ++i) TRY(set_property(kAnchor));
  tally_.add("histories cut");
  return {};
}

base::Status ForeignActor::add_column(const iceberg::TableId& id) {
  if (!scenario_.changes_schema) return {};
  TRY_ASSIGN(const iceberg::LoadedTable loaded, house_.catalog().load_table(id));
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
  TRY(house_.apply(id, commit, "foreign column").status());
  has_changed_schema_ = true;
  tell("foreign:schema", id);
  return {};
}

base::Status ForeignActor::compact(const iceberg::TableId& id) {
  const auto every_row = [](int32_t, int64_t) { return true; };
  TRY_ASSIGN(const bool is_done, rewrite_table(house_, id, "replace", every_row, "foreign compaction"));
  if (is_done) tell("foreign:compaction", id);
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
  // What was rolled back may be in files of others by then.
  if (scenario_.is_routed() && chance(600)) TRY(compact(routed_tables()[base::random_below(kRoutedTables)]));
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
  // At once nothing tells of it any more but the rows.
  if (scenario_.forgets && chance(500)) return forget();
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
