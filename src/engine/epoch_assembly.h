// EpochAssembly: puts the lanes' parts of an epoch together. Reader lanes bring ranges and dead letters, writer lanes bring
// outputs; when all have delivered, the staged epoch leaves in order. Any lane; waits for nothing.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/memory_budget.h"
#include "base/sync.h"
#include "engine/sink.h"

namespace frazil::engine {

// What a reader lane knows of an epoch that it has ended.
struct ReaderShare {
  std::vector<Range> ranges;
  std::optional<columnar::Batch> dead_letters;
  std::vector<RecordTimes> record_times;
  int64_t rows = 0;
  base::Lease lease;  // for the dead letters' memory
};

// A staged epoch with the leases that its memory holds.
struct AssembledEpoch {
  StagedEpoch staged;
  std::vector<base::Lease> leases;
};

class EpochAssembly {
 public:
  EpochAssembly(int readers, int writers) : parts_(readers + writers) {}
  // The epoch, when this was its last part.
  std::optional<AssembledEpoch> deliver(int64_t epoch, ReaderShare share);
  std::optional<AssembledEpoch> deliver(int64_t epoch, std::vector<std::unique_ptr<Output>> outputs);

 private:
  struct Open {
    AssembledEpoch epoch;
    int delivered = 0;
  };
  std::optional<AssembledEpoch> finish_if_complete(int64_t epoch);

  const int parts_;
  base::Mutex mutex_;
  std::map<int64_t, Open> open_;
};

}  // namespace frazil::engine
