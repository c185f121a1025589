#include "sinks/iceberg/anchor_table.h"

#include <algorithm>

#include "base/failpoint.h"
#include "base/log.h"
#include "base/retry.h"
#include "io/stored_files.h"
#include "sinks/iceberg/table_halts.h"
#include "sinks/iceberg/table_setup.h"

namespace frazil::sinks {
namespace {

// Who loses to others waits no longer than this: the catalog is well, and with each longer wait the others get further ahead.
constexpr int64_t kLostWaitMs = 1'000;

base::Failpoint load_after("commit.load.after", "the table was loaded for a decision", base::Code::kUnavailable);
base::Failpoint commit_reload("commit.reload", "a commit is undecided and the table is about to be loaded again");
base::Failpoint accepted_before("accepted.before", "an accepted choice is taken and not in the table", base::Code::kUnavailable);
base::Failpoint post_before("commit.post.before", "the commit request is ready and not sent", base::Code::kUnavailable);
base::Failpoint expire_commit("expire.commit", "a request that expires snapshots is ready and not sent", base::Code::kUnavailable);
base::Failpoint post_answer("commit.post.answer", "the catalog has answered a commit with success", base::Code::kUnknownOutcome);
base::Failpoint ddl_before("ddl.before", "a table is about to be created", base::Code::kUnavailable);
base::Failpoint ddl_after("ddl.after", "a table was created", base::Code::kUnavailable);

constexpr size_t kExpireAtMost = 500;  // snapshots removed by one commit

bool may_have_failed_for_now(base::Code code) {
  return code == base::Code::kConflict || code == base::Code::kUnknownOutcome || code == base::Code::kUnavailable ||
         code == base::Code::kExhausted;
}

// What an answer to a commit request says about that request.
std::string_view meaning_of(base::Code code) {
  switch (code) {
    case base::Code::kUnknownOutcome:
    case base::Code::kExhausted:
      return "may have been applied: the table is asked";
    case base::Code::kConflict:
      return "not applied, somebody was faster: load and judge again";
    case base::Code::kUnavailable:
      return "not applied: later again";
    case base::Code::kCancelled:
      return "not sent: the pipeline stops";
    default:
      return "not applied, for good";
  }
}

bool removes_snapshots(const iceberg::TableCommit& commit) {
  return std::any_of(commit.updates.begin(), commit.updates.end(),
                     [](const iceberg::Update& update) { return std::holds_alternative<iceberg::RemoveSnapshots>(update); });
}

base::Status pass_before_sending(const iceberg::TableCommit& commit, const Marks& marks) {
  if (!marks.decision.empty()) TRY(accepted_before.pass());
  if (removes_snapshots(commit)) TRY(expire_commit.pass());
  return post_before.pass();
}

bool is_refusal(base::Code code) { return code == base::Code::kInvalid || code == base::Code::kUnsupported; }

// Upon `parent` instead of the head, where one is given.
base::Result<iceberg::Snapshot> prepare(iceberg::Append& append, const iceberg::TableMetadata& metadata, std::optional<int64_t> parent) {
  if (!parent) return append.prepare(metadata);
  iceberg::TableMetadata earlier = metadata;
  earlier.current_snapshot_id = parent;
  return append.prepare(earlier);
}

}  // namespace

AnchorTable::AnchorTable(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format)
    : config_(config), catalog_(catalog), format_(format), expired_files_(config.history_keep_ms), retention_(config) {}

base::Status AnchorTable::until_decided(Phase phase, base::Interrupt& abandon, const Step& step) {
  int64_t total_ms = properties_.commit_total_timeout_ms;
  if (phase == Phase::kStart) total_ms = std::min(total_ms, config_.connect_timeout_ms);
  base::Backoff backoff(properties_.commit_min_wait_ms, properties_.commit_max_wait_ms, total_ms);
  bool is_unclear = false;  // a request may have been applied
  while (true) {
    const Sent before = sent_;
    base::Result<iceberg::LoadedTable> loaded = load();
    if (const base::Status met = load_after.pass(); loaded.ok() && !met.ok()) loaded = met.error();
    base::Result<bool> decided = loaded.ok() ? step(*loaded) : base::Result<bool>(loaded.error());
    if (decided.ok() && *decided) return {};
    is_unclear = is_unclear || (!decided.ok() && decided.error().code() == base::Code::kUnknownOutcome);
    if (!decided.ok() && decided.error().code() == base::Code::kCancelled) {
      return left_undecided(is_unclear, ": " + decided.error().message());
    }
    if (!decided.ok() && !may_have_failed_for_now(decided.error().code())) return decided.status();
    if (!decided.ok() && phase == Phase::kStart && sent_ == before) return decided.status();
    base::log_info("commit_again", {{"pipeline", config_.pipeline},
                                    {"table", config_.table.text()},
                                    {"epoch", sent_.epoch},
                                    {"snapshot", sent_.snapshot},
                                    {"requests", sent_.requests},
                                    {"try", backoff.tries() + 1},
                                    {"code", decided.ok() ? "again" : base::code_name(decided.error().code())},
                                    {"answer", decided.ok() ? "" : decided.error().message()}});
    commit_reload.pass_by();
    const bool has_lost = !decided.ok() && decided.error().code() == base::Code::kConflict;
    if (backoff.wait(abandon, has_lost ? kLostWaitMs : base::Backoff::kNoMost)) continue;
    const std::string last = decided.ok() ? "" : ": " + decided.error().message();
    if (abandon.raised()) return left_undecided(is_unclear, last);
    return base::unavailable("commit to " + config_.table.text() + " undecided after " + std::to_string(backoff.tries()) +
                             " tries" + last);
  }
}

base::Error AnchorTable::left_undecided(bool is_unclear, const std::string& last) const {
  if (is_unclear) {
    base::log_warn("commit_left_undecided", {{"pipeline", config_.pipeline},
                                             {"table", config_.table.text()},
                                             {"epoch", sent_.epoch},
                                             {"snapshot", sent_.snapshot},
                                             {"meaning", "it may have been applied; whoever starts next learns it from the table"}});
  }
  return base::cancelled("commit to " + config_.table.text() + " left undecided" + last);
}

base::Result<iceberg::LoadedTable> AnchorTable::load() {
  base::Result<iceberg::LoadedTable> loaded = catalog_.load_table(config_.table);
  if (!loaded.ok()) {
    if (loaded.error().code() == base::Code::kNotFound && !uuid_.empty()) return table_gone(config_.table);
    return loaded;
  }
  const iceberg::TableMetadata& metadata = loaded->metadata;
  head_ = metadata.current_snapshot_id.value_or(0);
  if (!uuid_.empty() && metadata.table_uuid != uuid_) {
    return table_replaced(config_.table, uuid_, metadata.table_uuid, head_);
  }
  return loaded;
}

base::Result<iceberg::LoadedTable> AnchorTable::load_or_create() {
  base::Result<iceberg::LoadedTable> loaded = load();
  if (loaded.ok() || loaded.error().code() != base::Code::kNotFound) return loaded;
  TRY(ddl_before.pass());
  loaded = create_table(catalog_, config_);
  TRY(ddl_after.pass());
  return loaded;
}

base::Status AnchorTable::pin(const iceberg::TableMetadata& metadata) {
  uuid_ = metadata.table_uuid;
  TRY_ASSIGN(properties_, iceberg::read_table_properties(metadata.properties, metadata.location).in("table " + config_.table.text()));
  retention_.opened(metadata);
  return {};
}

base::Result<PipelineState> AnchorTable::state_in(const iceberg::LoadedTable& loaded) const {
  return read_state(*catalog_.file_io(), loaded.metadata, config_.pipeline, format_);
}

base::Status AnchorTable::check(const PipelineState& state) const {
  switch (state.condition) {
    case StateCondition::kUnknownPipeline:
    case StateCondition::kHolds:
      return {};
    case StateCondition::kTakenOver:
      return positions_taken_over(config_.table, state.taken_over_by);
    case StateCondition::kRolledBack:
      return base::Error(table_rolled_back(config_.table, state, head_, format_));
    case StateCondition::kHistoryLost:
      return base::Error(history_lost(config_.table, config_.pipeline, state, head_, format_));
    case StateCondition::kWatermarkLost:
      return base::Error(watermark_lost(config_.table, config_.pipeline, state, head_, format_));
  }
  return {};
}

base::Status AnchorTable::post(const iceberg::LoadedTable& loaded, const PipelineState& state, iceberg::Append& append,
                               const Proposal& proposal) {
  Marks marks;
  marks.pipeline = config_.pipeline;
  marks.epoch = state.highest_epoch + 1;
  marks.positions = format_.encode(proposal.positions);
  marks.ranges = format_.encode_ranges(proposal.ranges);
  marks.owed = proposal.owed;
  marks.record_times = proposal.record_times;
  marks.decision = proposal.decision;
  PlacedMarks placed = place(marks);
  append.set_summary(std::move(placed.summary));
  append.set_manifest_list_header(std::move(placed.manifest_list_header));
  TRY_ASSIGN(const iceberg::Snapshot snapshot, prepare(append, loaded.metadata, proposal.parent));
  if (base::Status stored = io::demand_stored(*catalog_.file_io(), append.written()); !stored.ok()) {
    append.write_anew();
    return stored;
  }
  const iceberg::TableCommit commit = request(loaded.metadata, state, snapshot, marks, proposal);
  const int64_t base_head = loaded.metadata.current_snapshot_id.value_or(0);
  sent_ = {marks.epoch, snapshot.snapshot_id, sent_.snapshot == snapshot.snapshot_id ? sent_.requests + 1 : 1};
  base::log_debug("commit_sent", {{"pipeline", config_.pipeline},
                                  {"epoch", marks.epoch},
                                  {"snapshot", snapshot.snapshot_id},
                                  {"on", base_head},
                                  {"request", sent_.requests}});
  TRY(pass_before_sending(commit, marks));
  base::Result<iceberg::LoadedTable> answer = catalog_.commit_table(config_.table, commit);
  if (const base::Status met = answer.ok() ? post_answer.pass() : base::Status(); !met.ok()) answer = met.error();
  if (answer.ok()) return accepted(loaded.metadata, commit, *answer);
  tell_answer(answer.error(), base_head);
  if (config_.on_answer && answer.error().code() == base::Code::kConflict) config_.on_answer(false);
  // No table to commit to: the next load says whether it is gone or another one.
  if (answer.error().code() == base::Code::kNotFound) return base::Error(base::Code::kConflict, answer.error().message());
  if (is_refusal(answer.error().code())) return commit_rejected(config_.table, answer.error(), head_);
  return answer.status();
}

base::Status AnchorTable::accepted(const iceberg::TableMetadata& before, const iceberg::TableCommit& commit,
                                   const iceberg::LoadedTable& after) {
  // A catalog that answers well and shows a table without the snapshot has lost it, or has yet to apply it.
  if (after.metadata.snapshot(sent_.snapshot) == nullptr) {
    return base::Error(base::Code::kUnknownOutcome,
                       "the catalog answers ok, and its table lacks snapshot " + std::to_string(sent_.snapshot));
  }
  head_ = sent_.snapshot;
  if (config_.on_answer) config_.on_answer(true);
  base::log_info("commit_accepted", {{"pipeline", config_.pipeline},
                                     {"table", config_.table.text()},
                                     {"epoch", sent_.epoch},
                                     {"snapshot", sent_.snapshot}});
  note_expired(before, commit);
  retention_.committed(after.metadata);
  return {};
}

void AnchorTable::tell_answer(const base::Error& answer, int64_t base_head) const {
  base::log_info("commit_answer", {{"pipeline", config_.pipeline},
                                   {"table", config_.table.text()},
                                   {"epoch", sent_.epoch},
                                   {"snapshot", sent_.snapshot},
                                   {"on", base_head},
                                   {"request", sent_.requests},
                                   {"code", base::code_name(answer.code())},
                                   {"meaning", meaning_of(answer.code())},
                                   {"answer", answer.message()}});
}

void AnchorTable::note_expired(const iceberg::TableMetadata& before, const iceberg::TableCommit& commit) {
  for (const iceberg::Update& update : commit.updates) {
    if (const auto* removed = std::get_if<iceberg::RemoveSnapshots>(&update)) {
      expired_files_.note(*catalog_.file_io(), before, removed->snapshot_ids);
    }
  }
  expired_files_.sweep(*catalog_.file_io());
}

std::string AnchorTable::known_tables_text(const iceberg::TableMetadata& base, const Proposal& proposal) const {
  const std::string before = base.property(property_name(config_.pipeline) + ".tables");
  KnownTables tables = decode_known_tables(before);
  tables.erase(proposal.forgets);
  for (const auto& [name, uuid] : others_) tables[name] = uuid;
  std::string now = tables.empty() && before.empty() ? "" : encode_known_tables(tables);
  return now == before ? "" : now;
}

iceberg::TableCommit AnchorTable::request(const iceberg::TableMetadata& base, const PipelineState& state,
                                               const iceberg::Snapshot& snapshot, const Marks& marks,
                                               const Proposal& proposal) const {
  const std::string tag = tag_name(config_.pipeline);
  const std::string property = property_name(config_.pipeline);
  iceberg::TableCommit commit;
  commit.requirements = {iceberg::AssertTableUuid{base.table_uuid},
                         iceberg::AssertRefSnapshotId{"main", base.current_snapshot_id},
                         iceberg::AssertRefSnapshotId{tag, state.tag_snapshot},
                         iceberg::AssertCurrentSchemaId{base.current_schema_id},
                         iceberg::AssertDefaultSpecId{base.default_spec_id}};
  const auto main = base.refs.find("main");
  iceberg::SnapshotRef branch = main == base.refs.end() ? iceberg::SnapshotRef{} : main->second;
  branch.snapshot_id = snapshot.snapshot_id;
  branch.is_branch = true;
  iceberg::Properties properties{
      {property, encode_property(snapshot.snapshot_id, snapshot.sequence_number, marks.epoch, marks.positions)},
      {property + ".owed", encode_owed(marks.owed)}};
  if (!marks.decision.empty()) {
    properties[property + ".accepted"] = append_decision(base.property(property + ".accepted"), marks.decision);
  }
  if (std::string known = known_tables_text(base, proposal); !known.empty()) properties[property + ".tables"] = std::move(known);
  if (!proposal.closes.empty()) properties[property_name(proposal.closes)] = "{\"closed_by\":\"" + config_.pipeline + "\"}";
  commit.updates = {iceberg::AddSnapshot{snapshot}, iceberg::SetSnapshotRef{"main", branch},
                    iceberg::SetSnapshotRef{tag, iceberg::SnapshotRef{snapshot.snapshot_id, false, {}, {}, INT64_MAX}},
                    iceberg::SetProperties{std::move(properties)}};
  if (!proposal.closes.empty()) {
    const std::string old_tag = tag_name(proposal.closes);
    if (const auto ref = base.refs.find(old_tag); ref != base.refs.end()) {
      commit.requirements.push_back(iceberg::AssertRefSnapshotId{old_tag, ref->second.snapshot_id});
      commit.updates.push_back(iceberg::RemoveSnapshotRef{old_tag});
    }
  }
  // Not when going back: what may go is judged by the history that the table has then.
  if (std::vector<int64_t> expired = snapshots_to_expire(base, kExpireAtMost); !expired.empty() && !proposal.parent) {
    commit.updates.push_back(iceberg::RemoveSnapshots{std::move(expired)});
  }
  return commit;
}

}  // namespace frazil::sinks
