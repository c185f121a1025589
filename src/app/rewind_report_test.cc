#include "app/rewind_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sources/kafka/kafka_positions.h"

namespace frazil::app {
namespace {

// Two snapshots of an anchor without rows, with what leaves the tables beside it.
sinks::RewindPlan plan() {
  sinks::RewindPlan plan;
  plan.target.snapshot_id = 7;
  plan.target.epoch = 3;
  plan.highest_epoch = 5;
  plan.undone = {{9, 2000, "append", "shop", 0, 0}, {8, 1000, "append", "shop", 0, 0}};
  plan.voided = {{"shop.clicks", true, false, 6000, 4, ""}, {"shop.refunds", true, false, 0, 0, ""}, {"shop.dead", false, true, 0, 0, ""}};
  plan.ranges = {{"orders/0", "5@1", "15@2"}, {"orders/1", "0@-1", "9@-1"}};
  plan.from_start = {"orders/2"};
  return plan;
}

RewindReport report(const sinks::RewindPlan& plan, bool is_dry_run) {
  PipelineConfig pipeline;
  pipeline.name = "shop";
  pipeline.table.name = "shop.shop_positions";
  return report_rewind(pipeline, plan, sources::kafka_position_format(), is_dry_run);
}

TEST(RewindReport, NamesWhatLeavesEachTable) {
  const std::string text = report(plan(), true).text;
  EXPECT_NE(text.find("undone: 2 snapshots, 6,000 rows in 4 files\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  table shop.clicks: 6,000 rows in 4 files of epochs 4 to 5 would go\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  table shop.refunds: nothing to undo\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  dead letters, table shop.dead: does not exist, nothing to undo\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("0 rows in 0 files"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(report(plan(), true).json);
  EXPECT_EQ(json["rows"], 6000);
  EXPECT_EQ(json["tables"].size(), 2u);
  EXPECT_EQ(json["tables"][0]["table"], "shop.clicks");
  EXPECT_EQ(json["dead_letters"]["exists"], false);
}

TEST(RewindReport, HasALineForEachPartitionThatIsReadAgain) {
  const std::string text = report(plan(), true).text;
  EXPECT_NE(text.find("  read again:\n    orders/0  from 5 up to 15\n    orders/1  from 0 up to 9\n  read from its start: orders/2\n"),
            std::string::npos) << text;
}

TEST(RewindReport, EndsWithWhatRunningWorkersDo) {
  EXPECT_TRUE(report(plan(), false).text.ends_with("running workers notice with the next record; restart them if the topic is quiet\n"));
  EXPECT_TRUE(report(plan(), true).text.ends_with("dry run: nothing was changed\n"));
  sinks::RewindPlan there = plan();
  there.undone.clear();
  EXPECT_TRUE(report(there, false).text.ends_with("nothing to undo\n"));
}

TEST(RewindReport, TellsWhatIsStillOwed) {
  sinks::RewindPlan left = plan();
  left.voided[0].problem = "connection refused";
  EXPECT_NE(report(left, false).text.find("table shop.clicks: still owed that its rows go: connection refused\n"), std::string::npos);
  EXPECT_NE(report(left, true).text.find("table shop.clicks: PROBLEM: connection refused\n"), std::string::npos);
}

}  // namespace
}  // namespace frazil::app
