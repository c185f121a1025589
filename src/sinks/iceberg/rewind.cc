#include "sinks/iceberg/rewind.h"

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "sinks/iceberg/halt_answers.h"
#include "sinks/iceberg/outbox.h"
#include "sinks/iceberg/table_halts.h"

namespace frazil::sinks {
namespace {

constexpr size_t kRangeBytesAtMost = 2000;  // of a decision: it stays in the table's properties

UndoneSnapshot undone_by(const iceberg::Snapshot& snapshot) {
  return {snapshot.snapshot_id,
          snapshot.timestamp_ms,
          snapshot.summary_text("operation"),
          snapshot.summary_text(kPipelineKey),
          snapshot.summary_number("added-records"),
          snapshot.summary_number("added-data-files")};
}

// A rewrite has the same rows in other files; a snapshot of another pipeline without files moved its positions alone.
bool changes_rows(const iceberg::Snapshot& snapshot) {
  if (snapshot.summary_text("operation") == "replace") return false;
  return snapshot.summary_number("added-data-files") > 0 || snapshot.summary_number("deleted-data-files") > 0 ||
         snapshot.summary_number("added-delete-files") > 0 || snapshot.summary_number("removed-delete-files") > 0;
}

std::string at(int64_t timestamp_ms) { return base::format_utc(timestamp_ms * 1000); }

}  // namespace

Rewind::Rewind(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format, RewindRequest request)
    : config_(config), catalog_(catalog), format_(format), request_(std::move(request)), anchor_(config, catalog, format) {}

base::Result<bool> Rewind::is_reached(const iceberg::Snapshot& snapshot, const SnapshotMarks& marks) const {
  if (const auto* time = std::get_if<ToTime>(&request_.target)) return snapshot.timestamp_ms <= time->ms;
  const auto* positions = std::get_if<ToPositions>(&request_.target);
  CHECK(positions != nullptr);
  for (const auto& [split, wanted] : positions->next) {
    const auto found = marks.positions.next.find(split);
    if (found == marks.positions.next.end()) continue;  // not begun yet
    const engine::Relation relation = format_.relate(found->second, wanted);
    if (relation == engine::Relation::kIncomparable) return base::invalid("\"" + wanted + "\" is no position of " + split);
    if (relation == engine::Relation::kBeyond) return false;
  }
  return true;
}

base::Result<SnapshotMarks> Rewind::find_snapshot(const iceberg::TableMetadata& metadata, int64_t id) const {
  const iceberg::Snapshot* snapshot = metadata.snapshot(id);
  const std::string name = "snapshot " + std::to_string(id);
  if (snapshot == nullptr) return base::not_found("table " + config_.table.text() + " has no " + name + ": it never had, or it was expired");
  if (!metadata.is_ancestor(id, *metadata.current_snapshot_id)) {
    return base::not_found(name + " is no ancestor of the table's head " + std::to_string(*metadata.current_snapshot_id));
  }
  TRY_ASSIGN(const auto marks, read_marks(*catalog_.file_io(), *snapshot, config_.pipeline, format_));
  if (marks) return *marks;
  std::string hint;
  for (auto older = snapshot->parent_snapshot_id; older && hint.empty();) {
    const iceberg::Snapshot* one = metadata.snapshot(*older);
    if (one == nullptr) break;
    if (is_of(*one, config_.pipeline)) hint = "; the newest one before it that does is " + std::to_string(*older);
    older = one->parent_snapshot_id;
  }
  return base::not_found(name + " carries no positions of pipeline " + config_.pipeline + hint);
}

base::Result<SnapshotMarks> Rewind::find_target(const iceberg::TableMetadata& metadata) const {
  if (const auto* snapshot = std::get_if<ToSnapshot>(&request_.target)) return find_snapshot(metadata, snapshot->id);
  const iceberg::Snapshot* oldest = nullptr;
  for (std::optional<int64_t> id = metadata.current_snapshot_id; id;) {
    const iceberg::Snapshot* snapshot = metadata.snapshot(*id);
    if (snapshot == nullptr) break;
    TRY_ASSIGN(const auto marks, read_marks(*catalog_.file_io(), *snapshot, config_.pipeline, format_));
    if (marks) {
      oldest = snapshot;
      TRY_ASSIGN(const bool is_it, is_reached(*snapshot, *marks));
      if (is_it) return *marks;
    }
    id = snapshot->parent_snapshot_id;
  }
  if (oldest == nullptr) return base::not_found("no retained ancestor of the head carries positions of pipeline " + config_.pipeline);
  return base::not_found("the table does not go back that far: its oldest snapshot with positions of pipeline " + config_.pipeline + " is " +
                         std::to_string(oldest->snapshot_id) + " of " + at(oldest->timestamp_ms) +
                         "; `history.keep` says how long they are kept");
}

base::Status Rewind::check_applied(const PipelineState& state) const {
  TRY_ASSIGN(const AppliedEpoch applied, highest_applied(catalog_, config_, anchor_.uuid()));
  if (applied.epoch <= state.highest_epoch) return {};
  TRY_ASSIGN(const iceberg::LoadedTable now, catalog_.load_table(config_.table));  // the pipeline may have committed meanwhile
  const int64_t known = highest_epoch(now.metadata, config_.pipeline);
  if (applied.epoch <= known) return {};
  return base::Error(anchor_put_back(config_.table, known, applied, false, now.metadata.current_snapshot_id.value_or(0)));
}

base::Result<PipelineState> Rewind::sound_state(const iceberg::LoadedTable& loaded) const {
  TRY_ASSIGN(PipelineState state, anchor_.state_in(loaded));
  TRY(anchor_.check(state));
  if (state.condition == StateCondition::kUnknownPipeline) {
    return base::not_found("table " + config_.table.text() + " knows no pipeline " + config_.pipeline);
  }
  TRY(check_applied(state));
  return state;
}

// What leaves the tables other than the anchor.
std::vector<VoidedRows> Rewind::weigh_others(const PipelineState& state, int64_t target_epoch) const {
  std::vector<VoidedRows> voided;
  for (const OwedEntry& entry : owed_when_going_back(config_, state, target_epoch)) {
    if (entry.void_epochs && entry.epoch > state.highest_epoch) voided.push_back(weigh_void(catalog_, config_, anchor_.uuid(), entry));
  }
  std::stable_partition(voided.begin(), voided.end(), [](const VoidedRows& one) { return !one.is_dead_letters; });
  return voided;
}

base::Result<RewindPlan> Rewind::plan_on(const iceberg::LoadedTable& loaded, const PipelineState& state) const {
  const iceberg::TableMetadata& metadata = loaded.metadata;
  if (const auto* positions = std::get_if<ToPositions>(&request_.target)) {
    for (const auto& [split, wanted] : positions->next) {
      if (!state.marks.positions.next.contains(split)) return base::invalid("the table has no position of \"" + split + "\"");
    }
  }
  RewindPlan plan;
  TRY_ASSIGN(plan.target, find_target(metadata));
  plan.target_timestamp_ms = metadata.snapshot(plan.target.snapshot_id)->timestamp_ms;
  plan.head = *metadata.current_snapshot_id;
  plan.highest_epoch = state.highest_epoch;
  for (int64_t id = plan.head; id != plan.target.snapshot_id; id = *metadata.snapshot(id)->parent_snapshot_id) {
    plan.undone.push_back(undone_by(*metadata.snapshot(id)));
  }
  if (!plan.undone.empty()) plan.voided = weigh_others(state, plan.target.epoch);
  for (const auto& [split, now] : state.marks.positions.next) {
    const auto then = plan.target.positions.next.find(split);
    if (then == plan.target.positions.next.end()) {
      plan.from_start.push_back(split);
    } else if (format_.relate(then->second, now) != engine::Relation::kAt) {
      plan.ranges.push_back({split, then->second, now});
    }
  }
  std::set<std::string> others;
  for (const UndoneSnapshot& one : plan.undone) {
    if (one.pipeline == config_.pipeline || !changes_rows(*metadata.snapshot(one.snapshot_id))) continue;
    others.insert((one.pipeline.empty() ? "a foreign writer" : "pipeline " + one.pipeline) + " in snapshot " + std::to_string(one.snapshot_id));
  }
  if (others.empty() || request_.undoes_others) return plan;
  return base::invalid("it would also undo what others wrote: " + *others.begin() +
                       (others.size() > 1 ? " and " + std::to_string(others.size() - 1) + " more" : "") +
                       ". Say --undo-others if that is meant: their pipelines then halt with TABLE_ROLLED_BACK");
}

base::Result<RewindPlan> Rewind::plan() {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, anchor_.load());
  TRY(anchor_.pin(loaded.metadata));
  TRY_ASSIGN(const PipelineState state, sound_state(loaded));
  return plan_on(loaded, state);
}

Proposal Rewind::proposal(const RewindPlan& plan, const PipelineState& state) const {
  Proposal proposal;
  proposal.parent = plan.target.snapshot_id;
  proposal.positions = plan.target.positions;
  proposal.owed = owed_when_going_back(config_, state, plan.target.epoch);
  std::string ranges = format_.encode_ranges(plan.ranges);
  if (ranges.size() > kRangeBytesAtMost) ranges = std::to_string(plan.ranges.size()) + " splits";
  proposal.decision = encode_decision({"REWIND", request_.target_text, ranges, config_.user}, base::wall_micros());
  return proposal;
}

base::Result<RewindPlan> Rewind::carry_out(const RewindPlan& agreed) {
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  RewindPlan done = agreed;
  Proposal proposed;
  TRY(anchor_.until_decided(AnchorTable::Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) return true;
    TRY_ASSIGN(const PipelineState state, sound_state(loaded));
    TRY_ASSIGN(RewindPlan now, plan_on(loaded, state));
    if (now.target.snapshot_id != agreed.target.snapshot_id) {
      return base::invalid("the table was changed meanwhile, and the target is another snapshot now: " + std::to_string(now.target.snapshot_id) +
                           ". Nothing was changed by this command; look again");
    }
    done = std::move(now);
    proposed = proposal(done, state);
    TRY(anchor_.post(loaded, state, append, proposed));
    return true;
  }));
  base::log_info("rewound", {{"pipeline", config_.pipeline}, {"table", config_.table.text()}, {"to", done.target.snapshot_id}});
  Outbox outbox(catalog_, config_);
  outbox.belong_to(anchor_.uuid());
  for (const OwedTrouble& trouble : outbox.apply(proposed.owed, never)) {
    base::log_warn("owed_left", {{"pipeline", config_.pipeline}, {"table", trouble.table}, {"why", trouble.error.message()}});
    for (VoidedRows& one : done.voided) {
      if (one.table == trouble.table) one.problem = trouble.error.message();
    }
  }
  return done;
}

}  // namespace frazil::sinks
