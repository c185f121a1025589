// ExpiredFiles: removes the metadata that only expired snapshots named, after the commit that expired them is known to be done.
//
// 1. After the verdict: the manifest lists of the removed snapshots, and the manifests that they name and the oldest retained
//    snapshot does not; the latter only while every retained snapshot is an ancestor of the head (one line of history, in
//    which a manifest that has gone does not come back).
// 2. They wait for `keep`: readers that planned on the old metadata may still open them.
// 3. Each later commit removes some that are due. What a crash forgets is left to orphan removal.
// Data files are never touched: an append-only history keeps them all. One thread (the committer lane).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/sync.h"
#include "iceberg/table_metadata.h"
#include "io/file_io.h"

namespace frazil::sinks {

class ExpiredFiles {
 public:
  explicit ExpiredFiles(int64_t keep_ms) : keep_micros_(keep_ms * 1000) {}

  // `before`: the metadata that the accepted commit was based on; `removed`: the snapshots that it expired.
  void note(io::FileIO& io, const iceberg::TableMetadata& before, const std::vector<int64_t>& removed);
  // Removes what is due, a bounded number at a time.
  void sweep(io::FileIO& io);
  size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    base::MonoMicros due;
    std::string location;
  };
  const int64_t keep_micros_;
  std::deque<Waiting> waiting_;
};

}  // namespace frazil::sinks
