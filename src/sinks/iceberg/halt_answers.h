// HaltAnswers: what an operator has answered to the halts that an anchor causes, and what follows from it.
//
// A halt that nobody has answered is given back as the error that it is. An answer is carried out by one commit of the anchor
// that records the decision: positions, and what other tables are owed, as the choice says. One thread (the committer lane).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/sink.h"
#include "sinks/iceberg/anchor_table.h"
#include "sinks/iceberg/applied_epochs.h"
#include "sinks/iceberg/outbox.h"

namespace frazil::sinks {

// What other tables are owed when the anchor goes back to `epoch`: what was owed by then, and that all later epochs are void.
std::vector<OwedEntry> owed_when_going_back(const IcebergSinkConfig& config, const PipelineState& state, int64_t epoch);

class HaltAnswers {
 public:
  // All outlive it.
  HaltAnswers(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format, AnchorTable& anchor,
              std::vector<engine::AcceptedChoice> accepted)
      : config_(config), catalog_(catalog), format_(format), anchor_(anchor), accepted_(std::move(accepted)) {}

  // The state of `loaded`, halts that were answered being settled.
  base::Result<PipelineState> settle(iceberg::LoadedTable loaded);
  // The state, when no other table has applied more than it knows of; that halt settled, when it was answered.
  base::Result<PipelineState> settle_applied(PipelineState state);
  // Settles the halt of a table that could not get what it is owed, when it was answered; gives it back otherwise.
  base::Status settle_owed(const OwedTrouble& trouble);
  // A halt when the source remembers `mark`, the uuid of another table than the anchor.
  base::Status recognise(const std::string& mark);
  // Halts when a table that rows go to has rows of this pipeline from another anchor than this one, or from this one before it lost
  // its positions (`state` knows no pipeline then). An accepted choice goes into `proposal`.
  base::Status settle_former_anchor(const iceberg::LoadedTable& anchor, const PipelineState& state, Proposal& proposal);
  // The same for a pipeline whose positions hold; the decision is a commit of its own.
  base::Status settle_former_anchor_at_start(const iceberg::LoadedTable& anchor);
  // Halts when another pipeline writes into `table` what this one reads, unless that was accepted.
  base::Status check_writers(const iceberg::TableId& table, const iceberg::TableMetadata& metadata);
  // Halts when another pipeline keeps positions of what `asked` names, here or for a table that rows go to; an accepted choice goes
  // into `proposal`.
  base::Status settle_other_pipelines(const iceberg::LoadedTable& loaded, const engine::SourcePositions& asked, Proposal& proposal);

 private:
  base::Result<std::optional<std::string>> choice_for(const base::Halt& halt) const;
  base::Status carry_out(const base::Halt& halt, const std::string& choice);
  base::Status apply_owed_of(const std::string& other, const std::vector<OwedEntry>& owed);
  base::Status void_above(const base::Halt& halt, const std::string& choice, const AppliedEpoch& applied);
  base::Result<std::optional<engine::SourcePositions>> positions_of(const OutboxMark& mark);
  base::Result<std::vector<base::Halt>> other_writers(const iceberg::TableId& table, const iceberg::TableMetadata& metadata,
                                                      const engine::SourcePositions& asked);
  base::Status settle_other_writers(const iceberg::LoadedTable& anchor, const engine::SourcePositions& asked, Proposal& proposal);
  bool was_accepted(const iceberg::TableMetadata& anchor, const base::Halt& halt) const;
  Proposal proposal_for(const std::string& choice, const PipelineState& state) const;
  std::string decision_text(const base::Halt& halt, const std::string& choice) const;

  const IcebergSinkConfig& config_;
  iceberg::Catalog& catalog_;
  const engine::PositionFormat& format_;
  AnchorTable& anchor_;
  const std::vector<engine::AcceptedChoice> accepted_;
  std::string accepted_mark_;  // of a former table that an operator has given up
};

}  // namespace frazil::sinks
