// HandingCommitter: commits a worker's epochs, by another worker's merged commit where that helps, else by itself.
//
// `auto`: epochs are handed over while commits contend (one of the last minute needed more than one request), `always`: whenever
// they can be. An epoch with dead letters, without rows, with a split that the table does not know yet, of a pipeline with several tables,
// or whose hand-over gave no verdict is committed by the committer behind. One thread (the committer lane), as that one.
#pragma once

#include <memory>

#include "sinks/iceberg/hand_over.h"
#include "sinks/iceberg/iceberg_committer.h"

namespace frazil::sinks {

class HandingCommitter : public engine::Committer {
 public:
  // All outlive it. `hand_over` null: everything is committed by `own`.
  HandingCommitter(const IcebergSinkConfig& config, iceberg::Catalog& catalog, IcebergCommitter& own, HandOver* hand_over)
      : config_(config), catalog_(catalog), own_(own), hand_over_(hand_over) {}

  base::Result<bool> must_create() override { return own_.must_create(); }
  base::Result<std::optional<engine::SourcePositions>> open() override { return own_.open(); }
  base::Result<engine::SourcePositions> begin(const engine::SourcePositions& start) override { return own_.begin(start); }
  base::Result<engine::CommitVerdict> commit(engine::StagedEpoch& epoch, base::Interrupt& abandon) override;
  base::Result<engine::SourcePositions> decide(const engine::SourcePositions& expected, const engine::SourcePositions& moved,
                                               const engine::Decision& decision) override {
    return own_.decide(expected, moved, decision);
  }
  base::Result<engine::SourcePositions> reload() override { return own_.reload(); }
  std::string mark() const override { return own_.mark(); }
  base::Status recognise(const std::string& mark) override { return own_.recognise(mark); }
  int64_t head_snapshot_id() const override { return own_.head_snapshot_id(); }
  int64_t least_cut_interval_ms() const override { return own_.least_cut_interval_ms(); }

 private:
  bool should_hand_over(const engine::StagedEpoch& epoch) const;
  base::Result<engine::CommitVerdict> try_hand_over(const engine::StagedEpoch& epoch);

  const IcebergSinkConfig& config_;
  iceberg::Catalog& catalog_;
  IcebergCommitter& own_;
  HandOver* const hand_over_;
  base::MonoMicros contended_until_ = 0;
};

}  // namespace frazil::sinks
