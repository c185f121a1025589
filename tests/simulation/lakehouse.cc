#include "tests/simulation/lakehouse.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"

namespace frazil::simulation {

Lakehouse::Lakehouse(Tally& tally)
    : tally_(tally),
      store_(std::make_shared<KeepingFileIO>()),
      catalog_(iceberg::make_memory_catalog("memory://warehouse", store_)) {}

int64_t added_snapshot(const iceberg::TableCommit& commit) {
  for (const iceberg::Update& update : commit.updates) {
    if (const auto* added = std::get_if<iceberg::AddSnapshot>(&update)) return added->snapshot.snapshot_id;
  }
  return 0;
}

void Lakehouse::record(const iceberg::TableId& id, const iceberg::TableMetadata& metadata, const std::string& cause) {
  if (is_anchor_gone_) return;
  TablesState state = history_.empty() ? TablesState() : history_.back();
  auto version = std::make_shared<const iceberg::TableMetadata>(metadata);
  (id == kAnchor ? state.anchor : state.dead_letters) = std::move(version);
  if (id == kAnchor) {
    for (const iceberg::Snapshot& snapshot : metadata.snapshots) known_.try_emplace(snapshot.snapshot_id, snapshot);
  }
  state.cause = cause;
  history_.push_back(std::move(state));
}

base::Result<iceberg::LoadedTable> Lakehouse::create(const iceberg::TableId& id, const iceberg::CreateTable& request) {
  TRY_ASSIGN(iceberg::LoadedTable made, catalog_->create_table(id, request));
  record(id, made.metadata, "created");
  return made;
}

base::Result<iceberg::LoadedTable> Lakehouse::apply(const iceberg::TableId& id, const iceberg::TableCommit& commit,
                                                    const std::string& cause) {
  base::Result<iceberg::LoadedTable> answer = catalog_->commit_table(id, commit);
  if (answer.ok()) {
    record(id, answer->metadata, cause);
    const bool is_foreign = cause.starts_with("foreign");
    tally_.add(is_foreign ? "foreign commits" : id == kAnchor ? "commits accepted" : "owed applied");
    const bool expires = std::any_of(commit.updates.begin(), commit.updates.end(), [](const iceberg::Update& update) {
      return std::holds_alternative<iceberg::RemoveSnapshots>(update);
    });
    if (expires && !is_foreign) tally_.add("own:expiry");
  } else if (answer.error().code() == base::Code::kConflict) {
    tally_.add("commits conflicting");
  }
  base::log_info("sim_applied", {{"table", id.name},
                                 {"snapshot", added_snapshot(commit)},
                                 {"cause", cause},
                                 {"answer", answer.ok() ? "ok" : answer.error().message()}});
  return answer;
}

void Lakehouse::apply_later(const iceberg::TableId& id, const iceberg::TableCommit& commit, int64_t micros,
                            const std::string& count) {
  couriers_.emplace_back("courier", [this, id, commit, micros, count] {
    base::Interrupt never;
    never.wait_until(base::deadline_after(micros));
    (void)apply(id, commit, "courier").ok();
    if (!count.empty()) tally_.add(count);
  });
}

base::Status Lakehouse::drop_anchor(bool makes_another) {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, catalog_->load_table(kAnchor));
  is_anchor_gone_ = true;
  TRY(catalog_->drop_table(kAnchor));
  base::log_info("sim_anchor_dropped");
  if (!makes_another) return {};
  iceberg::CreateTable request;
  request.schema = *loaded.metadata.current_schema();
  return catalog_->create_table(kAnchor, request).status();
}

std::optional<TableMarks> Lakehouse::newest_anchor_marks() const {
  if (history_.empty() || !history_.back().anchor) return std::nullopt;
  return newest_marks(*history_.back().anchor, known_);
}

void Lakehouse::settle() {
  for (base::Lane& courier : couriers_) courier.join();
  couriers_.clear();
}

}  // namespace frazil::simulation
