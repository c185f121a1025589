#include "sinks/iceberg/iceberg_committer.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/dead_letters.h"
#include "iceberg/manifest.h"
#include "io/stored_files.h"
#include "sinks/iceberg/data_file_output.h"
#include "sinks/iceberg/dead_letter_table.h"
#include "sinks/iceberg/table_halts.h"
#include "sinks/iceberg/table_setup.h"

namespace frazil::sinks {
namespace {

base::Failpoint begin_before("begin.before", "the first positions of a pipeline are resolved and not in the table", base::Code::kUnavailable);
base::Failpoint batch_close("batch.close", "an epoch's files are durable and known to the committer", base::Code::kUnavailable);
base::Failpoint validate_after("commit.validate.after", "an epoch was found to fit the table", base::Code::kUnavailable);
base::Failpoint dlq_before("dlq.before", "an epoch's dead letters are not written", base::Code::kUnavailable);
base::Failpoint dlq_after("dlq.after", "dead letters and their manifest are written, nothing names them", base::Code::kUnavailable);
base::Failpoint owed_before("owed.before", "an epoch is in the table, its dead letters are owed");
base::Failpoint owed_after("owed.after", "what was owed is applied, the table still lists it");

constexpr size_t kOwedAtMost = 64;  // then the outbox has to be emptied first
// Then data files that wait for their commit are looked at again: cleaners of other engines remove what no snapshot names
// after a day and more.
constexpr int64_t kFilesTrustedMicros = int64_t{12} * 3'600 * 1'000'000;

void tell_found(const IcebergSinkConfig& config, int64_t snapshot_id) {
  base::log_info("commit_found", {{"pipeline", config.pipeline},
                                  {"table", config.table.text()},
                                  {"snapshot", snapshot_id},
                                  {"why", "an earlier request of this commit was applied; its answer did not say so"}});
}

// A change of the list and another file of the same name look alike, so it is told and not stopped.
void tell_changed_list(const IcebergSinkConfig& config, const KnownTables& known) {
  if (known.empty()) return;
  std::string came;
  KnownTables went = known;
  for (const TargetConfig& target : config.targets) {
    if (went.erase(target.table.text()) == 0 && target.table != config.table) came += (came.empty() ? "" : " ") + target.table.text();
  }
  if (came.empty()) return;
  std::string left;
  for (const auto& [name, uuid] : went) left += (left.empty() ? "" : " ") + name;
  base::log_warn("tables_changed", {{"pipeline", config.pipeline}, {"came", came}, {"no_longer_listed", left},
                                    {"meaning", "rows that were read already stay where they went; new tables get those from now on. If this "
                                                "is another file under the same name, give it another `name`"}});
}

}  // namespace

IcebergCommitter::IcebergCommitter(const IcebergSinkConfig& config, iceberg::Catalog& catalog,
                                   const engine::PositionFormat& format, std::vector<engine::AcceptedChoice> accepted)
    : config_(config),
      catalog_(catalog),
      format_(format),
      anchor_(config, catalog, format),
      answers_(config, catalog, format, anchor_, std::move(accepted)),
      outbox_(catalog, config) {
  outbox_.ask_before_first([this](const auto& table, const auto& metadata) { return answers_.check_writers(table, metadata); });
}

// --- open and begin --------------------------------------------------------------------------------------------------------

base::Result<bool> IcebergCommitter::must_create() {
  if (!anchor_.uuid().empty()) return false;
  const base::Status known = catalog_.load_table(config_.table).status();
  if (known.ok()) return false;
  if (known.error().code() == base::Code::kNotFound) return true;
  return known.error();
}

base::Result<iceberg::LoadedTable> IcebergCommitter::open_other(const TargetConfig& target, const KnownTables& known,
                                                           const std::vector<OwedEntry>& owed) {
  const std::string name = target.table.text();
  const auto before = known.find(name);
  base::Result<iceberg::LoadedTable> loaded = catalog_.load_table(target.table);
  if (!loaded.ok() && loaded.error().code() != base::Code::kNotFound) return loaded;
  if (!loaded.ok() && before == known.end()) return create_table(catalog_, config_of(config_, target));
  std::vector<OwedEntry> of_table = owed;
  std::erase_if(of_table, [&](const OwedEntry& entry) { return entry.table != name; });
  if (!loaded.ok()) return owed_table_gone(target.table, before->second, of_table);
  if (before != known.end() && loaded->metadata.table_uuid != before->second) {
    return owed_table_replaced(target.table, before->second, loaded->metadata.table_uuid, of_table);
  }
  return loaded;
}

base::Status IcebergCommitter::open_targets(const iceberg::LoadedTable& anchor, const std::vector<OwedEntry>& owed) {
  KnownTables known = decode_known_tables(anchor.metadata.property(property_name(config_.pipeline) + ".tables"));
  tell_changed_list(config_, known);
  KnownTables others;
  std::vector<TargetTable> tables;
  for (const TargetConfig& target : targets_of(config_)) {
    const bool is_anchor = target.table == config_.table;
    base::Result<iceberg::LoadedTable> loaded = is_anchor ? base::Result<iceberg::LoadedTable>(anchor) : open_other(target, known, owed);
    if (!loaded.ok() && loaded.error().halt() != nullptr) {
      TRY(answers_.settle_owed({target.table.text(), loaded.error()}));
      known.erase(target.table.text());
      loaded = open_other(target, known, owed);
    }
    TRY(loaded.status());
    TRY_ASSIGN(TargetTable table, TargetTables::describe(config_, target, loaded->metadata).in("table " + target.table.text()));
    tell_what_is_not_honoured(config_of(config_, target), loaded->metadata);
    if (!is_anchor) {
      others[table.id.text()] = table.uuid;
      outbox_.note_seen(table.id.text(), loaded->metadata);  // nothing may be owed to it, so that nobody else looks
    }
    tables.push_back(std::move(table));
  }
  anchor_.remember(std::move(others));
  TRY_ASSIGN(targets_, TargetTables::make(config_, std::move(tables)));
  return {};
}

base::Result<std::optional<engine::SourcePositions>> IcebergCommitter::open() {
  using Positions = std::optional<engine::SourcePositions>;
  TRY_ASSIGN(iceberg::LoadedTable loaded, anchor_.load_or_create());
  TRY(anchor_.pin(loaded.metadata));
  outbox_.belong_to(anchor_.uuid());
  if (config_.targets.empty()) TRY(open_targets(loaded, {}));  // a schema that does not fit comes before halts
  TRY(check_dead_letter_table(catalog_, config_.dead_letters));
  TRY_ASSIGN(PipelineState state, answers_.settle(loaded));
  if (!config_.targets.empty()) {
    TRY(open_targets(loaded, state.marks.owed));
    TRY_ASSIGN(loaded, anchor_.load());  // an answer may have changed what is owed
    TRY_ASSIGN(state, answers_.settle(loaded));
  }
  if (state.condition == StateCondition::kUnknownPipeline) return Positions();
  TRY(answers_.settle_former_anchor_at_start(loaded));
  TRY_ASSIGN(state, answers_.settle_applied(std::move(state)));
  TRY(outbox_.note_anchor_at(state.highest_epoch, anchor_.head()));
  base::Interrupt never;
  TRY(apply_owed(state.marks.owed, never, When::kAtStart));
  return Positions(state.marks.positions);
}

base::Result<bool> IcebergCommitter::try_begin(const iceberg::LoadedTable& loaded, const engine::SourcePositions& start,
                                               iceberg::Append& append, engine::SourcePositions& result) {
  TRY_ASSIGN(PipelineState state, anchor_.state_in(loaded));
  TRY(anchor_.check(state));
  TRY_ASSIGN(const AppliedEpoch applied, highest_applied(catalog_, config_, anchor_.uuid()));
  if (state.condition == StateCondition::kUnknownPipeline && applied.epoch > 0) {  // begun meanwhile, or positions were lost
    TRY_ASSIGN(const iceberg::LoadedTable now, anchor_.load());
    TRY_ASSIGN(state, anchor_.state_in(now));
    TRY(anchor_.check(state));
  }
  if (state.condition == StateCondition::kHolds) {
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) tell_found(config_, append.snapshot_id());
    result = state.marks.positions;
    return true;
  }
  Proposal proposal;
  proposal.positions = start;
  TRY(answers_.settle_former_anchor(loaded, state, proposal));
  TRY(answers_.settle_other_pipelines(loaded, start, proposal));
  state.highest_epoch = std::max(state.highest_epoch, applied.epoch);
  TRY(begin_before.pass());
  TRY(anchor_.post(loaded, state, append, proposal));
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
  TRY(anchor_.until_decided(AnchorTable::Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) { return try_begin(loaded, start, append, result); }));
  return result;
}

base::Result<engine::SourcePositions> IcebergCommitter::reload() {
  TRY_ASSIGN(const iceberg::LoadedTable loaded, anchor_.load());
  TRY_ASSIGN(const PipelineState state, anchor_.state_in(loaded));
  TRY(anchor_.check(state));
  return state.marks.positions;
}

base::Result<engine::SourcePositions> IcebergCommitter::decide(const engine::SourcePositions& expected,
                                                               const engine::SourcePositions& moved,
                                                               const engine::Decision& decision) {
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  engine::SourcePositions result;
  TRY(anchor_.until_decided(AnchorTable::Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    TRY_ASSIGN(const PipelineState state, anchor_.state_in(loaded));
    TRY(anchor_.check(state));
    result = state.marks.positions;
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) return true;
    if (state.marks.positions != expected) return true;  // somebody moved them meanwhile: look again
    Proposal proposal;
    proposal.positions = moved;
    proposal.owed = outbox_.remaining(state.marks.owed);
    proposal.decision = encode_decision(decision, base::wall_micros());
    TRY(anchor_.post(loaded, state, append, proposal));
    result = moved;
    return true;
  }));
  return result;
}

// --- commit ----------------------------------------------------------------------------------------------------------------

base::Result<engine::CommitVerdict> IcebergCommitter::commit(engine::StagedEpoch& epoch, base::Interrupt& abandon) {
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  sort_files(epoch, append);
  written_dead_letters_.reset();
  owed_now_.clear();
  files_checked_at_ = 0;
  anchor_.note_batch(append.snapshot_id());
  base::log_debug("batch_closed", {{"pipeline", config_.pipeline},
                                   {"batch", epoch.number},
                                   {"snapshot", append.snapshot_id()},
                                   {"files", static_cast<int64_t>(epoch.outputs.size())},
                                   {"rows", epoch.rows},
                                   {"ranges", format_.encode_ranges(epoch.ranges)}});
  TRY(batch_close.pass());
  engine::CommitVerdict verdict;
  TRY(anchor_.until_decided(AnchorTable::Phase::kRun, abandon, [&](const iceberg::LoadedTable& loaded) { return try_commit(loaded, epoch, append, verdict); }));
  tell_verdict(verdict);
  // All of it, in order: applying this epoch's entry alone would skip those that another worker could not apply.
  if (verdict.kind == engine::CommitVerdict::Kind::kDone) TRY(apply_owed(owed_now_, abandon, When::kAfterCommit));
  if (verdict.kind == engine::CommitVerdict::Kind::kDone) count(epoch);
  return verdict;
}

void IcebergCommitter::count(const engine::StagedEpoch& epoch) const {
  if (config_.targets.empty() || config_.metrics == nullptr) return;
  std::map<std::string, int64_t> owed;
  for (const OwedEntry& entry : outbox_.remaining(owed_now_)) owed[entry.table] += 1;
  std::map<size_t, int64_t> rows;
  for (const auto& output : epoch.outputs) rows[static_cast<const DataFileOutput&>(*output).table()] += output->rows();
  for (size_t i = 0; i < targets_->tables().size(); ++i) {
    const std::string table = targets_->tables()[i].id.text();
    const base::Labels labels{{"pipeline", config_.pipeline}, {"table", table}};
    config_.metrics->counter("frazil_table_rows_total", "Rows in accepted commits, by table, of pipelines with several.", labels).add(rows[i]);
    config_.metrics->gauge("frazil_table_owed_entries", "What a table is owed after the last commit, in entries.", labels)
        .set(static_cast<double>(owed[table]));
  }
}

void IcebergCommitter::sort_files(const engine::StagedEpoch& epoch, iceberg::Append& append) {
  owed_files_.clear();
  for (const auto& output : epoch.outputs) {
    const auto& file = static_cast<const DataFileOutput&>(*output);
    if (targets_->tables()[file.table()].is_anchor) {
      append.add(file.file(), file.spec_id());
    } else {
      owed_files_[file.table()].files.push_back(file.file());
    }
  }
}

// A commit that took one request and was accepted has said so already.
void IcebergCommitter::tell_verdict(const engine::CommitVerdict& verdict) const {
  const AnchorTable::Sent& sent = anchor_.sent();
  if (verdict.kind == engine::CommitVerdict::Kind::kDone && sent.requests == 1 && verdict.reason.empty()) return;
  base::log_info("commit_decided", {{"pipeline", config_.pipeline},
                                    {"table", config_.table.text()},
                                    {"epoch", sent.epoch},
                                    {"snapshot", sent.snapshot},
                                    {"requests", sent.requests},
                                    {"verdict", engine::verdict_name(verdict.kind)},
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
  TRY(answers_.settle_other_pipelines(loaded, fresh, joint));
  proposal.decision = joint.decision;
  if (joint.closes.empty()) return false;
  // Sent again after an unknown answer it changes nothing: the other one is closed then, and the topics are known.
  iceberg::Append nothing(catalog_.file_io(), base::random_snapshot_id());
  TRY(anchor_.post(loaded, state, nothing, joint));
  verdict = {engine::CommitVerdict::Kind::kUnfit, joint.positions, "positions of pipeline " + joint.closes + " were taken over"};
  return true;
}

base::Result<bool> IcebergCommitter::try_commit(const iceberg::LoadedTable& loaded, engine::StagedEpoch& epoch,
                                                iceberg::Append& append, engine::CommitVerdict& verdict) {
  using Kind = engine::CommitVerdict::Kind;
  const iceberg::TableMetadata& metadata = loaded.metadata;
  TRY_ASSIGN(PipelineState state, anchor_.state_in(loaded));
  TRY(anchor_.check(state));
  if (metadata.snapshot(append.snapshot_id()) != nullptr) {
    tell_found(config_, append.snapshot_id());
    verdict.positions = state.marks.positions;
    verdict.reason = "the table has snapshot " + std::to_string(append.snapshot_id());
    owed_now_ = state.marks.owed;
    return true;
  }
  TRY(outbox_.note_anchor_at(state.highest_epoch, anchor_.head()));
  engine::Ledger ledger(format_, state.marks.positions);
  const engine::Ledger::Judgement judgement = ledger.judge(epoch.ranges);
  if (judgement.answer == engine::Ledger::Answer::kStale) return drop(ledger, Kind::kStale, judgement.reason, verdict);
  if (judgement.answer == engine::Ledger::Answer::kGap) return drop(ledger, Kind::kGap, judgement.reason, verdict);
  if (const std::string changed = changed_target(metadata); !changed.empty()) return drop(ledger, Kind::kUnfit, changed, verdict);
  TRY_ASSIGN(const std::optional<std::string> damage, damage_of(epoch));
  if (damage) return drop(ledger, Kind::kUnfit, *damage, verdict);
  TRY(validate_after.pass());
  Proposal proposal;
  TRY_ASSIGN(const bool is_taken_over, settle_new_topics(loaded, state, epoch, proposal, verdict));
  if (is_taken_over) return true;
  ledger.accept(epoch.ranges, epoch.identity);
  proposal.positions = ledger.frontier();
  proposal.ranges = epoch.ranges;
  proposal.record_times = epoch.record_times;
  proposal.owed = outbox_.remaining(state.marks.owed);
  TRY(make_room(owed_files_.size() + (epoch.dead_letters ? 1 : 0), state, proposal.owed));
  TRY(owe_files(state.highest_epoch + 1, proposal.owed));
  TRY(owe_dead_letters(epoch, state.highest_epoch + 1, proposal.owed));
  TRY(anchor_.post(loaded, state, append, proposal));
  verdict.kind = Kind::kDone;
  verdict.positions = std::move(proposal.positions);
  owed_now_ = std::move(proposal.owed);
  return true;
}

base::Result<std::optional<std::string>> IcebergCommitter::damage_of(const engine::StagedEpoch& epoch) {
  const int64_t now = base::wall_micros();
  const bool is_known = files_checked_at_ != 0 && now >= files_checked_at_ && now - files_checked_at_ < kFilesTrustedMicros;
  if (is_known) return std::optional<std::string>();
  std::vector<io::FileStatus> expected;
  for (const auto& output : epoch.outputs) {
    const iceberg::DataFile& file = static_cast<const DataFileOutput&>(*output).file();
    expected.push_back({file.file_path, file.file_size_in_bytes, 0});
  }
  TRY_ASSIGN(std::optional<std::string> damage, io::damage_among(*catalog_.file_io(), expected));
  files_checked_at_ = now;
  if (damage) base::log_warn("stored_file_damaged", {{"pipeline", config_.pipeline}, {"what", *damage}, {"then", "its rows are read again"}});
  return damage;
}

std::string IcebergCommitter::changed_target(const iceberg::TableMetadata& anchor) const {
  for (const TargetTable& table : targets_->tables()) {
    const Outbox::Seen own{anchor.current_schema_id, anchor.default_spec_id};
    const Outbox::Seen* now = table.is_anchor ? &own : outbox_.seen(table.id.text());
    if (now == nullptr || (now->schema_id == table.schema_id && now->spec_id == table.write->spec.spec_id)) continue;
    return "the schema or partition spec of table " + table.id.text() + " was changed; rows are read again for the new one";
  }
  return "";
}

base::Status IcebergCommitter::make_room(size_t wanted, const PipelineState& state, std::vector<OwedEntry>& owed) {
  if (owed.empty() || owed.size() + wanted <= kOwedAtMost) return {};
  base::Interrupt never;
  const std::vector<OwedTrouble> troubles = outbox_.apply(owed, never);
  owed = outbox_.remaining(state.marks.owed);
  for (const OwedTrouble& trouble : troubles) {
    if (trouble.error.halt() != nullptr) return trouble.error;
  }
  if (owed.empty() || owed.size() + wanted <= kOwedAtMost) return {};
  return base::unavailable("other tables of the pipeline are owed too much already: " + troubles.front().error.message());
}

base::Status IcebergCommitter::owe_files(int64_t number, std::vector<OwedEntry>& owed) {
  for (auto& [index, of_table] : owed_files_) {
    const TargetTable& table = targets_->tables()[index];
    if (!of_table.entry) {
      const std::string location = table.write->metadata_path + "/" + base::random_uuid() + "-owed.avro";
      TRY_ASSIGN(const iceberg::ManifestFile manifest,
                 iceberg::write_manifest(*catalog_.file_io(), location, *table.write->schema, table.write->spec,
                                         base::random_snapshot_id(), of_table.files, table.write->avro));
      TRY(io::demand_stored(*catalog_.file_io(), {{location, manifest.manifest_length, 0}}));
      of_table.entry = OwedEntry{0, table.id.text(), location, {}, table.uuid};
    }
    of_table.entry->epoch = number;  // another worker may have taken the number that it had
    owed.push_back(*of_table.entry);
  }
  return {};
}

base::Status IcebergCommitter::owe_dead_letters(engine::StagedEpoch& epoch, int64_t number, std::vector<OwedEntry>& owed) {
  if (!epoch.dead_letters) return {};
  if (!written_dead_letters_ || written_dead_letters_->epoch != number) {
    if (written_dead_letters_) {  // another worker took the number that stands in their rows: the file stays as an orphan
      base::log_debug("dead_letters_written_again", {{"pipeline", config_.pipeline}, {"epoch", number}, {"before", written_dead_letters_->epoch}});
    }
    TRY_ASSIGN(const iceberg::LoadedTable table, open_dead_letter_table(catalog_, config_.dead_letters));
    engine::set_epoch(*epoch.dead_letters, number);
    TRY(dlq_before.pass());
    TRY_ASSIGN(std::string manifest, write_dead_letters(catalog_, config_.dead_letters, table.metadata, *epoch.dead_letters, number));
    TRY(dlq_after.pass());
    written_dead_letters_ = OwedEntry{number, config_.dead_letters.text(), std::move(manifest), {}, table.metadata.table_uuid};
  }
  owed.push_back(*written_dead_letters_);
  return {};
}

base::Status IcebergCommitter::apply_owed(const std::vector<OwedEntry>& owed, base::Interrupt& abandon, When when) {
  if (owed.empty()) return {};
  owed_before.pass_by();
  base::Status halted;
  bool is_beside = false;  // what was held back may go now
  for (const OwedTrouble& trouble : outbox_.apply(owed, abandon)) {
    if (trouble.error.halt() == nullptr) {
      base::log_warn("owed_left", {{"pipeline", config_.pipeline}, {"table", trouble.table}, {"why", trouble.error.message()}});
    } else if (halted.ok()) {
      // Answered at a start, so that reading does not go on behind rows that are in no table.
      halted = when == When::kAtStart ? answers_.settle_owed(trouble) : base::Status(trouble.error);
      is_beside = is_beside || (halted.ok() && trouble.error.halt()->code == "POSITIONS_OF_ANOTHER_PIPELINE");
    }
  }
  if (halted.ok() && is_beside) return apply_owed(owed, abandon, when);
  owed_after.pass_by();
  return halted;
}

}  // namespace frazil::sinks
