#include "sinks/iceberg/joint_committer.h"

#include <utility>

#include "base/log.h"
#include "base/random.h"

namespace frazil::sinks {
namespace {

constexpr size_t kOwedAtMost = 64;  // more: a worker has to empty the outbox first

using Kind = engine::CommitVerdict::Kind;
using Verdict = base::Result<engine::CommitVerdict>;

Verdict for_its_worker() { return base::unavailable("this epoch is for its own worker to commit"); }

}  // namespace

base::Result<JointVerdicts> JointCommitter::commit(const std::vector<HandedEpoch>& epochs, base::Interrupt& abandon) {
  std::vector<Case> cases(epochs.size());
  for (size_t i = 0; i < epochs.size(); ++i) cases[i].epoch = &epochs[i];
  Batch batch;
  bool are_examined = false;
  TRY(anchor_.until_decided(AnchorTable::Phase::kRun, abandon, [&](const iceberg::LoadedTable& loaded) -> base::Result<bool> {
    if (anchor_.uuid().empty()) TRY(anchor_.pin(loaded.metadata));
    if (!std::exchange(are_examined, true)) examine(loaded.metadata, cases);
    return try_commit(loaded, cases, batch);
  }));
  JointVerdicts verdicts;
  for (Case& one : cases) {
    if (!one.verdict) one.verdict = one.refusal ? Verdict(*one.refusal) : for_its_worker();
    verdicts.push_back(*std::move(one.verdict));
  }
  return verdicts;
}

base::Result<iceberg::Manifest> JointCommitter::read_manifest(const iceberg::TableMetadata& metadata, const HandedEpoch& epoch) const {
  base::Result<iceberg::Manifest> manifest = read_handed_manifest(*catalog_.file_io(), metadata, epoch);
  // Whatever is wrong with it, the fault is of what was handed over; only a store that does not answer is nobody's.
  if (!manifest.ok() && manifest.error().code() != base::Code::kUnavailable) return base::invalid(manifest.error().message());
  return manifest;
}

void JointCommitter::examine(const iceberg::TableMetadata& metadata, std::vector<Case>& cases) const {
  for (Case& one : cases) {
    if (base::Status status = check_handed_epoch(*one.epoch, format_); !status.ok()) {
      one.refusal = status.error();
    } else if (one.epoch->table_uuid == metadata.table_uuid && one.epoch->spec_id == metadata.default_spec_id) {
      base::Result<iceberg::Manifest> manifest = read_manifest(metadata, *one.epoch);
      if (manifest.ok()) {
        one.manifest = std::move(manifest).value();
      } else {
        one.refusal = manifest.error();
      }
    }
  }
}

bool JointCommitter::is_for_its_worker(const iceberg::TableMetadata& metadata, const engine::SourcePositions& known, const Case& one) const {
  if (one.epoch->pipeline != config_.pipeline || one.epoch->table_uuid != metadata.table_uuid) return true;
  for (const auto& [key, id] : one.epoch->identity) {
    const auto found = known.identity.find(key);
    if (found == known.identity.end() || found->second != id) return true;
  }
  return false;
}

std::optional<Verdict> JointCommitter::judge_one(const iceberg::TableMetadata& metadata, const engine::SourcePositions& known, Case& one,
                                                 engine::Ledger& ledger) const {
  if (one.refusal) return Verdict(*one.refusal);
  if (is_for_its_worker(metadata, known, one)) return for_its_worker();
  for (const engine::Range& range : one.epoch->ranges) {
    if (!known.next.contains(range.split)) return Verdict(base::invalid("the table knows no split " + range.split));
  }
  if (one.epoch->schema_id != metadata.current_schema_id || one.epoch->spec_id != metadata.default_spec_id) {
    return Verdict({Kind::kUnfit, known, "the table's schema or partition spec was changed; rows are read again for the new one"});
  }
  if (!one.manifest) return for_its_worker();
  const engine::Ledger::Judgement judgement = ledger.judge(one.epoch->ranges);
  if (judgement.answer != engine::Ledger::Answer::kAccept) {
    return Verdict({judgement.answer == engine::Ledger::Answer::kGap ? Kind::kGap : Kind::kStale, known, judgement.reason});
  }
  one.ranges = one.epoch->ranges;
  for (engine::Range& range : one.ranges) range.begin = ledger.frontier().next.at(range.split);
  ledger.accept(one.ranges, one.epoch->identity);
  return std::nullopt;
}

std::vector<size_t> JointCommitter::judge(const iceberg::TableMetadata& metadata, std::vector<Case>& cases, engine::Ledger& ledger) const {
  std::vector<size_t> chosen;
  const engine::SourcePositions known = ledger.frontier();
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].verdict = judge_one(metadata, known, cases[i], ledger);
    if (!cases[i].verdict) chosen.push_back(i);
  }
  return chosen;
}

JointCommitter::Batch JointCommitter::make_batch(const std::vector<Case>& cases, std::vector<size_t> chosen) const {
  Batch batch{std::move(chosen), std::make_unique<iceberg::Append>(catalog_.file_io(), base::random_snapshot_id())};
  for (const size_t i : batch.cases) batch.append->add_manifest_files(*cases[i].manifest, cases[i].epoch->spec_id);
  return batch;
}

void JointCommitter::all_done(const Batch& batch, const engine::SourcePositions& positions, const std::string& reason, std::vector<Case>& cases) {
  for (const size_t i : batch.cases) cases[i].verdict = Verdict({Kind::kDone, positions, reason});
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
    for (const engine::Range& range : cases[i].ranges) engine::extend(proposal.ranges, range);
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
