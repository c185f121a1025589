#include "app/status_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace frazil::app {
namespace {

engine::StatusView view_of(const std::string& state) {
  engine::StatusView view;
  view.pipeline = "orders";
  view.state = state;
  return view;
}

TEST(StatusServer, IsHealthyUntilAPipelineFailsOrHalts) {
  EXPECT_EQ(health_reply({view_of("starting"), view_of("running")}).status, 200);
  EXPECT_EQ(health_reply({view_of("running"), view_of("ended")}).status, 200);
  EXPECT_EQ(health_reply({view_of("running"), view_of("failed")}).status, 503);
  const auto halted = health_reply({view_of("halted")});
  EXPECT_EQ(halted.status, 503);
  EXPECT_NE(halted.body.find("orders: halted"), std::string::npos);
}

TEST(StatusServer, IsReadyWhenAllPipelinesRun) {
  EXPECT_EQ(readiness_reply({view_of("running")}).status, 200);
  EXPECT_EQ(readiness_reply({view_of("running"), view_of("starting")}).status, 503);
}

TEST(StatusServer, WritesLagBySplitAndNullWhereUnknown) {
  engine::StatusView view = view_of("running");
  view.rows_committed = 7;
  view.lag = {{"orders/0", "5", 3}, {"orders/1", "9", 4}};
  auto json = nlohmann::json::parse(status_to_json(view));
  EXPECT_EQ(json["rows_committed"], 7);
  EXPECT_EQ(json["lag"]["records"], 7);
  EXPECT_EQ(json["lag"]["splits"][1]["split"], "orders/1");
  EXPECT_EQ(json["commits"]["last"], nullptr);
  EXPECT_FALSE(json.contains("halt"));
  view.lag[1].lag = -1;
  view.halt_code = "SOURCE_GAP";
  json = nlohmann::json::parse(status_to_json(view));
  EXPECT_EQ(json["lag"]["records"], nullptr);
  EXPECT_EQ(json["lag"]["splits"][1]["lag"], nullptr);
  EXPECT_EQ(json["halt"], "SOURCE_GAP");
}

TEST(StatusServer, StaysValidJsonWhateverAnErrorSays) {
  engine::StatusView view = view_of("failed");
  view.detail = "bytes \xff\xfe \"quoted\"\n";
  EXPECT_TRUE(nlohmann::json::accept(statuses_to_json({view})));
}

TEST(StatusServer, StaysOffWhenToldSo) {
  base::Metrics metrics;
  const auto server = start_status_server(ProcessConfig{}, {}, metrics);
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server.value(), nullptr);
}

}  // namespace
}  // namespace frazil::app
