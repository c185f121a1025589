#include "sources/generator/load_generator.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "clients/kafka/kafka_client.h"
#include "clients/kafka/mock_cluster.h"
#include "sources/generator/generator_source.h"

namespace frazil::sources {

TEST(LoadGenerator, FillsEveryPartitionWithItsShareOfTheRecords) {
  auto cluster = clients::MockCluster::start();
  ASSERT_TRUE(cluster.ok());
  ASSERT_TRUE((*cluster)->create_topic("orders", 4).ok());
  LoadOptions options;
  options.properties = {{"bootstrap.servers", (*cluster)->bootstrap_servers()}};
  options.topic = "orders";
  options.records = 5000;
  options.lanes = 2;
  options.record.bad_percent = 10;
  int64_t reported = 0;
  options.on_progress = [&](const LoadProgress& progress) { reported = progress.records; };
  base::Interrupt stop;
  const auto report = generate_load(options, stop);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->total.records, 5000);
  EXPECT_EQ(reported, 5000);
  EXPECT_EQ(report->partitions, 4);
  EXPECT_GT(report->spoiled_records, 300);
  EXPECT_GT(report->tombstones, 0);

  auto client = clients::make_librdkafka_client({.properties = options.properties, .group_id = ""});
  ASSERT_TRUE(client.ok());
  const auto ends = (*client)->list_offsets({{"orders", 0}, {"orders", 1}, {"orders", 2}, {"orders", 3}},
                                            clients::OffsetSpec::kLatest);
  ASSERT_TRUE(ends.ok());
  int64_t records = 0;
  for (const auto& [partition, end] : ends.value()) {
    EXPECT_GT(end, 1000);
    records += end;
  }
  EXPECT_EQ(records, 5000);
}

TEST(LoadGenerator, StaysBehindTheConsumer) {
  auto cluster = clients::MockCluster::start();
  ASSERT_TRUE(cluster.ok());
  ASSERT_TRUE((*cluster)->create_topic("orders", 1).ok());
  LoadOptions options;
  options.properties = {{"bootstrap.servers", (*cluster)->bootstrap_servers()}};
  options.topic = "orders";
  options.max_bytes_ahead = 200000;
  base::Interrupt stop;
  // A consumer that never reads: the load must stop by itself near the limit.
  options.consumed_bytes = [] { return int64_t{0}; };
  options.progress_interval_ms = 20;
  int reports = 0;
  options.on_progress = [&](const LoadProgress&) {
    if (++reports == 10) stop.raise();
  };
  const auto report = generate_load(options, stop);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_GT(report->total.bytes, 100000);
  EXPECT_LT(report->total.bytes, 400000);
}

TEST(GeneratorSource, ReadsEachRecordOnceAndGoesOnWhereItStopped) {
  auto source = make_generator_source({.splits = 3, .records = 10000, .record = {}, .avro_schema = ""});
  ASSERT_TRUE(source.ok());
  auto positions = (*source)->resolve_start();
  ASSERT_TRUE(positions.ok());
  int64_t records = 0;
  while (!(*source)->is_caught_up(positions.value())) {
    // Starts again after every batch, as after a reset.
    ASSERT_TRUE((*source)->start(positions.value(), 2).ok());
    for (int lane = 0; lane < 2; ++lane) {
      const auto batch = (*source)->read(lane, base::mono_micros());
      ASSERT_TRUE(batch.ok());
      if (!*batch) continue;
      EXPECT_EQ((*batch)->range.begin, positions->next.at((*batch)->range.split));
      positions->next[(*batch)->range.split] = (*batch)->range.end;
      records += static_cast<int64_t>((*batch)->records.size());
    }
  }
  EXPECT_EQ(records, 10000);
  const auto decoded = (*source)->format().decode((*source)->format().encode(positions.value()));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(decoded.value(), positions.value());
}

TEST(GeneratorSource, RefusesPositionsOfAnotherSeed) {
  auto source = make_generator_source({.splits = 2, .record = {.seed = 1}, .avro_schema = ""});
  auto other = make_generator_source({.splits = 2, .record = {.seed = 2}, .avro_schema = ""});
  ASSERT_TRUE(source.ok() && other.ok());
  EXPECT_FALSE((*other)->check((*source)->resolve_start().value()).ok());
}

}  // namespace frazil::sources
