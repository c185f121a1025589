// Exchange: the channels from reader lanes to writer lanes, and what travels in them.
//
// Each writer lane has one channel; rows wait for room in it, barriers never do. A batch that several lanes read is shared;
// its memory lease goes back when the last lane is done with it, although the reader keeps the batch for reuse.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/channel.h"
#include "base/memory_budget.h"
#include "columnar/column.h"
#include "engine/sink.h"

namespace frazil::engine {

struct RowsInFlight {
  explicit RowsInFlight(std::shared_ptr<const columnar::Schema> schema) : batch(std::move(schema)) {}
  columnar::Batch batch;
};

struct LaneMessage {
  int reader = 0;
  int64_t epoch = 0;
  std::shared_ptr<RowsInFlight> rows;  // null: a barrier, the reader has ended `epoch`
  std::vector<RoutedRows> routed;
  std::shared_ptr<base::Lease> lease;  // of the rows; the reader keeps the batch for reuse, but not this
};

class Exchange {
 public:
  // Batches that may wait for each writer lane.
  static constexpr size_t kChannelCapacity = 4;

  explicit Exchange(int writers) {
    for (int i = 0; i < writers; ++i) channels_.push_back(std::make_unique<base::Channel<LaneMessage>>(kChannelCapacity));
  }
  base::Channel<LaneMessage>& to(int writer) { return *channels_[static_cast<size_t>(writer)]; }
  int writers() const { return static_cast<int>(channels_.size()); }
  void close() {
    for (auto& channel : channels_) channel->close();
  }

 private:
  std::vector<std::unique_ptr<base::Channel<LaneMessage>>> channels_;
};

}  // namespace frazil::engine
