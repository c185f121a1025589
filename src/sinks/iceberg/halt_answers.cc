#include "sinks/iceberg/halt_answers.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "sinks/iceberg/row_schema.h"
#include "sinks/iceberg/table_halts.h"
#include "sinks/iceberg/target_tables.h"

namespace frazil::sinks {

std::vector<OwedEntry> owed_when_going_back(const IcebergSinkConfig& config, const PipelineState& state, int64_t epoch) {
  std::vector<OwedEntry> owed;
  for (const OwedEntry& entry : state.marks.owed) {
    if (entry.epoch <= epoch) owed.push_back(entry);
  }
  KnownTables others = state.tables;
  for (const TargetConfig& target : config.targets) others.try_emplace(target.table.text());
  others.try_emplace(config.dead_letters.text());
  others.erase(config.table.text());
  for (const auto& [table, uuid] : others) {
    owed.push_back({state.highest_epoch + 1, table, "", std::pair(epoch + 1, state.highest_epoch)});
  }
  return owed;
}

base::Result<std::optional<std::string>> HaltAnswers::choice_for(const base::Halt& halt) const {
  return engine::accepted_choice(accepted_, halt, config_.pipeline);
}

std::string HaltAnswers::decision_text(const base::Halt& halt, const std::string& choice) const {
  return encode_decision({halt.code, choice, halt.range, config_.user}, base::wall_micros());
}

base::Status HaltAnswers::recognise(const std::string& mark) {
  if (mark.empty() || mark == anchor_.uuid() || mark == accepted_mark_) return {};
  if (anchor_.uuid().empty() && !config_.create) return {};  // open() says that there is no table
  const base::Error replaced = table_of_group_replaced(config_, mark, anchor_.uuid(), anchor_.head());
  TRY_ASSIGN(const std::optional<std::string> choice, choice_for(*replaced.halt()));
  if (!choice) return replaced;
  accepted_mark_ = mark;  // the table that is made now is another one, and answered for
  return {};
}

base::Result<PipelineState> HaltAnswers::settle(iceberg::LoadedTable loaded) {
  while (true) {
    TRY_ASSIGN(PipelineState state, anchor_.state_in(loaded));
    const base::Status status = anchor_.check(state);
    if (status.ok()) return state;
    const base::Halt* halt = status.error().halt();
    if (halt == nullptr) return status.error();
    TRY_ASSIGN(const std::optional<std::string> choice, choice_for(*halt));
    if (!choice) return status.error();
    TRY(carry_out(*halt, *choice));
    TRY_ASSIGN(loaded, anchor_.load());
  }
}

base::Status HaltAnswers::carry_out(const base::Halt& halt, const std::string& choice) {
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  return anchor_.until_decided(AnchorTable::Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    TRY_ASSIGN(const PipelineState state, anchor_.state_in(loaded));
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) return true;
    const base::Status halted = anchor_.check(state);
    if (halted.ok()) return true;  // another worker has answered it
    if (halted.error().halt() == nullptr || halted.error().halt()->token != halt.token) return halted.error();
    Proposal proposal = proposal_for(choice, state);
    proposal.decision = decision_text(halt, choice);
    TRY(anchor_.post(loaded, state, append, proposal));
    return true;
  });
}

base::Result<PipelineState> HaltAnswers::settle_applied(PipelineState state) {
  TRY_ASSIGN(const AppliedEpoch applied, highest_applied(catalog_, config_, anchor_.uuid()));
  if (applied.epoch <= state.highest_epoch) return state;
  TRY_ASSIGN(iceberg::LoadedTable loaded, anchor_.load());  // another worker may have committed and applied that epoch meanwhile
  TRY_ASSIGN(state, settle(loaded));
  if (applied.epoch <= state.highest_epoch) return state;
  TRY_ASSIGN(const bool may_void, are_all_shown(catalog_, state.marks.owed, anchor_.uuid(), config_.pipeline));
  const base::Halt halt = anchor_put_back(config_.table, state.highest_epoch, applied, may_void, anchor_.head());
  TRY_ASSIGN(const std::optional<std::string> choice, choice_for(halt));
  if (!choice) return base::Error(halt);
  TRY(void_above(halt, *choice, applied));
  TRY_ASSIGN(loaded, anchor_.load());
  return settle(loaded);
}

// The anchor's next epoch is above all that was ever applied, and everything above its own last one is void.
base::Status HaltAnswers::void_above(const base::Halt& halt, const std::string& choice, const AppliedEpoch& applied) {
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  return anchor_.until_decided(AnchorTable::Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    TRY_ASSIGN(PipelineState state, anchor_.state_in(loaded));
    TRY(anchor_.check(state));
    if (applied.epoch <= state.highest_epoch) return true;
    const int64_t last_known = std::exchange(state.highest_epoch, applied.epoch);
    Proposal proposal;
    proposal.positions = state.marks.positions;
    proposal.owed = owed_when_going_back(config_, state, last_known);
    proposal.decision = decision_text(halt, choice);
    TRY(anchor_.post(loaded, state, append, proposal));
    return true;
  });
}

base::Status HaltAnswers::settle_owed(const OwedTrouble& trouble) {
  const base::Halt* halt = trouble.error.halt();
  if (halt == nullptr) return trouble.error;
  TRY_ASSIGN(const std::optional<std::string> choice, choice_for(*halt));
  if (!choice) return trouble.error;
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  return anchor_.until_decided(AnchorTable::Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) return true;
    TRY_ASSIGN(const PipelineState state, anchor_.state_in(loaded));
    TRY(anchor_.check(state));
    Proposal proposal;
    proposal.positions = state.marks.positions;
    proposal.decision = decision_text(*halt, *choice);
    if (*choice == "forget") proposal.forgets = trouble.table;
    for (const OwedEntry& entry : state.marks.owed) {
      const bool is_given_up = entry.table == trouble.table && (*choice == "forget" || entry.void_epochs);
      if (!is_given_up) proposal.owed.push_back(entry);
    }
    TRY(anchor_.post(loaded, state, append, proposal));
    return true;
  });
}

Proposal HaltAnswers::proposal_for(const std::string& choice, const PipelineState& state) const {
  Proposal proposal;
  if (choice == "property") {
    proposal.positions = *state.property_positions;
    proposal.owed = state.marks.owed;
  }
  if (choice == "source") {
    proposal.positions = state.marks.positions;
    proposal.owed = state.marks.owed;
  }
  if (choice != "table") return proposal;
  proposal.positions = state.at_head->positions;
  proposal.owed = owed_when_going_back(config_, state, state.at_head->epoch);
  return proposal;
}

// Under its own name, so that what it has applied already, or applies at this moment, is not there twice.
base::Status HaltAnswers::apply_owed_of(const std::string& other, const std::vector<OwedEntry>& owed) {
  IcebergSinkConfig its_config = config_;
  its_config.pipeline = other;
  Outbox outbox(catalog_, its_config);
  outbox.belong_to(anchor_.uuid());
  base::Interrupt never;
  for (const OwedTrouble& trouble : outbox.apply(owed, never)) return trouble.error.in("owed by pipeline " + other);
  return {};
}

base::Status HaltAnswers::settle_other_pipelines(const iceberg::LoadedTable& loaded, const engine::SourcePositions& asked,
                                                 Proposal& proposal) {
  for (const std::string& other : other_pipelines(loaded.metadata, config_.pipeline)) {
    TRY_ASSIGN(const PipelineState state, read_state(*catalog_.file_io(), loaded.metadata, other, format_));
    const bool is_known = state.condition == StateCondition::kHolds || state.condition == StateCondition::kRolledBack;
    if (!is_known || !have_common_source(asked, state.marks.positions)) continue;
    const base::Halt halt = positions_of_another(config_.table, other, state.marks.positions, format_, anchor_.head());
    TRY_ASSIGN(const std::optional<std::string> choice, choice_for(halt));
    if (!choice) return base::Error(halt);
    proposal.decision = decision_text(halt, *choice);
    if (*choice != "take_over") continue;
    TRY(apply_owed_of(other, state.marks.owed));
    proposal.closes = other;
    for (const auto& [split, position] : state.marks.positions.next) proposal.positions.next[split] = position;
    for (const auto& [key, value] : state.marks.positions.identity) proposal.positions.identity[key] = value;
  }
  return settle_other_writers(loaded, asked, proposal);
}

// --- other writers of the tables that rows go to ----------------------------------------------------------------------------

// The last decisions stand in the anchor.
bool HaltAnswers::was_accepted(const iceberg::TableMetadata& anchor, const base::Halt& halt) const {
  const std::string decisions = anchor.property(property_name(config_.pipeline) + ".accepted");
  return decisions.find("\"code\":\"" + halt.code + "\"") != std::string::npos &&
         decisions.find("\"range\":\"" + halt.range + "\"") != std::string::npos;
}

// Nothing: they cannot be known.
base::Result<std::optional<engine::SourcePositions>> HaltAnswers::positions_of(const OutboxMark& mark) {
  using Positions = std::optional<engine::SourcePositions>;
  const base::Result<iceberg::TableId> id = iceberg::parse_table_id(mark.anchor_table);
  if (!id.ok()) return Positions();
  base::Result<iceberg::LoadedTable> loaded = catalog_.load_table(*id);
  if (!loaded.ok() && loaded.error().code() != base::Code::kNotFound) return loaded.error();
  if (!loaded.ok() || loaded->metadata.table_uuid != mark.anchor_uuid) return Positions();
  TRY_ASSIGN(const PipelineState state, read_state(*catalog_.file_io(), loaded->metadata, mark.pipeline, format_));
  if (state.condition != StateCondition::kHolds && state.condition != StateCondition::kRolledBack) return Positions();
  return Positions(state.marks.positions);
}

base::Result<std::vector<base::Halt>> HaltAnswers::other_writers(const iceberg::TableId& table, const iceberg::TableMetadata& metadata,
                                                                 const engine::SourcePositions& asked) {
  std::vector<OutboxMark> marks = outbox_marks(metadata);
  if (table != config_.table) {  // of the anchor itself the caller has asked
    for (const std::string& other : other_pipelines(metadata, config_.pipeline)) marks.push_back({other, metadata.table_uuid, table.text()});
  }
  std::vector<base::Halt> halts;
  for (const OutboxMark& mark : marks) {
    if (mark.pipeline == config_.pipeline || mark.anchor_uuid == anchor_.uuid()) continue;
    TRY_ASSIGN(const std::optional<engine::SourcePositions> positions, positions_of(mark));
    if (positions && !have_common_source(asked, *positions)) continue;
    halts.push_back(rows_of_another(table, mark, positions, format_));
  }
  return halts;
}

base::Status HaltAnswers::settle_other_writers(const iceberg::LoadedTable& anchor, const engine::SourcePositions& asked, Proposal& proposal) {
  for (const TargetConfig& target : targets_of(config_)) {
    const bool is_anchor = target.table == config_.table;
    base::Result<iceberg::LoadedTable> loaded = is_anchor ? base::Result<iceberg::LoadedTable>(anchor) : catalog_.load_table(target.table);
    TRY(loaded.status());
    TRY_ASSIGN(const std::vector<base::Halt> halts, other_writers(target.table, loaded->metadata, asked));
    for (const base::Halt& halt : halts) {
      if (was_accepted(anchor.metadata, halt)) continue;
      TRY_ASSIGN(const std::optional<std::string> choice, choice_for(halt));
      if (!choice) return base::Error(halt);
      proposal.decision = decision_text(halt, *choice);
    }
  }
  return {};
}

base::Status HaltAnswers::check_writers(const iceberg::TableId& table, const iceberg::TableMetadata& metadata) {
  const std::vector<TargetConfig> targets = targets_of(config_);
  const bool is_target = std::any_of(targets.begin(), targets.end(), [&](const TargetConfig& target) { return target.table == table; });
  if (!is_target) return {};
  TRY_ASSIGN(const iceberg::LoadedTable anchor, anchor_.load());
  TRY_ASSIGN(const PipelineState state, anchor_.state_in(anchor));
  TRY_ASSIGN(const std::vector<base::Halt> halts, other_writers(table, metadata, state.marks.positions));
  for (const base::Halt& halt : halts) {
    if (!was_accepted(anchor.metadata, halt)) return base::Error(halt);
  }
  return {};
}

base::Status HaltAnswers::settle_former_anchor(const iceberg::LoadedTable& anchor, const PipelineState& state, Proposal& proposal) {
  const bool has_positions = state.condition == StateCondition::kHolds;
  for (const TargetConfig& target : targets_of(config_)) {
    const bool is_anchor = target.table == config_.table;
    base::Result<iceberg::LoadedTable> loaded = is_anchor ? base::Result<iceberg::LoadedTable>(anchor) : catalog_.load_table(target.table);
    TRY(loaded.status());
    for (const OutboxMark& mark : outbox_marks(loaded->metadata)) {
      const bool is_by_this_one = mark.anchor_uuid == anchor_.uuid();
      if (mark.pipeline != config_.pipeline || (is_by_this_one && has_positions)) continue;
      const base::Halt halt = is_by_this_one ? positions_lost(config_.table, config_.pipeline, target.table)
                                             : anchor_changed(config_.table, target.table, mark, has_positions);
      if (was_accepted(anchor.metadata, halt)) continue;
      std::optional<std::string> choice;
      if (mark.anchor_uuid == accepted_mark_) choice = "start";  // the source remembered it, and that was answered
      if (!choice) {
        TRY_ASSIGN(choice, choice_for(halt));
      }
      if (!choice) return base::Error(halt);
      proposal.decision = decision_text(halt, *choice);
    }
  }
  return {};
}

base::Status HaltAnswers::settle_former_anchor_at_start(const iceberg::LoadedTable& anchor) {
  TRY_ASSIGN(const PipelineState state, anchor_.state_in(anchor));
  Proposal proposal;
  // What was brought by another anchor while this one has positions is a routed table's to tell.
  TRY(settle_former_anchor(anchor, state, proposal));
  if (proposal.decision.empty()) return {};
  base::Interrupt never;
  iceberg::Append append(catalog_.file_io(), base::random_snapshot_id());
  return anchor_.until_decided(AnchorTable::Phase::kStart, never, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    if (loaded.metadata.snapshot(append.snapshot_id()) != nullptr) return true;
    TRY_ASSIGN(const PipelineState now, anchor_.state_in(loaded));
    TRY(anchor_.check(now));
    proposal.positions = now.marks.positions;
    proposal.owed = now.marks.owed;
    TRY(anchor_.post(loaded, now, append, proposal));
    return true;
  });
}

}  // namespace frazil::sinks
