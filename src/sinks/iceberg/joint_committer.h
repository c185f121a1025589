// JointCommitter: commits epochs of several workers of one pipeline in one snapshot (docs/protocol, "Merged commits").
//
//  1. Load the anchor; judge the epochs one after the other on what this metadata says. One that is stale, beyond a gap, or written
//     for another schema is left out whole, with that verdict.
//  2. The rest becomes one snapshot: all their files, ranges and positions, put by the same request as any other commit.
//  3. Conflict, unknown outcome: load, look for the snapshot, judge again. As long as the same epochs are accepted it is the same
//     snapshot; when another set is, it is another one, since the head has moved and no request for the earlier one can land.
// Whether this or the workers themselves commit an epoch makes no difference to the table: whoever comes second is stale. So
// two of these, or one beside a worker that has lost patience, are harmless. An epoch that owes other tables something or brings
// topics that the table does not know is for its own worker to commit: it gets no verdict. Epochs come from the network, so each is
// checked before it is judged: kInvalid, and the others are committed without it. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "engine/ledger.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/anchor_table.h"
#include "sinks/iceberg/handed_epoch.h"

namespace frazil::sinks {

// By epoch. kInvalid: it is none that a worker of this pipeline would hand over; kUnavailable: its worker has to commit it itself.
using JointVerdicts = std::vector<base::Result<engine::CommitVerdict>>;

class JointCommitter {
 public:
  // All outlive it.
  JointCommitter(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format)
      : config_(config), catalog_(catalog), format_(format), anchor_(config, catalog, format) {}

  // Halts and failures are errors: the workers meet them themselves when they commit.
  base::Result<JointVerdicts> commit(const std::vector<HandedEpoch>& epochs, base::Interrupt& abandon);

 private:
  // An epoch while it is being decided.
  struct Case {
    const HandedEpoch* epoch = nullptr;
    std::optional<base::Error> refusal;         // stands, whatever the table says
    std::optional<iceberg::Manifest> manifest;  // nothing: it cannot be used
    std::vector<engine::Range> ranges;          // beginning where the table's positions end, in the very same words
    std::optional<base::Result<engine::CommitVerdict>> verdict;
  };
  // The cases that one snapshot holds.
  struct Batch {
    std::vector<size_t> cases;  // indices
    std::unique_ptr<iceberg::Append> append;
  };
  base::Result<bool> try_commit(const iceberg::LoadedTable& loaded, std::vector<Case>& cases, Batch& batch);
  // Checks what was handed over: manifests or refusals.
  void examine(const iceberg::TableMetadata& metadata, std::vector<Case>& cases) const;
  base::Result<iceberg::Manifest> read_manifest(const iceberg::TableMetadata& metadata, const HandedEpoch& epoch) const;
  // Gives those that are left out their verdicts; the indices of the others, over which the ledger has moved.
  std::vector<size_t> judge(const iceberg::TableMetadata& metadata, std::vector<Case>& cases, engine::Ledger& ledger) const;
  // Nothing: the ledger takes it. `known`: what the table says.
  std::optional<base::Result<engine::CommitVerdict>> judge_one(const iceberg::TableMetadata& metadata, const engine::SourcePositions& known,
                                                               Case& one, engine::Ledger& ledger) const;
  bool is_for_its_worker(const iceberg::TableMetadata& metadata, const engine::SourcePositions& known, const Case& one) const;
  Batch make_batch(const std::vector<Case>& cases, std::vector<size_t> chosen) const;
  static void all_done(const Batch& batch, const engine::SourcePositions& positions, const std::string& reason, std::vector<Case>& cases);

  const IcebergSinkConfig& config_;
  iceberg::Catalog& catalog_;
  const engine::PositionFormat& format_;
  AnchorTable anchor_;
};

}  // namespace frazil::sinks
