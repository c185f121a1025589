#include "iceberg/table_update.h"

#include <algorithm>
#include <set>

#include "iceberg/json_view.h"

namespace frazil::iceberg {

using columnar::Schema;

namespace {

constexpr char kMain[] = "main";

base::Error conflict(std::string message) { return base::Error(base::Code::kConflict, std::move(message)); }

std::string id_text(const std::optional<int64_t>& id) { return id ? "snapshot " + std::to_string(*id) : "no snapshot"; }

// Requirements ---------------------------------------------------------------------------------------------------------

base::Status check_one(const AssertCreate&, const TableMetadata* base) {
  if (base == nullptr) return {};
  return conflict("expected no table, found one with uuid " + base->table_uuid);
}

base::Status check_one(const AssertTableUuid& wanted, const TableMetadata* base) {
  if (base->table_uuid == wanted.uuid) return {};
  return conflict("expected table uuid " + wanted.uuid + ", found " + base->table_uuid);
}

base::Status check_one(const AssertRefSnapshotId& wanted, const TableMetadata* base) {
  const auto ref = base->refs.find(wanted.ref);
  const auto found = ref == base->refs.end() ? std::nullopt : std::optional(ref->second.snapshot_id);
  if (found == wanted.snapshot_id) return {};
  return conflict("expected " + wanted.ref + " at " + id_text(wanted.snapshot_id) + ", found " + id_text(found));
}

base::Status check_one(const AssertCurrentSchemaId& wanted, const TableMetadata* base) {
  if (base->current_schema_id == wanted.schema_id) return {};
  return conflict("expected current schema " + std::to_string(wanted.schema_id) + ", found " +
                  std::to_string(base->current_schema_id));
}

base::Status check_one(const AssertDefaultSpecId& wanted, const TableMetadata* base) {
  if (base->default_spec_id == wanted.spec_id) return {};
  return conflict("expected default partition spec " + std::to_string(wanted.spec_id) + ", found " +
                  std::to_string(base->default_spec_id));
}

// Updates --------------------------------------------------------------------------------------------------------------

// Carries the metadata through the updates, then settles what depends on all of them: the snapshot log and the clock.
class Application {
 public:
  Application(const TableMetadata& base, int64_t now_ms) : metadata_(base), now_ms_(now_ms) {
    old_current_ = base.current_snapshot_id;
  }

  base::Status apply(const AddSnapshot& update);
  base::Status apply(const SetSnapshotRef& update);
  base::Status apply(const RemoveSnapshotRef& update);
  base::Status apply(const RemoveSnapshots& update);
  base::Status apply(const SetProperties& update);
  base::Status apply(const RemoveProperties& update);
  base::Status apply(const AddSchema& update);
  base::Status apply(const SetCurrentSchema& update);
  base::Result<TableMetadata> finish();

 private:
  base::Status check_refs() const;
  void cut_snapshot_log();
  void log_current();
  void drop_statistics(const char* key, const std::set<int64_t>& gone);

  TableMetadata metadata_;
  int64_t now_ms_;
  int64_t newest_added_ms_ = 0;
  std::set<int64_t> added_;
  std::optional<int64_t> old_current_;
  std::optional<int32_t> last_added_schema_;
  bool removed_snapshots_ = false;
};

base::Status Application::apply(const AddSnapshot& update) {
  const Snapshot& snapshot = update.snapshot;
  if (metadata_.snapshot(snapshot.snapshot_id) != nullptr) {
    return conflict("snapshot " + std::to_string(snapshot.snapshot_id) + " is already in the table");
  }
  if (snapshot.sequence_number <= metadata_.last_sequence_number) {
    return conflict("snapshot " + std::to_string(snapshot.snapshot_id) + " has sequence number " +
                    std::to_string(snapshot.sequence_number) + ", and the table has reached " +
                    std::to_string(metadata_.last_sequence_number));
  }
  if (!snapshot.summary.contains("operation")) return base::invalid("a snapshot's summary must name its operation");
  metadata_.last_sequence_number = snapshot.sequence_number;
  newest_added_ms_ = std::max(newest_added_ms_, snapshot.timestamp_ms);
  added_.insert(snapshot.snapshot_id);
  metadata_.snapshots.push_back(snapshot);
  return {};
}

base::Status Application::apply(const SetSnapshotRef& update) {
  if (metadata_.snapshot(update.ref.snapshot_id) == nullptr) {
    return base::invalid("ref \"" + update.name + "\" cannot be set to snapshot " + std::to_string(update.ref.snapshot_id) +
                         ", which is not in the table");
  }
  if (update.name == kMain && !update.ref.is_branch) return base::invalid("main must be a branch");
  metadata_.refs[update.name] = update.ref;
  if (update.name == kMain) metadata_.current_snapshot_id = update.ref.snapshot_id;
  return {};
}

base::Status Application::apply(const RemoveSnapshotRef& update) {
  metadata_.refs.erase(update.name);
  if (update.name == kMain) {
    metadata_.current_snapshot_id.reset();
    metadata_.snapshot_log.clear();
  }
  return {};
}

base::Status Application::apply(const RemoveSnapshots& update) {
  const std::set<int64_t> gone(update.snapshot_ids.begin(), update.snapshot_ids.end());
  const size_t removed =
      std::erase_if(metadata_.snapshots, [&](const Snapshot& snapshot) { return gone.contains(snapshot.snapshot_id); });
  if (removed == 0) return {};
  removed_snapshots_ = true;
  drop_statistics("statistics", gone);
  drop_statistics("partition-statistics", gone);
  return {};
}

// Statistics files belong to a snapshot and go with it.
void Application::drop_statistics(const char* key, const std::set<int64_t>& gone) {
  const auto member = metadata_.unknown_members.find(key);
  if (member == metadata_.unknown_members.end()) return;
  const auto document = JsonDocument::parse(member->second);
  if (!document.ok()) return;
  const auto files = document->root().elements();
  if (!files.ok()) return;
  JsonText kept;
  kept.open('[');
  for (const JsonView& file : *files) {
    const auto id = file.long_member("snapshot-id");
    if (!id.ok() || !gone.contains(*id)) kept.raw(file.dump());
  }
  kept.close(']');
  member->second = kept.take();
}

base::Status Application::apply(const SetProperties& update) {
  for (const auto& [key, value] : update.properties) {
    if (key != "format-version") {
      metadata_.properties[key] = value;
    } else if (value != std::to_string(metadata_.format_version)) {
      return base::unsupported("changing format-version from " + std::to_string(metadata_.format_version) + " to " + value);
    }
  }
  return {};
}

base::Status Application::apply(const RemoveProperties& update) {
  for (const std::string& key : update.keys) metadata_.properties.erase(key);
  return {};
}

base::Status Application::apply(const AddSchema& update) {
  Schema schema = update.schema;
  int32_t next_id = 0;
  for (const auto& known : metadata_.schemas) {
    schema.schema_id = known->schema_id;
    if (schema == *known) {
      last_added_schema_ = known->schema_id;
      return {};
    }
    next_id = std::max(next_id, known->schema_id + 1);
  }
  schema.schema_id = next_id;
  last_added_schema_ = next_id;
  metadata_.last_column_id = std::max(metadata_.last_column_id, schema.highest_field_id());
  metadata_.schemas.push_back(std::make_shared<const Schema>(std::move(schema)));
  return {};
}

base::Status Application::apply(const SetCurrentSchema& update) {
  if (update.schema_id == -1 && !last_added_schema_) return base::invalid("no schema was added in this update");
  const int32_t id = update.schema_id == -1 ? *last_added_schema_ : update.schema_id;
  if (metadata_.schema(id) == nullptr) return base::invalid("the table has no schema " + std::to_string(id));
  metadata_.current_schema_id = id;
  return {};
}

// Somebody may have tagged meanwhile what this update wants to remove.
base::Status Application::check_refs() const {
  for (const auto& [name, ref] : metadata_.refs) {
    if (metadata_.snapshot(ref.snapshot_id) != nullptr) continue;
    return conflict("snapshot " + std::to_string(ref.snapshot_id) + " cannot be removed: ref \"" + name + "\" needs it");
  }
  return {};
}

// An entry of the log that cannot be resolved ends the history before it.
void Application::cut_snapshot_log() {
  if (!removed_snapshots_) return;
  std::set<int64_t> ids;
  for (const Snapshot& snapshot : metadata_.snapshots) ids.insert(snapshot.snapshot_id);
  auto& log = metadata_.snapshot_log;
  const auto unresolved =
      std::find_if(log.rbegin(), log.rend(), [&](const SnapshotLogEntry& entry) { return !ids.contains(entry.snapshot_id); });
  log.erase(log.begin(), unresolved.base());
}

void Application::log_current() {
  if (!metadata_.current_snapshot_id || metadata_.current_snapshot_id == old_current_) return;
  const int64_t id = *metadata_.current_snapshot_id;
  int64_t timestamp_ms = added_.contains(id) ? metadata_.snapshot(id)->timestamp_ms : metadata_.last_updated_ms;
  if (!metadata_.snapshot_log.empty()) timestamp_ms = std::max(timestamp_ms, metadata_.snapshot_log.back().timestamp_ms);
  metadata_.snapshot_log.push_back({timestamp_ms, id});
}

base::Result<TableMetadata> Application::finish() {
  TRY(check_refs());
  metadata_.last_updated_ms = std::max({now_ms_, metadata_.last_updated_ms, newest_added_ms_});
  cut_snapshot_log();
  log_current();
  return std::move(metadata_);
}

}  // namespace

base::Status check(const std::vector<Requirement>& requirements, const TableMetadata* base) {
  for (const Requirement& requirement : requirements) {
    if (base == nullptr && !std::holds_alternative<AssertCreate>(requirement)) return conflict("the table does not exist");
    TRY(std::visit([base](const auto& wanted) { return check_one(wanted, base); }, requirement));
  }
  return {};
}

base::Result<TableMetadata> apply(const TableMetadata& base, const std::vector<Update>& updates, int64_t now_ms) {
  if (base.format_version != 2) {
    return base::unsupported("writing to a table of format version " + std::to_string(base.format_version) + " (known: 2)");
  }
  Application application(base, now_ms);
  for (const Update& update : updates) {
    TRY(std::visit([&](const auto& one) { return application.apply(one); }, update));
  }
  return application.finish();
}

}  // namespace frazil::iceberg
