#include "engine/pipeline_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/simulation.h"

namespace frazil::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kSecond = 1'000'000;

TEST(PipelineStatus, TellsTheFirstRejectOfEachCodeWithinAMinute) {
  base::Metrics metrics;
  PipelineStatus status("orders", metrics);
  EXPECT_TRUE(status.reject("NOT_JSON", 0));
  EXPECT_FALSE(status.reject("NOT_JSON", 59 * kSecond));
  EXPECT_TRUE(status.reject("EMPTY", 59 * kSecond));
  EXPECT_TRUE(status.reject("NOT_JSON", 60 * kSecond));
  EXPECT_FALSE(status.reject("NOT_JSON", 61 * kSecond));
  EXPECT_EQ(status.view().rejects, (std::map<std::string, int64_t>{{"EMPTY", 1}, {"NOT_JSON", 4}}));
  EXPECT_THAT(metrics.render_prometheus(),
              HasSubstr("frazil_rejects_total{code=\"NOT_JSON\",pipeline=\"orders\"} 4\n"));
}

TEST(PipelineStatus, WarnsOfCommitsThatLoseForMinutes) {
  base::Simulation simulation(1);
  simulation.run([] {
    base::Metrics metrics;
    PipelineStatus status("orders", metrics);
    base::Interrupt never;
    const auto pass = [&](int64_t seconds) { never.wait_until(base::deadline_after(seconds * kSecond)); };
    const auto starved = [&] { return static_cast<int>(status.view().commit_starved_seconds); };
    EXPECT_THAT(metrics.render_prometheus(), HasSubstr("frazil_commit_starved_seconds{pipeline=\"orders\"} 0\n"));
    EXPECT_FALSE(status.commit_lost());
    pass(119);
    EXPECT_FALSE(status.commit_lost());
    pass(2);
    EXPECT_TRUE(status.commit_lost());
    EXPECT_EQ(starved(), 121);
    pass(30);
    EXPECT_FALSE(status.commit_lost()) << "once a minute";
    pass(31);
    EXPECT_TRUE(status.commit_lost());
    EXPECT_THAT(metrics.render_prometheus(), HasSubstr("frazil_commit_starved_seconds{pipeline=\"orders\"} 182"));
    status.committed(1, 0, {}, 0.1, 7);
    EXPECT_EQ(starved(), 0);
    EXPECT_FALSE(status.commit_lost()) << "anew";
    // Nothing to commit for long: what comes then is no continuation.
    pass(301);
    status.set_source_health({});
    EXPECT_EQ(starved(), 0);
    EXPECT_FALSE(status.commit_lost());
    pass(1);
    status.set_source_health({});
    EXPECT_EQ(starved(), 1);
  });
}

TEST(PipelineStatus, ForgetsTheLagOfSplitsThatWentToAnotherWorker) {
  base::Metrics metrics;
  PipelineStatus status("orders", metrics);
  status.set_lag({{"t/0", "1", 5}, {"t/1", "2", 7}});
  EXPECT_THAT(metrics.render_prometheus(), HasSubstr("frazil_lag_records{pipeline=\"orders\",split=\"t/1\"} 7\n"));
  status.set_lag({{"t/0", "1", 4}});
  EXPECT_THAT(metrics.render_prometheus(), HasSubstr("frazil_lag_records{pipeline=\"orders\",split=\"t/0\"} 4\n"));
  EXPECT_THAT(metrics.render_prometheus(), Not(HasSubstr("t/1")));
}

TEST(PipelineStatus, ShowsCountersBeforeAnythingHasHappened) {
  base::Metrics metrics;
  PipelineStatus status("orders", metrics);
  for (const char* name : {"frazil_commits_total", "frazil_dead_letters_total", "frazil_unknown_fields_total"}) {
    EXPECT_THAT(metrics.render_prometheus(), HasSubstr(std::string(name) + "{pipeline=\"orders\"} 0\n"));
  }
  status.passed_over(3, 1, 2);
  EXPECT_EQ(status.view().unknown_fields, 3);
  EXPECT_THAT(metrics.render_prometheus(), HasSubstr("frazil_duplicate_keys_total{pipeline=\"orders\"} 1\n"));
  EXPECT_THAT(metrics.render_prometheus(), HasSubstr("frazil_empty_arrays_total{pipeline=\"orders\"} 2\n"));
  EXPECT_EQ(status.view().empty_arrays, 2);
}

}  // namespace
}  // namespace frazil::engine
