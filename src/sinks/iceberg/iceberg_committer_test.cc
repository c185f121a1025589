#include "sinks/iceberg/iceberg_committer.h"

#include <algorithm>
#include <set>

#include "engine/pipeline_status.h"
#include "sinks/iceberg/committer_fixture.h"
#include "sinks/iceberg/retention.h"

namespace frazil::sinks {
namespace {

using Kind = engine::CommitVerdict::Kind;

// Says of the next file whose name holds `loses` that it was stored, and forgets it.
class LosingFileIO : public io::FileIO {
 public:
  explicit LosingFileIO(std::shared_ptr<io::FileIO> inner) : inner_(std::move(inner)) {}
  std::string loses;

  base::Result<std::unique_ptr<io::OutputFile>> create(const std::string& location) override {
    TRY_ASSIGN(std::unique_ptr<io::OutputFile> file, inner_->create(location));
    return std::unique_ptr<io::OutputFile>(std::make_unique<File>(std::move(file), *this, location));
  }
  base::Result<std::string> read(const std::string& location) override { return inner_->read(location); }
  base::Result<std::string> read_range(const std::string& location, int64_t offset, int64_t length) override {
    return inner_->read_range(location, offset, length);
  }
  base::Result<io::FileStatus> stat(const std::string& location) override { return inner_->stat(location); }
  base::Result<std::vector<io::FileStatus>> list(const std::string& prefix) override { return inner_->list(prefix); }
  base::Status remove(const std::string& location) override { return inner_->remove(location); }

 private:
  class File : public io::OutputFile {
   public:
    File(std::unique_ptr<io::OutputFile> inner, LosingFileIO& store, std::string location)
        : inner_(std::move(inner)), store_(store), location_(std::move(location)) {}
    base::Status write(std::string_view bytes) override { return inner_->write(bytes); }
    int64_t size() const override { return inner_->size(); }
    base::Status close() override {
      TRY(inner_->close());
      if (store_.loses.empty() || location_.find(store_.loses) == std::string::npos) return {};
      store_.loses.clear();
      return store_.remove(location_);
    }
    void abort() override { inner_->abort(); }

   private:
    std::unique_ptr<io::OutputFile> inner_;
    LosingFileIO& store_;
    const std::string location_;
  };

  std::shared_ptr<io::FileIO> inner_;
};

TEST_F(CommitterTest, TheFirstCommitHoldsTheStartBeforeAnyRow) {
  const auto first = committer();
  const auto known = first->open();
  ASSERT_TRUE(known.ok()) << known.error().message();
  EXPECT_FALSE(known->has_value());
  ASSERT_TRUE(first->begin(start()).ok());
  // Another start later does not count any more: the table has positions.
  auto other = start();
  other.next["t/0"] = "77";
  const auto second = committer();
  ASSERT_TRUE(second->open().ok());
  EXPECT_EQ(second->begin(other)->next.at("t/0"), "0");
  EXPECT_EQ(second->open()->value(), start());
}

TEST_F(CommitterTest, CommitsRowsPositionsTagAndPropertyInOneSnapshot) {
  const auto one = begun();
  const auto verdict = commit(*one, 0, 5);
  EXPECT_EQ(verdict.kind, Kind::kDone);
  EXPECT_EQ(verdict.positions.next.at("t/0"), "5");
  EXPECT_EQ(rows(), range(0, 5));
  const auto table = metadata(config_.table);
  const auto* head = table.current_snapshot();
  EXPECT_EQ(head->summary.at("frazil.pipeline"), "orders");
  EXPECT_EQ(head->summary.at("frazil.epoch"), "2");
  EXPECT_EQ(head->summary.at("frazil.ranges"), R"({"t/0":["0","5"]})");
  EXPECT_EQ(table.refs.at("frazil-orders").snapshot_id, head->snapshot_id);
  EXPECT_EQ(table.refs.at("frazil-orders").max_ref_age_ms, INT64_MAX);
  EXPECT_NE(table.property("frazil.orders").find(std::to_string(head->snapshot_id)), std::string::npos);
  EXPECT_EQ(table.snapshots.size(), 2U);
}

TEST_F(CommitterTest, TheFirstCommitLeavesWaitingForWhatIsAwayToTheWorker) {
  in_virtual_time([&] {
    const auto first = committer();
    ASSERT_TRUE(first->open().ok());
    catalog_->is_away = true;
    const base::MonoMicros asked = base::mono_micros();
    EXPECT_EQ(first->begin(start()).error().code(), base::Code::kUnavailable);
    EXPECT_LT(base::mono_micros() - asked, 1'000'000);
    catalog_->is_away = false;
    // Requests under way are decided, but not for longer than the start may last.
    catalog_->fates = std::deque<Fate>(100'000, Fate::kLost);
    EXPECT_EQ(first->begin(start()).error().code(), base::Code::kUnavailable);
    EXPECT_LT(base::mono_micros() - asked, (config_.connect_timeout_ms + 2'000) * 1'000);
    catalog_->fates = {Fate::kLost, Fate::kUnavailable, Fate::kAppliedAnswerLost};
    EXPECT_TRUE(first->begin(start()).ok());
  });
}

TEST_F(CommitterTest, ARestartGoesOnWhereTheTableSays) {
  commit(*begun(), 0, 5);
  const auto again = committer();
  EXPECT_EQ(again->open()->value().next.at("t/0"), "5");
  EXPECT_EQ(commit(*again, 5, 9).kind, Kind::kDone);
  EXPECT_EQ(rows(), range(0, 9));
}

TEST_F(CommitterTest, TellsOfRequestsThatLoseAndOfTheOneThatIsTaken) {
  in_virtual_time([&] {
    base::Metrics metrics;
    engine::PipelineStatus status("orders", metrics);
    std::vector<bool> answers;
    int warnings = 0;
    double longest = 0;
    config_.on_answer = [&](bool is_accepted) {
      answers.push_back(is_accepted);
      if (is_accepted) status.commit_accepted();
      if (!is_accepted) warnings += status.commit_lost();
      longest = std::max(longest, status.view().commit_starved_seconds);
    };
    const auto one = begun();
    answers.clear();
    catalog_->fates = std::deque<Fate>(400, Fate::kConflict);
    EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kDone);
    EXPECT_EQ(std::count(answers.begin(), answers.end(), false), 400);
    EXPECT_TRUE(answers.back());
    EXPECT_GT(longest, 120);
    EXPECT_GE(warnings, 1);
    EXPECT_EQ(status.view().commit_starved_seconds, 0);
    // What is not there, and what may have been applied, is nobody else's commit.
    answers.clear();
    catalog_->fates = {Fate::kUnavailable, Fate::kLost};
    EXPECT_EQ(commit(*one, 5, 7).kind, Kind::kDone);
    EXPECT_EQ(answers, std::vector<bool>{true});
  });
}

// A catalog that answers is not spared by waiting; one that fails is.
TEST_F(CommitterTest, WhoLosesToOthersTriesAgainSoonAndWhoFailsWaitsLonger) {
  const auto seconds_of = [&](Fate fate) {
    base::MonoMicros took = 0;
    in_virtual_time([&] {
      const auto one = begun();
      catalog_->fates = std::deque<Fate>(20, fate);
      const base::MonoMicros begin = base::mono_micros();
      EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kDone);
      took = base::mono_micros() - begin;
      catalog_ = std::make_unique<FatefulCatalog>(iceberg::make_memory_catalog("memory://warehouse", io::make_memory_file_io()));
    });
    return took / 1'000'000;
  };
  EXPECT_LT(seconds_of(Fate::kConflict), 20);
  EXPECT_GT(seconds_of(Fate::kUnavailable), 60);
}

TEST_F(CommitterTest, DropsAStaleEpochAndAGap) {
  const auto one = begun();
  commit(*one, 0, 5);
  const auto stale = commit(*one, 3, 8);
  EXPECT_EQ(stale.kind, Kind::kStale);
  EXPECT_EQ(stale.positions.next.at("t/0"), "5");
  EXPECT_EQ(commit(*one, 6, 8).kind, Kind::kGap);
  EXPECT_EQ(rows(), range(0, 5));
}

TEST_F(CommitterTest, ALostAnswerIsResolvedByLooking) {
  const auto one = begun();
  catalog_->fates = {Fate::kAppliedAnswerLost};
  const int before = catalog_->requests;
  EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kDone);
  EXPECT_EQ(catalog_->requests, before + 1);
  catalog_->fates = {Fate::kLost, Fate::kUnavailable, Fate::kLost};
  EXPECT_EQ(commit(*one, 5, 7).kind, Kind::kDone);
  EXPECT_EQ(rows(), range(0, 7));
}

// B018: a catalog that hid a failed write. Believing it would move the positions past rows that are nowhere.
TEST_F(CommitterTest, AnAnswerWithoutTheSnapshotIsNoCommit) {
  const auto one = begun();
  catalog_->fates = {Fate::kAnsweredWithTheOldTable};
  const int before = catalog_->requests;
  EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kDone);
  EXPECT_EQ(catalog_->requests, before + 2);
  EXPECT_EQ(rows(), range(0, 5));
}

TEST_F(CommitterTest, TwoWorkersCommitEachRowOnce) {
  const auto one = begun();
  const auto two = begun();
  catalog_->before_commit = [&] { EXPECT_EQ(commit(*two, 0, 4).kind, Kind::kDone); };
  EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kStale);
  EXPECT_EQ(rows(), range(0, 4));
}

TEST_F(CommitterTest, RebasesOverAForeignCommit) {
  const auto one = begun();
  catalog_->before_commit = [&] {
    const auto base = metadata(config_.table);
    iceberg::Append foreign(catalog_->file_io(), 4711);
    const auto snapshot = foreign.prepare(base);
    ASSERT_TRUE(snapshot.ok());
    const iceberg::TableCommit request{
        {}, {iceberg::AddSnapshot{*snapshot}, iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{4711, true, {}, {}, {}}}}};
    ASSERT_TRUE(catalog_->commit_table(config_.table, request).ok());
  };
  EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kDone);
  EXPECT_EQ(rows(), range(0, 5));
  EXPECT_EQ(metadata(config_.table).current_snapshot()->parent_snapshot_id, 4711);
}

// A store that says "written" and shows nothing, or half of it.
TEST_F(CommitterTest, AFileThatTheStoreLostIsReadAgainFromTheSource) {
  const auto one = begun();
  base::Interrupt never;
  auto staged = epoch(*one, 0, 5);
  const std::string lost = static_cast<const DataFileOutput&>(*staged.outputs.at(0)).file().file_path;
  ASSERT_TRUE(catalog_->file_io()->remove(lost).ok());
  const int before = catalog_->requests;
  const auto verdict = one->commit(staged, never);
  ASSERT_TRUE(verdict.ok()) << verdict.error().message();
  EXPECT_EQ(verdict->kind, Kind::kUnfit);
  EXPECT_EQ(verdict->reason, lost + " was reported as stored and is not there");
  EXPECT_EQ(verdict->positions.next.at("t/0"), "0");
  EXPECT_EQ(catalog_->requests, before);
  ASSERT_TRUE(io::write_file(*catalog_->file_io(), lost, "short").ok());
  EXPECT_EQ(one->commit(staged, never)->kind, Kind::kUnfit);
  EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kDone);
  EXPECT_EQ(rows(), range(0, 5));
}

// Between two requests of one commit, a process may have slept for a day, and a cleaner has been there.
TEST_F(CommitterTest, FilesThatWaitedForHalfADayAreLookedAtAgain) {
  config_.create->properties["commit.retry.total-timeout-ms"] = "86400000";  // by default a commit gives up after half an hour
  in_virtual_time([&] {
    const auto one = begun();
    base::Interrupt never;
    for (const int64_t hours : {13, 11}) {
      auto staged = epoch(*one, 0, 5);
      const std::string lost = static_cast<const DataFileOutput&>(*staged.outputs.at(0)).file().file_path;
      catalog_->fates = {Fate::kLost};
      catalog_->before_commit = [&] {
        never.wait_until(base::deadline_after(hours * 3'600'000'000));
        ASSERT_TRUE(catalog_->file_io()->remove(lost).ok());
      };
      const auto verdict = one->commit(staged, never);
      ASSERT_TRUE(verdict.ok()) << verdict.error().message();
      EXPECT_EQ(verdict->kind, hours < 12 ? Kind::kDone : Kind::kUnfit) << verdict->reason;
      if (hours < 12) break;  // the table names a file that is gone: by then nobody may remove what is so young
    }
  });
}

TEST_F(CommitterTest, AManifestThatTheStoreLostIsWrittenAgain) {
  config_.create->properties["commit.manifest.min-count-to-merge"] = "2";  // a merge reads the new manifest back
  const auto store = std::make_shared<LosingFileIO>(io::make_memory_file_io());
  catalog_ = std::make_unique<FatefulCatalog>(iceberg::make_memory_catalog("memory://warehouse", store));
  const auto one = begun();
  for (const std::string lost : {"-m0.avro", "/snap-", "-owed.avro", "dead_letters/data/", "-m0.avro", "-m1.avro"}) {
    store->loses = lost;
    const int64_t begin = static_cast<int64_t>(rows().size() + dead().size());
    EXPECT_EQ(commit(*one, begin, begin + 4, {begin + 1}).kind, Kind::kDone) << lost;
    EXPECT_TRUE(store->loses.empty()) << lost << " was never written";
  }
  EXPECT_EQ(rows().size(), 18u);
  EXPECT_EQ(dead().size(), 6u);
}

// Positions as a later version of Frazil would write them, which this one cannot read.
class LaterFormat : public NumberFormat {
 public:
  std::string encode(const engine::SourcePositions& p) const override {
    engine::SourcePositions later = p;
    later.kind = "later";
    return NumberFormat::encode(later);
  }
};

class EarlierFormat : public NumberFormat {
 public:
  base::Result<engine::SourcePositions> decode(const std::string& text) const override {
    TRY_ASSIGN(engine::SourcePositions p, NumberFormat::decode(text));
    if (p.kind == "later") return base::unsupported("positions of a later version");
    return p;
  }
};

TEST_F(CommitterTest, AWorkerThatMeetsPositionsOfALaterVersionStopsAndTheLaterOneGoesOn) {
  const EarlierFormat earlier_format;
  const LaterFormat later_format;
  IcebergCommitter earlier(config_, *catalog_, earlier_format, {}), later(config_, *catalog_, later_format, {});
  ASSERT_TRUE(earlier.open().ok());
  ASSERT_TRUE(earlier.begin(start()).ok());
  ASSERT_TRUE(later.open().ok());
  EXPECT_EQ(commit(earlier, 0, 3).kind, Kind::kDone);
  EXPECT_EQ(commit(later, 3, 5).kind, Kind::kDone);
  const int before = catalog_->requests;
  auto staged = epoch(earlier, 5, 8);
  base::Interrupt never;
  EXPECT_EQ(earlier.commit(staged, never).error().code(), base::Code::kUnsupported);
  IcebergCommitter restarted(config_, *catalog_, earlier_format, {});
  EXPECT_EQ(restarted.open().error().code(), base::Code::kUnsupported);
  EXPECT_EQ(catalog_->requests, before);
  EXPECT_EQ(commit(later, 5, 8).kind, Kind::kDone);
  EXPECT_EQ(rows(), range(0, 8));
}

TEST_F(CommitterTest, ARefusedCommitHalts) {
  const auto one = begun();
  catalog_->fates = {Fate::kRefused};
  auto staged = epoch(*one, 0, 5);
  base::Interrupt never;
  const auto verdict = one->commit(staged, never);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(halt_code(verdict.error()), "COMMIT_REJECTED");
  EXPECT_TRUE(rows().empty());
}

TEST_F(CommitterTest, AnAbandonedWaitIsNoVerdict) {
  const auto one = begun();
  catalog_->fates = std::deque<Fate>(100, Fate::kUnavailable);
  auto staged = epoch(*one, 0, 5);
  base::Interrupt abandon;
  abandon.raise();
  const auto verdict = one->commit(staged, abandon);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().code(), base::Code::kCancelled);
}

TEST_F(CommitterTest, DeadLettersFollowOnceWithTheirEpoch) {
  const auto one = begun();
  commit(*one, 0, 5, {1, 3});
  EXPECT_EQ(rows(), (std::vector<int64_t>{0, 2, 4}));
  EXPECT_EQ(dead(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(longs(config_.dead_letters, "epoch"), (std::vector<int64_t>{2, 2}));
  commit(*one, 5, 6, {5});
  EXPECT_EQ(dead(), (std::vector<int64_t>{1, 3, 5}));
  // What is applied is not owed any more.
  commit(*one, 6, 7);
  EXPECT_EQ(metadata(config_.table).property("frazil.orders.owed"), "[]");
}

TEST_F(CommitterTest, OwedDeadLettersSurviveACrashAndAreAppliedAtTheNextStart) {
  {
    const auto one = begun();
    auto staged = epoch(*one, 0, 5, {1});
    // The anchor's commit lands; then the process dies before the outbox is emptied.
    catalog_->fates = {Fate::kApply};
    base::Interrupt dying;
    dying.raise();
    catalog_->fates.resize(50, Fate::kUnavailable);
    ASSERT_TRUE(one->commit(staged, dying).ok());
    EXPECT_TRUE(dead().empty());
    catalog_->fates.clear();
  }
  const auto next = committer();
  ASSERT_TRUE(next->open().ok());
  EXPECT_EQ(dead(), (std::vector<int64_t>{1}));
  const auto third = committer();
  ASSERT_TRUE(third->open().ok());
  EXPECT_EQ(dead(), (std::vector<int64_t>{1}));
}

TEST_F(CommitterTest, WhatTheRunBeforeHasAppliedItselfIsNoNewsAtTheStart) {
  commit(*begun(), 0, 5, {1});
  ASSERT_NE(metadata(config_.table).property("frazil.orders.owed"), "[]");
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(committer()->open().ok());
  EXPECT_EQ(::testing::internal::GetCapturedStderr().find("owed_found"), std::string::npos);
  // An answer that is lost is news at any time.
  const auto one = committer();
  ASSERT_TRUE(one->open().ok());
  auto staged = epoch(*one, 5, 6, {5});
  catalog_->fates = {Fate::kApply, Fate::kAppliedAnswerLost};
  base::Interrupt never;
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(one->commit(staged, never).ok());
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("owed_found"), std::string::npos);
}

TEST_F(CommitterTest, WhatAnotherWorkerHasAppliedIsNoNews) {
  const auto one = begun();
  const auto two = committer();
  ASSERT_TRUE(two->open().ok());
  ASSERT_EQ(commit(*one, 0, 5, {1}).kind, Kind::kDone);
  ::testing::internal::CaptureStderr();
  ASSERT_EQ(commit(*two, 5, 8, {6}).kind, Kind::kDone);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("owed_applied"), std::string::npos) << log;
  EXPECT_EQ(log.find("owed_found"), std::string::npos) << log;
  EXPECT_EQ(dead(), (std::vector<int64_t>{1, 6}));
}

TEST_F(CommitterTest, DeadLettersAreWrittenAgainWhenAnotherWorkerTakesTheEpochNumber) {
  const auto one = begun();
  const auto two = begun();
  auto positions = start();
  positions.next["t/1"] = "0";
  catalog_->before_commit = [&] {
    engine::StagedEpoch other;
    other.ranges = {{"t/1", "0", "4", true}};
    add_dead_letter(other, 100);
    base::Interrupt never;
    ASSERT_EQ(two->commit(other, never)->kind, Kind::kDone);
  };
  EXPECT_EQ(commit(*one, 0, 3, {2}).kind, Kind::kDone);
  EXPECT_EQ(dead(), (std::vector<int64_t>{2, 100}));
  EXPECT_EQ(longs(config_.dead_letters, "epoch"), (std::vector<int64_t>{2, 3}));
}

TEST_F(CommitterTest, ARolledBackTableHaltsAndNothingIsWritten) {
  const auto one = begun();
  commit(*one, 0, 5);
  commit(*one, 5, 8);
  roll_back(1);
  const auto next = committer();
  const auto opened = next->open();
  ASSERT_FALSE(opened.ok());
  ASSERT_EQ(halt_code(opened.error()), "TABLE_ROLLED_BACK");
  EXPECT_EQ(opened.error().halt()->choices.size(), 2U);
  EXPECT_EQ(rows(), range(0, 5));
  auto staged = epoch(*one, 8, 9);
  base::Interrupt never;
  EXPECT_EQ(halt_code(one->commit(staged, never).error()), "TABLE_ROLLED_BACK");
}

TEST_F(CommitterTest, AcceptingTheTableReadsAgainWhatWasRolledBackAndVoidsItsDeadLetters) {
  const auto one = begun();
  commit(*one, 0, 5, {0});
  commit(*one, 5, 8, {6});
  roll_back(1);
  const std::string token = committer()->open().error().halt()->token;
  const auto next = committer({{"TABLE_ROLLED_BACK", "table", token}});
  const auto opened = next->open();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(opened->value().next.at("t/0"), "5");
  EXPECT_EQ(commit(*next, 5, 8, {6}).kind, Kind::kDone);
  EXPECT_EQ(rows(), (std::vector<int64_t>{1, 2, 3, 4, 5, 7}));
  EXPECT_EQ(dead(), (std::vector<int64_t>{0, 6}));
  EXPECT_NE(metadata(config_.table).property("frazil.orders.accepted").find("somebody"), std::string::npos);
  // The token answered that halt and no later one.
  roll_back(1);
  EXPECT_EQ(halt_code(committer({{"TABLE_ROLLED_BACK", "table", token}})->open().error()), "TABLE_ROLLED_BACK");
}

TEST_F(CommitterTest, ATablePutBackToOlderMetadataLosesNoDeadLetters) {
  const auto one = begun();
  commit(*one, 0, 4, {1});
  const iceberg::TableMetadata earlier = metadata(config_.table);
  commit(*one, 4, 8, {5});
  commit(*one, 8, 12, {9});
  put_back(earlier);
  const auto halted = committer()->open();
  ASSERT_FALSE(halted.ok());
  ASSERT_EQ(halt_code(halted.error()), "TABLE_ROLLED_BACK") << halted.error().message();
  EXPECT_NE(halted.error().halt()->text.find("orders_dead_letters has applied epoch 4"), std::string::npos) << halted.error().message();
  const auto next = committer({{"TABLE_ROLLED_BACK", "table", halted.error().halt()->token}});
  const auto opened = next->open();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(opened->value().next.at("t/0"), "4");
  EXPECT_EQ(dead(), (std::vector<int64_t>{1}));
  commit(*next, 4, 12, {5, 9});
  EXPECT_EQ(dead(), (std::vector<int64_t>{1, 5, 9}));
  EXPECT_EQ(rows(), (std::vector<int64_t>{0, 2, 3, 4, 6, 7, 8, 10, 11}));
  ASSERT_TRUE(committer()->open().ok());
}

TEST_F(CommitterTest, DeadLettersThatAForeignCompactionMixedHaltInsteadOfComingTwice) {
  const auto one = begun();
  commit(*one, 0, 4, {1});
  commit(*one, 4, 8, {5});
  const iceberg::TableMetadata before = metadata(config_.dead_letters);
  const auto files = iceberg::live_files(*catalog_->file_io(), before, *before.current_snapshot_id);
  ASSERT_TRUE(files.ok());
  // As a compaction: one file with the rows of both.
  auto both = format::read_parquet(*catalog_->file_io()->read(files->at(0).file.file_path), before.current_schema());
  const auto other = format::read_parquet(*catalog_->file_io()->read(files->at(1).file.file_path), before.current_schema());
  ASSERT_TRUE(both.ok() && other.ok());
  const auto write = make_write_target(before, before.current_schema(), before.default_spec());
  ASSERT_TRUE(write.ok());
  DataFileWriter writer(catalog_->file_io(), *write, {}, data_file_location(*write, {}, 99, 0));
  ASSERT_TRUE(writer.write(both->at(0)).ok() && writer.write(other->at(0)).ok());
  const auto removed = iceberg::prepare_delete(catalog_->file_io(), before, 77, [](const auto&, int64_t) { return true; }, {});
  ASSERT_TRUE(removed.ok());
  const auto moved_to = [](int64_t id) { return iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{id, true, {}, {}, {}}}; };
  ASSERT_TRUE(catalog_->commit_table(config_.dead_letters, {{}, {iceberg::AddSnapshot{*removed}, moved_to(77)}}).ok());
  iceberg::Append append(catalog_->file_io(), 78);
  append.add(writer.close().value(), 0);
  const auto added = append.prepare(metadata(config_.dead_letters));
  ASSERT_TRUE(added.ok());
  ASSERT_TRUE(catalog_->commit_table(config_.dead_letters, {{}, {iceberg::AddSnapshot{*added}, moved_to(78)}}).ok());
  roll_back(1);
  const std::string token = committer()->open().error().halt()->token;
  const auto halted = committer({{"TABLE_ROLLED_BACK", "table", token}})->open();
  ASSERT_FALSE(halted.ok());
  EXPECT_EQ(halt_code(halted.error()), "OWED_ROWS_REWRITTEN") << halted.error().message();
  EXPECT_EQ(dead(), (std::vector<int64_t>{1, 5}));
}

TEST_F(CommitterTest, AManifestWithoutVoidRowsThatTheStoreLostIsWrittenAgain) {
  const auto store = std::make_shared<LosingFileIO>(io::make_memory_file_io());
  catalog_ = std::make_unique<FatefulCatalog>(iceberg::make_memory_catalog("memory://warehouse", store));
  for (const std::string lost : {"dead_letters/metadata/snap-", "-m0.avro"}) {
    const auto one = begun();
    const int64_t begin = static_cast<int64_t>(rows().size() + dead().size());
    commit(*one, begin, begin + 2, {begin});
    commit(*one, begin + 2, begin + 4, {begin + 2});
    roll_back(1);
    const std::string token = committer()->open().error().halt()->token;
    store->loses = lost;
    ASSERT_TRUE(committer({{"TABLE_ROLLED_BACK", "table", token}})->open().ok());
    EXPECT_TRUE(store->loses.empty()) << lost << " was never written";
    EXPECT_EQ(dead().back(), begin);
    EXPECT_EQ(rows().back(), begin + 1);
  }
}

TEST_F(CommitterTest, AcceptingTheSourceLeavesTheRolledBackRowsOut) {
  const auto one = begun();
  commit(*one, 0, 5);
  commit(*one, 5, 8);
  roll_back(1);
  const std::string token = committer()->open().error().halt()->token;
  const auto next = committer({{"TABLE_ROLLED_BACK", "source", token}});
  ASSERT_EQ(next->open()->value().next.at("t/0"), "8");
  commit(*next, 8, 9);
  EXPECT_EQ(rows(), (std::vector<int64_t>{0, 1, 2, 3, 4, 8}));
}

TEST_F(CommitterTest, AnAnswerWithAnUnknownChoiceIsAnError) {
  commit(*begun(), 0, 5);
  roll_back(1);
  const std::string token = committer()->open().error().halt()->token;
  const auto opened = committer({{"TABLE_ROLLED_BACK", "both", token}})->open();
  EXPECT_EQ(opened.error().code(), base::Code::kInvalid);
  EXPECT_NE(opened.error().message().find("table, source"), std::string::npos) << opened.error().message();
}

TEST_F(CommitterTest, ALostWatermarkHaltsAndThePropertyIsAChoice) {
  {
    const auto one = begun();
    auto staged = epoch(*one, 0, 5, {1});
    // It is gone before its dead letters are applied.
    base::Interrupt dying;
    dying.raise();
    catalog_->fates = {Fate::kApply};
    catalog_->fates.resize(50, Fate::kUnavailable);
    ASSERT_TRUE(one->commit(staged, dying).ok());
    catalog_->fates.clear();
  }
  const auto now = metadata(config_.table);
  // Somebody removes the tag, adds a snapshot of his own and expires ours.
  iceberg::Append foreign(catalog_->file_io(), 4711);
  const auto snapshot = foreign.prepare(now);
  std::vector<int64_t> ours;
  for (const auto& old : now.snapshots) ours.push_back(old.snapshot_id);
  const iceberg::TableCommit request{
      {},
      {iceberg::AddSnapshot{*snapshot}, iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{4711, true, {}, {}, {}}},
       iceberg::RemoveSnapshotRef{"frazil-orders"}, iceberg::RemoveSnapshots{ours}}};
  ASSERT_TRUE(catalog_->commit_table(config_.table, request).ok());
  const auto opened = committer()->open();
  ASSERT_EQ(halt_code(opened.error()), "WATERMARK_LOST");
  const auto next = committer({{"WATERMARK_LOST", "", opened.error().halt()->token}});
  ASSERT_EQ(next->open()->value().next.at("t/0"), "5");
  EXPECT_EQ(dead(), (std::vector<int64_t>{1}));
  EXPECT_EQ(commit(*next, 5, 6).kind, Kind::kDone);
}

TEST_F(CommitterTest, ARemovedPropertyIsReplacedByTheTag) {
  const auto one = begun();
  commit(*one, 0, 5);
  ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::RemoveProperties{{"frazil.orders"}}}}).ok());
  EXPECT_EQ(commit(*one, 5, 6).kind, Kind::kDone);
  EXPECT_FALSE(metadata(config_.table).property("frazil.orders").empty());
  ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::RemoveProperties{{"frazil.orders"}},
                                                         iceberg::RemoveSnapshotRef{"frazil-orders"}}}).ok());
  EXPECT_EQ(committer()->open()->value().next.at("t/0"), "6");
}

TEST_F(CommitterTest, HaltsWhenTheTableIsGoneOrReplaced) {
  const auto one = begun();
  commit(*one, 0, 5);
  auto staged = epoch(*one, 5, 6);
  base::Interrupt never;
  ASSERT_TRUE(catalog_->drop_table(config_.table).ok());
  EXPECT_EQ(halt_code(one->commit(staged, never).error()), "TABLE_GONE");
  ASSERT_TRUE(committer()->open().ok());  // makes a new one
  EXPECT_EQ(halt_code(one->commit(staged, never).error()), "TABLE_REPLACED");
}

TEST_F(CommitterTest, ANewTableInPlaceOfTheOneThatTheSourceRemembersHalts) {
  const auto one = begun();
  const std::string mark = one->mark();
  ASSERT_TRUE(catalog_->drop_table(config_.table).ok());
  const auto next = committer();
  ASSERT_FALSE(next->open()->has_value());
  const auto halted = next->recognise(mark);
  ASSERT_EQ(halt_code(halted.error()), "TABLE_REPLACED");
  EXPECT_TRUE(next->recognise("").ok());
  EXPECT_TRUE(next->recognise(next->mark()).ok());
  const auto accepted = committer({{"TABLE_REPLACED", "start", halted.error().halt()->token}});
  ASSERT_FALSE(accepted->open()->has_value());
  EXPECT_TRUE(accepted->recognise(mark).ok());
}

TEST_F(CommitterTest, ATableThatIsNotThereYetIsNotMadeForAGroupOfAnotherTable) {
  config_.group = "frazil-orders";
  const auto first = committer();
  ASSERT_TRUE(first->must_create().value());
  const auto halted = first->recognise("uuid-of-another");
  ASSERT_EQ(halt_code(halted.error()), "TABLE_REPLACED");
  EXPECT_NE(halted.error().halt()->text.find("group frazil-orders belongs to table uuid uuid-of-another"), std::string::npos);
  EXPECT_NE(halted.error().halt()->text.find("another pipeline, give it another `name`"), std::string::npos);
  EXPECT_FALSE(catalog_->load_table(config_.table).ok());
  // One answer is enough for the halt before the table is made and for the look after it.
  const auto accepted = committer({{"TABLE_REPLACED", "start", halted.error().halt()->token}});
  ASSERT_TRUE(accepted->recognise("uuid-of-another").ok());
  ASSERT_FALSE(accepted->open()->has_value());
  EXPECT_TRUE(accepted->recognise("uuid-of-another").ok());
}

TEST_F(CommitterTest, PositionsOfAnotherPipelineHaltAndCanBeTakenOver) {
  const auto old = begun();
  commit(*old, 0, 5, {2});
  config_.pipeline = "renamed";
  const auto renamed = committer();
  ASSERT_FALSE(renamed->open()->has_value());
  const auto begun_anew = renamed->begin(start());
  ASSERT_EQ(halt_code(begun_anew.error()), "POSITIONS_OF_ANOTHER_PIPELINE");
  EXPECT_TRUE(begun_anew.error().halt()->text.ends_with("The other is at t/0 next 5")) << begun_anew.error().halt()->text;
  const std::string token = begun_anew.error().halt()->token;
  const auto accepted = committer({{"POSITIONS_OF_ANOTHER_PIPELINE", "take_over", token}});
  ASSERT_FALSE(accepted->open()->has_value());
  const auto positions = accepted->begin(start());
  ASSERT_TRUE(positions.ok()) << positions.error().message();
  EXPECT_EQ(positions->next.at("t/0"), "5");
  EXPECT_FALSE(metadata(config_.table).refs.contains("frazil-orders"));
  // The old one, still alive, is stopped.
  config_.pipeline = "orders";
  auto staged = epoch(*old, 5, 6);
  base::Interrupt never;
  EXPECT_EQ(halt_code(old->commit(staged, never).error()), "POSITIONS_TAKEN_OVER");
}

TEST_F(CommitterTest, APipelineOfAnotherTopicIsNoReasonToHalt) {
  commit(*begun(), 0, 5);
  config_.pipeline = "other";
  auto elsewhere = start();
  elsewhere.identity = {{"cluster", "c"}, {"topic/u", "id-2"}};
  const auto other = committer();
  ASSERT_TRUE(other->open().ok());
  EXPECT_TRUE(other->begin(elsewhere).ok());
}

TEST_F(CommitterTest, ATopicAddedLaterThatAnotherPipelineReadsHalts) {
  commit(*begun(), 0, 5);
  config_.pipeline = "other";
  auto elsewhere = start();
  elsewhere.identity = {{"cluster", "c"}, {"topic/u", "id-2"}};
  elsewhere.next = {{"u/0", "0"}};
  const auto other = committer();
  ASSERT_TRUE(other->open().ok());
  ASSERT_TRUE(other->begin(elsewhere).ok());
  // Its configuration now names the topic of the first pipeline, too.
  const auto with_both_topics = [&](IcebergCommitter& of) {
    auto staged = epoch(of, 0, 3);
    staged.ranges[0].is_first = true;
    staged.identity = elsewhere.identity;
    for (const auto& [key, id] : start().identity) staged.identity[key] = id;
    return staged;
  };
  base::Interrupt never;
  auto staged = with_both_topics(*other);
  const auto halted = other->commit(staged, never);
  ASSERT_EQ(halt_code(halted.error()), "POSITIONS_OF_ANOTHER_PIPELINE");
  EXPECT_EQ(rows(), range(0, 5));
  const std::string token = halted.error().halt()->token;

  const auto taking = committer({{"POSITIONS_OF_ANOTHER_PIPELINE", "take_over", token}});
  ASSERT_TRUE(taking->open()->has_value());
  auto again = with_both_topics(*taking);
  const auto verdict = taking->commit(again, never);
  ASSERT_TRUE(verdict.ok()) << verdict.error().message();
  EXPECT_EQ(verdict->kind, Kind::kUnfit);
  EXPECT_EQ(verdict->positions.next.at("t/0"), "5");
  EXPECT_EQ(verdict->positions.next.at("u/0"), "0");
  EXPECT_EQ(commit(*taking, 5, 7).kind, Kind::kDone);
  EXPECT_EQ(rows(), range(0, 7));
}

TEST_F(CommitterTest, ATopicAddedLaterMayBeReadBesideOnPurpose) {
  commit(*begun(), 0, 5);
  config_.pipeline = "other";
  auto elsewhere = start();
  elsewhere.identity = {{"cluster", "c"}, {"topic/u", "id-2"}};
  elsewhere.next = {{"u/0", "0"}};
  const auto other = committer();
  ASSERT_TRUE(other->open().ok());
  ASSERT_TRUE(other->begin(elsewhere).ok());
  base::Interrupt never;
  auto staged = epoch(*other, 0, 3);
  staged.ranges[0].is_first = true;
  const auto halted = other->commit(staged, never);
  ASSERT_EQ(halt_code(halted.error()), "POSITIONS_OF_ANOTHER_PIPELINE");
  const auto beside = committer({{"POSITIONS_OF_ANOTHER_PIPELINE", "beside", halted.error().halt()->token}});
  ASSERT_TRUE(beside->open()->has_value());
  auto again = epoch(*beside, 0, 3);
  again.ranges[0].is_first = true;
  const auto verdict = beside->commit(again, never);
  ASSERT_TRUE(verdict.ok()) << verdict.error().message();
  EXPECT_EQ(verdict->kind, Kind::kDone);
  EXPECT_EQ(rows().size(), 8U);
  EXPECT_NE(metadata(config_.table).property("frazil.other.accepted").find("beside"), std::string::npos);
}

TEST_F(CommitterTest, LongPositionsStandInTheManifestList) {
  auto many = start();
  for (int i = 1; i < 1000; ++i) many.next["t/" + std::to_string(i)] = "1234567";
  const auto one = committer();
  ASSERT_TRUE(one->open().ok());
  ASSERT_TRUE(one->begin(many).ok());
  commit(*one, 0, 5);
  many.next["t/0"] = "5";
  EXPECT_EQ(committer()->open()->value(), many);
  const auto table = metadata(config_.table);
  EXPECT_LT(table.current_snapshot()->summary.at("frazil.positions").size(), 200U);
  EXPECT_LT(table.property("frazil.orders").size(), 200U);
}

TEST_F(CommitterTest, ExpiryTravelsWithCommitsAndKeepsTheTaggedSnapshot) {
  in_virtual_time([&] {
    config_.history_keep_ms = 0;
    const auto one = begun();
    for (int64_t i = 0; i < 5; ++i) commit(*one, i, i + 1);
    const auto table = metadata(config_.table);
    EXPECT_LE(table.snapshots.size(), 3U);
    EXPECT_EQ(rows(), range(0, 5));
    EXPECT_EQ(committer()->open()->value().next.at("t/0"), "5");
  });
}

TEST_F(CommitterTest, MetadataOfExpiredSnapshotsGoesAndEverythingElseStaysReadable) {
  in_virtual_time([&] {
    config_.history_keep_ms = 0;
    config_.create->properties["commit.manifest.min-count-to-merge"] = "2";
    const auto one = begun();
    std::set<std::string> once_named;
    const auto add_named = [&](std::set<std::string>& named) {
      for (const auto& snapshot : metadata(config_.table).snapshots) {
        named.insert(snapshot.manifest_list);
        const auto list = iceberg::manifests_of(*catalog_->file_io(), snapshot);
        ASSERT_TRUE(list.ok()) << list.error().message();
        for (const auto& manifest : list->manifests) named.insert(manifest.manifest_path);
      }
    };
    for (int64_t i = 0; i < 12; ++i) {
      commit(*one, i, i + 1);
      add_named(once_named);
    }
    std::set<std::string> named;
    add_named(named);
    int gone = 0;
    for (const std::string& file : once_named) {
      const bool exists = catalog_->file_io()->stat(file).ok();
      EXPECT_EQ(exists, named.contains(file)) << file;
      gone += exists ? 0 : 1;
    }
    EXPECT_GE(gone, 12);
    EXPECT_EQ(rows(), range(0, 12));
  });
}

TEST_F(CommitterTest, AManifestThatAnotherLineOfHistoryMayNameStays) {
  in_virtual_time([&] {
    config_.history_keep_ms = 0;
    const auto one = begun();
    commit(*one, 0, 1);
    const int64_t early = *metadata(config_.table).current_snapshot_id;
    // Somebody keeps a branch at an early snapshot: nothing that it names may go.
    ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::SetSnapshotRef{"audit", iceberg::SnapshotRef{early, true, {}, {}, {}}}}}).ok());
    for (int64_t i = 1; i < 8; ++i) commit(*one, i, i + 1);
    const auto table = metadata(config_.table);
    ASSERT_NE(table.snapshot(early), nullptr);
    const auto files = iceberg::live_files(*catalog_->file_io(), table, early);
    ASSERT_TRUE(files.ok()) << files.error().message();
    EXPECT_EQ(files->size(), 1U);
  });
}

TEST_F(CommitterTest, ASchemaChangedByOthersSendsTheEpochBack) {
  const auto one = begun();
  auto staged = epoch(*one, 0, 5);
  columnar::Schema wider = *metadata(config_.table).current_schema();
  wider.schema_id = 1;
  wider.fields.push_back({2, "note", false, columnar::Type::primitive(columnar::TypeId::kString), ""});
  ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::AddSchema{wider}, iceberg::SetCurrentSchema{-1}}}).ok());
  base::Interrupt never;
  EXPECT_EQ(one->commit(staged, never)->kind, Kind::kUnfit);
  EXPECT_EQ(one->open()->value().next.at("t/0"), "0");
  EXPECT_EQ(commit(*one, 0, 5).kind, Kind::kDone);
}

TEST_F(CommitterTest, OpenListsEveryColumnThatDoesNotFit) {
  ASSERT_TRUE(begun() != nullptr);
  columnar::Schema other;
  other.fields = {{0, "id", true, columnar::Type::primitive(columnar::TypeId::kString), ""},
                  {0, "missing", false, columnar::Type::primitive(columnar::TypeId::kInt), ""}};
  config_.schema = other;
  const auto opened = committer()->open();
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("id: the schema says string, the table long"), std::string::npos);
  EXPECT_NE(opened.error().message().find("missing: the table has no such column"), std::string::npos);
  EXPECT_NE(opened.error().message().find("add what is missing to the table first"), std::string::npos);
}

// B064: catalogs give nested fields their ids in different orders. The table's ids count, not those that were asked for.
TEST_F(CommitterTest, DeadLettersCarryTheIdsThatTheCatalogGave) {
  const auto one = begun();
  iceberg::CreateTable create;
  create.schema = *engine::dead_letter_schema();
  ASSERT_TRUE(catalog_->create_table(config_.dead_letters, create).ok());
  iceberg::TableCommit commit_ids;
  const columnar::Schema other = columnar::assign_fresh_ids(*engine::dead_letter_schema(), 100);
  commit_ids.updates = {iceberg::AddSchema{other}, iceberg::SetCurrentSchema{-1}};
  ASSERT_TRUE(catalog_->commit_table(config_.dead_letters, commit_ids).ok());
  commit(*one, 0, 5, {1, 3});
  EXPECT_EQ(dead(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(longs(config_.dead_letters, "epoch"), (std::vector<int64_t>{2, 2}));
  EXPECT_TRUE(committer()->open().ok());
}

// The table is its readers' too: they note in it what they have handled. (Partitions that they give it: test_foreign_tables.py.)
TEST_F(CommitterTest, ADeadLetterTableMayGetColumnsOfOthers) {
  const auto one = begun();
  commit(*one, 0, 5, {1, 3});
  columnar::Schema wider = *catalog_->load_table(config_.dead_letters)->metadata.current_schema();
  std::rotate(wider.fields.begin(), wider.fields.begin() + 3, wider.fields.end());
  wider.fields[0].doc = "of the topic";
  wider.fields.insert(wider.fields.begin(), {wider.highest_field_id() + 1, "handled", false, columnar::Type::primitive(columnar::TypeId::kBoolean), ""});
  iceberg::TableCommit change;
  change.updates = {iceberg::AddSchema{wider}, iceberg::SetCurrentSchema{-1}};
  const auto changed = catalog_->commit_table(config_.dead_letters, change);
  ASSERT_TRUE(changed.ok()) << changed.error().message();
  commit(*one, 5, 9, {6});
  EXPECT_EQ(dead(), (std::vector<int64_t>{1, 3, 6}));
  EXPECT_EQ(longs(config_.dead_letters, "epoch"), (std::vector<int64_t>{2, 2, 3}));
  EXPECT_TRUE(committer()->open().ok());
}

TEST_F(CommitterTest, ADeadLetterTableThatLacksAColumnIsNamedWithIt) {
  const auto one = begun();
  commit(*one, 0, 5, {1, 3});
  columnar::Schema narrow = *catalog_->load_table(config_.dead_letters)->metadata.current_schema();
  std::erase_if(narrow.fields, [](const columnar::Field& field) { return field.name == "headers"; });
  const_cast<columnar::Field*>(narrow.find("code"))->type = columnar::Type::primitive(columnar::TypeId::kInt);
  iceberg::TableCommit change;
  change.updates = {iceberg::AddSchema{narrow}, iceberg::SetCurrentSchema{-1}};
  ASSERT_TRUE(catalog_->commit_table(config_.dead_letters, change).ok());
  const auto opened = committer()->open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message(),
            "table shop.orders_dead_letters cannot take dead letters:\n"
            "  headers: the table has no such column, it is to be list<struct<key: string, value: binary>>\n"
            "  code: the table says int, it is to be string\n"
            "  Mend the table, or name another one in dead_letters:.");
}

TEST_F(CommitterTest, ADeadLetterTableThatWasMadeWithPartitionsIsRefusedAtTheStart) {
  begun();
  iceberg::CreateTable create;
  create.schema = *engine::dead_letter_schema();
  create.spec = {0, {{create.schema.find("code")->id, 1000, "code", iceberg::transform_from_string("identity")}}};
  ASSERT_TRUE(catalog_->create_table(config_.dead_letters, create).ok());
  const auto opened = committer()->open();
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("table shop.orders_dead_letters cannot take dead letters: it was made with partitions"), std::string::npos);
}

TEST_F(CommitterTest, ADeadLetterTableOfAnotherSchemaIsRefusedAtTheStart) {
  config_.dead_letters = config_.table;
  ASSERT_FALSE(committer()->open().ok());
  EXPECT_EQ(committer()->open().error().code(), base::Code::kInvalid);
}

TEST_F(CommitterTest, WithoutCreateTheTableMustExist) {
  config_.create.reset();
  EXPECT_EQ(committer()->open().error().code(), base::Code::kNotFound);
}

TEST_F(CommitterTest, DecisionsAboutTheSourceMoveThePositionsOnce) {
  const auto one = begun();
  auto moved = start();
  moved.next["t/0"] = "50";
  const auto after = one->decide(start(), moved, {"SOURCE_GAP", "skip", "t/0 [0, 50)", "somebody"});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->next.at("t/0"), "50");
  EXPECT_EQ(metadata(config_.table).current_snapshot()->summary.at("frazil.accepted").find("SOURCE_GAP") != std::string::npos, true);
  // Positions that are not the expected ones are left alone.
  auto again = start();
  again.next["t/0"] = "60";
  EXPECT_EQ(one->decide(start(), again, {"SOURCE_GAP", "skip", "r", "u"})->next.at("t/0"), "50");
}

TEST_F(CommitterTest, ATableThatIsDroppedBetweenLoadAndRequestIsGone) {
  auto made = begun();
  engine::StagedEpoch staged = epoch(*made, 0, 5);
  catalog_->before_commit = [&] { EXPECT_TRUE(catalog_->drop_table(config_.table).ok()); };
  base::Interrupt never;
  const auto verdict = made->commit(staged, never);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(halt_code(verdict.error()), "TABLE_GONE");
}

}  // namespace
}  // namespace frazil::sinks
