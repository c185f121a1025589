#include "app/config/units.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

TEST(Units, ReadsDurationsWithUnits) {
  EXPECT_EQ(*parse_duration_ms("250ms"), 250);
  EXPECT_EQ(*parse_duration_ms("5s"), 5000);
  EXPECT_EQ(*parse_duration_ms("10m"), 600'000);
  EXPECT_EQ(*parse_duration_ms("1h30m"), 5'400'000);
  EXPECT_EQ(*parse_duration_ms("7d"), 604'800'000);
  EXPECT_EQ(*parse_duration_ms("0.5s"), 500);
}

TEST(Units, RefusesDurationsWithoutUnitOrSense) {
  for (const char* text :
       {"", "5", "s", "5 s", "-5s", "5x", "1.2.3s", "0.1ms", "99999999999999d", "5s ", "ms5", "1e3s"}) {
    EXPECT_FALSE(parse_duration_ms(text).ok()) << text;
  }
  EXPECT_NE(parse_duration_ms("5").error().message().find("needs a unit"), std::string::npos);
}

TEST(Units, ReadsSizesByThousandsAndByTwos) {
  EXPECT_EQ(*parse_size("128MB"), 128'000'000);
  EXPECT_EQ(*parse_size("2GiB"), int64_t{2} << 30);
  EXPECT_EQ(*parse_size("64 KiB"), 65536);
  EXPECT_EQ(*parse_size("1048576"), 1048576);
  EXPECT_EQ(*parse_size("1.5kB"), 1500);
  for (const char* text : {"", "MB", "2 G", "-1MB", "1.5", "2gib", "9999999TiB"})
    EXPECT_FALSE(parse_size(text).ok()) << text;
}

TEST(Units, ReadsRates) {
  EXPECT_EQ(*parse_rate("50MB/s"), 50'000'000);
  for (const char* text : {"50MB", "/s", "0MB/s", "50MB/m"}) EXPECT_FALSE(parse_rate(text).ok()) << text;
}

TEST(Units, ReadsInstantsExactly) {
  EXPECT_EQ(*parse_instant_ms("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(*parse_instant_ms("2026-01-31T00:00:00Z"), 1769817600000);
  EXPECT_EQ(*parse_instant_ms("2026-01-31T02:00:00.250+02:00"), 1769817600250);
  EXPECT_EQ(*parse_instant_ms("2024-02-29T23:59:59.9Z"), 1709251199900);
  EXPECT_EQ(*parse_instant_ms("1969-12-31T23:59:59Z"), -1000);
  for (const char* text :
       {"", "2026-01-31", "2026-01-31T00:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-31T24:00:00Z",
        "2026-01-31T00:00:00+2:00", "2026-01-31 00:00:00Z", "2026-01-31T00:00:00.Z"}) {
    EXPECT_FALSE(parse_instant_ms(text).ok()) << text;
  }
}

TEST(Units, ReadsListenAddresses) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:9464")->port, 9464);
  EXPECT_EQ(parse_listen_address("[::1]:80")->host, "::1");
  for (const char* text : {"", "9464", ":9464", "host:", "host:99999", "::1:80", "host:x"}) {
    EXPECT_FALSE(parse_listen_address(text).ok()) << text;
  }
}

TEST(Units, WritesNumbersForPeople) {
  EXPECT_EQ(format_size(640), "640 B");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(200.0 * (1 << 20)), "200 MiB");
  EXPECT_EQ(format_seconds(0.25), "250ms");
  EXPECT_EQ(format_seconds(75), "1m 15s");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(12), "12");
}

}  // namespace
}  // namespace frazil::app
