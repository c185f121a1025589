#include "engine/writer_lane.h"

namespace frazil::engine {

WriterLane::WriterLane(int lane, int readers, WriterContext context)
    : lane_(lane), context_(std::move(context)), aligner_(readers), lease_(context_.budget.lease_now(0)) {}

void WriterLane::run() {
  bool is_done = false;
  while (!is_done) {
    std::optional<LaneMessage> message = context_.exchange.to(lane_).pop();
    if (!message || context_.state.is_abandoned()) return;
    if (base::Status status = take(std::move(*message), is_done); !status.ok()) {
      context_.state.fail_writing(status.error());
      context_.source.wake();
      return;
    }
  }
}

base::Status WriterLane::take(LaneMessage message, bool& is_done) {
  if (message.rows == nullptr) {
    if (!aligner_.barrier(message.reader, message.epoch)) return {};
    TRY(seal(message.epoch));
    is_done = context_.state.is_final(message.epoch);
    return {};
  }
  auto& writer = writers_[message.epoch];
  if (writer == nullptr) {
    TRY_ASSIGN(writer, context_.sink.make_writer(lane_, message.epoch));
  }
  for (const RoutedRows& routed : message.routed) TRY(writer->write(message.rows->batch, routed));
  account();
  return {};
}

base::Status WriterLane::seal(int64_t epoch) {
  std::vector<std::unique_ptr<Output>> outputs;
  if (const auto open = writers_.find(epoch); open != writers_.end()) {
    TRY_ASSIGN(outputs, open->second->seal());
    writers_.erase(open);
  }
  account();
  context_.deliver(epoch, std::move(outputs));
  return {};
}

void WriterLane::account() {
  int64_t bytes = 0;
  for (const auto& [epoch, writer] : writers_) bytes += writer->buffered_bytes();
  lease_.resize(bytes);
}

}  // namespace frazil::engine
