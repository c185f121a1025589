#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"

namespace frazil::base {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return invalid("odd");
  return n / 2;
}

Result<int> quarter(int n) {
  TRY_ASSIGN(const int h, half(n));
  TRY(half(h).status().in("second half"));
  return half(h);
}

TEST(Result, CarriesContextOutwards) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message(), "second half: odd");
  EXPECT_EQ(std::move(quarter(7)).in("file a").error().message(), "file a: odd");
  EXPECT_EQ(quarter(7).error().code(), Code::kInvalid);
}

TEST(Halt, TokensAnswerOneHaltOnly) {
  const auto token = halt_token("SOURCE_GAP", "orders/0 [5, 9)", 17);
  EXPECT_EQ(token.size(), 12U);
  EXPECT_EQ(token, halt_token("SOURCE_GAP", "orders/0 [5, 9)", 17));
  EXPECT_NE(token, halt_token("SOURCE_GAP", "orders/0 [5, 9)", 18));
  EXPECT_NE(token, halt_token("SOURCE_GAP", "orders/0 [5, 8)", 17));
  EXPECT_NE(token, halt_token("SOURCE_BEHIND", "orders/0 [5, 9)", 17));
}

TEST(Histogram, GivesWeightedQuantilesWithinTenPercent) {
  Histogram histogram;
  histogram.record(1.0, 980);
  histogram.record(30.0, 20);
  EXPECT_NEAR(histogram.quantile(0.5), 1.0, 0.1);
  EXPECT_NEAR(histogram.quantile(0.99), 30.0, 3.0);
  EXPECT_EQ(histogram.count(), 1000);
  EXPECT_DOUBLE_EQ(histogram.sum(), 980 + 600);
}

TEST(Metrics, RendersPrometheusText) {
  Metrics metrics;
  metrics.counter("frazil_rows_total", "Rows.", {{"pipeline", "a\"b"}}).add(3);
  metrics.gauge("frazil_lag", "Lag.").set(2.5);
  metrics.gauge("frazil_last_commit", "A moment.").set(1796042706.058);
  metrics.gauge("frazil_limit", "Bytes.").set(2147483648.0);
  metrics.histogram("frazil_freshness_seconds", "Freshness.").record(1);
  const std::string text = metrics.render_prometheus();
  EXPECT_NE(text.find("# TYPE frazil_rows_total counter\nfrazil_rows_total{pipeline=\"a\\\"b\"} 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("frazil_lag 2.5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("frazil_last_commit 1796042706.058\n"), std::string::npos) << text;
  EXPECT_NE(text.find("frazil_limit 2147483648\n"), std::string::npos) << text;
  EXPECT_NE(text.find("frazil_freshness_seconds{quantile=\"0.99\"}"), std::string::npos) << text;
  EXPECT_NE(text.find("frazil_freshness_seconds_count 1\n"), std::string::npos) << text;
}

TEST(Interrupt, WakesWaitersAndListenersOnce) {
  Interrupt interrupt;
  int calls = 0;
  interrupt.on_raise([&] { ++calls; });
  EXPECT_FALSE(interrupt.wait_until(mono_micros()));
  Lane raiser("raiser", [&] { interrupt.raise(); });
  EXPECT_TRUE(interrupt.wait_until(kForever));
  raiser.join();
  interrupt.raise();
  interrupt.on_raise([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(Random, MakesVersionFourUuids) {
  const std::string uuid = random_uuid();
  ASSERT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_NE(uuid, random_uuid());
  EXPECT_GT(random_snapshot_id(), 0);
}

TEST(Clock, FormatsTimesBefore1970) {
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(-1'000), "1969-12-31T23:59:59.999Z");
}

TEST(Hash, MatchesPublishedValues) {
  EXPECT_EQ(xxh64(""), 0xef46db3751d8e999ULL);
  const auto digest = xxh128("");
  EXPECT_EQ(hex({reinterpret_cast<const char*>(digest.data()), digest.size()}), "99aa06d3014798d86001c324468d497f");
}

}  // namespace
}  // namespace frazil::base
