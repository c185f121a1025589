// Whether the newest positions still hold, in tables where others append, rewrite, expire and roll back.
#include "sinks/iceberg/pipeline_state.h"

#include "base/random.h"
#include "sinks/iceberg/committer_fixture.h"

namespace frazil::sinks {
namespace {

using Kind = engine::CommitVerdict::Kind;

// A table that remembers one older metadata file: an expiry soon cuts what its history tells.
class PipelineStateTest : public CommitterTest {
 protected:
  PipelineStateTest() {
    config_.create->properties["write.metadata.previous-versions-max"] = "1";
    config_.create->properties["write.metadata.delete-after-commit.enabled"] = "true";
  }

  void commit_foreign(iceberg::Snapshot snapshot) {
    const iceberg::SnapshotRef head{snapshot.snapshot_id, true, {}, {}, {}};
    const iceberg::TableCommit request{{}, {iceberg::AddSnapshot{std::move(snapshot)}, iceberg::SetSnapshotRef{"main", head}}};
    ASSERT_TRUE(catalog_->commit_table(config_.table, request).ok());
  }
  void append_foreign() {
    iceberg::Append foreign(catalog_->file_io(), base::random_snapshot_id());
    const auto snapshot = foreign.prepare(metadata(config_.table));
    ASSERT_TRUE(snapshot.ok());
    commit_foreign(*snapshot);
  }
  // Removes the files of which `is_gone` is true, as a rewrite or a delete of somebody else does.
  void remove_files(const std::function<bool(int64_t added_by)>& is_gone) {
    const auto snapshot = iceberg::prepare_delete(
        catalog_->file_io(), metadata(config_.table), base::random_snapshot_id(),
        [&](const iceberg::DataFile&, int64_t added_by) { return is_gone(added_by); }, {});
    ASSERT_TRUE(snapshot.ok());
    commit_foreign(*snapshot);
  }
  // Every snapshot but the head and those that refs need; then commits until no older metadata file tells of them.
  void expire_and_forget() {
    const iceberg::TableMetadata now = metadata(config_.table);
    std::vector<int64_t> gone;
    for (const auto& snapshot : now.snapshots) {
      const bool is_referenced = std::any_of(now.refs.begin(), now.refs.end(), [&](const auto& ref) {
        return ref.second.snapshot_id == snapshot.snapshot_id;
      });
      if (!is_referenced) gone.push_back(snapshot.snapshot_id);
    }
    ASSERT_FALSE(gone.empty());
    ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::RemoveSnapshots{gone}}}).ok());
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::SetProperties{{{"note", std::to_string(i)}}}}}).ok());
    }
  }
  void append_and_forget() {
    append_foreign();
    append_foreign();
    expire_and_forget();
  }
  // The positions move by a decision: a snapshot without files.
  void skip_to(IcebergCommitter& committer, const std::string& from, const std::string& to) {
    auto before = start();
    before.next["t/0"] = from;
    auto after = start();
    after.next["t/0"] = to;
    ASSERT_EQ(committer.decide(before, after, {"SOURCE_GAP", "skip", "r", "u"})->next.at("t/0"), to);
  }
  std::string halt_at_open() {
    const auto opened = committer()->open();
    return opened.ok() ? "" : halt_code(opened.error());
  }
  std::string position_at_open() {
    const auto opened = committer()->open();
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    return opened.ok() && *opened ? (**opened).next.at("t/0") : "";
  }
};

TEST_F(PipelineStateTest, AStartWithoutRowsHoldsWhenOthersExpireWhatFollowed) {
  begun();
  append_and_forget();
  EXPECT_EQ(position_at_open(), "0");
}

TEST_F(PipelineStateTest, RowsHoldWhenOthersExpireWhatFollowed) {
  commit(*begun(), 0, 5);
  append_and_forget();
  EXPECT_EQ(position_at_open(), "5");
}

TEST_F(PipelineStateTest, PositionsThatMovedWithoutRowsHoldByTheRowsBeforeThem) {
  const auto one = begun();
  commit(*one, 0, 5);
  skip_to(*one, "5", "9");
  append_and_forget();
  EXPECT_EQ(position_at_open(), "9");
  const auto next = committer();
  ASSERT_TRUE(next->open().ok());
  EXPECT_EQ(commit(*next, 9, 12).kind, Kind::kDone);
}

TEST_F(PipelineStateTest, MergedManifestsStillTellWhoAddedAFile) {
  config_.create->properties["commit.manifest.min-count-to-merge"] = "2";
  const auto one = begun();
  commit(*one, 0, 5);
  commit(*one, 5, 8);
  skip_to(*one, "8", "9");
  append_and_forget();
  EXPECT_EQ(position_at_open(), "9");
}

TEST_F(PipelineStateTest, ARollBackIsSeenAlthoughItsTracesWereExpired) {
  const auto one = begun();
  commit(*one, 0, 5);
  commit(*one, 5, 8);
  skip_to(*one, "8", "9");
  roll_back(2);  // the rows 5 to 7 are gone
  append_and_forget();
  EXPECT_EQ(halt_at_open(), "TABLE_HISTORY_LOST");
}

TEST_F(PipelineStateTest, ARollBackToBeforeTheFirstRowsIsSeenToo) {
  const auto one = begun();
  commit(*one, 0, 5);
  roll_back(1);
  append_and_forget();
  EXPECT_EQ(halt_at_open(), "TABLE_HISTORY_LOST");
  EXPECT_TRUE(rows().empty());
}

TEST_F(PipelineStateTest, ARollBackOverSnapshotsWithoutRowsHasNothingToReadAgain) {
  const auto one = begun();
  commit(*one, 0, 5);
  skip_to(*one, "5", "9");
  roll_back(1);
  // As long as the history tells, it is a roll-back.
  EXPECT_EQ(halt_at_open(), "TABLE_ROLLED_BACK");
  append_and_forget();
  EXPECT_EQ(position_at_open(), "9");
  EXPECT_EQ(rows(), range(0, 5));
}

TEST_F(PipelineStateTest, FilesThatOthersRemovedProveNothing) {
  const auto one = begun();
  commit(*one, 0, 5);
  commit(*one, 5, 8);
  const int64_t newest = *metadata(config_.table).current_snapshot_id;
  remove_files([&](int64_t added_by) { return added_by == newest; });
  // While the history tells, nobody needs the files.
  EXPECT_EQ(position_at_open(), "8");
  append_and_forget();
  const auto opened = committer()->open();
  ASSERT_EQ(halt_code(opened.error()), "TABLE_HISTORY_LOST");
  EXPECT_NE(opened.error().message().find("frazil-orders"), std::string::npos);  // where to look
  const auto next = committer({{"TABLE_HISTORY_LOST", "", opened.error().halt()->token}});
  ASSERT_EQ(next->open()->value().next.at("t/0"), "8");
  EXPECT_EQ(commit(*next, 8, 9).kind, Kind::kDone);
  EXPECT_EQ(position_at_open(), "9");
}

TEST_F(PipelineStateTest, FilesRemovedBeforeTheNewestPositionsDoNotMatter) {
  const auto one = begun();
  commit(*one, 0, 5);
  remove_files([](int64_t) { return true; });
  skip_to(*one, "5", "9");
  append_and_forget();
  EXPECT_EQ(position_at_open(), "9");
}

class ForgottenParents : public PipelineStateTest {
 protected:
  ForgottenParents() { config_.create->properties["write.metadata.previous-versions-max"] = "100"; }
  // As PyIceberg's expiry leaves it: the head names no parent any more. Older metadata files do.
  iceberg::TableMetadata without_parent() {
    EXPECT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::SetProperties{{{"expired", "yes"}}}}}).ok());
    iceberg::TableMetadata now = metadata(config_.table);
    std::erase_if(now.snapshots, [&](const auto& snapshot) {
      return snapshot.snapshot_id != now.current_snapshot_id && snapshot.snapshot_id != now.refs.at("frazil-orders").snapshot_id;
    });
    for (auto& snapshot : now.snapshots) {
      if (snapshot.snapshot_id == now.current_snapshot_id) snapshot.parent_snapshot_id.reset();
    }
    return now;
  }
  StateCondition condition() {
    const auto state = read_state(*catalog_->file_io(), without_parent(), "orders", format_);
    EXPECT_TRUE(state.ok()) << state.error().message();
    return state.ok() ? state->condition : StateCondition::kUnknownPipeline;
  }
};

TEST_F(ForgottenParents, OlderMetadataStillTellOfThem) {
  const auto one = begun();
  commit(*one, 0, 5);
  commit(*one, 5, 8);
  append_foreign();
  append_foreign();
  EXPECT_EQ(condition(), StateCondition::kHolds);
  roll_back(3);
  append_foreign();
  append_foreign();
  EXPECT_EQ(condition(), StateCondition::kRolledBack);
}

TEST_F(PipelineStateTest, ATableBegunAnewUnderItsUuidDoesNotHold) {
  commit(*begun(), 0, 5);
  // CREATE OR REPLACE: a head without a parent, and without any file of before.
  iceberg::TableMetadata empty = metadata(config_.table);
  iceberg::Append anew(catalog_->file_io(), base::random_snapshot_id());
  empty.current_snapshot_id.reset();
  empty.refs.erase("main");
  const auto snapshot = anew.prepare(empty);
  ASSERT_TRUE(snapshot.ok());
  ASSERT_EQ(snapshot->parent_snapshot_id, std::nullopt);
  commit_foreign(*snapshot);
  EXPECT_EQ(halt_at_open(), "TABLE_HISTORY_LOST");
}

}  // namespace
}  // namespace frazil::sinks
