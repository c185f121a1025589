// MergeDesk: takes epochs of several workers and has those that come close together committed in one snapshot.
//
//  1. The first epoch opens a batch; those that come within the window, or while an earlier batch is being committed, join it.
//  2. JointCommitter decides about the batch; each submit() returns with the verdict of its epoch.
//  3. Nobody waits beyond the own deadline. An epoch whose worker has gone is taken back if its batch has not begun; else it may
//     be committed all the same, which its worker sees in the table.
// One lane of its own commits. submit() is for any thread.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/interrupt.h"
#include "base/sync.h"
#include "sinks/iceberg/joint_committer.h"

namespace frazil::sinks {

class MergeDesk {
 public:
  // `window_ms`: how long the first epoch of a batch waits for others. All outlive it; `catalog` is used by its lane alone.
  MergeDesk(const IcebergSinkConfig& config, iceberg::Catalog& catalog, const engine::PositionFormat& format, int64_t window_ms);
  ~MergeDesk();
  MergeDesk(const MergeDesk&) = delete;
  MergeDesk& operator=(const MergeDesk&) = delete;

  // Takes nothing more; what is under way is given up, and waiting calls return. Twice is harmless.
  void close();
  // kUnavailable: no verdict until the deadline, or the epoch is for its own worker to commit; kInvalid: it is none of this pipeline.
  base::Result<engine::CommitVerdict> submit(HandedEpoch epoch, base::MonoMicros deadline);

 private:
  struct Ticket {
    HandedEpoch epoch;
    std::optional<base::Result<engine::CommitVerdict>> outcome;
    bool is_taken = false;
  };
  using Tickets = std::vector<std::shared_ptr<Ticket>>;

  void run();
  // The next batch, or nothing when the desk is closed.
  Tickets next_batch();
  void decide(const Tickets& batch);

  JointCommitter committer_;
  const int64_t window_micros_;
  base::Interrupt abandon_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::shared_ptr<Ticket>> waiting_;
  bool is_closed_ = false;
  base::Lane lane_;
};

}  // namespace frazil::sinks
