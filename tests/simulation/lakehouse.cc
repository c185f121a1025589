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
  const auto place = routed_place(id);
  (id == kAnchor ? state.anchor : place ? state.routed[*place] : state.dead_letters) = std::move(version);
  if (id == kAnchor) {
    for (const iceberg::Snapshot& snapshot : metadata.snapshots) known_.try_emplace(snapshot.snapshot_id, snapshot);
  }
  state.cause = cause;
  history_.push_back(std::move(state));
}

void Lakehouse::count(const iceberg::TableId& id, const iceberg::TableCommit& commit, bool is_foreign) {
  if (is_foreign) return tally_.add("foreign commits");
  const bool is_routed = routed_place(id).has_value();
  tally_.add(id == kAnchor ? "commits accepted" : "owed applied");
  if (is_routed) tally_.add("routed:applied");
  for (const iceberg::Update& update : commit.updates) {
    if (std::holds_alternative<iceberg::RemoveSnapshots>(update)) tally_.add(is_routed ? "routed:own-expiry" : "own:expiry");
    const auto* added = std::get_if<iceberg::AddSnapshot>(&update);
    if (is_routed && added != nullptr && added->snapshot.summary_number("deleted-records") > 0) tally_.add("routed:void-epochs");
  }
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
    count(id, commit, cause.starts_with("foreign"));
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

size_t Lakehouse::owed_to_routed() const {
  const std::optional<TableMarks> marks = newest_anchor_marks();
  if (!marks) return 0;
  return static_cast<size_t>(std::count_if(marks->owed.begin(), marks->owed.end(), [&](const OwedMark& owed) {
    const auto place = routed_place(owed.table);
    const TableVersion version = place ? history_.back().routed[*place] : nullptr;
    return version != nullptr && owed.epoch > applied_of(*version);
  }));
}

void Lakehouse::settle() {
  for (base::Lane& courier : couriers_) courier.join();
  couriers_.clear();
}

}  // namespace frazil::simulation
