#include "sinks/iceberg/joint_committer.h"

#include <utility>

#include "base/log.h"
#include "base/random.h"

namespace frazil::sinks {
namespace {

constexpr size_t kOwedAtMost = 64;  // more: a worker has to empty the outbox first

using Kind = engine::CommitVerdict::Kind;

}  // namespace

base::Result<JointVerdicts> JointCommitter::commit(const std::vector<HandedEpoch>& epochs, base::Interrupt& abandon) {
  std::vector<Case> cases(epochs.size());
  for (size_t i = 0; i < epochs.size(); ++i) cases[i].epoch = &epochs[i];
  Batch batch;
  bool are_manifests_read = false;
  TRY(anchor_.until_decided(AnchorTable::Phase::kRun, abandon, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    if (anchor_.uuid().empty()) TRY(anchor_.pin(loaded.metadata));
    if (!std::exchange(are_manifests_read, true)) read_manifests(loaded.metadata, cases);
    return try_commit(loaded, cases, batch);
  }));
  JointVerdicts verdicts;
  for (Case& one : cases) verdicts.push_back(std::move(one.verdict));
  return verdicts;
}

void JointCommitter::read_manifests(const iceberg::TableMetadata& metadata, std::vector<Case>& cases) const {
  for (Case& one : cases) {
    if (one.epoch->table_uuid != metadata.table_uuid || one.epoch->spec_id != metadata.default_spec_id) continue;
    base::Result<iceberg::Manifest> manifest = read_handed_manifest(*catalog_.file_io(), metadata, *one.epoch);
    if (manifest.ok()) {
      one.manifest = std::move(manifest).value();
    } else {
      base::log_info("handed_epoch_refused", {{"pipeline", config_.pipeline}, {"why", manifest.error().message()}});
    }
  }
}

bool JointCommitter::is_for_its_worker(const iceberg::TableMetadata& metadata, const engine::SourcePositions& known, const Case& one) const {
  if (one.epoch->pipeline != config_.pipeline || one.epoch->table_uuid != metadata.table_uuid) return true;
  for (const auto& [key, id] : one.epoch->identity) {
    const auto found = known.identity.find(key);
    if (found == known.identity.end() || (found->second != id && !found->second.empty())) return true;
  }
  return false;
}

std::vector<size_t> JointCommitter::judge(const iceberg::TableMetadata& metadata, std::vector<Case>& cases, engine::Ledger& ledger) const {
  std::vector<size_t> chosen;
  const engine::SourcePositions known = ledger.frontier();
  for (size_t i = 0; i < cases.size(); ++i) {
    Case& one = cases[i];
    one.verdict.reset();
    if (is_for_its_worker(metadata, known, one)) continue;
    if (one.epoch->schema_id != metadata.current_schema_id || one.epoch->spec_id != metadata.default_spec_id) {
      one.verdict = engine::CommitVerdict{Kind::kUnfit, known, "the table's schema or partition spec was changed; rows are read again for the new one"};
      continue;
    }
    if (!one.manifest) continue;
    const engine::Ledger::Judgement judgement = ledger.judge(one.epoch->ranges);
    if (judgement.answer == engine::Ledger::Answer::kAccept) {
      ledger.accept(one.epoch->ranges, one.epoch->identity);
      chosen.push_back(i);
    } else {
      one.verdict = engine::CommitVerdict{judgement.answer == engine::Ledger::Answer::kGap ? Kind::kGap : Kind::kStale, known, judgement.reason};
    }
  }
  return chosen;
}

JointCommitter::Batch JointCommitter::make_batch(const std::vector<Case>& cases, std::vector<size_t> chosen) const {
  Batch batch{std::move(chosen), std::make_unique<iceberg::Append>(catalog_.file_io(), base::random_snapshot_id())};
  for (const size_t i : batch.cases) batch.append->add_manifest_files(*cases[i].manifest, cases[i].epoch->spec_id);
  return batch;
}

void JointCommitter::all_done(const Batch& batch, const engine::SourcePositions& positions, const std::string& reason, std::vector<Case>& cases) {
  for (const size_t i : batch.cases) cases[i].verdict = engine::CommitVerdict{Kind::kDone, positions, reason};
}

base::Result<bool> JointCommitter::try_commit(const iceberg::LoadedTable& loaded, std::vector<Case>& cases, Batch& batch) {
  TRY_ASSIGN(const PipelineState state, anchor_.state_in(loaded));
  TRY(anchor_.check(state));
  if (batch.append && loaded.metadata.snapshot(batch.append->snapshot_id()) != nullptr) {
    // These have landed, whatever the answer was; what the others were told stands.
    all_done(batch, state.marks.positions, "the table has snapshot " + std::to_string(batch.append->snapshot_id()), cases);
    return true;
  }
  if (state.condition == StateCondition::kUnknownPipeline) return true;
  engine::Ledger ledger(format_, state.marks.positions);
  std::vector<size_t> chosen = judge(loaded.metadata, cases, ledger);
  if (chosen.empty() || state.marks.owed.size() >= kOwedAtMost) return true;
  if (!batch.append || batch.cases != chosen) {
    batch = make_batch(cases, std::move(chosen));
    anchor_.note_batch(batch.append->snapshot_id());
  }
  Proposal proposal;
  proposal.positions = ledger.frontier();
  proposal.owed = state.marks.owed;
  for (const size_t i : batch.cases) {
    const HandedEpoch& epoch = *cases[i].epoch;
    for (const engine::Range& range : epoch.ranges) engine::extend(proposal.ranges, range);
    proposal.record_times.insert(proposal.record_times.end(), epoch.record_times.begin(), epoch.record_times.end());
  }
  TRY(anchor_.post(loaded, state, *batch.append, proposal));
  all_done(batch, proposal.positions, "", cases);
  base::log_info("commit_merged", {{"pipeline", config_.pipeline},
                                   {"table", config_.table.text()},
                                   {"snapshot", batch.append->snapshot_id()},
                                   {"epochs", static_cast<int64_t>(batch.cases.size())},
                                   {"left_out", static_cast<int64_t>(cases.size() - batch.cases.size())}});
  return true;
}

}  // namespace frazil::sinks
