// IcebergCommitter: the commit routine of the anchor table, and everything that decides about it.
//
//  1. Load the table, no cache. Another uuid, a roll-back, a lost watermark: a halt.
//  2. Our snapshot id is there already: done, whatever the last answer was.
//  3. A range that does not begin where this metadata says: drop the epoch.
//     So it is when the store has lost or cut one of its data files.
//  4. Files of tables other than the anchor: listed as owed. Dead letters: written under the epoch's number, listed as owed.
//  5. One request: rows, positions, tag, property, owed entries; it asserts uuid, head, tag, schema and spec.
//  6. Accepted: done. Conflict, unknown outcome, unavailable: wait with jitter and go to 1. A refusal: a halt.
//  7. After the verdict: apply all that is owed, in the order of epochs.
// Nothing is deleted on any way through. One thread (the committer lane); open() and begin() before it runs.
#pragma once

#include <map>
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
#include "sinks/iceberg/target_tables.h"

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

  // Where routers and writers bring rows; of the metadata that open() saw.
  std::shared_ptr<const TargetTables> targets() const { return targets_; }
  // The first of them: of a pipeline of one table, that one.
  std::shared_ptr<const WriteTarget> target() const { return targets_->tables()[0].write; }
  int32_t target_schema_id() const { return targets_->tables()[0].schema_id; }
  // More than one: somebody else committed meanwhile, or an answer was lost.
  int requests_of_last_commit() const { return anchor_.sent().requests; }

 private:
  base::Status open_targets(const iceberg::LoadedTable& anchor, const std::vector<OwedEntry>& owed);
  base::Result<iceberg::LoadedTable> open_other(const TargetConfig& target, const KnownTables& known,
                                                           const std::vector<OwedEntry>& owed);
  // Sorts the epoch's files by table: the anchor's go into `append`, the others' wait for owe_files().
  void sort_files(const engine::StagedEpoch& epoch, iceberg::Append& append);
  base::Status owe_files(int64_t number, std::vector<OwedEntry>& owed);
  base::Status make_room(size_t wanted, const PipelineState& state, std::vector<OwedEntry>& owed);
  // What each of several tables got by `epoch`, and what it is owed still, for the metrics.
  void count(const engine::StagedEpoch& epoch) const;
  // Why rows were written for tables that are not so any more, or empty.
  std::string changed_target(const iceberg::TableMetadata& anchor) const;
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
  // Well, unless a table that did not get what it is owed is a halt. Other tables have been served then.
  enum class When { kAtStart, kAfterCommit };
  base::Status apply_owed(const std::vector<OwedEntry>& owed, base::Interrupt& abandon, When when);

  const IcebergSinkConfig& config_;
  iceberg::Catalog& catalog_;
  const engine::PositionFormat& format_;
  AnchorTable anchor_;
  HaltAnswers answers_;
  Outbox outbox_;
  std::shared_ptr<const TargetTables> targets_;
  // Of the epoch in hand, by table: files for tables other than the anchor, and what lists them once that is written.
  struct OwedFiles {
    std::vector<iceberg::DataFile> files;
    std::optional<OwedEntry> entry;
  };
  std::map<size_t, OwedFiles> owed_files_;
  int64_t files_checked_at_ = 0;  // of the epoch in hand, wall time in micros; 0: never
  // Dead letters of the epoch in hand, as last written.
  std::optional<OwedEntry> written_dead_letters_;
  // What the anchor owes after the commit in hand, entries of earlier epochs included.
  std::vector<OwedEntry> owed_now_;
};

}  // namespace frazil::sinks
