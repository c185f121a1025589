// AnchorTable: the table whose commits decide, as its committer sees it: loaded without a cache, the one it was pinned to, and
// changed by one request at a time.
//
// What a request says is a Proposal; how it is put (asserted uuid, head, tag, schema and spec; snapshot, branch, tag, property,
// owed entries, expired snapshots) is decided here, and so is what its answer means for the next try. Whether a proposal may be
// made at all is the committer's to judge, on the very metadata that it gives back to post(). One thread (the committer lane).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "engine/sink.h"
#include "iceberg/catalog.h"
#include "iceberg/change/append.h"
#include "iceberg/table_properties.h"
#include "sinks/iceberg/expired_files.h"
#include "sinks/iceberg/iceberg_sink_config.h"
#include "sinks/iceberg/marks.h"
#include "sinks/iceberg/pipeline_state.h"
#include "sinks/iceberg/retention.h"

namespace frazil::sinks {

// What one commit wants to say.
struct Proposal {
  engine::SourcePositions positions;
  std::vector<engine::Range> ranges;
  std::vector<OwedEntry> owed;
  std::vector<engine::RecordTimes> record_times;
  std::string decision;
  std::string closes;   // another pipeline whose positions are taken over
  std::string forgets;  // another table of this pipeline, of which what is remembered no longer holds
  std::optional<int64_t> parent;  // goes back to this ancestor of the head, whose rows the new snapshot shows; nothing: upon the head
};

class AnchorTable {
 public:
  using Step = std::function<base::Result<bool>(const iceberg::LoadedTable&)>;  // true: decided
  // kStart: what is not there is given back at once as kUnavailable, and the worker starts again until `connect_timeout`; only
  // requests that are under way are decided here, as long. kRun: all of it here, as long as the table's commit.retry says.
  enum class Phase { kStart, kRun };
  // The commit in hand, for the log.
  struct Sent {
    int64_t epoch = 0;
    int64_t snapshot = 0;
    int requests = 0;
    bool operator==(const Sent&) const = default;
  };

  // All outlive it.
  AnchorTable(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format);

  // Loads and takes `step`, again and again, until it has decided, failed for good, or the time is over.
  base::Status until_decided(Phase phase, base::Interrupt& abandon, const Step& step);
  // Halts when it is gone, or another table than the pinned one.
  base::Result<iceberg::LoadedTable> load();
  base::Result<iceberg::LoadedTable> load_or_create();
  // From now on only the table with this uuid is it; takes over its properties.
  base::Status pin(const iceberg::TableMetadata& metadata);
  base::Result<PipelineState> state_in(const iceberg::LoadedTable& loaded) const;
  // The halt that a state stands for.
  base::Status check(const PipelineState& state) const;
  // Sends one request. Accepted: the snapshot is there. A refusal is a halt.
  base::Status post(const iceberg::LoadedTable& loaded, const PipelineState& state, iceberg::Append& append,
                    const Proposal& proposal);
  void note_batch(int64_t snapshot_id) { sent_ = {0, snapshot_id, 0}; }
  // The other tables that the pipeline writes to: every later request writes them down, beside those of earlier runs.
  void remember(KnownTables tables) { others_ = std::move(tables); }

  const std::string& uuid() const { return uuid_; }  // empty until pinned
  int64_t head() const { return head_; }
  const Sent& sent() const { return sent_; }
  int64_t least_cut_ms() const { return retention_.least_cut_ms(); }

 private:
  iceberg::TableCommit request(const iceberg::TableMetadata& base, const PipelineState& state,
                               const iceberg::Snapshot& snapshot, const Marks& marks, const Proposal& proposal) const;
  base::Status accepted(const iceberg::TableMetadata& before, const iceberg::TableCommit& commit, const iceberg::LoadedTable& after);
  base::Error left_undecided(bool is_unclear, const std::string& last) const;
  void tell_answer(const base::Error& answer, int64_t base_head) const;
  // Empty when the base says the same already.
  std::string known_tables_text(const iceberg::TableMetadata& base, const Proposal& proposal) const;
  void note_expired(const iceberg::TableMetadata& before, const iceberg::TableCommit& commit);

  const IcebergSinkConfig& config_;
  iceberg::Catalog& catalog_;
  const engine::PositionFormat& format_;
  std::string uuid_;
  iceberg::TableProperties properties_;  // commit.retry.*: how long and how often to try
  ExpiredFiles expired_files_;
  Retention retention_;
  KnownTables others_;
  int64_t head_ = 0;
  Sent sent_;
};

}  // namespace frazil::sinks
