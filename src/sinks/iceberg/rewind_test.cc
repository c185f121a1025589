#include "sinks/iceberg/rewind.h"

#include "sinks/iceberg/committer_fixture.h"

namespace frazil::sinks {
namespace {

// Rows 0..9, 10..19 (11 and 12 dead), 20..29 (21 dead), each in a commit of its own after the begin.
class RewindTest : public CommitterTest {
 protected:
  RewindTest() {
    worker_ = begun();
    began_ = head();
    commit(*worker_, 0, 10);
    first_ = head();
    commit(*worker_, 10, 20, {11, 12});
    second_ = head();
    commit(*worker_, 20, 30, {21});
  }
  int64_t head() { return *metadata(config_.table).current_snapshot_id; }
  base::Result<RewindPlan> plan(RewindTarget target) { return Rewind(config_, *catalog_, format_, {std::move(target), "as given"}).plan(); }
  base::Result<RewindPlan> carry_out(RewindTarget target, bool undoes_others = false) {
    Rewind rewind(config_, *catalog_, format_, {std::move(target), "as given", undoes_others});
    TRY_ASSIGN(const RewindPlan agreed, rewind.plan());
    return rewind.carry_out(agreed);
  }
  RewindPlan rewound(RewindTarget target) {
    const auto done = carry_out(std::move(target));
    EXPECT_TRUE(done.ok()) << done.error().message();
    return done.ok() ? *done : RewindPlan();
  }
  PipelineState state() {
    const auto read = read_state(*catalog_->file_io(), metadata(config_.table), config_.pipeline, format_);
    EXPECT_TRUE(read.ok()) << read.error().message();
    return *read;
  }
  // Rows of somebody else.
  void append_foreign(int64_t id) {
    columnar::Batch rows(worker_->target()->schema);
    rows.columns[0].append_long(id);
    DataFileWriter writer(catalog_->file_io(), *worker_->target(), {}, data_file_location(*worker_->target(), {}, 99, 0));
    ASSERT_TRUE(writer.write(rows).ok());
    iceberg::Append append(catalog_->file_io(), id);
    append.add(writer.close().value(), 0);
    const auto snapshot = append.prepare(metadata(config_.table));
    ASSERT_TRUE(snapshot.ok());
    ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::AddSnapshot{*snapshot},
                                                            iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{id, true, {}, {}, {}}}}}).ok());
  }

  std::unique_ptr<IcebergCommitter> worker_;
  int64_t began_ = 0, first_ = 0, second_ = 0;
};

TEST_F(RewindTest, TakesRowsPositionsAndDeadLettersBackTogether) {
  const int64_t highest = state().highest_epoch;
  const RewindPlan done = rewound(ToSnapshot{first_});
  EXPECT_EQ(rows(), range(0, 10));
  EXPECT_TRUE(dead().empty());
  const PipelineState now = state();
  EXPECT_EQ(now.condition, StateCondition::kHolds);
  EXPECT_EQ(now.marks.positions.next.at("t/0"), "10");
  EXPECT_EQ(now.marks.epoch, highest + 1);
  const iceberg::TableMetadata after = metadata(config_.table);
  EXPECT_EQ(after.current_snapshot()->parent_snapshot_id, first_);
  EXPECT_EQ(after.refs.at("frazil-orders").snapshot_id, *after.current_snapshot_id);
  ASSERT_EQ(done.undone.size(), 2u);
  EXPECT_EQ(done.undone[1].snapshot_id, second_);
  EXPECT_EQ(done.undone[1].rows, 8);
  ASSERT_EQ(done.ranges.size(), 1u);
  EXPECT_EQ(done.ranges[0], (engine::Range{"t/0", "10", "30"}));
  const std::string accepted = after.property("frazil.orders.accepted");
  for (const char* word : {"REWIND", "as given", "somebody"}) EXPECT_NE(accepted.find(word), std::string::npos) << accepted;
}

TEST_F(RewindTest, CountsTheDeadLettersThatGo) {
  const auto to_second = plan(ToSnapshot{second_});
  const auto to_first = plan(ToSnapshot{first_});
  ASSERT_TRUE(to_second.ok() && to_first.ok());
  ASSERT_EQ(to_second->voided.size(), 1u);
  EXPECT_EQ(to_second->voided[0].rows, 1);
  EXPECT_EQ(to_first->voided[0].rows, 3);
  EXPECT_EQ(to_first->voided[0].files, 2);
  EXPECT_EQ(rewound(ToSnapshot{first_}).voided[0].rows, 3);
}

TEST_F(RewindTest, MakesNoTableOfDeadLettersToUndoNone) {
  ASSERT_TRUE(catalog_->drop_table(config_.dead_letters).ok());
  EXPECT_FALSE(rewound(ToSnapshot{second_}).voided[0].exists);
  EXPECT_FALSE(catalog_->load_table(config_.dead_letters).ok());
  const auto after = begun();
  EXPECT_FALSE(catalog_->load_table(config_.dead_letters).ok());
  EXPECT_EQ(commit(*after, 20, 30, {21}).kind, engine::CommitVerdict::Kind::kDone);
  EXPECT_EQ(dead(), (std::vector<int64_t>{21}));
}

TEST_F(RewindTest, SaysWhereATableIsStillOwedThatItsRowsGo) {
  Rewind rewind(config_, *catalog_, format_, {ToSnapshot{first_}, "as given"});
  const auto agreed = rewind.plan();
  catalog_->fates_of[config_.dead_letters.text()] = {Fate::kRefused};
  const auto done = rewind.carry_out(*agreed);
  ASSERT_TRUE(done.ok());
  EXPECT_NE(done->voided[0].problem.find("the server says no"), std::string::npos) << done->voided[0].problem;
}

TEST_F(RewindTest, KeepsDeadLettersOfEpochsThatStay) {
  rewound(ToSnapshot{second_});
  EXPECT_EQ(dead(), (std::vector<int64_t>{11, 12}));
}

TEST_F(RewindTest, ARunningWorkerDropsItsEpochAndReadsOnFromTheNewPositions) {
  rewound(ToSnapshot{first_});
  const engine::CommitVerdict late = commit(*worker_, 30, 40);
  EXPECT_EQ(late.kind, engine::CommitVerdict::Kind::kGap);
  EXPECT_EQ(late.positions.next.at("t/0"), "10");
  EXPECT_EQ(commit(*worker_, 10, 40, {11, 12, 21}).kind, engine::CommitVerdict::Kind::kDone);
  EXPECT_EQ(rows().size(), 37u);
  EXPECT_EQ(dead(), (std::vector<int64_t>{11, 12, 21}));
  EXPECT_EQ(state().condition, StateCondition::kHolds);
}

TEST_F(RewindTest, ACommitThatIsUndoneCannotComeBack) {
  // The worker's request was sent before, and arrives after the rewind.
  Rewind rewind(config_, *catalog_, format_, {ToSnapshot{first_}, "as given"});
  const auto agreed = rewind.plan();
  ASSERT_TRUE(agreed.ok());
  catalog_->before_commit = [&] { EXPECT_TRUE(rewind.carry_out(*agreed).ok()); };
  EXPECT_EQ(commit(*worker_, 30, 40).kind, engine::CommitVerdict::Kind::kGap);
  EXPECT_EQ(rows(), range(0, 10));
}

TEST_F(RewindTest, UndoesWhatWasCommittedInBetween) {
  catalog_->before_commit = [&] { commit(*worker_, 30, 40); };
  const RewindPlan done = rewound(ToSnapshot{first_});
  EXPECT_EQ(done.undone.size(), 3u);
  EXPECT_EQ(done.ranges[0].end, "40");
  EXPECT_EQ(rows(), range(0, 10));
}

TEST_F(RewindTest, FindsTheTargetByTimeAndByPositions) {
  const auto by_time = plan(ToTime{metadata(config_.table).snapshot(second_)->timestamp_ms});
  ASSERT_TRUE(by_time.ok()) << by_time.error().message();
  EXPECT_EQ(by_time->target.snapshot_id, second_);
  EXPECT_EQ(plan(ToPositions{{{"t/0", "20"}}})->target.snapshot_id, second_);
  EXPECT_EQ(plan(ToPositions{{{"t/0", "19"}}})->target.snapshot_id, first_);
  EXPECT_EQ(plan(ToPositions{{{"t/0", "0"}}})->target.snapshot_id, began_);
  EXPECT_TRUE(plan(ToPositions{{{"t/0", "30"}}})->undone.empty());
  const auto too_early = plan(ToTime{1});
  ASSERT_FALSE(too_early.ok());
  EXPECT_NE(too_early.error().message().find(std::to_string(began_)), std::string::npos) << too_early.error().message();
  EXPECT_EQ(plan(ToPositions{{{"other/0", "5"}}}).error().code(), base::Code::kInvalid);
}

TEST_F(RewindTest, GoesToTheVeryBeginning) {
  rewound(ToSnapshot{began_});
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(commit(*worker_, 0, 30).kind, engine::CommitVerdict::Kind::kDone);
  EXPECT_EQ(rows(), range(0, 30));
}

TEST_F(RewindTest, RefusesTargetsThatCarryNoPositionsOrAreNoAncestors) {
  const int64_t third = head();
  append_foreign(777);
  const auto foreign = plan(ToSnapshot{777});
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().message().find(std::to_string(third)), std::string::npos) << foreign.error().message();
  EXPECT_EQ(plan(ToSnapshot{4711}).error().code(), base::Code::kNotFound);
  ASSERT_TRUE(carry_out(ToSnapshot{first_}, true).ok());
  EXPECT_NE(plan(ToSnapshot{second_}).error().message().find("no ancestor"), std::string::npos);
}

TEST_F(RewindTest, AsksBeforeItUndoesWhatOthersWrote) {
  append_foreign(777);
  const int64_t before = head();
  const auto refused = carry_out(ToSnapshot{second_});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("--undo-others"), std::string::npos);
  EXPECT_EQ(head(), before);
  ASSERT_TRUE(carry_out(ToSnapshot{second_}, true).ok());
  EXPECT_EQ(rows().size(), 18u);
}

TEST_F(RewindTest, HappensOnceWhateverBecomesOfTheAnswer) {
  for (const Fate fate : {Fate::kAppliedAnswerLost, Fate::kLost, Fate::kAnsweredWithTheOldTable, Fate::kUnavailable}) {
    catalog_->fates = {fate};
    const int64_t highest = state().highest_epoch;
    const auto done = carry_out(ToSnapshot{began_});
    ASSERT_TRUE(done.ok()) << done.error().message();
    EXPECT_EQ(state().highest_epoch, highest + 1);
    EXPECT_EQ(state().marks.positions.next.at("t/0"), "0");
    commit(*worker_, 0, 10);
    EXPECT_EQ(rows(), range(0, 10));
  }
}

TEST_F(RewindTest, LeavesAHaltToItsOwnAnswer) {
  roll_back(1);
  const auto halted = carry_out(ToSnapshot{first_});
  ASSERT_FALSE(halted.ok());
  EXPECT_EQ(halt_code(halted.error()), "TABLE_ROLLED_BACK");
}

}  // namespace
}  // namespace frazil::sinks
