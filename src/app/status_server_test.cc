#include "app/status_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace frazil::app {
namespace {

engine::StatusView view_of(const std::string& state) {
  engine::StatusView view;
  view.pipeline = "orders";
  view.state = state;
  return view;
}

// A restart for the sake of one pipeline would disturb the others.
TEST(StatusServer, IsHealthyWhileAPipelineLives) {
  EXPECT_EQ(health_reply({view_of("starting"), view_of("running")}).status, 200);
  EXPECT_EQ(health_reply({view_of("running"), view_of("ended")}).status, 200);
  EXPECT_EQ(health_reply({view_of("running"), view_of("failed"), view_of("halted")}).status, 200);
  EXPECT_EQ(health_reply({view_of("halted"), view_of("failed")}).status, 503);
  const auto halted = health_reply({view_of("halted")});
  EXPECT_EQ(halted.status, 503);
  EXPECT_NE(halted.body.find("orders: halted"), std::string::npos);
}

TEST(StatusServer, IsReadyWhenAllPipelinesRun) {
  EXPECT_EQ(readiness_reply({view_of("running")}).status, 200);
  EXPECT_EQ(readiness_reply({view_of("running"), view_of("starting")}).status, 503);
}

TEST(StatusServer, IsNotReadyAfterTenSecondsWithoutItsSource) {
  engine::StatusView view = view_of("running");
  view.source.disconnected_since = base::mono_micros() - 3'000'000;
  view.source.problem = "Kafka does not answer: b:9092: Connection refused";
  EXPECT_EQ(readiness_reply({view}).status, 200);
  view.source.disconnected_since = base::mono_micros() - 11'000'000;
  const auto reply = readiness_reply({view});
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("b:9092: Connection refused"), std::string::npos) << reply.body;
  EXPECT_EQ(health_reply({view}).status, 200);  // a restart would not bring the brokers back
  EXPECT_EQ(nlohmann::json::parse(status_to_json(view))["source"]["connected"], false);
}

TEST(StatusServer, NamesSplitsThatWaitForATransaction) {
  engine::StatusView view = view_of("running");
  view.source.stuck = {{"orders/0", "100", 7, base::mono_micros(), "open"}};
  const auto json = nlohmann::json::parse(status_to_json(view));
  EXPECT_EQ(json["source"]["stuck"][0]["split"], "orders/0");
  EXPECT_EQ(json["source"]["stuck"][0]["waiting"], 7);
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
  view.lag.clear();
  EXPECT_EQ(nlohmann::json::parse(status_to_json(view))["lag"]["records"], nullptr) << "who reads no split knows of no lag";
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
