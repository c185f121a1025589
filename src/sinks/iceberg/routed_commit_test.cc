// Several tables of one pipeline: even and odd numbers, and an anchor without rows.
#include "base/random.h"
#include "sinks/iceberg/committer_fixture.h"
#include "sinks/iceberg/pipeline_state.h"
#include "sinks/iceberg/rewind.h"

namespace frazil::sinks {
namespace {

using Kind = engine::CommitVerdict::Kind;
using Ids = std::vector<int64_t>;

class RoutedCommitTest : public CommitterTest {
 protected:
  RoutedCommitTest() {
    const auto numbers = config_.schema;
    config_.targets = {{kEven, numbers, CreateTableConfig{}, {"", "kind", {"even"}, ""}},
                       {kOdd, numbers, CreateTableConfig{}, {"", "kind", {"odd"}, ""}}};
    config_.table = {{"shop"}, "orders_positions"};
    config_.metrics = &metrics_;
  }

  // Rows begin..end-1, each in its table.
  engine::StagedEpoch routed(IcebergCommitter& committer, int64_t begin, int64_t end, const Ids& bad = {}) {
    engine::StagedEpoch staged;
    staged.number = 1;
    staged.ranges = {{"t/0", std::to_string(begin), std::to_string(end)}};
    staged.identity = start().identity;
    staged.rows = end - begin;
    for (const int64_t id : bad) add_dead_letter(staged, id);
    for (size_t table = 0; table < committer.targets()->tables().size(); ++table) {
      const WriteTarget& write = *committer.targets()->tables()[table].write;
      columnar::Batch rows(write.schema);
      for (int64_t id = begin; id < end; ++id) {
        const bool is_bad = std::find(bad.begin(), bad.end(), id) != bad.end();
        if (!is_bad && id % 2 == static_cast<int64_t>(table)) append_row(rows, id);
      }
      if (rows.rows() == 0) continue;
      DataFileWriter writer(catalog_->file_io(), write, {}, data_file_location(write, {}, 1, 0));
      EXPECT_TRUE(writer.write(rows).ok());
      staged.outputs.push_back(std::make_unique<DataFileOutput>(writer.close().value(), write.spec.spec_id, table));
    }
    return staged;
  }
  static void append_row(columnar::Batch& rows, int64_t id) {
    for (columnar::Column& column : rows.columns) {
      column.type().id() == columnar::TypeId::kLong ? column.append_long(id) : column.append_null();
    }
  }
  base::Result<engine::CommitVerdict> send(IcebergCommitter& committer, int64_t begin, int64_t end, const Ids& bad = {}) {
    auto staged = routed(committer, begin, end, bad);
    base::Interrupt never;
    return committer.commit(staged, never);
  }
  void send_well(IcebergCommitter& committer, int64_t begin, int64_t end, const Ids& bad = {}) {
    const auto verdict = send(committer, begin, end, bad);
    ASSERT_TRUE(verdict.ok()) << verdict.error().message();
    ASSERT_EQ(verdict->kind, Kind::kDone) << verdict->reason;
  }
  // The anchor's commit lands, and what it owes stays where it is: the process dies.
  void send_and_die(IcebergCommitter& committer, int64_t begin, int64_t end) {
    auto staged = routed(committer, begin, end);
    base::Interrupt dying;
    dying.raise();
    for (const auto& table : {kEven, kOdd}) catalog_->fates_of[table.text()].assign(20, Fate::kUnavailable);
    EXPECT_TRUE(committer.commit(staged, dying).ok());
    catalog_->fates_of.clear();
  }
  Ids even() { return longs(kEven, "id"); }
  Ids odd() { return longs(kOdd, "id"); }
  static Ids numbers(int64_t first, int64_t end) {
    Ids ids;
    for (int64_t id = first; id < end; id += 2) ids.push_back(id);
    return ids;
  }
  std::string token_of(const base::Error& error) { return error.halt() == nullptr ? error.message() : error.halt()->token; }

  // As a compaction by another engine: all live files of a table leave, one file with the same rows comes.
  void compact(const iceberg::TableId& id) {
    const Ids ids = longs(id, "id");
    const iceberg::TableMetadata before = metadata(id);
    const auto removed = iceberg::prepare_delete(
        catalog_->file_io(), before, base::random_snapshot_id(), [](const auto&, int64_t) { return true; }, {{"operation", "replace"}});
    ASSERT_TRUE(removed.ok());
    add_snapshot(id, *removed);
    append_foreign(id, ids, "replace");
  }
  void append_foreign(const iceberg::TableId& id, const Ids& ids, const std::string& operation) {
    const iceberg::TableMetadata table = metadata(id);
    auto write = make_write_target(table, table.current_schema(), table.default_spec());
    ASSERT_TRUE(write.ok());
    columnar::Batch rows(write->schema);
    for (const int64_t row : ids) append_row(rows, row);
    DataFileWriter writer(catalog_->file_io(), *write, {}, data_file_location(*write, {}, 99, 0));
    ASSERT_TRUE(writer.write(rows).ok());
    iceberg::Append append(catalog_->file_io(), base::random_snapshot_id());
    append.add(writer.close().value(), 0);
    append.set_summary({{"operation", operation}});
    const auto snapshot = append.prepare(table);
    ASSERT_TRUE(snapshot.ok());
    add_snapshot(id, *snapshot);
  }
  void add_snapshot(const iceberg::TableId& id, const iceberg::Snapshot& snapshot) {
    const iceberg::TableCommit commit{
        {}, {iceberg::AddSnapshot{snapshot}, iceberg::SetSnapshotRef{"main", iceberg::SnapshotRef{snapshot.snapshot_id, true, {}, {}, {}}}}};
    ASSERT_TRUE(catalog_->commit_table(id, commit).ok());
  }
  void widen(const iceberg::TableId& id) {
    columnar::Schema wider = *metadata(id).current_schema();
    wider.schema_id = 1;
    wider.fields.push_back({2, "note", false, columnar::Type::primitive(columnar::TypeId::kString), ""});
    ASSERT_TRUE(catalog_->commit_table(id, {{}, {iceberg::AddSchema{wider}, iceberg::SetCurrentSchema{-1}}}).ok());
  }
  void expire_all_but_head(const iceberg::TableId& id) {
    const iceberg::TableMetadata table = metadata(id);
    std::vector<int64_t> ids;
    for (const auto& snapshot : table.snapshots) {
      if (snapshot.snapshot_id != *table.current_snapshot_id) ids.push_back(snapshot.snapshot_id);
    }
    ASSERT_TRUE(catalog_->commit_table(id, {{}, {iceberg::RemoveSnapshots{ids}}}).ok());
  }
  // Accepts `=table` for a roll-back of the anchor; what comes of it.
  base::Result<std::optional<engine::SourcePositions>> accept_roll_back(std::vector<engine::AcceptedChoice> more = {}) {
    if (roll_back_token_.empty()) roll_back_token_ = token_of(committer()->open().error());
    more.push_back({"TABLE_ROLLED_BACK", "table", roll_back_token_});
    last_ = committer(std::move(more));
    return last_->open();
  }

  const iceberg::TableId kEven{{"shop"}, "even"};
  const iceberg::TableId kOdd{{"shop"}, "odd"};
  base::Metrics metrics_;
  std::string roll_back_token_;
  std::unique_ptr<IcebergCommitter> last_;
};

TEST_F(RoutedCommitTest, RowsComeToTheirTablesAfterTheAnchorHasDecided) {
  const auto one = begun();
  send_well(*one, 0, 10, {3});
  EXPECT_EQ(even(), numbers(0, 10));
  EXPECT_EQ(odd(), (Ids{1, 5, 7, 9}));
  EXPECT_EQ(dead(), (Ids{3}));
  const auto anchor = metadata(config_.table);
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(anchor.property("frazil.orders.tables"),
            "{\"shop.even\":\"" + metadata(kEven).table_uuid + "\",\"shop.odd\":\"" + metadata(kOdd).table_uuid + "\"}");
  EXPECT_EQ(metadata(kEven).property("frazil.orders.applied"), anchor.current_snapshot()->summary.at("frazil.epoch"));
  EXPECT_EQ(committer()->open()->value().next.at("t/0"), "10");
}

TEST_F(RoutedCommitTest, TheAnchorMayBeOneOfTheTables) {
  config_.table = kEven;
  const auto one = begun();
  send_well(*one, 0, 4);
  const size_t snapshots = metadata(kEven).snapshots.size();
  send_well(*one, 4, 5);
  EXPECT_EQ(metadata(kEven).snapshots.size(), snapshots + 1);
  auto odd_alone = routed(*one, 5, 6);
  base::Interrupt never;
  ASSERT_TRUE(one->commit(odd_alone, never).ok());
  EXPECT_EQ(metadata(kEven).snapshots.size(), snapshots + 2) << "an epoch without rows for the anchor is an empty snapshot";
  EXPECT_EQ(even(), numbers(0, 6));
  EXPECT_EQ(odd(), numbers(1, 6));
}

TEST_F(RoutedCommitTest, WhatIsOwedSurvivesACrashAndIsAppliedOnce) {
  send_and_die(*begun(), 0, 6);
  EXPECT_TRUE(even().empty());
  for (int starts = 0; starts < 2; ++starts) {
    ASSERT_TRUE(committer()->open().ok());
    EXPECT_EQ(even(), numbers(0, 6));
    EXPECT_EQ(odd(), numbers(1, 6));
  }
}

TEST_F(RoutedCommitTest, LostAnswersOfAnyTableAreResolvedByLooking) {
  const auto one = begun();
  for (const auto& table : {config_.table, kEven, kOdd}) {
    for (const Fate fate : {Fate::kLost, Fate::kAppliedAnswerLost, Fate::kUnavailable}) {
      const auto done = static_cast<int64_t>(even().size() + odd().size());
      catalog_->fates_of[table.text()] = {fate};
      send_well(*one, done, done + 4);
      EXPECT_EQ(even(), numbers(0, done + 4));
      EXPECT_EQ(odd(), numbers(1, done + 4));
    }
  }
}

TEST_F(RoutedCommitTest, TwoWorkersBringEachRowOnce) {
  const auto one = begun();
  const auto two = begun();
  send_well(*one, 0, 4);
  EXPECT_EQ(send(*two, 0, 4)->kind, Kind::kStale);
  send_well(*two, 4, 8);
  EXPECT_EQ(send(*one, 4, 6)->kind, Kind::kStale);
  EXPECT_EQ(even(), numbers(0, 8));
  EXPECT_EQ(odd(), numbers(1, 8));
}

TEST_F(RoutedCommitTest, ATableThatIsAwayHoldsNoOtherBackAndGetsItsRowsLater) {
  in_virtual_time([&] {
    const auto one = begun();
    catalog_->fates_of["shop.even"].assign(1000, Fate::kUnavailable);
    send_well(*one, 0, 4);
    send_well(*one, 4, 8);
    EXPECT_TRUE(even().empty());
    EXPECT_NE(metrics_.render_prometheus().find("frazil_table_owed_entries{pipeline=\"orders\",table=\"shop.even\"} 2"), std::string::npos);
    EXPECT_NE(metrics_.render_prometheus().find("frazil_table_rows_total{pipeline=\"orders\",table=\"shop.odd\"} 4"), std::string::npos);
    EXPECT_EQ(odd(), numbers(1, 8));
    catalog_->fates_of.clear();
    send_well(*one, 8, 10);
    EXPECT_EQ(even(), numbers(0, 10));
    EXPECT_EQ(odd(), numbers(1, 10));
  });
}

TEST_F(RoutedCommitTest, AnAnchorOwesNoMoreThanSixtyFourEntries) {
  in_virtual_time([&] {
    const auto one = begun();
    for (const auto& table : {kEven, kOdd, config_.dead_letters}) catalog_->fates_of[table.text()].assign(100'000, Fate::kUnavailable);
    base::Interrupt dying;
    dying.raise();
    int64_t at = 0;
    for (int epochs = 0; epochs < 21; ++epochs, at += 3) {  // three entries each
      auto staged = routed(*one, at, at + 3, {at});
      ASSERT_TRUE(one->commit(staged, dying).ok()) << epochs;
    }
    auto staged = routed(*one, at, at + 3, {at});
    EXPECT_FALSE(one->commit(staged, dying).ok());
    catalog_->fates_of.clear();
    send_well(*one, at, at + 3);
    EXPECT_EQ(even().size() + odd().size() + dead().size(), static_cast<size_t>(at + 3));
  });
}

TEST_F(RoutedCommitTest, ADroppedTableHaltsWhenTheOthersHaveTheirRows) {
  const auto one = begun();
  send_well(*one, 0, 4);
  ASSERT_TRUE(catalog_->drop_table(kEven).ok());
  const auto verdict = send(*one, 4, 8);
  ASSERT_FALSE(verdict.ok());
  ASSERT_EQ(halt_code(verdict.error()), "OWED_TABLE_GONE");
  EXPECT_EQ(odd(), numbers(1, 8));
  // Until somebody answers, every start says the same.
  const auto again = committer()->open();
  ASSERT_EQ(halt_code(again.error()), "OWED_TABLE_GONE");
  EXPECT_EQ(token_of(again.error()), token_of(verdict.error()));
  const auto next = committer({{"OWED_TABLE_GONE", "forget", token_of(verdict.error())}});
  const auto opened = next->open();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(opened->value().next.at("t/0"), "8");
  send_well(*next, 8, 12);
  EXPECT_EQ(even(), (Ids{8, 10}));
  EXPECT_EQ(odd(), numbers(1, 12));
  EXPECT_NE(metadata(config_.table).property("frazil.orders.accepted").find("OWED_TABLE_GONE"), std::string::npos);
  ASSERT_TRUE(committer()->open().ok());
}

TEST_F(RoutedCommitTest, ATableThatWasDroppedWhileNothingRanIsMissedAtTheStart) {
  send_well(*begun(), 0, 4);
  ASSERT_TRUE(catalog_->drop_table(kOdd).ok());
  EXPECT_EQ(halt_code(committer()->open().error()), "OWED_TABLE_GONE");
}

TEST_F(RoutedCommitTest, NothingIsWrittenIntoATableThatWasReplaced) {
  const auto one = begun();
  send_well(*one, 0, 4);
  const auto schema = *metadata(kEven).current_schema();
  ASSERT_TRUE(catalog_->drop_table(kEven).ok());
  ASSERT_TRUE(catalog_->create_table(kEven, {schema, {}, {}, {}, ""}).ok());
  const auto verdict = send(*one, 4, 8);
  ASSERT_EQ(halt_code(verdict.error()), "OWED_TABLE_REPLACED");
  EXPECT_TRUE(even().empty());
  EXPECT_EQ(odd(), numbers(1, 8));
  const auto again = committer()->open();
  ASSERT_EQ(halt_code(again.error()), "OWED_TABLE_REPLACED");
  const auto next = committer({{"OWED_TABLE_REPLACED", "forget", token_of(again.error())}});
  ASSERT_TRUE(next->open().ok());
  send_well(*next, 8, 12);
  EXPECT_EQ(even(), (Ids{8, 10}));
}

TEST_F(RoutedCommitTest, WhatATableRefusesForGoodHaltsAndNamesTheFiles) {
  const auto one = begun();
  catalog_->fates_of["shop.odd"] = {Fate::kRefused, Fate::kRefused};
  const auto verdict = send(*one, 0, 4);
  ASSERT_EQ(halt_code(verdict.error()), "OWED_REFUSED");
  EXPECT_NE(verdict.error().halt()->text.find("-owed.avro"), std::string::npos) << verdict.error().message();
  EXPECT_EQ(even(), numbers(0, 4));
  ASSERT_EQ(halt_code(committer()->open().error()), "OWED_REFUSED");
  ASSERT_TRUE(committer()->open().ok()) << "the table takes it now";
  EXPECT_EQ(odd(), numbers(1, 4));
}

TEST_F(RoutedCommitTest, WhatIsGivenUpStaysOutAndTheRestGoesOn) {
  const auto one = begun();
  catalog_->fates_of["shop.odd"].assign(4, Fate::kRefused);
  const std::string token = token_of(send(*one, 0, 4).error());
  const auto next = committer({{"OWED_REFUSED", "forget", token}});
  ASSERT_TRUE(next->open().ok());
  catalog_->fates_of.clear();
  send_well(*next, 4, 8);
  EXPECT_EQ(odd(), (Ids{5, 7}));
  EXPECT_EQ(even(), numbers(0, 8));
}

TEST_F(RoutedCommitTest, AnotherSchemaOfATableSendsTheNextEpochBack) {
  const auto one = begun();
  widen(kOdd);
  send_well(*one, 0, 4);  // written for the former schema: column ids still fit
  const auto verdict = send(*one, 4, 8);
  ASSERT_EQ(verdict->kind, Kind::kUnfit);
  EXPECT_NE(verdict->reason.find("shop.odd"), std::string::npos) << verdict->reason;
  EXPECT_EQ(verdict->positions.next.at("t/0"), "4");
  ASSERT_TRUE(one->open().ok());
  send_well(*one, 4, 8);
  EXPECT_EQ(odd(), numbers(1, 8));
}

// It may be opened again for any reason, and nothing is owed that would make it look at the table.
TEST_F(RoutedCommitTest, ASchemaThatWasChangedBeforeAnotherStartHoldsNobodyUp) {
  const auto one = begun();
  send_well(*one, 0, 4);
  widen(kOdd);
  ASSERT_TRUE(one->open().ok());
  send_well(*one, 4, 8);
  EXPECT_EQ(odd(), numbers(1, 8));
}

TEST_F(RoutedCommitTest, AnAcceptedRollBackTakesTheRowsOfItsEpochsOutOfEveryTable) {
  const auto one = begun();
  send_well(*one, 0, 4, {1});
  send_well(*one, 4, 8);
  send_well(*one, 8, 12, {9});
  roll_back(2);
  const auto opened = accept_roll_back();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(opened->value().next.at("t/0"), "4");
  EXPECT_EQ(even(), (Ids{0, 2}));
  EXPECT_EQ(odd(), (Ids{3}));
  EXPECT_EQ(dead(), (Ids{1}));
  send_well(*last_, 4, 12, {9});
  EXPECT_EQ(even(), numbers(0, 12));
  EXPECT_EQ(odd(), (Ids{3, 5, 7, 11}));
  EXPECT_EQ(dead(), (Ids{1, 9}));
}

TEST_F(RoutedCommitTest, VoidedRowsAreFoundAfterManifestsWereMergedAndSnapshotsExpired) {
  config_.targets[0].create->properties["commit.manifest.min-count-to-merge"] = "2";
  const auto one = begun();
  for (int64_t at = 0; at < 12; at += 2) send_well(*one, at, at + 2);
  expire_all_but_head(kEven);
  expire_all_but_head(kOdd);
  roll_back(3);
  const auto opened = accept_roll_back();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(even(), numbers(0, 6));
  EXPECT_EQ(odd(), numbers(1, 6));
}

TEST_F(RoutedCommitTest, RowsOfOthersAndOfEarlierEpochsStayWhenEpochsAreVoided) {
  const auto one = begun();
  send_well(*one, 0, 4);
  compact(kEven);  // before the epochs that go
  send_well(*one, 4, 8);
  append_foreign(kEven, {1000}, "append");
  roll_back(1);
  ASSERT_TRUE(accept_roll_back().ok());
  EXPECT_EQ(even(), (Ids{0, 2, 1000}));
}

TEST_F(RoutedCommitTest, RowsThatAForeignCompactionMixedHaltInsteadOfBeingGuessed) {
  const auto one = begun();
  send_well(*one, 0, 4);
  send_well(*one, 4, 8);
  compact(kEven);
  roll_back(1);
  const auto halted = accept_roll_back();
  ASSERT_FALSE(halted.ok());
  ASSERT_EQ(halt_code(halted.error()), "OWED_ROWS_REWRITTEN") << halted.error().message();
  EXPECT_EQ(even(), numbers(0, 8));
  EXPECT_EQ(odd(), numbers(1, 4)) << "the other table is served";
  expire_all_but_head(kEven);  // with less history the answer is the same
  const auto again = committer()->open();
  ASSERT_EQ(halt_code(again.error()), "OWED_ROWS_REWRITTEN") << again.error().message();
  const auto next = committer({{"OWED_ROWS_REWRITTEN", "leave", token_of(again.error())}});
  ASSERT_TRUE(next->open().ok());
  send_well(*next, 4, 8);
  EXPECT_EQ(even(), (Ids{0, 2, 4, 4, 6, 6}));
  EXPECT_EQ(odd(), numbers(1, 8));
}

// PyIceberg's overwrite of what is there: a delete and an append, or the other way round.
TEST_F(RoutedCommitTest, RowsThatOthersDeletedAndAppendedAgainHaltInsteadOfComingTwice) {
  for (const bool is_append_first : {false, true}) {
    for (const bool is_history_cut : {false, true}) {
      catalog_ = std::make_unique<FatefulCatalog>(iceberg::make_memory_catalog("memory://warehouse", io::make_memory_file_io()));
      roll_back_token_.clear();
      const auto one = begun();
      send_well(*one, 0, 4);
      send_well(*one, 4, 8);
      const Ids all = even();
      if (is_append_first) append_foreign(kEven, all, "append");
      const int64_t copy = *metadata(kEven).current_snapshot_id;
      const auto removed = iceberg::prepare_delete(
          catalog_->file_io(), metadata(kEven), base::random_snapshot_id(),
          [&](const auto&, int64_t added) { return !is_append_first || added != copy; }, {});
      ASSERT_TRUE(removed.ok());
      add_snapshot(kEven, *removed);
      if (!is_append_first) append_foreign(kEven, all, "append");
      if (is_history_cut) expire_all_but_head(kEven);
      roll_back(1);
      const auto halted = accept_roll_back();
      ASSERT_FALSE(halted.ok()) << is_append_first << is_history_cut;
      EXPECT_EQ(halt_code(halted.error()), "OWED_ROWS_REWRITTEN") << halted.error().message();
      EXPECT_EQ(even(), numbers(0, 8));
    }
  }
}

TEST_F(RoutedCommitTest, AnAnchorPutBackToOlderMetadataLosesNoRows) {
  const auto one = begun();
  send_well(*one, 0, 4, {1});
  const iceberg::TableMetadata earlier = metadata(config_.table);
  send_well(*one, 4, 8);
  send_well(*one, 8, 12, {9});
  put_back(earlier);
  // A worker that lives on, and one that starts.
  const auto verdict = send(*one, 4, 12);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(halt_code(verdict.error()), "TABLE_ROLLED_BACK") << verdict.error().message();
  const auto halted = committer()->open();
  ASSERT_FALSE(halted.ok());
  ASSERT_EQ(halt_code(halted.error()), "TABLE_ROLLED_BACK") << halted.error().message();
  EXPECT_EQ(metadata(config_.table).current_snapshot_id, earlier.current_snapshot_id) << "nothing was written";
  const auto next = committer({{"TABLE_ROLLED_BACK", "table", token_of(halted.error())}});
  const auto opened = next->open();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(opened->value().next.at("t/0"), "4");
  EXPECT_EQ(even(), (Ids{0, 2}));
  EXPECT_EQ(odd(), (Ids{3}));
  send_well(*next, 4, 12, {9});
  EXPECT_EQ(even(), numbers(0, 12));
  EXPECT_EQ(odd(), (Ids{3, 5, 7, 11}));
  EXPECT_EQ(dead(), (Ids{1, 9}));
  EXPECT_GT(metadata(config_.table).current_snapshot()->summary_number("frazil.epoch"), 5);
  ASSERT_TRUE(committer()->open().ok());
}

// Only what the tables say can tell it: this worker has never seen the epochs that the anchor lost.
TEST_F(RoutedCommitTest, AWorkerThatKnowsNothingOfLostEpochsTakesItsOwnForNone) {
  const auto one = begun();
  send_well(*one, 0, 4);
  const auto two = begun();
  const iceberg::TableMetadata earlier = metadata(config_.table);
  send_well(*one, 4, 8);
  put_back(earlier);
  const auto verdict = send(*two, 4, 6);
  ASSERT_FALSE(verdict.ok());
  ASSERT_EQ(halt_code(verdict.error()), "TABLE_ROLLED_BACK") << verdict.error().message();
  EXPECT_TRUE(verdict.error().halt()->choices.empty());
  EXPECT_FALSE(committer()->open().ok()) << "what the anchor owes stays owed";
}

TEST_F(RoutedCommitTest, AnAppliedEpochThatSomebodySetByHandHidesNoRows) {
  const auto one = begun();
  send_well(*one, 0, 4);
  const auto set_applied = [&](const std::string& epoch) {
    ASSERT_TRUE(catalog_->commit_table(kEven, {{}, {iceberg::SetProperties{{{"frazil.orders.applied", epoch}}}}}).ok());
  };
  set_applied("99");
  ASSERT_EQ(halt_code(send(*one, 4, 8).error()), "TABLE_ROLLED_BACK");
  const auto unclear = committer()->open();
  ASSERT_EQ(halt_code(unclear.error()), "TABLE_ROLLED_BACK");
  EXPECT_TRUE(unclear.error().halt()->choices.empty()) << "what the anchor owes is not in the table";
  set_applied("2");
  ASSERT_TRUE(committer()->open().ok());
  EXPECT_EQ(even(), numbers(0, 8));
  set_applied("99");
  const auto halted = committer()->open();
  ASSERT_EQ(halt_code(halted.error()), "TABLE_ROLLED_BACK");
  const auto next = committer({{"TABLE_ROLLED_BACK", "table", token_of(halted.error())}});
  ASSERT_TRUE(next->open().ok());
  send_well(*next, 8, 12);
  EXPECT_EQ(even(), numbers(0, 12));
  EXPECT_EQ(odd(), numbers(1, 12));
}

TEST_F(RoutedCommitTest, ADroppedTableHasNothingToVoid) {
  const auto one = begun();
  send_well(*one, 0, 4);
  send_well(*one, 4, 8);
  config_.targets.pop_back();  // odd numbers are no longer asked for
  ASSERT_TRUE(catalog_->drop_table(kOdd).ok());
  roll_back(1);
  ASSERT_TRUE(accept_roll_back().ok());
  EXPECT_EQ(even(), (Ids{0, 2}));
}

TEST_F(RoutedCommitTest, ATableThatNoneOfTheEpochsCameToIsLeftAlone) {
  const auto one = begun();
  send_well(*one, 0, 1);
  auto even_alone = routed(*one, 1, 2);
  even_alone.outputs.clear();  // epochs for nobody
  base::Interrupt never;
  ASSERT_TRUE(one->commit(even_alone, never).ok());
  compact(kEven);
  expire_all_but_head(kEven);
  roll_back(1);
  ASSERT_TRUE(accept_roll_back().ok());
  EXPECT_EQ(even(), (Ids{0}));
}

TEST_F(RoutedCommitTest, ATableThatIsNoLongerConfiguredStillGivesVoidedRowsBack) {
  const auto one = begun();
  send_well(*one, 0, 4);
  send_well(*one, 4, 8);
  config_.targets.pop_back();
  roll_back(1);
  ASSERT_TRUE(accept_roll_back().ok());
  EXPECT_EQ(odd(), numbers(1, 4));
}

TEST_F(RoutedCommitTest, EpochsOfAFormerAnchorDoNotHideThoseOfTheNextOne) {
  const auto one = begun();
  for (int64_t at = 0; at < 8; at += 2) send_well(*one, at, at + 2);
  ASSERT_TRUE(catalog_->drop_table(config_.table).ok());
  const auto halted = committer();
  ASSERT_FALSE(halted->open()->has_value());
  const base::Error error = halted->begin(start()).error();
  ASSERT_EQ(halt_code(error), "ANCHOR_CHANGED") << error.message();
  const auto next = committer({{"ANCHOR_CHANGED", "start", token_of(error)}});
  ASSERT_TRUE(next->open().ok());
  ASSERT_TRUE(next->begin(start()).ok());
  ASSERT_TRUE(committer()->open().ok()) << "an answer is given once";
  send_well(*next, 0, 2);  // the anchor begins anew, on purpose; its rows are not lost
  EXPECT_EQ(even(), (Ids{0, 0, 2, 4, 6}));
}

TEST_F(RoutedCommitTest, AnotherAnchorHaltsInsteadOfReadingEverythingAgain) {
  const IcebergSinkConfig before = config_;
  send_well(*begun(), 0, 4);
  const auto begin_with = [&](const iceberg::TableId& anchor, bool is_routed) {
    config_.table = anchor;
    if (!is_routed) config_.targets.clear();
    const auto one = committer();
    const auto opened = one->open();
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    const base::Status begun_at = opened.ok() ? one->begin(start()).status() : opened.status();
    config_ = before;
    return halt_code(begun_at.error());
  };
  EXPECT_EQ(begin_with({{"shop"}, "elsewhere"}, true), "ANCHOR_CHANGED");
  EXPECT_EQ(begin_with(kEven, true), "ANCHOR_CHANGED") << "one of the tables";
  EXPECT_EQ(begin_with(kOdd, false), "ANCHOR_CHANGED") << "from several tables to one";
  EXPECT_EQ(committer()->open()->value().next.at("t/0"), "4");
}

TEST_F(RoutedCommitTest, GoingBackToAFormerAnchorHalts) {
  const IcebergSinkConfig before = config_;
  send_well(*begun(), 0, 4);
  config_.table = {{"shop"}, "elsewhere"};
  const auto halted = committer();
  ASSERT_TRUE(halted->open().ok());
  const auto next = committer({{"ANCHOR_CHANGED", "start", token_of(halted->begin(start()).error())}});
  ASSERT_TRUE(next->open().ok());
  ASSERT_TRUE(next->begin({"test", start().identity, {{"t/0", "4"}}}).ok());
  send_well(*next, 4, 8);
  config_ = before;
  const auto back = committer()->open();
  ASSERT_FALSE(back.ok());
  ASSERT_EQ(halt_code(back.error()), "ANCHOR_CHANGED");
  ASSERT_TRUE(committer({{"ANCHOR_CHANGED", "start", token_of(back.error())}})->open().ok());
  const auto again = committer();
  ASSERT_TRUE(again->open().ok());
  send_well(*again, 4, 6);
  EXPECT_EQ(even(), (Ids{0, 2, 4, 4, 6})) << "on purpose: the former anchor begins where it was; what it owed then has come, and is taken for that";
}

TEST_F(RoutedCommitTest, PositionsThatAreGoneFromTheAnchorHalt) {
  send_well(*begun(), 0, 4);
  std::vector<int64_t> all;
  for (const auto& snapshot : metadata(config_.table).snapshots) all.push_back(snapshot.snapshot_id);
  ASSERT_TRUE(catalog_->commit_table(config_.table, {{}, {iceberg::RemoveProperties{{"frazil.orders"}}, iceberg::RemoveSnapshotRef{"frazil-orders"},
                                                         iceberg::RemoveSnapshotRef{"main"}, iceberg::RemoveSnapshots{all}}}).ok());
  const auto one = committer();
  ASSERT_FALSE(one->open()->has_value());
  const base::Error error = one->begin(start()).error();
  ASSERT_EQ(halt_code(error), "WATERMARK_LOST") << error.message();
  const auto next = committer({{"WATERMARK_LOST", "start", token_of(error)}});
  ASSERT_TRUE(next->open().ok());
  ASSERT_TRUE(next->begin(start()).ok());
  send_well(*next, 0, 2);
  EXPECT_EQ(even(), (Ids{0, 0, 2})) << "on purpose, and nothing is taken for applied";
}

TEST_F(RoutedCommitTest, AnotherPipelineOfTheSameRowsHaltsBeforeItsFirstRow) {
  send_well(*begun(), 0, 4);
  IcebergSinkConfig second = config_;
  second.pipeline = "second";
  second.table = {{"shop"}, "second_positions"};
  IcebergCommitter halted(second, *catalog_, format_, {});
  ASSERT_TRUE(halted.open().ok());
  const base::Error error = halted.begin(start()).error();
  ASSERT_EQ(halt_code(error), "POSITIONS_OF_ANOTHER_PIPELINE") << error.message();
  IcebergCommitter beside(second, *catalog_, format_, {{"POSITIONS_OF_ANOTHER_PIPELINE", "beside", token_of(error)}});
  ASSERT_TRUE(beside.open().ok());
  ASSERT_TRUE(beside.begin(start()).ok());
  send_well(beside, 0, 2);
  EXPECT_EQ(even(), (Ids{0, 0, 2})) << "on purpose";
}

TEST_F(RoutedCommitTest, PipelinesOfOtherTopicsShareATableWithoutAHalt) {
  send_well(*begun(), 0, 4);
  IcebergSinkConfig second = config_;
  second.pipeline = "second";
  second.table = {{"shop"}, "second_positions"};
  IcebergCommitter other(second, *catalog_, format_, {});
  ASSERT_TRUE(other.open().ok());
  auto begun_at = other.begin({"test", {{"cluster", "c"}, {"topic/u", "id-2"}}, {{"u/0", "0"}}});
  EXPECT_TRUE(begun_at.ok()) << begun_at.error().message();
}

// Both begin before either has brought a row: the later one notices when it would bring its first.
TEST_F(RoutedCommitTest, TwoPipelinesThatBeginTogetherBringNoRowTwice) {
  IcebergSinkConfig second = config_;
  second.pipeline = "second";
  second.table = {{"shop"}, "second_positions"};
  IcebergCommitter two(second, *catalog_, format_, {});
  const auto one = begun();
  ASSERT_TRUE(two.open().ok());
  ASSERT_TRUE(two.begin(start()).ok());
  send_well(*one, 0, 4);
  const auto verdict = send(two, 0, 4);
  ASSERT_FALSE(verdict.ok());
  ASSERT_EQ(halt_code(verdict.error()), "POSITIONS_OF_ANOTHER_PIPELINE") << verdict.error().message();
  EXPECT_EQ(even(), numbers(0, 4));
  EXPECT_EQ(odd(), numbers(1, 4));
  send_well(*one, 4, 8);
  IcebergCommitter again(second, *catalog_, format_, {});
  const auto opened = again.open();
  ASSERT_EQ(halt_code(opened.error()), "POSITIONS_OF_ANOTHER_PIPELINE");
  IcebergCommitter beside(second, *catalog_, format_, {{"POSITIONS_OF_ANOTHER_PIPELINE", "beside", token_of(opened.error())}});
  ASSERT_TRUE(beside.open().ok());
  EXPECT_EQ(even(), (Ids{0, 0, 2, 2, 4, 6})) << "on purpose";
}

TEST_F(RoutedCommitTest, RoutingIntoATableThatAnotherPipelineWritesHaltsAndTheOtherWayRound) {
  IcebergSinkConfig alone = config_;
  alone.pipeline = "alone";
  alone.table = kEven;
  alone.targets.clear();
  IcebergCommitter single(alone, *catalog_, format_, {});
  ASSERT_TRUE(single.open().ok());
  ASSERT_TRUE(single.begin(start()).ok());
  const auto router = committer();
  ASSERT_TRUE(router->open().ok());
  EXPECT_EQ(halt_code(router->begin(start()).error()), "POSITIONS_OF_ANOTHER_PIPELINE");
  catalog_ = std::make_unique<FatefulCatalog>(iceberg::make_memory_catalog("memory://warehouse", io::make_memory_file_io()));
  send_well(*begun(), 0, 4);
  IcebergCommitter later(alone, *catalog_, format_, {});
  ASSERT_TRUE(later.open().ok());
  EXPECT_EQ(halt_code(later.begin(start()).error()), "POSITIONS_OF_ANOTHER_PIPELINE");
}

TEST_F(RoutedCommitTest, WhatATakenOverPipelineOwesIsAppliedUnderItsOwnName) {
  send_and_die(*begun(), 0, 6);
  config_.pipeline = "renamed";
  const auto halted = committer();
  ASSERT_TRUE(halted->open().ok());
  const std::string token = token_of(halted->begin(start()).error());
  const auto next = committer({{"POSITIONS_OF_ANOTHER_PIPELINE", "take_over", token}});
  ASSERT_TRUE(next->open().ok());
  const auto begun_at = next->begin(start());
  ASSERT_TRUE(begun_at.ok()) << begun_at.error().message();
  EXPECT_EQ(begun_at->next.at("t/0"), "6");
  for (int64_t at = 6; at < 12; at += 2) send_well(*next, at, at + 2);
  EXPECT_EQ(even(), numbers(0, 12));
  EXPECT_EQ(odd(), numbers(1, 12));
}

TEST_F(RoutedCommitTest, SnapshotsOfEveryTableExpire) {
  in_virtual_time([&] {
    config_.history_keep_ms = 0;
    base::Interrupt pause;
    const auto one = begun();
    for (int64_t at = 0; at < 10; at += 2) {
      pause.wait_until(base::deadline_after(10'000));
      send_well(*one, at, at + 2);
    }
    EXPECT_LE(metadata(kEven).snapshots.size(), 3U);
    EXPECT_EQ(even(), numbers(0, 10));
    ASSERT_TRUE(committer()->open().ok());
    EXPECT_EQ(even(), numbers(0, 10));
  });
}

TEST_F(RoutedCommitTest, ARewindTellsWhatLeavesEachTableBeforeItIsDone) {
  const auto one = begun();
  send_well(*one, 0, 4);
  const int64_t target = *metadata(config_.table).current_snapshot_id;
  send_well(*one, 4, 8);
  send_well(*one, 8, 11);
  Rewind rewind(config_, *catalog_, format_, {ToSnapshot{target}, "as given"});
  const auto agreed = rewind.plan();
  ASSERT_TRUE(agreed.ok()) << agreed.error().message();
  const auto done = rewind.carry_out(*agreed);
  ASSERT_TRUE(done.ok()) << done.error().message();
  for (const RewindPlan& plan : {*agreed, *done}) {
    ASSERT_EQ(plan.voided.size(), 3u);
    EXPECT_EQ(plan.voided[0].table + " " + std::to_string(plan.voided[0].rows), "shop.even 4");
    EXPECT_EQ(plan.voided[1].table + " " + std::to_string(plan.voided[1].rows), "shop.odd 3");
    EXPECT_EQ(plan.voided[0].files, 2);
    EXPECT_TRUE(plan.voided[2].is_dead_letters);
    EXPECT_FALSE(plan.voided[2].exists);
  }
  EXPECT_EQ(even(), numbers(0, 4));
  EXPECT_EQ(odd(), numbers(1, 4));
}

}  // namespace
}  // namespace frazil::sinks
