#include "sinks/iceberg/joint_committer.h"

#include "base/random.h"
#include "sinks/iceberg/committer_fixture.h"
#include "sinks/iceberg/handing_committer.h"
#include "sinks/iceberg/marks.h"
#include "sinks/iceberg/merge_desk.h"

namespace frazil::sinks {
namespace {

using Kind = engine::CommitVerdict::Kind;

// Two workers that read one split each, t/0 and t/1, from 0 on; ids of t/1 are 1000 above its offsets.
class JointCommitterTest : public CommitterTest {
 protected:
  JointCommitterTest() {
    first_ = committer();
    EXPECT_TRUE(first_->open().ok());
    engine::SourcePositions begin = start();
    begin.next["t/1"] = "0";
    EXPECT_TRUE(first_->begin(begin).ok());
  }

  engine::StagedEpoch staged(int split, int64_t begin, int64_t end) {
    engine::StagedEpoch made = epoch(*first_, begin + 1000 * split, end + 1000 * split);
    made.ranges = {{"t/" + std::to_string(split), std::to_string(begin), std::to_string(end)}};
    return made;
  }
  HandedEpoch handed(int split, int64_t begin, int64_t end) {
    const engine::StagedEpoch made = staged(split, begin, end);
    const auto manifest = write_handed_manifest(*catalog_->file_io(), metadata(config_.table), made);
    EXPECT_TRUE(manifest.ok()) << manifest.error().message();
    HandedEpoch out;
    out.pipeline = config_.pipeline;
    out.table_uuid = first_->mark();
    out.schema_id = first_->target_schema_id();
    out.ranges = made.ranges;
    out.identity = made.identity;
    out.manifest = manifest->location;
    out.digest = manifest->digest;
    out.rows = made.rows;
    return out;
  }
  JointVerdicts commit_jointly(const std::vector<HandedEpoch>& epochs) {
    JointCommitter joint(config_, *catalog_, format_);
    base::Interrupt never;
    auto verdicts = joint.commit(epochs, never);
    EXPECT_TRUE(verdicts.ok()) << verdicts.error().message();
    return verdicts.ok() ? *verdicts : JointVerdicts(epochs.size(), verdicts.error());
  }
  static std::string told(const base::Result<engine::CommitVerdict>& verdict) {
    if (verdict.ok()) return engine::verdict_name(verdict->kind);
    return verdict.error().code() == base::Code::kInvalid ? "refused" : "none";
  }
  size_t snapshots() { return metadata(config_.table).snapshots.size(); }
  std::vector<int64_t> ids(std::vector<int64_t> of_first, const std::vector<int64_t>& of_second) {
    for (const int64_t offset : of_second) of_first.push_back(offset + 1000);
    return of_first;
  }

  std::unique_ptr<IcebergCommitter> first_;
};

TEST_F(JointCommitterTest, EpochsOfTwoWorkersBecomeOneSnapshot) {
  const size_t before = snapshots();
  const JointVerdicts verdicts = commit_jointly({handed(0, 0, 5), handed(1, 0, 3)});
  EXPECT_EQ(told(verdicts[0]) + " " + told(verdicts[1]), "done done");
  EXPECT_EQ(verdicts[0]->positions.next.at("t/0"), "5");
  EXPECT_EQ(verdicts[0]->positions.next.at("t/1"), "3");
  EXPECT_EQ(rows(), ids(range(0, 5), range(0, 3)));
  EXPECT_EQ(snapshots(), before + 1);
  EXPECT_EQ(metadata(config_.table).current_snapshot()->summary.at(kRangesKey), R"({"t/0":["0","5"],"t/1":["0","3"]})");
}

TEST_F(JointCommitterTest, AStaleEpochIsLeftOutWholeAndTheRestIsCommitted) {
  ASSERT_EQ(told(commit_jointly({handed(0, 0, 5)})[0]), "done");
  const JointVerdicts verdicts = commit_jointly({handed(0, 0, 7), handed(1, 0, 3), handed(0, 9, 10)});
  EXPECT_EQ(told(verdicts[0]) + " " + told(verdicts[1]) + " " + told(verdicts[2]), "stale done gap");
  EXPECT_EQ(rows(), ids(range(0, 5), range(0, 3)));
}

TEST_F(JointCommitterTest, TheSameEpochHandedOverTwiceIsStoredOnce) {
  const HandedEpoch once = handed(0, 0, 5);
  const JointVerdicts verdicts = commit_jointly({once, once});
  EXPECT_EQ(told(verdicts[0]) + " " + told(verdicts[1]), "done stale");
  EXPECT_EQ(rows(), range(0, 5));
}

TEST_F(JointCommitterTest, EpochsOfOneSplitThatFollowEachOtherFitIntoOneSnapshot) {
  const JointVerdicts verdicts = commit_jointly({handed(0, 0, 5), handed(0, 5, 8)});
  EXPECT_EQ(told(verdicts[0]) + " " + told(verdicts[1]), "done done");
  EXPECT_EQ(rows(), range(0, 8));
  EXPECT_EQ(metadata(config_.table).current_snapshot()->summary.at(kRangesKey), R"({"t/0":["0","8"]})");
}

TEST_F(JointCommitterTest, ALostAnswerIsResolvedByLooking) {
  const size_t before = snapshots();
  catalog_->fates = {Fate::kAppliedAnswerLost};
  const JointVerdicts verdicts = commit_jointly({handed(0, 0, 5), handed(1, 0, 3)});
  EXPECT_EQ(told(verdicts[0]) + " " + told(verdicts[1]), "done done");
  EXPECT_EQ(snapshots(), before + 1);
  EXPECT_EQ(rows(), ids(range(0, 5), range(0, 3)));
}

TEST_F(JointCommitterTest, AWorkerThatCommitsItselfInBetweenIsStaleInTheMergedCommit) {
  engine::StagedEpoch own = staged(0, 0, 5);
  const std::vector<HandedEpoch> epochs = {handed(0, 0, 5), handed(1, 0, 3)};
  catalog_->before_commit = [&] {
    base::Interrupt never;
    const auto verdict = first_->commit(own, never);
    EXPECT_TRUE(verdict.ok() && verdict->kind == Kind::kDone);
  };
  const JointVerdicts verdicts = commit_jointly(epochs);
  EXPECT_EQ(told(verdicts[0]) + " " + told(verdicts[1]), "stale done");
  EXPECT_EQ(rows(), ids(range(0, 5), range(0, 3)));
}

TEST_F(JointCommitterTest, RefusesManifestsThatAreNotTheOnesThatWereHandedOver) {
  HandedEpoch forged = handed(0, 0, 5), elsewhere = handed(0, 0, 5), upwards = handed(0, 0, 5), miscounted = handed(0, 0, 5), gone = handed(0, 0, 5);
  forged.digest = std::string(32, '0');
  // The very bytes, in places that are not the table's.
  const auto move = [&](HandedEpoch& handed, const std::string& to) {
    const auto bytes = catalog_->file_io()->read(handed.manifest);
    ASSERT_TRUE(bytes.ok() && io::write_file(*catalog_->file_io(), to, *bytes).ok());
    handed.manifest = to;
  };
  move(elsewhere, "memory://elsewhere/m.avro");
  move(upwards, metadata(config_.table).location + "/metadata/../elsewhere/m.avro");
  miscounted.rows = 4;
  ASSERT_TRUE(catalog_->file_io()->remove(gone.manifest).ok());
  const HandedEpoch without_file = handed(0, 0, 5);
  const auto manifest = iceberg::read_manifest(*catalog_->file_io(), without_file.manifest);
  ASSERT_TRUE(manifest.ok() && catalog_->file_io()->remove(manifest->entries.at(0).data_file.file_path).ok());
  for (const HandedEpoch& bad : {forged, elsewhere, upwards, miscounted, gone, without_file}) {
    EXPECT_EQ(told(commit_jointly({bad})[0]), "refused") << to_message(bad);
  }
  EXPECT_TRUE(rows().empty());
}

// What the manifest says beyond new data files would be counted, and left out of the table.
TEST_F(JointCommitterTest, RefusesManifestsWithEntriesThatAreNoNewDataFiles) {
  const HandedEpoch good = handed(0, 0, 5);
  const auto manifest = iceberg::read_manifest(*catalog_->file_io(), good.manifest);
  ASSERT_TRUE(manifest.ok());
  const iceberg::ManifestEntry entry = manifest->entries.at(0);
  std::vector<std::vector<iceberg::ManifestEntry>> bad(4, {entry});
  bad[0][0].status = iceberg::ManifestEntry::Status::kExisting;
  bad[1][0].status = iceberg::ManifestEntry::Status::kDeleted;
  bad[2].push_back(entry);
  bad[3].push_back(entry);
  bad[3][1].data_file.record_count = -5;
  const iceberg::TableMetadata table = metadata(config_.table);
  for (const auto& entries : bad) {
    HandedEpoch forged = good;
    forged.manifest = table.location + "/metadata/" + base::random_uuid() + "-handed.avro";
    ASSERT_TRUE(iceberg::write_manifest_entries(*catalog_->file_io(), forged.manifest, *table.current_schema(), table.default_spec(), 7, entries, {}).ok());
    forged.digest = positions_digest(catalog_->file_io()->read(forged.manifest).value());
    EXPECT_EQ(told(commit_jointly({forged})[0]), "refused");
    forged.rows = 10;
    EXPECT_EQ(told(commit_jointly({forged})[0]), "refused");
  }
  EXPECT_TRUE(rows().empty());
}

TEST_F(JointCommitterTest, RefusesWhatNoWorkerOfThePipelineHandsOverAndCommitsTheRest) {
  ASSERT_EQ(told(commit_jointly({handed(0, 0, 5)})[0]), "done");
  const HandedEpoch good = handed(0, 5, 8);
  const auto with_range = [&](const engine::Range& range) {
    HandedEpoch bad = good;
    bad.ranges = {range};
    return bad;
  };
  std::vector<HandedEpoch> all = {with_range({"x", "5", "8"}),        with_range({"t/9", "0", "8", true}), with_range({"other/0", "0", "8", true}),
                                  with_range({"t/0", "5", "zz"}),     with_range({"t/0", "nonsense", "8"}), with_range({"t/0", "5", "-5"}),
                                  with_range({"t/0", "5", "3"}),      with_range({"t/0", "", "8"}),         with_range({"t/0", "5", "99999999999999999999"})};
  all.resize(all.size() + 7, good);
  const auto last = [&](size_t index) -> HandedEpoch& { return all[all.size() - index]; };
  last(1).ranges.clear();
  last(2).ranges.push_back(good.ranges[0]);
  last(3).manifest.clear();
  last(4).manifest.clear();
  last(4).rows = 0;
  last(5).rows = -3;
  last(6).record_times = {{5, 4, 6, 3}};
  last(7).record_times = {{INT64_MIN, 0, INT64_MAX, INT64_MAX}};
  all.push_back(handed(1, 0, 2));
  const JointVerdicts verdicts = commit_jointly(all);
  for (size_t i = 0; i + 1 < all.size(); ++i) EXPECT_EQ(told(verdicts[i]), "refused") << to_message(all[i]);
  EXPECT_EQ(told(verdicts.back()), "done");
  EXPECT_EQ(rows(), ids(range(0, 5), range(0, 2)));
  EXPECT_EQ(told(commit_jointly({good})[0]), "done");
}

TEST_F(JointCommitterTest, LeavesEpochsOfUnknownTopicsOtherTablesAndOtherPipelinesToTheirWorkers) {
  HandedEpoch topic = handed(0, 0, 5), table = topic, pipeline = topic, cluster = topic;
  topic.identity["topic/new"] = "id-2";
  table.table_uuid = "another";
  pipeline.pipeline = "another";
  ASSERT_FALSE(cluster.identity.empty());
  cluster.identity.begin()->second = "another";
  for (const HandedEpoch& one : {topic, table, pipeline, cluster}) EXPECT_EQ(told(commit_jointly({one})[0]), "none") << to_message(one);
  EXPECT_TRUE(rows().empty());
}

TEST_F(JointCommitterTest, EpochsWrittenForAnotherSchemaAreUnfit) {
  HandedEpoch old = handed(0, 0, 5);
  old.schema_id = 7;
  EXPECT_EQ(told(commit_jointly({old})[0]), "unfit");
  EXPECT_TRUE(rows().empty());
}

TEST_F(JointCommitterTest, AHaltOfTheTableIsAnErrorForAll) {
  const HandedEpoch waiting = handed(0, 0, 5);
  ASSERT_EQ(told(commit_jointly({handed(0, 0, 2)})[0]), "done");
  roll_back(1);
  JointCommitter joint(config_, *catalog_, format_);
  base::Interrupt never;
  const auto verdicts = joint.commit({waiting}, never);
  ASSERT_FALSE(verdicts.ok());
  EXPECT_EQ(halt_code(verdicts.error()), "TABLE_ROLLED_BACK");
}

TEST_F(JointCommitterTest, MessagesSayWhatTheyMean) {
  HandedEpoch sent = handed(0, 0, 5);
  sent.ranges[0].is_first = true;
  sent.record_times = {{1, 2, 3, 5}};
  const auto received = read_handed_epoch(to_message(sent));
  ASSERT_TRUE(received.ok()) << received.error().message();
  EXPECT_EQ(to_message(*received), to_message(sent));
  EXPECT_EQ(received->ranges, sent.ranges);
  EXPECT_EQ(read_handed_epoch("{\"v\":2}").error().code(), base::Code::kUnsupported);
  EXPECT_EQ(read_handed_epoch("{\"v\":1}").error().code(), base::Code::kInvalid);
  EXPECT_EQ(read_handed_epoch("<html>").error().code(), base::Code::kInvalid);
  EXPECT_EQ(read_verdict("{\"v\":1,\"verdict\":\"maybe\",\"reason\":\"\",\"positions\":{}}", format_).error().code(), base::Code::kInvalid);
}

TEST_F(JointCommitterTest, TheDeskGivesEachWorkerItsVerdictFromOneSnapshot) {
  in_virtual_time([&] {
    const size_t before = snapshots();
    MergeDesk desk(config_, *catalog_, format_, 100);
    const HandedEpoch one = handed(0, 0, 5), other = handed(1, 0, 3);
    std::optional<base::Result<engine::CommitVerdict>> second;
    base::Lane lane("other worker", [&] { second = desk.submit(other, base::deadline_after(10'000'000)); });
    const auto first = desk.submit(one, base::deadline_after(10'000'000));
    lane.join();
    ASSERT_TRUE(first.ok() && second && second->ok());
    EXPECT_EQ(first->kind, Kind::kDone);
    EXPECT_EQ((*second)->kind, Kind::kDone);
    EXPECT_EQ(snapshots(), before + 1);
  });
}

TEST_F(JointCommitterTest, TheDeskLetsNobodyWaitBeyondTheDeadline) {
  in_virtual_time([&] {
    const HandedEpoch epoch = handed(0, 0, 5);
    MergeDesk desk(config_, *catalog_, format_, 60'000);
    const auto verdict = desk.submit(epoch, base::deadline_after(1'000'000));
    ASSERT_FALSE(verdict.ok());
    EXPECT_EQ(verdict.error().code(), base::Code::kUnavailable);
  });
  EXPECT_TRUE(rows().empty());
}

// Does what a test says, in place of another worker.
class ScriptedHandOver : public HandOver {
 public:
  base::Result<engine::CommitVerdict> hand_over(const HandedEpoch& epoch) override {
    handed.push_back(epoch);
    return answer ? answer(epoch) : base::Result<engine::CommitVerdict>(base::unavailable("nobody there"));
  }
  std::vector<HandedEpoch> handed;
  std::function<base::Result<engine::CommitVerdict>(const HandedEpoch&)> answer;
};

class HandingCommitterTest : public JointCommitterTest {
 protected:
  engine::CommitVerdict commit_by(HandingCommitter& handing, int64_t begin, int64_t end, const std::vector<int64_t>& bad = {}) {
    engine::StagedEpoch staged = epoch(*first_, begin, end, bad);
    base::Interrupt never;
    auto verdict = handing.commit(staged, never);
    EXPECT_TRUE(verdict.ok()) << verdict.error().message();
    return verdict.ok() ? *verdict : engine::CommitVerdict{};
  }
  ScriptedHandOver peer_;
};

TEST_F(HandingCommitterTest, WithoutAVerdictTheWorkerCommitsItself) {
  config_.merge = MergeMode::kAlways;
  HandingCommitter handing(config_, *catalog_, *first_, &peer_);
  EXPECT_EQ(commit_by(handing, 0, 5).kind, Kind::kDone);
  EXPECT_EQ(peer_.handed.size(), 1U);
  EXPECT_EQ(rows(), range(0, 5));
}

TEST_F(HandingCommitterTest, AVerdictThatNeverCameLeavesTheWorkerStaleWithWhatWasCommittedForIt) {
  config_.merge = MergeMode::kAlways;
  peer_.answer = [&](const HandedEpoch& epoch) -> base::Result<engine::CommitVerdict> {
    EXPECT_EQ(told(commit_jointly({epoch})[0]), "done");
    return base::Error(base::Code::kUnknownOutcome, "reset by peer");
  };
  HandingCommitter handing(config_, *catalog_, *first_, &peer_);
  const engine::CommitVerdict verdict = commit_by(handing, 0, 5);
  EXPECT_EQ(verdict.kind, Kind::kStale);
  EXPECT_EQ(verdict.positions.next.at("t/0"), "5");
  EXPECT_EQ(rows(), range(0, 5));
}

TEST_F(HandingCommitterTest, AVerdictIsTheWorkersVerdict) {
  config_.merge = MergeMode::kAlways;
  peer_.answer = [&](const HandedEpoch& epoch) -> base::Result<engine::CommitVerdict> { return commit_jointly({epoch})[0]; };
  HandingCommitter handing(config_, *catalog_, *first_, &peer_);
  const engine::CommitVerdict verdict = commit_by(handing, 0, 5);
  EXPECT_EQ(verdict.kind, Kind::kDone);
  EXPECT_TRUE(verdict.is_merged);
  EXPECT_EQ(commit_by(handing, 5, 8).kind, Kind::kDone);
  EXPECT_EQ(rows(), range(0, 8));
}

TEST_F(HandingCommitterTest, DeadLettersAreCommittedByTheirOwnWorker) {
  config_.merge = MergeMode::kAlways;
  HandingCommitter handing(config_, *catalog_, *first_, &peer_);
  EXPECT_EQ(commit_by(handing, 0, 5, {2}).kind, Kind::kDone);
  EXPECT_TRUE(peer_.handed.empty());
  EXPECT_EQ(dead(), std::vector<int64_t>{2});
}

TEST_F(HandingCommitterTest, SplitsThatTheTableDoesNotKnowAreCommittedByTheirOwnWorker) {
  config_.merge = MergeMode::kAlways;
  HandingCommitter handing(config_, *catalog_, *first_, &peer_);
  engine::StagedEpoch made = epoch(*first_, 0, 5);
  made.ranges = {{"t/7", "0", "5", true}};
  base::Interrupt never;
  const auto verdict = handing.commit(made, never);
  ASSERT_TRUE(verdict.ok()) << verdict.error().message();
  EXPECT_EQ(verdict->kind, Kind::kDone);
  EXPECT_TRUE(peer_.handed.empty());
}

TEST_F(HandingCommitterTest, AutoHandsOverOnlyAfterCommitsHaveContended) {
  in_virtual_time([&] {
    config_.merge = MergeMode::kAuto;
    HandingCommitter handing(config_, *catalog_, *first_, &peer_);
    EXPECT_EQ(commit_by(handing, 0, 1).kind, Kind::kDone);
    EXPECT_TRUE(peer_.handed.empty());
    catalog_->before_commit = [&] {
      base::Interrupt never;
      engine::StagedEpoch other = staged(1, 0, 3);
      EXPECT_TRUE(committer()->open().ok());
      auto second = committer();
      EXPECT_TRUE(second->open().ok());
      EXPECT_TRUE(second->commit(other, never).ok());
    };
    EXPECT_EQ(commit_by(handing, 1, 2).kind, Kind::kDone);
    EXPECT_TRUE(peer_.handed.empty());
    EXPECT_EQ(commit_by(handing, 2, 3).kind, Kind::kDone);
    EXPECT_EQ(peer_.handed.size(), 1U);
    base::Interrupt never;
    never.wait_until(base::deadline_after(61'000'000));
    EXPECT_EQ(commit_by(handing, 3, 4).kind, Kind::kDone);
    EXPECT_EQ(peer_.handed.size(), 1U);
  });
}

}  // namespace
}  // namespace frazil::sinks
