// ObservedSink: the product's sink, with the verdicts on its epochs counted on the way through.
#pragma once

#include <memory>
#include <optional>

#include "engine/sink.h"
#include "tests/simulation/tally.h"

namespace frazil::simulation {

class ObservedSink : public engine::Sink, private engine::Committer {
 public:
  // Both outlive the sink. `has_rivals`: others read the same partitions, by mistake.
  ObservedSink(engine::Sink& sink, Tally& tally, bool has_rivals) : sink_(sink), tally_(tally), has_rivals_(has_rivals) {}

  int intakes() const override { return sink_.intakes(); }
  int intake_of(const std::string& stream) const override { return sink_.intake_of(stream); }
  base::Result<std::unique_ptr<engine::Router>> make_router(int intake, int reader_lane, int writer_lanes) override {
    return sink_.make_router(intake, reader_lane, writer_lanes);
  }
  base::Result<std::unique_ptr<engine::SinkWriter>> make_writer(int writer_lane, int64_t epoch_number) override {
    return sink_.make_writer(writer_lane, epoch_number);
  }
  engine::Committer& committer() override { return *this; }

 private:
  base::Result<std::optional<engine::SourcePositions>> open() override { return sink_.committer().open(); }
  base::Result<engine::SourcePositions> begin(const engine::SourcePositions& start) override {
    return sink_.committer().begin(start);
  }
  base::Result<engine::CommitVerdict> commit(engine::StagedEpoch& epoch, base::Interrupt& abandon) override {
    base::Result<engine::CommitVerdict> verdict = sink_.committer().commit(epoch, abandon);
    if (!verdict.ok()) return verdict;
    using Kind = engine::CommitVerdict::Kind;
    if (verdict->kind == Kind::kStale && has_rivals_) tally_.add("KM3");
    tally_.add(verdict->kind == Kind::kDone    ? "epochs done"
               : verdict->kind == Kind::kStale ? "epochs stale"
               : verdict->kind == Kind::kGap   ? "epochs with a gap"
                                               : "epochs unfit");
    return verdict;
  }
  base::Result<engine::SourcePositions> decide(const engine::SourcePositions& expected, const engine::SourcePositions& moved,
                                               const engine::Decision& decision) override {
    return sink_.committer().decide(expected, moved, decision);
  }
  base::Result<engine::SourcePositions> reload() override { return sink_.committer().reload(); }
  std::string mark() const override { return sink_.committer().mark(); }
  base::Status recognise(const std::string& mark) override { return sink_.committer().recognise(mark); }
  int64_t head_snapshot_id() const override { return sink_.committer().head_snapshot_id(); }
  int64_t least_cut_interval_ms() const override { return sink_.committer().least_cut_interval_ms(); }

  engine::Sink& sink_;
  Tally& tally_;
  const bool has_rivals_;
};

}  // namespace frazil::simulation
