#include "sinks/iceberg/outbox.h"

#include <algorithm>
#include <charconv>

#include "base/failpoint.h"
#include "base/log.h"
#include "base/retry.h"
#include "iceberg/change/append.h"
#include "iceberg/manifest.h"
#include "io/stored_files.h"
#include "sinks/iceberg/applied_epochs.h"
#include "sinks/iceberg/dead_letter_table.h"
#include "sinks/iceberg/pipeline_state.h"
#include "sinks/iceberg/retention.h"
#include "sinks/iceberg/table_halts.h"
#include "sinks/iceberg/void_epochs.h"

namespace frazil::sinks {
namespace {

base::Failpoint owed_sent("owed.sent", "a commit to another table is ready, and the anchor lists it as owed", base::Code::kUnavailable);
base::Failpoint owed_applied("owed.applied", "a commit to another table was answered with success", base::Code::kUnknownOutcome);

constexpr int64_t kApplyMinWaitMs = 20;
constexpr int64_t kApplyMaxWaitMs = 2'000;
constexpr int64_t kApplyTotalMs = 20'000;
constexpr size_t kExpireAtMost = 500;  // snapshots removed by one commit

bool may_have_failed_for_now(base::Code code) {
  return code == base::Code::kConflict || code == base::Code::kUnknownOutcome || code == base::Code::kUnavailable ||
         code == base::Code::kExhausted;
}

bool is_for_good(base::Code code) {
  return code == base::Code::kInvalid || code == base::Code::kUnsupported || code == base::Code::kCorrupt || code == base::Code::kNotFound;
}

// The partition spec that the files were written for, which need not be the table's current one any more.
int32_t spec_id_of(const iceberg::Manifest& manifest, int32_t otherwise) {
  const auto named = manifest.header.find("partition-spec-id");
  if (named == manifest.header.end()) return otherwise;
  int32_t spec_id = otherwise;
  std::from_chars(named->second.data(), named->second.data() + named->second.size(), spec_id);
  return spec_id;
}

}  // namespace

std::vector<OwedTrouble> Outbox::apply(std::vector<OwedEntry> owed, base::Interrupt& abandon) {
  std::stable_sort(owed.begin(), owed.end(), [](const auto& a, const auto& b) { return a.epoch < b.epoch; });
  std::map<std::string, Entries> tables;
  for (OwedEntry& entry : owed) tables[entry.table].push_back(std::move(entry));
  base::Backoff backoff(kApplyMinWaitMs, kApplyMaxWaitMs, kApplyTotalMs);
  while (true) {
    std::vector<OwedTrouble> left;
    bool may_pass = false;
    for (auto& [table, entries] : tables) {
      const base::Status status = apply_to(table, entries);
      if (status.ok()) continue;
      left.push_back({table, status.error().halt() != nullptr ? status.error() : status.error().in("owed to table " + table)});
      if (!may_have_failed_for_now(status.error().code())) continue;
      may_pass = true;
      base::log_info("owed_retry", {{"pipeline", config_.pipeline}, {"table", table}, {"epoch", entries.front().epoch},
                                    {"answer", status.error().message()}});
    }
    if (!may_pass || !backoff.wait(abandon)) return left;
    std::erase_if(tables, [&](const auto& table) { return table.second.empty(); });
  }
}

base::Status Outbox::apply_to(const std::string& table, Entries& entries) {
  TRY_ASSIGN(const iceberg::TableId id, iceberg::parse_table_id(table));
  for (; !entries.empty(); entries.pop_front()) {
    if (remaining({entries.front()}).empty()) continue;
    const base::Status status = try_once(id, entries);
    if (status.ok()) continue;
    const base::Error& error = status.error();
    if (error.halt() != nullptr || !is_for_good(error.code())) return status;
    return owed_refused(id, {entries.begin(), entries.end()}, error);
  }
  return {};
}

std::vector<OwedEntry> Outbox::remaining(std::vector<OwedEntry> owed) const {
  std::erase_if(owed, [&](const OwedEntry& entry) {
    const auto applied = applied_.find(entry.table);
    return applied != applied_.end() && entry.epoch <= applied->second;
  });
  return owed;
}

const Outbox::Seen* Outbox::seen(const std::string& table) const {
  const auto found = seen_.find(table);
  return found == seen_.end() ? nullptr : &found->second;
}

base::Status Outbox::note_anchor_at(int64_t highest_epoch, int64_t head) {
  anchor_epoch_ = highest_epoch;
  for (const auto& [table, epoch] : applied_) {
    if (epoch > highest_epoch) return base::Error(anchor_put_back(config_.table, highest_epoch, {table, epoch}, false, head));
  }
  return {};
}

base::Status Outbox::check_line(const OwedEntry& entry, const iceberg::TableMetadata& metadata, int64_t applied) {
  const bool is_another = came_on_another_line(metadata, entry, anchor_uuid_, config_.pipeline);
  if (applied <= anchor_epoch_ && !is_another) return {};
  TRY_ASSIGN(const iceberg::LoadedTable anchor, load_anchor());  // another worker may have used that epoch
  anchor_epoch_ = highest_epoch(anchor.metadata, config_.pipeline);
  if (applied <= anchor_epoch_ && !is_another) return {};
  return base::Error(anchor_put_back(config_.table, anchor_epoch_, {entry.table, applied}, false, anchor.metadata.current_snapshot_id.value_or(0)));
}

void Outbox::note_seen(const std::string& table, const iceberg::TableMetadata& metadata) {
  seen_[table] = {metadata.current_schema_id, metadata.default_spec_id};
}

// A run names what it has applied until its next commit, so other workers and the next start find much of it: no news.
void Outbox::tell_found(const OwedEntry& entry) const {
  const auto sent = unanswered_.find(entry.table);
  const bool is_news = sent != unanswered_.end() && sent->second == entry.epoch;
  const char* why = is_news ? "an earlier request of this process was applied; its answer did not say so" : "another worker, or a run before, has applied it";
  base::log(is_news ? base::LogLevel::kInfo : base::LogLevel::kDebug, "owed_found",
            {{"pipeline", config_.pipeline}, {"table", entry.table}, {"epoch", entry.epoch}, {"why", why}});
}

// Dead letters get their table when it is missing, unless there is nothing to put into it; rows that were routed had one.
base::Result<iceberg::LoadedTable> Outbox::load(const iceberg::TableId& table, const Entries& entries) {
  if (table == config_.dead_letters && !entries.front().void_epochs) return open_dead_letter_table(catalog_, table);
  base::Result<iceberg::LoadedTable> loaded = catalog_.load_table(table);
  if (!loaded.ok() && loaded.error().code() == base::Code::kNotFound) {
    return owed_table_gone(table, entries.front().uuid, {entries.begin(), entries.end()});
  }
  if (!loaded.ok()) return loaded;
  const std::string& expected = entries.front().uuid;
  if (!expected.empty() && loaded->metadata.table_uuid != expected) {
    return owed_table_replaced(table, expected, loaded->metadata.table_uuid, {entries.begin(), entries.end()});
  }
  return loaded;
}

// A dead-letter table that was dropped is made anew; with it the files of what it was still owed may have gone.
base::Status Outbox::check_dead_letter_files(const OwedEntry& entry, const iceberg::TableMetadata& metadata) {
  if (entry.uuid.empty() || entry.uuid == metadata.table_uuid || entry.void_epochs) return {};
  TRY_ASSIGN(const iceberg::Manifest manifest, iceberg::read_manifest(*catalog_.file_io(), entry.manifest));
  for (const iceberg::ManifestEntry& file : manifest.entries) {
    TRY(catalog_.file_io()->stat(file.data_file.file_path).status().in("the table was dropped, and with it a file that it was owed"));
  }
  return {};
}

// Epochs of another anchor are other numbers. A worker whose anchor was dropped meanwhile must not bring its own back.
base::Status Outbox::check_anchor(const iceberg::TableMetadata& metadata) {
  const std::string of = metadata.property(property_name(config_.pipeline) + ".anchor");
  if (of.empty() || of == anchor_uuid_) return {};
  return load_anchor().status();
}

// As it is now. A Halt when it is gone or another one.
base::Result<iceberg::LoadedTable> Outbox::load_anchor() {
  base::Result<iceberg::LoadedTable> anchor = catalog_.load_table(config_.table);
  if (!anchor.ok()) return anchor.error().code() == base::Code::kNotFound ? table_gone(config_.table) : anchor.error();
  const iceberg::TableMetadata& metadata = anchor->metadata;
  if (metadata.table_uuid != anchor_uuid_) return table_replaced(config_.table, anchor_uuid_, metadata.table_uuid, metadata.current_snapshot_id.value_or(0));
  return anchor;
}

base::Status Outbox::try_once(const iceberg::TableId& table, const Entries& entries) {
  const OwedEntry& entry = entries.front();
  base::Result<iceberg::LoadedTable> loaded = load(table, entries);
  int64_t& known = applied_[entry.table];
  if (!loaded.ok()) {
    const bool has_nothing_to_void = entry.void_epochs && loaded.error().halt() != nullptr;
    if (!has_nothing_to_void) return loaded.status();
    known = std::max(known, entry.epoch);
    return {};
  }
  const iceberg::TableMetadata& metadata = loaded->metadata;
  note_seen(entry.table, metadata);
  known = std::max(known, applied_epoch(metadata, config_.pipeline, anchor_uuid_));
  if (has_come_before(entry, metadata)) known = std::max(known, entry.epoch);
  if (entry.epoch <= known) {
    TRY(check_line(entry, metadata, known));
    tell_found(entry);
    return {};
  }
  TRY(check_anchor(metadata));
  const bool is_first = metadata.property(property_name(config_.pipeline) + ".applied").empty();
  if (is_first && before_first_ && !entry.void_epochs) TRY(before_first_(table, metadata));
  if (table == config_.dead_letters) TRY(check_dead_letter_files(entry, metadata));
  TRY_ASSIGN(const iceberg::Snapshot snapshot, prepare(entry, metadata));
  const iceberg::TableCommit commit = request(entry, metadata, snapshot);
  base::log_debug("owed_sent", {{"pipeline", config_.pipeline}, {"table", entry.table}, {"epoch", entry.epoch}});
  TRY(owed_sent.pass());
  const base::Status answer = catalog_.commit_table(table, commit).status();
  if (!answer.ok() && answer.error().code() == base::Code::kUnknownOutcome) unanswered_[entry.table] = entry.epoch;
  TRY(answer);
  TRY(owed_applied.pass());
  known = std::max(known, entry.epoch);
  base::log_info("owed_applied", {{"pipeline", config_.pipeline}, {"table", entry.table}, {"epoch", entry.epoch},
                                  {"snapshot", snapshot.snapshot_id}});
  sweep(entry.table, metadata, commit);
  return {};
}

// Before another anchor had its turn, after which the table names that one's epochs.
bool Outbox::has_come_before(const OwedEntry& entry, const iceberg::TableMetadata& metadata) const {
  const int64_t snapshot_id = OwedSnapshots{anchor_uuid_, config_.pipeline, metadata.table_uuid}.id_of(entry.epoch);
  return metadata.current_snapshot_id && metadata.snapshot(snapshot_id) != nullptr && metadata.is_ancestor(snapshot_id, *metadata.current_snapshot_id);
}

iceberg::TableCommit Outbox::request(const OwedEntry& entry, const iceberg::TableMetadata& metadata,
                                     const iceberg::Snapshot& snapshot) const {
  const std::string property = property_name(config_.pipeline);
  const auto main = metadata.refs.find("main");
  iceberg::SnapshotRef branch = main == metadata.refs.end() ? iceberg::SnapshotRef{} : main->second;
  branch.snapshot_id = snapshot.snapshot_id;
  branch.is_branch = true;
  iceberg::TableCommit commit;
  commit.requirements = {iceberg::AssertTableUuid{metadata.table_uuid},
                         iceberg::AssertRefSnapshotId{"main", metadata.current_snapshot_id}};
  commit.updates = {iceberg::AddSnapshot{snapshot}, iceberg::SetSnapshotRef{"main", branch},
                    iceberg::SetProperties{{{property + ".applied", std::to_string(entry.epoch)}, {property + ".anchor", anchor_uuid_},
                                            {property + ".anchor-table", config_.table.text()}}}};
  std::vector<int64_t> expired = snapshots_to_expire(metadata, kExpireAtMost);
  if (!expired.empty()) commit.updates.push_back(iceberg::RemoveSnapshots{std::move(expired)});
  return commit;
}

void Outbox::sweep(const std::string& table, const iceberg::TableMetadata& before, const iceberg::TableCommit& commit) {
  ExpiredFiles& files = expired_files_.try_emplace(table, config_.history_keep_ms).first->second;
  if (const auto* removed = std::get_if<iceberg::RemoveSnapshots>(&commit.updates.back())) {
    files.note(*catalog_.file_io(), before, removed->snapshot_ids);
  }
  files.sweep(*catalog_.file_io());
}

base::Result<iceberg::Snapshot> Outbox::prepare(const OwedEntry& entry, const iceberg::TableMetadata& metadata) {
  const std::string property = property_name(config_.pipeline);
  iceberg::Properties summary{{"frazil.pipeline", config_.pipeline},
                               {property + ".applied", std::to_string(entry.epoch)},
                               {property + ".anchor", anchor_uuid_}};
  if (!entry.manifest.empty()) summary[manifest_key(config_.pipeline)] = entry.manifest;
  const int64_t snapshot_id = OwedSnapshots{anchor_uuid_, config_.pipeline, metadata.table_uuid}.id_of(entry.epoch);
  if (entry.void_epochs) return prepare_void(entry, metadata, snapshot_id, summary);
  TRY_ASSIGN(const iceberg::Manifest manifest, iceberg::read_manifest(*catalog_.file_io(), entry.manifest));
  iceberg::Append append(catalog_.file_io(), snapshot_id);
  append.add_manifest_files(manifest, spec_id_of(manifest, metadata.default_spec_id));
  append.set_summary(summary);
  TRY_ASSIGN(iceberg::Snapshot snapshot, append.prepare(metadata));
  TRY(io::demand_stored(*catalog_.file_io(), append.written()));
  return snapshot;
}

base::Result<iceberg::Snapshot> Outbox::prepare_void(const OwedEntry& entry, const iceberg::TableMetadata& metadata,
                                                     int64_t snapshot_id, const iceberg::Properties& summary) {
  const auto [first, last] = *entry.void_epochs;
  if (applied_epoch(metadata, config_.pipeline, anchor_uuid_) < first) {  // none of them has come to this table
    iceberg::Append nothing(catalog_.file_io(), snapshot_id);
    nothing.set_summary(summary);
    TRY_ASSIGN(iceberg::Snapshot snapshot, nothing.prepare(metadata));
    TRY(io::demand_stored(*catalog_.file_io(), nothing.written()));
    return snapshot;
  }
  io::FileIO& io = *catalog_.file_io();
  TRY_ASSIGN(const FilesOfEpochs files,
             entry.table == config_.dead_letters.text()
                 ? dead_letters_of_epochs(io, metadata, config_.pipeline, first, last)
                 : files_of_epochs(io, metadata, {anchor_uuid_, config_.pipeline, metadata.table_uuid}, first, last));
  if (!files.problem.empty()) return owed_rows_rewritten(entry, files.problem, metadata.current_snapshot_id.value_or(0));
  return iceberg::prepare_delete(
      catalog_.file_io(), metadata, snapshot_id,
      [&](const iceberg::DataFile& file, int64_t) { return files.paths.contains(file.file_path); }, summary);
}

}  // namespace frazil::sinks
