#include "engine/worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/patience.h"
#include "base/random.h"
#include "base/simulation.h"
#include "engine/ledger.h"

namespace frazil::engine {
namespace {

// Splits are letters, positions decimal offsets; each record's value is its number as text.
class OffsetFormat : public PositionFormat {
 public:
  std::string encode(const SourcePositions&) const override { return "{}"; }
  base::Result<SourcePositions> decode(const std::string&) const override { return SourcePositions{}; }
  std::string encode_ranges(const std::vector<Range>&) const override { return "{}"; }
  base::Result<std::vector<Range>> decode_ranges(const std::string&) const override { return std::vector<Range>{}; }
  Relation relate(const std::string& begin, const std::string& frontier) const override {
    const int b = std::stoi(begin);
    const int f = std::stoi(frontier);
    return b == f ? Relation::kAt : b < f ? Relation::kBehind : Relation::kBeyond;
  }
};

const OffsetFormat kFormat;

// `splits` splits of `records` records each, split i read by lane i modulo lanes.
class FakeSource : public Source {
 public:
  FakeSource(int splits, int records) : splits_(splits), records_(records) {}
  const PositionFormat& format() const override { return kFormat; }
  base::Status connect(base::MonoMicros deadline) override {
    if (refused_connects == 0) return {};
    --refused_connects;
    base::Interrupt never;
    if (!refuses_at_once) never.wait_until(deadline);
    return base::unavailable("no broker answered");
  }
  base::Result<SourcePositions> resolve_start() override {
    SourcePositions start{"fake", {}, {}};
    for (int i = 0; i < splits_; ++i) start.next[name(i)] = "0";
    return start;
  }
  base::Status check(const SourcePositions&) override { return check_status; }
  base::Result<SourcePositions> apply_choice(const base::Halt&, const std::string&, const SourcePositions& positions) override {
    check_status = {};
    SourcePositions moved = positions;
    for (auto& [split, position] : moved.next) position = "5";
    return moved;
  }
  base::Status start(const SourcePositions& positions, int lanes) override {
    base::Lock lock(mutex_);
    lanes_ = lanes;
    ++starts;
    next_.clear();
    for (int i = 0; i < splits_; ++i) {
      if (!away_.contains(i)) next_[i] = std::stoi(positions.next.at(name(i)));
    }
    return {};
  }
  base::Status add(const std::vector<SplitId>& splits, const SourcePositions& positions) override {
    base::Lock lock(mutex_);
    if (refused_adds > 0) {
      --refused_adds;
      return base::unavailable("not yet");
    }
    for (const SplitId& split : splits) {
      EXPECT_TRUE(away_.erase(split[0] - 'a') == 1) << split;
      next_[split[0] - 'a'] = std::stoi(positions.next.at(split));
    }
    ++adds;
    return {};
  }
  base::Status release(const std::vector<SplitId>& splits) override {
    ++releases;
    if (on_release) on_release(splits);
    return {};
  }
  base::Result<std::unique_ptr<RawBatch>> read(int lane, base::MonoMicros deadline) override {
    base::io_point();
    base::Lock lock(mutex_);
    for (int i = lane; i < splits_; i += lanes_) {
      if (read_micros > 0) never_.wait_until(lock, base::deadline_after(static_cast<int64_t>(base::random_below(read_micros))));
      const auto next = next_.find(i);
      if (next != next_.end() && next->second < records_) return std::make_unique<RawBatch>(take(i));
    }
    woken_.wait_until(lock, deadline);
    return std::unique_ptr<RawBatch>();
  }
  void wake() override {
    base::Lock lock(mutex_);
    woken_.notify_all();
  }
  void stop() override {}
  base::Result<SourceEvent> poll_control(base::MonoMicros deadline) override {
    base::Lock lock(mutex_);
    const auto is_due = [this] { return !events.empty() && batches_ >= events_after; };
    if (!is_due()) woken_.wait_until(lock, deadline);
    if (is_due()) {
      SourceEvent event = events.front();
      events.pop_front();
      for (const SplitId& split : event.splits) {
        if (event.kind == SourceEvent::Kind::kSplitsAdded) continue;
        next_.erase(split[0] - 'a');
        away_.insert(split[0] - 'a');
      }
      if (event.deadline != base::kForever) event.deadline = base::deadline_after(event.deadline);
      return event;
    }
    if (reassignments == 0) return SourceEvent();
    --reassignments;
    return SourceEvent{SourceEvent::Kind::kStartAgain, {}};
  }
  base::Status confirm(const SourcePositions&, const std::vector<Range>&) override { return {}; }
  std::map<std::string, std::string> identity() const override { return {}; }
  void acknowledge(const SourcePositions& positions, const std::string&) override { acknowledged = positions; }
  std::string last_mark() override {
    if (on_mark) on_mark();
    return "";
  }
  bool is_caught_up(const SourcePositions& positions) override {
    return std::all_of(positions.next.begin(), positions.next.end(),
                       [&](const auto& entry) { return entry.second == std::to_string(records_); });
  }
  std::vector<SplitLag> lag(const SourcePositions&) override { return {}; }
  void close() override { ++closes; }

  base::Status check_status;
  int reassignments = 0;
  std::deque<SourceEvent> events;  // told one at each poll; deadlines count from then
  std::function<void(const std::vector<SplitId>&)> on_release;
  std::function<void()> on_mark;  // whenever it is asked for
  int events_after = 0;      // not before so many batches were read
  uint64_t read_micros = 0;  // how long a read takes at most
  int refused_adds = 0;
  int adds = 0;
  int releases = 0;
  int starts = 0;
  int closes = 0;
  int refused_connects = 0;
  bool refuses_at_once = false;  // not only when the deadline is over
  SourcePositions acknowledged;

 private:
  static std::string name(int split) { return std::string(1, static_cast<char>('a' + split)); }
  RawBatch take(int split) {
    const int begin = next_[split];
    const int end = std::min(records_, begin + 1 + static_cast<int>(base::random_below(4)));
    RawBatch raw;
    raw.range = {name(split), std::to_string(begin), std::to_string(end)};
    raw.stream = name(split);
    auto values = std::make_shared<std::vector<std::string>>();
    for (int i = begin; i < end; ++i) values->push_back(std::to_string(split * 1000 + i));
    for (const std::string& value : *values) {
      RawRecord record;
      record.has_value = true;
      record.value = value;
      record.offset = begin + static_cast<int64_t>(raw.records.size());
      raw.records.push_back(record);
      raw.bytes += 100;
    }
    raw.memory = values;
    next_[split] = end;
    ++batches_;
    return raw;
  }

  const int splits_;
  const int records_;
  base::Mutex mutex_;
  base::CondVar woken_;
  base::CondVar never_;
  int batches_ = 0;
  int lanes_ = 1;
  std::map<int, int> next_;
  std::set<int> away_;  // with other workers
};

std::shared_ptr<const columnar::Schema> number_schema() {
  columnar::Schema schema;
  schema.fields = {{1, "n", true, columnar::Type::primitive(columnar::TypeId::kLong), ""}};
  return std::make_shared<const columnar::Schema>(schema);
}

// Numbers that end in 7 are rejected. Takes few records at a time, as for records that give many rows.
class FakeDecoder : public Decoder {
 public:
  std::shared_ptr<const columnar::Schema> schema() const override { return number_schema(); }
  base::Result<size_t> decode(const RawBatch& raw, size_t first, size_t last, columnar::Batch& rows, std::vector<Rejected>& rejects,
                              DecodeCounts&) override {
    last = std::min(last, first + 3);
    for (size_t i = first; i < last; ++i) {
      int64_t number = 0;
      const std::string_view text = raw.records[i].value;
      std::from_chars(text.data(), text.data() + text.size(), number);
      if (number % 10 == 7) {
        rejects.push_back({i, "SEVEN", "ends in 7", ""});
      } else {
        rows.columns[0].append_long(number);
        records_->push_back(i);
      }
    }
    return last;
  }
  void note_records(std::vector<size_t>& records) override { records_ = &records; }

 private:
  std::vector<size_t>* records_ = nullptr;
};

class Numbers : public Output {
 public:
  explicit Numbers(std::vector<int64_t> values) : values_(std::move(values)) {}
  int64_t rows() const override { return static_cast<int64_t>(values_.size()); }
  int64_t bytes() const override { return rows() * 8; }
  const std::vector<int64_t>& values() const { return values_; }

 private:
  std::vector<int64_t> values_;
};

// No table takes numbers that end in `unwanted`.
struct Unwanted {
  int64_t digit = -1;
  UnwantedRow::Fate fate = UnwantedRow::Fate::kDeadLetter;
};

class FakeRouter : public Router {
 public:
  FakeRouter(int lanes, Unwanted unwanted) : lanes_(lanes), unwanted_(unwanted) {}
  base::Result<std::vector<UnwantedRow>> look(const columnar::Batch& batch, int64_t first) override {
    std::vector<UnwantedRow> unwanted;
    for (int64_t row = first; row < batch.rows(); ++row) {
      if (batch.columns[0].long_at(row) % 10 != unwanted_.digit) continue;
      unwanted.push_back({unwanted_.fate, row, "NOWHERE", "no table for it", ""});
      if (unwanted_.fate == UnwantedRow::Fate::kSkip) out_.insert(row);
    }
    return unwanted;
  }
  void leave_out(int64_t first, int64_t last) override {
    for (int64_t row = first; row < last; ++row) out_.insert(row);
  }
  base::Result<std::vector<RoutedRows>> route(const columnar::Batch& batch) override {
    std::vector<RoutedRows> routed(static_cast<size_t>(lanes_));
    for (int lane = 0; lane < lanes_; ++lane) routed[static_cast<size_t>(lane)].lane = lane;
    for (int32_t row = 0; row < batch.rows(); ++row) {
      if (out_.contains(row)) continue;
      routed[static_cast<size_t>(batch.columns[0].long_at(row) % lanes_)].rows.push_back(row);
    }
    out_.clear();
    return routed;
  }

 private:
  const int lanes_;
  const Unwanted unwanted_;
  std::set<int64_t> out_;
};

// Failures that writers meet, one for each writer that gets any; then all goes well.
struct StoreFaults {
  base::Mutex mutex;
  std::deque<base::Code> next;
  bool at_seal = false;
  base::Status meet() {
    base::Lock lock(mutex);
    if (next.empty()) return {};
    const base::Code code = next.front();
    next.pop_front();
    return base::Error(code, "the store says no");
  }
};

class FakeWriter : public SinkWriter {
 public:
  explicit FakeWriter(StoreFaults& faults) : faults_(faults) {}
  base::Status write(const columnar::Batch& batch, const RoutedRows& routed) override {
    base::io_point();
    if (!faults_.at_seal) TRY(faults_.meet());
    for (const int32_t row : routed.rows) values_.push_back(batch.columns[0].long_at(row));
    return {};
  }
  int64_t buffered_bytes() const override { return static_cast<int64_t>(values_.size()) * 100; }
  base::Result<std::vector<std::unique_ptr<Output>>> seal() override {
    base::io_point();
    if (faults_.at_seal) TRY(faults_.meet());
    std::vector<std::unique_ptr<Output>> outputs;
    if (!values_.empty()) outputs.push_back(std::make_unique<Numbers>(std::move(values_)));
    return outputs;
  }

 private:
  StoreFaults& faults_;
  std::vector<int64_t> values_;
};

class FakeCommitter : public Committer {
 public:
  base::Result<std::optional<SourcePositions>> open() override {
    is_made = true;
    if (hangs_at_open) return hang();
    if (damaged_opens > 0) {
      --damaged_opens;
      return base::corrupt("a manifest list that is none");
    }
    if (refused_opens == 0) return positions;
    --refused_opens;
    return base::unavailable("the catalog is locked");
  }
  base::Result<SourcePositions> begin(const SourcePositions& start) override {
    if (refused_begins > 0) {
      --refused_begins;
      return base::unavailable("the store is away");
    }
    positions = start;
    return start;
  }
  base::Result<CommitVerdict> commit(StagedEpoch& epoch, base::Interrupt&) override {
    base::io_point();
    if (commit_micros > 0) {
      base::Interrupt never;
      never.wait_until(base::deadline_after(commit_micros));
    }
    ++commits;
    if (hangs_from_commit > 0 && commits >= hangs_from_commit) return hang();
    if (stale_answers > 0) {
      --stale_answers;
      return CommitVerdict{dropped_as, *positions, "told to"};
    }
    Ledger ledger(kFormat, *positions);
    EXPECT_EQ(ledger.judge(epoch.ranges).answer, Ledger::Answer::kAccept) << ledger.judge(epoch.ranges).reason;
    ledger.accept(epoch.ranges, epoch.identity);
    positions = ledger.frontier();
    for (const auto& output : epoch.outputs) {
      const auto& values = static_cast<const Numbers&>(*output).values();
      rows.insert(rows.end(), values.begin(), values.end());
    }
    if (epoch.dead_letters) dead_letters += epoch.dead_letters->rows();
    return CommitVerdict{CommitVerdict::Kind::kDone, *positions, ""};
  }
  base::Result<SourcePositions> decide(const SourcePositions&, const SourcePositions& moved, const Decision& decision) override {
    decided = decision;
    positions = moved;
    return moved;
  }
  base::Result<SourcePositions> reload() override {
    if (on_reload) on_reload();
    ++reloads;
    for (const auto& [split, position] : others) positions->next[split] = position;
    if (refused_reloads == 0) return *positions;
    --refused_reloads;
    return base::unavailable("the catalog is locked");
  }
  std::string mark() const override { return "t"; }
  base::Result<bool> must_create() override { return !is_made; }
  base::Status recognise(const std::string&) override { return recognised; }
  int64_t head_snapshot_id() const override { return head; }
  int64_t least_cut_interval_ms() const override { return least_interval_ms; }

  // Like a request to a catalog that does not answer: ends when nobody waits for it any more.
  base::Error hang() {
    patience->over()->wait_until(base::kForever);
    return base::Error(base::Code::kUnknownOutcome, "no answer came");
  }

  std::optional<SourcePositions> positions;
  std::shared_ptr<base::Patience> patience;
  bool hangs_at_open = false;
  int damaged_opens = 0;
  int hangs_from_commit = 0;
  int64_t least_interval_ms = 0;
  std::vector<int64_t> rows;
  int64_t dead_letters = 0;
  int commits = 0;
  int stale_answers = 0;
  CommitVerdict::Kind dropped_as = CommitVerdict::Kind::kStale;  // by those answers
  int64_t commit_micros = 0;  // how long one takes
  std::map<SplitId, std::string> others;  // positions that other workers reach before the next look
  int reloads = 0;
  int refused_reloads = 0;
  int refused_opens = 0;
  int refused_begins = 0;
  bool is_made = false;
  base::Status recognised;
  Decision decided;
  int64_t head = 17;
  std::function<void()> on_reload;
};

class FakeSink : public Sink {
 public:
  int intakes() const override { return intake_count; }
  int intake_of(const std::string& stream) const override { return stream.back() % intake_count; }
  base::Result<std::unique_ptr<Router>> make_router(int, int, int writer_lanes) override {
    return std::unique_ptr<Router>(std::make_unique<FakeRouter>(writer_lanes, unwanted));
  }
  base::Result<std::unique_ptr<SinkWriter>> make_writer(int, int64_t) override {
    return std::unique_ptr<SinkWriter>(std::make_unique<FakeWriter>(faults));
  }
  Committer& committer() override { return committer_; }
  FakeCommitter committer_;
  StoreFaults faults;
  Unwanted unwanted;
  int intake_count = 1;
};

// One pipeline of `splits` splits with 40 records each, two reader and two writer lanes.
struct Rig {
  explicit Rig(int splits = 3, int64_t budget_bytes = 1 << 20) : source(splits, 40), splits(splits), budget(budget_bytes) {
    options.pipeline = "p";
    options.reader_lanes = 2;
    options.writer_lanes = 2;
    options.commit_interval_ms = 5;
    options.until_caught_up = true;
  }
  base::Status run(base::Interrupt& stop) {
    PipelineStatus status("p", metrics);
    const auto make_decoder = [this](int, int intake) -> base::Result<std::unique_ptr<Decoder>> {
      decoders_made.push_back(intake);
      return std::unique_ptr<Decoder>(std::make_unique<FakeDecoder>());
    };
    Worker worker(options, source, sink, make_decoder, budget, status);
    return worker.run(stop);
  }
  base::Status run() {
    base::Interrupt stop;
    return run(stop);
  }
  // Every number once: in the rows, or (those that end in 7) as a dead letter.
  void expect_all() {
    std::vector<int64_t> expected;
    for (int split = 0; split < splits; ++split) {
      for (int i = 0; i < 40; ++i) {
        if (i % 10 != 7) expected.push_back(split * 1000 + i);
      }
    }
    std::sort(sink.committer_.rows.begin(), sink.committer_.rows.end());
    EXPECT_EQ(sink.committer_.rows, expected);
    EXPECT_EQ(sink.committer_.dead_letters, splits * 4);
    EXPECT_EQ(budget.used(), 0);
    EXPECT_EQ(source.closes, 1);
  }

  FakeSource source;
  FakeSink sink;
  std::vector<int> decoders_made;
  const int splits;
  base::Metrics metrics;
  base::MemoryBudget budget;
  WorkerOptions options;
};

void for_seeds(int seeds, const std::function<void()>& body) {
  for (int seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Simulation simulation(static_cast<uint64_t>(seed));
    simulation.run(body);
  }
}

TEST(Worker, CommitsEveryRecordOnceAndEndsWhenCaughtUp) {
  for_seeds(40, [] {
    Rig rig;
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
    EXPECT_EQ(rig.source.acknowledged.next, rig.sink.committer_.positions->next);
  });
}

TEST(Worker, ABudgetSmallerThanABatchHoldsNoBarrierBack) {
  for_seeds(40, [] {
    Rig rig(3, 250);
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
  });
}

TEST(Worker, AfterAStaleEpochReadingGoesBackToTheTable) {
  for_seeds(40, [] {
    Rig rig;
    rig.sink.committer_.stale_answers = 3;
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
    EXPECT_EQ(rig.source.starts, 4);
  });
}

TEST(Worker, BrokersThatDoNotAnswerAtTheStartAreToldOnce) {
  testing::internal::CaptureStderr();
  Rig rig;
  rig.source.refused_connects = 3;
  rig.source.refuses_at_once = true;
  const base::Status ended = rig.run();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(ended.ok());
  const size_t at = log.find("warn  start_again");
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.find("start_again", at + 10), std::string::npos) << log;
}

TEST(Worker, AnAnswerToNoHaltIsTold) {
  for (const bool is_for_others : {false, true}) {
    testing::internal::CaptureStderr();
    Rig rig;
    rig.options.accepted = {{"SOURCE_GAP", "skip", "3f9c1a2b4d5e"}};
    rig.options.is_accepted_for_others = is_for_others;
    rig.sink.committer_.stale_answers = 2;  // told once, however often it begins again
    const base::Status ended = rig.run();
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(ended.ok());
    const size_t at = log.find("stale_accept_ignored");
    ASSERT_NE(at, std::string::npos) << log;
    EXPECT_NE(log.find("token=3f9c1a2b4d5e", at), std::string::npos) << log;
    EXPECT_EQ(log.find("stale_accept_ignored", at + 1), std::string::npos) << log;
    EXPECT_EQ(log.substr(at - 6, 4), is_for_others ? "info" : "warn") << log;
  }
}

TEST(Worker, ADroppedEpochIsToldWithTheCauseOfItsKind) {
  using Kind = CommitVerdict::Kind;
  for (const auto& [kind, why, cause] : {std::tuple(Kind::kStale, "why=stale", "another process had committed these records"),
                                         std::tuple(Kind::kGap, "why=gap", "positions were moved back"),
                                         std::tuple(Kind::kUnfit, "why=unfit", "the table or the store has changed")}) {
    testing::internal::CaptureStderr();
    Rig rig;
    rig.sink.committer_.stale_answers = 1;
    rig.sink.committer_.dropped_as = kind;
    const base::Status ended = rig.run();
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(ended.ok());
    EXPECT_NE(log.find(why), std::string::npos) << log;
    EXPECT_NE(log.find(cause), std::string::npos) << log;
    EXPECT_EQ(log.find("another process") != std::string::npos, kind == Kind::kStale) << log;
  }
}

TEST(Worker, ASourceThatWantsToStartAgainIsDrainedFirst) {
  for_seeds(40, [] {
    Rig rig;
    rig.source.reassignments = 2;
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
  });
}

using Kind = SourceEvent::Kind;

TEST(Worker, SplitsThatGoAreCommittedBeforeTheirReleaseAndReadOnWhenTheyComeBack) {
  for_seeds(60, [] {
    Rig rig;
    rig.source.read_micros = 30'000;
    rig.source.events = {{Kind::kSplitsLeaving, {"b"}}, {Kind::kSplitsAdded, {"b"}}, {Kind::kSplitsLeaving, {"a", "c"}},
                         {Kind::kNone, {}},             {Kind::kSplitsAdded, {"c"}}, {Kind::kSplitsAdded, {"a"}}};
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
    EXPECT_EQ(rig.source.starts, 1);  // nothing was reset, and no range was stale: the committer expects that
    EXPECT_GE(rig.source.releases, 1);
    EXPECT_GE(rig.sink.committer_.reloads, 1);
  });
}

TEST(Worker, NothingIsReadOfASplitBetweenItsReleaseAndTheCommitBeforeIt) {
  for_seeds(60, [] {
    Rig rig;
    rig.options.until_caught_up = false;
    SourcePositions at_release;
    rig.source.events_after = static_cast<int>(base::random_below(20));
    rig.source.events = {{Kind::kSplitsLeaving, {"b"}}};
    rig.source.on_release = [&](const auto&) { at_release = *rig.sink.committer_.positions; };
    base::Interrupt stop;
    base::Lane stopper("stopper", [&] {
      base::Interrupt never;
      never.wait_until(base::deadline_after(10'000'000));
      stop.raise();
    });
    EXPECT_TRUE(rig.run(stop).ok());
    stopper.join();
    EXPECT_EQ(rig.sink.committer_.positions->next.at("b"), at_release.next.at("b"));
    EXPECT_EQ(rig.sink.committer_.positions->next.at("a"), "40");
    EXPECT_EQ(rig.sink.committer_.positions->next.at("c"), "40");
    EXPECT_EQ(rig.budget.used(), 0);
  });
}

TEST(Worker, WorkOnSplitsThatGoWhichTakesTooLongIsDropped) {
  for_seeds(20, [] {
    Rig rig;
    rig.options.until_caught_up = false;
    rig.sink.committer_.commit_micros = 9'000'000;
    base::MonoMicros released_at = 0;
    rig.source.events_after = 3;
    rig.source.events = {{Kind::kSplitsLeaving, {"a", "b", "c"}, 3'000'000}};
    rig.source.on_release = [&](const auto&) { released_at = base::mono_micros(); };
    const base::MonoMicros begun = base::mono_micros();
    base::Interrupt stop;
    base::Lane stopper("stopper", [&] {
      base::Interrupt never;
      never.wait_until(base::deadline_after(60'000'000));
      stop.raise();
    });
    EXPECT_TRUE(rig.run(stop).ok());
    stopper.join();
    EXPECT_EQ(rig.source.releases, 1);
    EXPECT_LT(released_at - begun, 4'000'000);
    EXPECT_EQ(rig.source.starts, 2);
  });
}

TEST(Worker, SplitsThatAreLostAreDroppedWithoutARelease) {
  for_seeds(40, [] {
    Rig rig;
    rig.source.read_micros = 30'000;
    rig.source.events = {{Kind::kSplitsLost, {"a"}}, {Kind::kSplitsAdded, {"a"}}};
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
    EXPECT_EQ(rig.source.starts, 2);
    EXPECT_EQ(rig.source.releases, 0);
  });
}

TEST(Worker, SplitsThatComeWaitForATableOrBrokerThatIsAway) {
  for_seeds(20, [] {
    Rig rig;
    rig.sink.committer_.refused_reloads = 3;
    rig.source.refused_adds = 2;
    rig.source.events = {{Kind::kSplitsLeaving, {"a"}}, {Kind::kSplitsAdded, {"a"}}};
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
    EXPECT_EQ(rig.source.starts, 1);
    EXPECT_EQ(rig.source.adds, 1);
  });
}

TEST(Worker, ARunUntilCaughtUpSeesWhatOtherWorkersCommit) {
  for_seeds(10, [] {
    Rig rig;
    rig.source.read_micros = 30'000;
    rig.source.events = {{Kind::kSplitsLeaving, {"b"}}};
    base::Lane other("other", [&] {
      base::Interrupt never;
      never.wait_until(base::deadline_after(200'000));
      rig.sink.committer_.others = {{"b", "40"}};
    });
    ASSERT_TRUE(rig.run().ok());
    other.join();
    EXPECT_EQ(rig.source.starts, 1);
  });
}

TEST(Worker, StoppingCommitsWhatIsCompleteAndTheNextRunGoesOn) {
  for_seeds(40, [] {
    Rig rig;
    base::Interrupt stop;
    base::Lane stopper("stopper", [&] {
      base::Interrupt never;
      never.wait_until(base::deadline_after(static_cast<int64_t>(base::random_below(20'000))));
      stop.raise();
    });
    EXPECT_TRUE(rig.run(stop).ok());
    stopper.join();
    EXPECT_EQ(rig.budget.used(), 0);
    ASSERT_TRUE(rig.run().ok());
    rig.source.closes = 1;
    rig.expect_all();
  });
}

TEST(Worker, AnUnansweredHaltEndsTheRunWithItsToken) {
  Rig rig;
  rig.source.check_status = base::Error(base::Halt{"SOURCE_GAP", "gone", "a[0,5)", "", {{"skip", "leave out"}}});
  const base::Status status = rig.run();
  ASSERT_FALSE(status.ok());
  ASSERT_NE(status.error().halt(), nullptr);
  EXPECT_EQ(status.error().halt()->token, base::halt_token("SOURCE_GAP", "a[0,5)", 17));
  EXPECT_EQ(rig.sink.committer_.commits, 0);
}

TEST(Worker, AnAcceptedHaltMovesThePositionsAndIsRecorded) {
  Rig rig;
  rig.source.check_status = base::Error(base::Halt{"SOURCE_GAP", "gone", "a[0,5)", "", {{"skip", "leave out"}}});
  rig.options.user = "somebody";
  rig.options.accepted = {{"SOURCE_GAP", "", "000000000000"}, {"SOURCE_GAP", "", base::halt_token("SOURCE_GAP", "a[0,5)", 17)}};
  ASSERT_TRUE(rig.run().ok());
  EXPECT_EQ(rig.sink.committer_.decided.choice, "skip");
  EXPECT_EQ(rig.sink.committer_.decided.user, "somebody");
  EXPECT_EQ(*std::min_element(rig.sink.committer_.rows.begin(), rig.sink.committer_.rows.end()), 5);
}

TEST(Worker, AnAcceptedHaltWhoseRecordsAnotherWorkerHasCommittedMovesNothing) {
  Rig rig;
  rig.source.check_status = base::Error(base::Halt{"SOURCE_GAP", "gone", "a[0,5)", "", {{"skip", "leave out"}}});
  rig.options.accepted = {{"SOURCE_GAP", "", base::halt_token("SOURCE_GAP", "a[0,5)", 17)}};
  rig.sink.committer_.on_reload = [&] {
    if (rig.sink.committer_.head != 17) return;
    rig.sink.committer_.head = 18;
    rig.sink.committer_.positions->next["a"] = "20";
    rig.source.check_status = base::Status();
  };
  ASSERT_TRUE(rig.run().ok());
  EXPECT_EQ(rig.sink.committer_.decided.choice, "");
  EXPECT_EQ(*std::min_element(rig.sink.committer_.rows.begin(), rig.sink.committer_.rows.end()), 20);
}

TEST(Worker, ARunThatHasNothingToReadEndsAtOnce) {
  Rig rig;
  rig.sink.committer_.positions = SourcePositions{"fake", {}, {{"a", "40"}, {"b", "40"}, {"c", "40"}}};
  ASSERT_TRUE(rig.run().ok());
  EXPECT_EQ(rig.sink.committer_.commits, 0);
}

TEST(Worker, WaitsForBrokersAndCatalogUntilTheConnectTimeout) {
  for_seeds(5, [] {
    Rig rig;
    rig.source.refused_connects = 3;
    rig.sink.committer_.refused_opens = 3;
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
  });
  for_seeds(5, [] {
    Rig rig;
    rig.source.refused_connects = 1000;
    const base::MonoMicros begin = base::mono_micros();
    EXPECT_EQ(rig.run().error().code(), base::Code::kUnavailable);
    EXPECT_LT(base::mono_micros() - begin, 61'000'000);
  });
  for_seeds(5, [] {
    Rig rig;
    rig.sink.committer_.refused_opens = 1'000'000;
    EXPECT_EQ(rig.run().error().code(), base::Code::kUnavailable);
  });
  for_seeds(5, [] {
    Rig rig;
    rig.sink.committer_.refused_begins = 1'000'000;
    const base::MonoMicros begin = base::mono_micros();
    EXPECT_EQ(rig.run().error().message(), "the store is away");
    EXPECT_LT(base::mono_micros() - begin, 61'000'000);
  });
}

TEST(Worker, NoTableIsMadeBeforeTheSourceIsRecognised) {
  Rig rig;
  rig.sink.committer_.recognised = base::Error(base::Halt{"TABLE_REPLACED", "of another", "t", "", {}});
  const base::Status status = rig.run();
  ASSERT_NE(status.error().halt(), nullptr);
  EXPECT_FALSE(rig.sink.committer_.is_made);
}

TEST(Worker, ATableThatAnotherWorkerMakesMeanwhileIsNoOtherTable) {
  Rig rig;
  rig.sink.committer_.recognised = base::Error(base::Halt{"TABLE_REPLACED", "the mark is of a table, and there is none", "t", "", {}});
  rig.source.on_mark = [&] {
    rig.sink.committer_.is_made = true;
    rig.sink.committer_.positions = rig.source.resolve_start().value();
  };
  const base::Status status = rig.run();
  EXPECT_TRUE(status.ok()) << status.error().message();
}

TEST(Worker, AFailureThatMayPassDropsTheEpochAndReadsItAgain) {
  using base::Code;
  for (const bool at_seal : {false, true}) {
    for_seeds(20, [&] {
      Rig rig;
      rig.sink.faults.at_seal = at_seal;
      rig.sink.faults.next = {Code::kUnavailable, Code::kUnknownOutcome, Code::kExhausted, Code::kConflict, Code::kUnavailable};
      const base::Status status = rig.run();
      ASSERT_TRUE(status.ok()) << status.error().message();
      rig.expect_all();
      EXPECT_GT(rig.source.starts, 1);
    });
  }
}

TEST(Worker, ARefusedFileIsTriedThreeTimesInARow) {
  using base::Code;
  for_seeds(10, [] {
    Rig rig;
    rig.options.writer_lanes = 1;
    rig.sink.faults.next = {Code::kNotFound, Code::kInvalid, Code::kNotFound};
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
  });
  for_seeds(10, [] {
    Rig rig;
    rig.options.writer_lanes = 1;
    rig.sink.faults.next = std::deque<Code>(10, Code::kInvalid);
    EXPECT_EQ(rig.run().error().code(), Code::kInvalid);
    EXPECT_EQ(rig.source.starts, 4);
    EXPECT_EQ(rig.sink.committer_.commits, 0);
  });
}

TEST(Worker, DamageIsLookedAtThreeTimesInARow) {
  for_seeds(10, [] {
    Rig rig;
    rig.sink.committer_.damaged_opens = 3;
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
    Rig other;
    other.sink.committer_.damaged_opens = 4;
    const base::Status status = other.run();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code(), base::Code::kCorrupt);
    EXPECT_EQ(other.sink.committer_.damaged_opens, 0);
  });
}

TEST(Worker, WhatIsBrokenForGoodEndsTheRunAtOnce) {
  for (const base::Code code : {base::Code::kUnsupported, base::Code::kBug}) {
    Rig rig;
    rig.sink.faults.next = {code};
    EXPECT_EQ(rig.run().error().code(), code);
    EXPECT_EQ(rig.source.starts, 1);
  }
}

TEST(Worker, GivesUpWhenAttemptsFailForTooLong) {
  for_seeds(5, [] {
    Rig rig;
    rig.options.retry_for_ms = 600'000;
    rig.sink.faults.next = std::deque<base::Code>(100'000, base::Code::kExhausted);
    const base::MonoMicros begin = base::mono_micros();
    EXPECT_EQ(rig.run().error().code(), base::Code::kExhausted);
    EXPECT_GE(base::mono_micros() - begin, 600'000'000);
    EXPECT_LT(base::mono_micros() - begin, 700'000'000);
    EXPECT_LT(rig.source.starts, 200);  // it does not hammer a store that is full
    EXPECT_EQ(rig.budget.used(), 0);
  });
}

TEST(Worker, TheSinkMayAskForLongerEpochs) {
  const auto commits_in_a_minute = [](int64_t least_interval_ms) {
    Rig rig;
    rig.options.until_caught_up = false;
    rig.sink.committer_.least_interval_ms = least_interval_ms;
    base::Interrupt stop;
    base::Lane stopper("stopper", [&] {
      base::Interrupt never;
      never.wait_until(base::deadline_after(60'000'000));
      stop.raise();
    });
    EXPECT_TRUE(rig.run(stop).ok());
    stopper.join();
    rig.expect_all();
    return rig.sink.committer_.commits;
  };
  int hurried = 0;
  for_seeds(10, [&] {
    hurried += commits_in_a_minute(0);
    EXPECT_EQ(commits_in_a_minute(3'600'000), 1);  // at the end
  });
  EXPECT_GT(hurried, 10);
}

TEST(Worker, RowsThatNoTableTakesBecomeDeadLetters) {
  for_seeds(10, [] {
    Rig rig;
    rig.sink.unwanted = {3, UnwantedRow::Fate::kDeadLetter};
    ASSERT_TRUE(rig.run().ok());
    EXPECT_EQ(rig.sink.committer_.rows.size(), 96u);    // of 120, those that end in 3 or 7 are left out
    EXPECT_EQ(rig.sink.committer_.dead_letters, 24);
  });
}

TEST(Worker, RowsThatNoTableTakesMayBeSkipped) {
  for_seeds(10, [] {
    Rig rig;
    rig.sink.unwanted = {3, UnwantedRow::Fate::kSkip};
    ASSERT_TRUE(rig.run().ok());
    EXPECT_EQ(rig.sink.committer_.rows.size(), 96u);
    EXPECT_EQ(rig.sink.committer_.dead_letters, 12);
  });
}

TEST(Worker, ARowThatNoTableTakesMayHaltAndNamesItsRecord) {
  Rig rig(1);
  rig.sink.unwanted = {3, UnwantedRow::Fate::kHalt};
  base::Simulation simulation(1);
  simulation.run([&] {
    const base::Status status = rig.run();
    ASSERT_FALSE(status.ok());
    ASSERT_NE(status.error().halt(), nullptr) << status.error().message();
    EXPECT_EQ(status.error().halt()->code, "ROW_UNROUTED");
    EXPECT_EQ(status.error().halt()->range, "a/0[3,4)");
  });
}

TEST(Worker, EachStreamGoesThroughTheDecoderAndRouterOfItsIntake) {
  for_seeds(10, [] {
    Rig rig;
    rig.sink.intake_count = 3;
    ASSERT_TRUE(rig.run().ok());
    rig.expect_all();
    EXPECT_EQ(rig.decoders_made, (std::vector<int>{0, 1, 2, 0, 1, 2}));  // for each of two reader lanes
  });
}

// How long a run goes on after a stop that comes while the committer hangs; the run itself must end well.
base::MonoMicros end_after_stop(Rig& rig) {
  base::Interrupt stop;
  rig.options.until_caught_up = false;
  rig.options.patience = rig.sink.committer_.patience = base::Patience::until(stop);
  base::MonoMicros raised_at = 0;
  base::Lane stopper("stopper", [&] {
    base::Interrupt never;
    never.wait_until(base::deadline_after(2'000'000));
    raised_at = base::mono_micros();
    stop.raise();
  });
  EXPECT_TRUE(rig.run(stop).ok());
  const base::MonoMicros ended_at = base::mono_micros();
  stopper.join();
  EXPECT_EQ(rig.source.closes, 1);
  return ended_at - raised_at;
}

TEST(Worker, AStopEndsACatalogThatHangsAtTheStartAtOnce) {
  for_seeds(10, [] {
    Rig rig;
    rig.sink.committer_.hangs_at_open = true;
    EXPECT_LT(end_after_stop(rig), 1'000'000);
  });
}

TEST(Worker, AfterAStopACommitThatHangsIsWaitedForUntilTheDrainIsOver) {
  for_seeds(10, [] {
    Rig rig;
    rig.sink.committer_.hangs_from_commit = 1;
    const base::MonoMicros after = end_after_stop(rig);
    EXPECT_GE(after, 14'000'000);
    EXPECT_LT(after, 17'000'000);
    EXPECT_EQ(rig.sink.committer_.commits, 1);
    EXPECT_EQ(rig.budget.used(), 0);
  });
}

TEST(Worker, AStopDuringTheStartEndsWellAndSoon) {
  for_seeds(10, [] {
    Rig rig;
    rig.source.refused_connects = 1000;
    base::Interrupt stop;
    base::MonoMicros raised_at = 0;
    base::Lane stopper("stopper", [&] {
      base::Interrupt never;
      never.wait_until(base::deadline_after(7'000'000));
      raised_at = base::mono_micros();
      stop.raise();
    });
    EXPECT_TRUE(rig.run(stop).ok());
    const base::MonoMicros ended_at = base::mono_micros();
    stopper.join();
    EXPECT_LT(ended_at - raised_at, 10'000'000);
    EXPECT_EQ(rig.source.closes, 1);
  });
}

}  // namespace
}  // namespace frazil::engine
