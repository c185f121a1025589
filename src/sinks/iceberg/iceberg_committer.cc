#include "sinks/iceberg/iceberg_committer.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/retry.h"
#include "engine/dead_letters.h"
#include "sinks/iceberg/data_file_output.h"
#include "sinks/iceberg/dead_letter_table.h"
#include "sinks/iceberg/row_schema.h"
#include "sinks/iceberg/table_halts.h"
#include "sinks/iceberg/table_setup.h"

namespace frazil::sinks {
namespace {

constexpr size_t kOwedAtMost = 64;        // then the outbox has to be emptied first
constexpr size_t kExpireAtMost = 500;     // snapshots removed by one commit

bool may_have_failed_for_now(base::Code code) {
  return code == base::Code::kConflict || code == base::Code::kUnknownOutcome || code == base::Code::kUnavailable ||
         code == base::Code::kExhausted;
}

void tell_found(const IcebergSinkConfig& config, int64_t snapshot_id) {
  base::log_info("commit_found", {{"pipeline", config.pipeline},
                                  {"table", config.table.text()},
                                  {"snapshot", snapshot_id},
                                  {"why", "an earlier request of this commit was applied; its answer did not say so"}});
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
    default:
      return "not applied, for good";
  }
}

const char* verdict_name(engine::CommitVerdict::Kind kind) {
  switch (kind) {
    case engine::CommitVerdict::Kind::kDone:
      return "done";
    case engine::CommitVerdict::Kind::kStale:
      return "stale";
    case engine::CommitVerdict::Kind::kGap:
      return "gap";
  }
  return "";
}

bool is_refusal(base::Code code) { return code == base::Code::kInvalid || code == base::Code::kUnsupported; }

}  // namespace

IcebergCommitter::IcebergCommitter(const IcebergSinkConfig& config, iceberg::Catalog& catalog,
                                   const engine::PositionFormat& format, std::vector<engine::AcceptedChoice> accepted)
    : config_(config),
      catalog_(catalog),
      format_(format),
      accepted_(std::move(accepted)),
      outbox_(catalog, config.pipeline),
      expired_files_(config.history_keep_ms),
      retention_(config) {}

// --- loading ---------------------------------------------------------------------------------------------------------------

base::Status IcebergCommitter::until_decided(Phase phase, base::Interrupt& abandon, const Step& step) {
  int64_t total_ms = properties_.commit_total_timeout_ms;
  if (phase == Phase::kStart) total_ms = std::min(total_ms, config_.connect_timeout_ms);
  base::Backoff backoff(properties_.commit_min_wait_ms, properties_.commit_max_wait_ms, total_ms);
  while (true) {
    const Sent before = sent_;
    base::Result<iceberg::LoadedTable> loaded = load_pinned();
    base::Result<bool> decided = loaded.ok() ? step(*loaded) : base::Result<bool>(loaded.error());
    if (decided.ok() && *decided) return {};
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
    if (backoff.wait(abandon)) continue;
    const std::string last = decided.ok() ? "" : ": " + decided.error().message();
    if (abandon.raised()) return base::cancelled("commit to " + config_.table.text() + " left undecided" + last);
    return base::unavailable("commit to " + config_.table.text() + " undecided after " + std::to_string(backoff.tries()) +
                             " tries" + last);
  }
}

base::Result<iceberg::LoadedTable> IcebergCommitter::load_pinned() {
  base::Result<iceberg::LoadedTable> loaded = catalog_.load_table(config_.table);
  if (!loaded.ok()) {
    if (loaded.error().code() == base::Code::kNotFound && !pinned_uuid_.empty()) return table_gone(config_.table);
    return std::move(loaded).in("load table " + config_.table.text());
  }
  const iceberg::TableMetadata& metadata = loaded->metadata;
  head_ = metadata.current_snapshot_id.value_or(0);
  if (!pinned_uuid_.empty() && metadata.table_uuid != pinned_uuid_) {
    return table_replaced(config_.table, pinned_uuid_, metadata.table_uuid, head_);
  }
  return loaded;
}

base::Result<iceberg::LoadedTable> IcebergCommitter::load_or_create() {
  base::Result<iceberg::LoadedTable> loaded = load_pinned();
  if (loaded.ok() || loaded.error().code() != base::Code::kNotFound) return loaded;
  return create_table(catalog_, config_);
}

base::Status IcebergCommitter::prepare_writing(const iceberg::TableMetadata& metadata) {
  pinned_uuid_ = metadata.table_uuid;
  TRY_ASSIGN(auto schema, row_schema_for(config_, *metadata.current_schema()));
  TRY_ASSIGN(WriteTarget target, make_write_target(metadata, schema, metadata.default_spec()));
  target_ = std::make_shared<const WriteTarget>(std::move(target));
  target_schema_id_ = metadata.current_schema_id;
  TRY_ASSIGN(properties_, iceberg::read_table_properties(metadata.properties, metadata.location));
  by_hash_ = is_distributed_by_hash(metadata);
  return {};
}

// --- halts -----------------------------------------------------------------------------------------------------------------

base::Status IcebergCommitter::check_state(const PipelineState& state) const {
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

base::Status IcebergCommitter::recognise(const std::string& mark) {
  if (mark.empty() || mark == pinned_uuid_ || mark == accepted_mark_) return {};
  if (pinned_uuid_.empty() && !config_.create) return {};  // open() says that there is no table
  const base::Error replaced = table_of_group_replaced(config_, mark, pinned_uuid_, head_);
  TRY_ASSIGN(const std::optional<std::string> choice, engine::accepted_choice(accepted_, *replaced.halt(), config_.pipeline));
  if (!choice) return replaced;
  accepted_mark_ = mark;  // the table that is made now is another one, and answered for
  return {};
}

base::Status IcebergCommitter::accept_table_halt(const base::Halt& halt, const std::string& choice) {
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  return until_decided(Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    TRY_ASSIGN(const PipelineState state, read_state(*catalog_.file_io(), loaded.metadata, config_.pipeline, format_));
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) return true;
    const base::Status halted = check_state(state);
    if (halted.ok()) return true;  // another worker has answered it
    if (halted.error().halt() == nullptr || halted.error().halt()->token != halt.token) return halted.error();
    Proposal proposal;
    proposal.decision = encode_decision({halt.code, choice, halt.range, config_.user}, base::wall_micros());
    if (choice == "property") proposal.positions = *state.property_positions;
    if (choice == "source") {
      proposal.positions = state.marks.positions;
      proposal.owed = state.marks.owed;
    }
    if (choice == "table") {
      proposal.positions = state.at_head->positions;
      for (const OwedEntry& entry : state.marks.owed) {
        if (entry.epoch <= state.at_head->epoch) proposal.owed.push_back(entry);
      }
      proposal.owed.push_back({state.highest_epoch + 1, config_.dead_letters.text(), "",
                               std::pair(state.at_head->epoch + 1, state.highest_epoch)});
    }
    TRY(post(loaded, state, append, proposal));
    return true;
  });
}

base::Result<PipelineState> IcebergCommitter::settle_halts(iceberg::LoadedTable loaded) {
  while (true) {
    TRY_ASSIGN(PipelineState state, read_state(*catalog_.file_io(), loaded.metadata, config_.pipeline, format_));
    const base::Status status = check_state(state);
    if (status.ok()) return state;
    const base::Halt* halt = status.error().halt();
    if (halt == nullptr) return status.error();
    TRY_ASSIGN(const std::optional<std::string> choice, engine::accepted_choice(accepted_, *halt, config_.pipeline));
    if (!choice) return status.error();
    TRY(accept_table_halt(*halt, *choice));
    TRY_ASSIGN(loaded, load_pinned());
  }
}

// --- open and begin --------------------------------------------------------------------------------------------------------

base::Result<bool> IcebergCommitter::must_create() {
  if (!pinned_uuid_.empty()) return false;
  const base::Status known = catalog_.load_table(config_.table).status();
  if (known.ok()) return false;
  if (known.error().code() == base::Code::kNotFound) return true;
  return known.error().in("load table " + config_.table.text());
}

base::Result<std::optional<engine::SourcePositions>> IcebergCommitter::open() {
  using Positions = std::optional<engine::SourcePositions>;
  TRY_ASSIGN(iceberg::LoadedTable loaded, load_or_create());
  TRY(prepare_writing(loaded.metadata).in("table " + config_.table.text()));
  TRY(check_dead_letter_table(catalog_, config_.dead_letters));
  tell_what_is_not_honoured(config_, loaded.metadata);
  retention_.opened(loaded.metadata);
  TRY_ASSIGN(const PipelineState state, settle_halts(std::move(loaded)));
  if (state.condition == StateCondition::kUnknownPipeline) return Positions();
  base::Interrupt never;
  apply_owed(state.marks.owed, never, Outbox::When::kAtStart);
  return Positions(state.marks.positions);
}

base::Status IcebergCommitter::check_other_pipelines(const iceberg::LoadedTable& loaded, const engine::SourcePositions& asked,
                                                     Proposal& proposal) {
  for (const std::string& other : other_pipelines(loaded.metadata, config_.pipeline)) {
    TRY_ASSIGN(const PipelineState state, read_state(*catalog_.file_io(), loaded.metadata, other, format_));
    const bool is_known = state.condition == StateCondition::kHolds || state.condition == StateCondition::kRolledBack;
    if (!is_known || !have_common_source(asked, state.marks.positions)) continue;
    const base::Halt halt =
        positions_of_another(config_.table, other, format_.encode(state.marks.positions), head_);
    TRY_ASSIGN(const std::optional<std::string> choice, engine::accepted_choice(accepted_, halt, config_.pipeline));
    if (!choice) return base::Error(halt);
    proposal.decision = encode_decision({halt.code, *choice, halt.range, config_.user}, base::wall_micros());
    if (*choice != "take_over") continue;
    proposal.closes = other;
    proposal.owed.insert(proposal.owed.end(), state.marks.owed.begin(), state.marks.owed.end());
    for (const auto& [split, position] : state.marks.positions.next) proposal.positions.next[split] = position;
    for (const auto& [key, value] : state.marks.positions.identity) proposal.positions.identity[key] = value;
  }
  return {};
}

base::Result<bool> IcebergCommitter::try_begin(const iceberg::LoadedTable& loaded, const engine::SourcePositions& start,
                                               iceberg::Append& append, engine::SourcePositions& result) {
  TRY_ASSIGN(const PipelineState state, read_state(*catalog_.file_io(), loaded.metadata, config_.pipeline, format_));
  TRY(check_state(state));
  if (state.condition == StateCondition::kHolds) {
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) tell_found(config_, append.snapshot_id());
    result = state.marks.positions;
    return true;
  }
  Proposal proposal;
  proposal.positions = start;
  TRY(check_other_pipelines(loaded, start, proposal));
  TRY(post(loaded, state, append, proposal));
  result = proposal.positions;
  base::log_info("pipeline_begun", {{"pipeline", config_.pipeline},
                                    {"table", config_.table.text()},
                                    {"positions", format_.encode(result)}});
  return true;
}

base::Result<engine::SourcePositions> IcebergCommitter::begin(const engine::SourcePositions& start) {
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  engine::SourcePositions result;
  TRY(until_decided(Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) { return try_begin(loaded, start, append, result); }));
  return result;
}

base::Result<engine::SourcePositions> IcebergCommitter::reload() {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, load_pinned());
  TRY_ASSIGN(const PipelineState state, read_state(*catalog_.file_io(), loaded.metadata, config_.pipeline, format_));
  TRY(check_state(state));
  return state.marks.positions;
}

base::Result<engine::SourcePositions> IcebergCommitter::decide(const engine::SourcePositions& expected,
                                                               const engine::SourcePositions& moved,
                                                               const engine::Decision& decision) {
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  engine::SourcePositions result;
  TRY(until_decided(Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    TRY_ASSIGN(const PipelineState state, read_state(*catalog_.file_io(), loaded.metadata, config_.pipeline, format_));
    TRY(check_state(state));
    result = state.marks.positions;
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) return true;
    if (state.marks.positions != expected) return true;  // somebody moved them meanwhile: look again
    Proposal proposal;
    proposal.positions = moved;
    proposal.owed = outbox_.remaining(state.marks.owed);
    proposal.decision = encode_decision(decision, base::wall_micros());
    TRY(post(loaded, state, append, proposal));
    result = moved;
    return true;
  }));
  return result;
}

// --- commit ----------------------------------------------------------------------------------------------------------------

base::Result<engine::CommitVerdict> IcebergCommitter::commit(engine::StagedEpoch& epoch, base::Interrupt& abandon) {
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  for (const auto& output : epoch.outputs) {
    const auto& file = static_cast<const DataFileOutput&>(*output);
    append.add(file.file(), file.spec_id());
  }
  written_dead_letters_.reset();
  owed_now_.clear();
  sent_ = {0, append.snapshot_id(), 0};
  base::log_debug("batch_closed", {{"pipeline", config_.pipeline},
                                   {"batch", epoch.number},
                                   {"snapshot", append.snapshot_id()},
                                   {"files", static_cast<int64_t>(epoch.outputs.size())},
                                   {"rows", epoch.rows},
                                   {"ranges", format_.encode_ranges(epoch.ranges)}});
  engine::CommitVerdict verdict;
  TRY(until_decided(Phase::kRun, abandon, [&](const iceberg::LoadedTable& loaded) { return try_commit(loaded, epoch, append, verdict); }));
  tell_verdict(verdict);
  // All of it, in order: applying this epoch's entry alone would skip those that another worker could not apply.
  if (verdict.kind == engine::CommitVerdict::Kind::kDone) apply_owed(owed_now_, abandon, Outbox::When::kAfterCommit);
  return verdict;
}

// A commit that took one request and was accepted has said so already.
void IcebergCommitter::tell_verdict(const engine::CommitVerdict& verdict) const {
  if (verdict.kind == engine::CommitVerdict::Kind::kDone && sent_.requests == 1 && verdict.reason.empty()) return;
  base::log_info("commit_decided", {{"pipeline", config_.pipeline},
                                    {"table", config_.table.text()},
                                    {"epoch", sent_.epoch},
                                    {"snapshot", sent_.snapshot},
                                    {"requests", sent_.requests},
                                    {"verdict", verdict_name(verdict.kind)},
                                    {"why", verdict.reason.empty() ? "the last request was accepted" : verdict.reason}});
}

base::Result<bool> IcebergCommitter::drop(const engine::Ledger& ledger, engine::CommitVerdict::Kind kind,
                                          const std::string& reason, engine::CommitVerdict& verdict) {
  verdict.kind = kind;
  verdict.reason = reason;
  verdict.positions = ledger.frontier();
  return true;
}

base::Result<bool> IcebergCommitter::settle_new_topics(const iceberg::LoadedTable& loaded, const PipelineState& state,
                                                       const engine::StagedEpoch& epoch, Proposal& proposal,
                                                       engine::CommitVerdict& verdict) {
  engine::SourcePositions fresh{state.marks.positions.kind, {}, {}};
  bool is_any = false;
  for (const auto& [key, id] : epoch.identity) {
    const bool is_topic = key.starts_with("topic/");
    if (is_topic && state.marks.positions.identity.contains(key)) continue;
    fresh.identity[key] = id;
    is_any = is_any || is_topic;
  }
  if (!is_any) return false;
  Proposal joint;
  joint.positions = state.marks.positions;
  joint.owed = outbox_.remaining(state.marks.owed);
  TRY(check_other_pipelines(loaded, fresh, joint));
  proposal.decision = joint.decision;
  if (joint.closes.empty()) return false;
  // Sent again after an unknown answer it changes nothing: the other one is closed then, and the topics are known.
  iceberg::Append nothing(catalog_.file_io(), base::random_snapshot_id());
  TRY(post(loaded, state, nothing, joint));
  verdict = {engine::CommitVerdict::Kind::kStale, joint.positions, "positions of pipeline " + joint.closes + " were taken over"};
  return true;
}

base::Result<bool> IcebergCommitter::try_commit(const iceberg::LoadedTable& loaded, engine::StagedEpoch& epoch,
                                                iceberg::Append& append, engine::CommitVerdict& verdict) {
  using Kind = engine::CommitVerdict::Kind;
  const iceberg::TableMetadata& metadata = loaded.metadata;
  TRY_ASSIGN(PipelineState state, read_state(*catalog_.file_io(), metadata, config_.pipeline, format_));
  TRY(check_state(state));
  if (metadata.snapshot(append.snapshot_id()) != nullptr) {
    tell_found(config_, append.snapshot_id());
    verdict.positions = state.marks.positions;
    verdict.reason = "the table has snapshot " + std::to_string(append.snapshot_id());
    owed_now_ = state.marks.owed;
    return true;
  }
  engine::Ledger ledger(format_, state.marks.positions);
  const engine::Ledger::Judgement judgement = ledger.judge(epoch.ranges);
  if (judgement.answer == engine::Ledger::Answer::kStale) return drop(ledger, Kind::kStale, judgement.reason, verdict);
  if (judgement.answer == engine::Ledger::Answer::kGap) return drop(ledger, Kind::kGap, judgement.reason, verdict);
  if (metadata.current_schema_id != target_schema_id_ || metadata.default_spec_id != target_->spec.spec_id) {
    return drop(ledger, Kind::kStale, "the table's schema or partition spec was changed; rows are read again for the new one",
                verdict);
  }
  Proposal proposal;
  TRY_ASSIGN(const bool is_taken_over, settle_new_topics(loaded, state, epoch, proposal, verdict));
  if (is_taken_over) return true;
  ledger.accept(epoch.ranges, epoch.identity);
  proposal.positions = ledger.frontier();
  proposal.ranges = epoch.ranges;
  proposal.record_times = epoch.record_times;
  proposal.owed = outbox_.remaining(state.marks.owed);
  if (proposal.owed.size() >= kOwedAtMost) {
    base::Interrupt never;
    TRY(outbox_.apply(proposal.owed, never));
    proposal.owed = outbox_.remaining(state.marks.owed);
  }
  TRY(owe_dead_letters(epoch, state.highest_epoch + 1, proposal.owed));
  TRY(post(loaded, state, append, proposal));
  verdict.kind = Kind::kDone;
  verdict.positions = std::move(proposal.positions);
  owed_now_ = std::move(proposal.owed);
  return true;
}

base::Status IcebergCommitter::owe_dead_letters(engine::StagedEpoch& epoch, int64_t number, std::vector<OwedEntry>& owed) {
  if (!epoch.dead_letters) return {};
  if (!written_dead_letters_ || written_dead_letters_->epoch != number) {
    TRY_ASSIGN(const iceberg::LoadedTable table, open_dead_letter_table(catalog_, config_.dead_letters));
    engine::set_epoch(*epoch.dead_letters, number);
    TRY_ASSIGN(std::string manifest, write_dead_letters(catalog_, table, *epoch.dead_letters, number));
    written_dead_letters_ = OwedEntry{number, config_.dead_letters.text(), std::move(manifest), {}};
  }
  owed.push_back(*written_dead_letters_);
  return {};
}

void IcebergCommitter::apply_owed(const std::vector<OwedEntry>& owed, base::Interrupt& abandon, Outbox::When when) {
  if (base::Status status = outbox_.apply(owed, abandon, when); !status.ok()) {
    base::log_warn("owed_left", {{"pipeline", config_.pipeline}, {"why", status.error().message()}});
  }
}

base::Status IcebergCommitter::post(const iceberg::LoadedTable& loaded, const PipelineState& state, iceberg::Append& append,
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
  TRY_ASSIGN(const iceberg::Snapshot snapshot, append.prepare(loaded.metadata));
  const iceberg::TableCommit commit = request(loaded.metadata, state, snapshot, marks, proposal);
  const int64_t base_head = loaded.metadata.current_snapshot_id.value_or(0);
  sent_ = {marks.epoch, snapshot.snapshot_id, sent_.snapshot == snapshot.snapshot_id ? sent_.requests + 1 : 1};
  base::log_debug("commit_sent", {{"pipeline", config_.pipeline},
                                  {"epoch", marks.epoch},
                                  {"snapshot", snapshot.snapshot_id},
                                  {"on", base_head},
                                  {"request", sent_.requests}});
  base::Result<iceberg::LoadedTable> answer = catalog_.commit_table(config_.table, commit);
  // A catalog that answers well and shows a table without the snapshot has lost it, or has yet to apply it.
  if (answer.ok() && answer->metadata.snapshot(snapshot.snapshot_id) == nullptr) {
    return base::Error(base::Code::kUnknownOutcome,
                       "the catalog answers ok, and its table lacks snapshot " + std::to_string(snapshot.snapshot_id));
  }
  if (answer.ok()) {
    head_ = snapshot.snapshot_id;
    base::log_info("commit_accepted", {{"pipeline", config_.pipeline},
                                       {"table", config_.table.text()},
                                       {"epoch", marks.epoch},
                                       {"snapshot", snapshot.snapshot_id}});
    note_expired(loaded.metadata, commit);
    retention_.committed(answer->metadata);
    return {};
  }
  base::log_info("commit_answer", {{"pipeline", config_.pipeline},
                                   {"table", config_.table.text()},
                                   {"epoch", marks.epoch},
                                   {"snapshot", snapshot.snapshot_id},
                                   {"on", base_head},
                                   {"request", sent_.requests},
                                   {"code", base::code_name(answer.error().code())},
                                   {"meaning", meaning_of(answer.error().code())},
                                   {"answer", answer.error().message()}});
  if (is_refusal(answer.error().code())) return commit_rejected(config_.table, answer.error(), head_);
  return answer.status();
}

void IcebergCommitter::note_expired(const iceberg::TableMetadata& before, const iceberg::TableCommit& commit) {
  for (const iceberg::Update& update : commit.updates) {
    if (const auto* removed = std::get_if<iceberg::RemoveSnapshots>(&update)) {
      expired_files_.note(*catalog_.file_io(), before, removed->snapshot_ids);
    }
  }
  expired_files_.sweep(*catalog_.file_io());
}

iceberg::TableCommit IcebergCommitter::request(const iceberg::TableMetadata& base, const PipelineState& state,
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
  if (std::vector<int64_t> expired = snapshots_to_expire(base, kExpireAtMost); !expired.empty()) {
    commit.updates.push_back(iceberg::RemoveSnapshots{std::move(expired)});
  }
  return commit;
}

}  // namespace frazil::sinks
