#include "sinks/iceberg/outbox.h"

#include <algorithm>
#include <charconv>

#include "base/failpoint.h"
#include "base/log.h"
#include "base/random.h"
#include "base/retry.h"
#include "iceberg/change/append.h"
#include "iceberg/manifest.h"
#include "io/stored_files.h"
#include "sinks/iceberg/dead_letter_table.h"
#include "sinks/iceberg/pipeline_state.h"

namespace frazil::sinks {
namespace {

base::Failpoint owed_sent("owed.sent", "a commit to another table is ready, and the anchor lists it as owed", base::Code::kUnavailable);
base::Failpoint owed_applied("owed.applied", "a commit to another table was answered with success", base::Code::kUnknownOutcome);

constexpr int64_t kApplyMinWaitMs = 20;
constexpr int64_t kApplyMaxWaitMs = 2'000;
constexpr int64_t kApplyTotalMs = 20'000;

bool may_have_failed_for_now(base::Code code) {
  return code == base::Code::kConflict || code == base::Code::kUnknownOutcome || code == base::Code::kUnavailable;
}

}  // namespace

base::Status Outbox::apply(std::vector<OwedEntry> owed, base::Interrupt& abandon, When when) {
  std::stable_sort(owed.begin(), owed.end(), [](const auto& a, const auto& b) { return a.epoch < b.epoch; });
  for (const OwedEntry& entry : owed) TRY(apply_one(entry, abandon, when).in("owed to table " + entry.table));
  return {};
}

std::vector<OwedEntry> Outbox::remaining(std::vector<OwedEntry> owed) const {
  std::erase_if(owed, [&](const OwedEntry& entry) {
    const auto applied = applied_.find(entry.table);
    return applied != applied_.end() && entry.epoch <= applied->second;
  });
  return owed;
}

base::Status Outbox::apply_one(const OwedEntry& entry, base::Interrupt& abandon, When when) {
  if (remaining({entry}).empty()) return {};
  TRY_ASSIGN(const iceberg::TableId table, iceberg::parse_table_id(entry.table));
  const int64_t snapshot_id = base::random_snapshot_id();
  base::Backoff backoff(kApplyMinWaitMs, kApplyMaxWaitMs, kApplyTotalMs);
  while (true) {
    const bool is_from_before = when == When::kAtStart && backoff.tries() == 0;
    base::Result<bool> done = try_once(entry, table, snapshot_id, is_from_before);
    if (done.ok()) return {};
    if (!may_have_failed_for_now(done.error().code())) return done.status();
    base::log_info("owed_retry", {{"pipeline", pipeline_}, {"table", entry.table}, {"epoch", entry.epoch},
                                  {"answer", done.error().message()}});
    if (!backoff.wait(abandon)) return base::unavailable("not applied yet: " + done.error().message());
  }
}

void Outbox::tell_found(const OwedEntry& entry, bool is_from_before) const {
  const char* why = is_from_before ? "it was applied before this start"
                                   : "the table says that it was applied, by an answer that was lost or by another worker";
  base::log(is_from_before ? base::LogLevel::kDebug : base::LogLevel::kInfo, "owed_found",
            {{"pipeline", pipeline_}, {"table", entry.table}, {"epoch", entry.epoch}, {"why", why}});
}

base::Result<bool> Outbox::try_once(const OwedEntry& entry, const iceberg::TableId& table, int64_t snapshot_id,
                                    bool is_from_before) {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, open_dead_letter_table(catalog_, table));
  const int64_t applied = applied_epoch(loaded.metadata, pipeline_);
  int64_t& known = applied_[entry.table];
  known = std::max(known, applied);
  if (entry.epoch <= known) {
    tell_found(entry, is_from_before);
    return true;
  }
  TRY_ASSIGN(iceberg::Snapshot snapshot, prepare(entry, loaded.metadata, snapshot_id));
  iceberg::TableCommit commit;
  commit.requirements = {iceberg::AssertTableUuid{loaded.metadata.table_uuid},
                         iceberg::AssertRefSnapshotId{"main", loaded.metadata.current_snapshot_id}};
  commit.updates = {iceberg::AddSnapshot{snapshot},
                    iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{snapshot.snapshot_id, true, {}, {}, {}}},
                    iceberg::SetProperties{{{property_name(pipeline_) + ".applied", std::to_string(entry.epoch)}}}};
  base::log_debug("owed_sent", {{"pipeline", pipeline_}, {"table", entry.table}, {"epoch", entry.epoch}});
  TRY(owed_sent.pass());
  TRY(catalog_.commit_table(table, commit).status());
  TRY(owed_applied.pass());
  known = std::max(known, entry.epoch);
  base::log_info("owed_applied", {{"pipeline", pipeline_}, {"table", entry.table}, {"epoch", entry.epoch},
                                  {"snapshot", snapshot.snapshot_id}});
  return true;
}

base::Result<iceberg::Snapshot> Outbox::prepare(const OwedEntry& entry, const iceberg::TableMetadata& metadata,
                                                int64_t snapshot_id) {
  iceberg::Properties summary{{"frazil.pipeline", pipeline_},
                              {property_name(pipeline_) + ".applied", std::to_string(entry.epoch)}};
  if (entry.void_epochs) {
    const int64_t first = entry.void_epochs->first;
    const int64_t last = entry.void_epochs->second;
    return iceberg::prepare_delete(
        catalog_.file_io(), metadata, snapshot_id,
        [&](const iceberg::DataFile& file, int64_t) { return is_of_epochs(*metadata.current_schema(), file, pipeline_, first, last); },
        summary);
  }
  TRY_ASSIGN(const iceberg::Manifest manifest, iceberg::read_manifest(*catalog_.file_io(), entry.manifest));
  iceberg::Append append(catalog_.file_io(), snapshot_id);
  append.add_manifest_files(manifest, metadata.default_spec_id);
  append.set_summary(std::move(summary));
  TRY_ASSIGN(iceberg::Snapshot snapshot, append.prepare(metadata));
  TRY(io::demand_stored(*catalog_.file_io(), append.written()));
  return snapshot;
}

}  // namespace frazil::sinks
