// IcebergCommitter: the commit routine of the anchor table, and everything that decides about it.
//
//  1. Load the table, no cache. Another uuid, a roll-back, a lost watermark: a halt.
//  2. Our snapshot id is there already: done, whatever the last answer was.
//  3. A range that does not begin where this metadata says: drop the epoch.
//     So it is when the store has lost or cut one of its data files.
//  4. Dead letters: written under the epoch's number, listed as owed.
//  5. One request: rows, positions, tag, property, owed entries; it asserts uuid, head, tag, schema and spec.
//  6. Accepted: done. Conflict, unknown outcome, unavailable: wait with jitter and go to 1. A refusal: a halt.
//  7. After the verdict: apply all that is owed, in the order of epochs.
// Nothing is deleted on any way through. One thread (the committer lane); open() and begin() before it runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ledger.h"
#include "engine/sink.h"
#include "iceberg/catalog.h"
#include "iceberg/change/append.h"
#include "sinks/iceberg/anchor_table.h"
#include "sinks/iceberg/data_file_writer.h"
#include "sinks/iceberg/halt_answers.h"
#include "sinks/iceberg/iceberg_sink_config.h"
#include "sinks/iceberg/outbox.h"

namespace frazil::sinks {

class IcebergCommitter : public engine::Committer {
 public:
  IcebergCommitter(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format,
                   std::vector<engine::AcceptedChoice> accepted);

  base::Result<bool> must_create() override;
  base::Result<std::optional<engine::SourcePositions>> open() override;
  base::Result<engine::SourcePositions> begin(const engine::SourcePositions& start) override;
  base::Result<engine::CommitVerdict> commit(engine::StagedEpoch& epoch, base::Interrupt& abandon) override;
  base::Result<engine::SourcePositions> decide(const engine::SourcePositions& expected, const engine::SourcePositions& moved,
                                               const engine::Decision& decision) override;
  base::Result<engine::SourcePositions> reload() override;
  std::string mark() const override { return anchor_.uuid(); }
  base::Status recognise(const std::string& mark) override { return answers_.recognise(mark); }
  int64_t head_snapshot_id() const override { return anchor_.head(); }
  int64_t least_cut_interval_ms() const override { return anchor_.least_cut_ms(); }

  // Where writers write; of the metadata that open() saw.
  std::shared_ptr<const WriteTarget> target() const { return target_; }
  bool by_hash() const { return by_hash_; }
  int32_t target_schema_id() const { return target_schema_id_; }
  // More than one: somebody else committed meanwhile, or an answer was lost.
  int requests_of_last_commit() const { return anchor_.sent().requests; }

 private:
  base::Status prepare_writing(const iceberg::TableMetadata& metadata);
  base::Result<bool> try_commit(const iceberg::LoadedTable& loaded, engine::StagedEpoch& epoch, iceberg::Append& append,
                                engine::CommitVerdict& verdict);
  void tell_verdict(const engine::CommitVerdict& verdict) const;
  base::Result<bool> drop(const engine::Ledger& ledger, engine::CommitVerdict::Kind kind, const std::string& reason,
                          engine::CommitVerdict& verdict);
  // What is wrong with the epoch's data files, as the store shows them now; nullopt: nothing, or looked at lately.
  base::Result<std::optional<std::string>> damage_of(const engine::StagedEpoch& epoch);
  base::Status owe_dead_letters(engine::StagedEpoch& epoch, int64_t number, std::vector<OwedEntry>& owed);
  base::Result<bool> try_begin(const iceberg::LoadedTable& loaded, const engine::SourcePositions& start,
                               iceberg::Append& append, engine::SourcePositions& result);
  // Positions that other pipelines keep of topics that this one has begun to read since its last commit. True: they were taken
  // over, so the epoch is dropped and `verdict` says from where to read.
  base::Result<bool> settle_new_topics(const iceberg::LoadedTable& loaded, const PipelineState& state,
                                       const engine::StagedEpoch& epoch, Proposal& proposal, engine::CommitVerdict& verdict);
  void apply_owed(const std::vector<OwedEntry>& owed, base::Interrupt& abandon, Outbox::When when);

  const IcebergSinkConfig& config_;
  iceberg::Catalog& catalog_;
  const engine::PositionFormat& format_;
  AnchorTable anchor_;
  HaltAnswers answers_;
  Outbox outbox_;
  std::shared_ptr<const WriteTarget> target_;
  int32_t target_schema_id_ = 0;  // the table's current schema when target_ was made
  bool by_hash_ = true;
  int64_t files_checked_at_ = 0;  // of the epoch in hand, wall time in micros; 0: never
  // Dead letters of the epoch in hand, as last written.
  std::optional<OwedEntry> written_dead_letters_;
  // What the anchor owes after the commit in hand, entries of earlier epochs included.
  std::vector<OwedEntry> owed_now_;
};

}  // namespace frazil::sinks
