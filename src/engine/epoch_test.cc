#include <gtest/gtest.h>

#include "engine/barrier_aligner.h"
#include "engine/dead_letters.h"
#include "engine/epoch_assembly.h"
#include "engine/epoch_clock.h"

namespace frazil::engine {
namespace {

TEST(EpochClock, CutsWhenTheIntervalHasPassedSinceTheFirstRecord) {
  const EpochClock clock(5'000'000, 3);
  EXPECT_FALSE(clock.should_cut(10'000'000, {6'000'000, false, 0}));
  EXPECT_TRUE(clock.should_cut(11'000'000, {6'000'000, false, 0}));
}

TEST(EpochClock, NeverCutsAnEmptyEpoch) {
  EXPECT_FALSE(EpochClock(1, 3).should_cut(1'000'000'000, {base::kForever, true, 0}));
}

TEST(EpochClock, CutsEarlyUnderMemoryPressure) {
  EXPECT_TRUE(EpochClock(5'000'000, 3).should_cut(10, {9, true, 0}));
}

TEST(EpochClock, WaitsWhileTooManyEpochsAreInFlight) {
  EXPECT_FALSE(EpochClock(1, 3).should_cut(1'000, {0, true, 3}));
  EXPECT_TRUE(EpochClock(1, 3).should_cut(1'000, {0, true, 2}));
}

TEST(EpochClock, TakesALongerIntervalAndAShorterOneAgain) {
  EpochClock clock(5'000'000, 3);
  clock.set_interval(60'000'000);
  EXPECT_FALSE(clock.should_cut(11'000'000, {6'000'000, false, 0}));
  EXPECT_TRUE(clock.should_cut(66'000'000, {6'000'000, false, 0}));
  EXPECT_TRUE(clock.should_cut(7'000'000, {6'000'000, true, 0}));  // memory does not wait
  clock.set_interval(5'000'000);
  EXPECT_TRUE(clock.should_cut(11'000'000, {6'000'000, false, 0}));
}

TEST(EpochClock, LooksAgainWhenTheCutIsDue) {
  const EpochClock clock(100, 3);
  EXPECT_EQ(clock.next_look(1000, {950, false, 0}, 500), 1050);
  EXPECT_EQ(clock.next_look(1000, {base::kForever, false, 0}, 500), 1500);
  EXPECT_EQ(clock.next_look(1000, {100, false, 0}, 500), 1000);
  EXPECT_EQ(clock.next_look(1000, {100, false, 3}, 500), 1500);
}

TEST(BarrierAligner, CompletesAnEpochWithTheLastReader) {
  BarrierAligner aligner(3);
  EXPECT_FALSE(aligner.barrier(0, 1));
  EXPECT_FALSE(aligner.barrier(0, 2));
  EXPECT_FALSE(aligner.barrier(2, 1));
  EXPECT_TRUE(aligner.barrier(1, 1));
  EXPECT_FALSE(aligner.barrier(1, 2));
  EXPECT_TRUE(aligner.barrier(2, 2));
}

TEST(BarrierAlignerDeathTest, RefusesBarriersOutOfOrder) {
  BarrierAligner aligner(1);
  EXPECT_DEATH(aligner.barrier(0, 2), "broken invariant");
}

class Bytes : public Output {
 public:
  int64_t rows() const override { return 1; }
  int64_t bytes() const override { return 7; }
};

TEST(EpochAssembly, LetsAnEpochGoWhenAllLanesHaveDelivered) {
  EpochAssembly assembly(2, 1);
  ReaderShare first;
  first.ranges = {{"a", "0", "5"}};
  first.rows = 5;
  ReaderShare second;
  second.ranges = {{"b", "0", "2"}};
  second.rows = 2;
  EXPECT_FALSE(assembly.deliver(1, std::move(first)).has_value());
  std::vector<std::unique_ptr<Output>> outputs;
  outputs.push_back(std::make_unique<Bytes>());
  EXPECT_FALSE(assembly.deliver(1, std::move(outputs)).has_value());
  const auto epoch = assembly.deliver(1, std::move(second));
  ASSERT_TRUE(epoch.has_value());
  EXPECT_EQ(epoch->staged.number, 1);
  EXPECT_EQ(epoch->staged.rows, 7);
  EXPECT_EQ(epoch->staged.ranges.size(), 2U);
  EXPECT_EQ(epoch->staged.outputs.size(), 1U);
}

RawBatch raw_of(std::vector<RawRecord> records) {
  RawBatch raw;
  raw.stream = "orders";
  raw.stream_id = "tid";
  raw.partition = 3;
  raw.records = std::move(records);
  return raw;
}

TEST(DeadLetters, KeepBytesPositionAndReason) {
  RawRecord record;
  record.has_value = true;
  record.value = "{oops";
  record.offset = 41;
  record.timestamp_micros = 5;
  record.headers = {{"h", "v", true}, {"n", "", false}};
  columnar::Batch batch(dead_letter_schema());
  append_dead_letter(batch, raw_of({record}), {0, "NOT_JSON", "message", "f"}, "p", 2, 99);
  set_epoch(batch, 12);
  ASSERT_EQ(batch.rows(), 1);
  EXPECT_EQ(batch.columns[0].long_at(0), 12);
  EXPECT_EQ(batch.columns[1].bytes_at(0), "orders");
  EXPECT_EQ(batch.columns[4].long_at(0), 41);
  EXPECT_TRUE(batch.columns[6].is_null(0));
  EXPECT_EQ(batch.columns[7].bytes_at(0), "{oops");
  EXPECT_EQ(batch.columns[8].list_end(0), 2);
  EXPECT_EQ(batch.columns[9].bytes_at(0), "NOT_JSON");
  EXPECT_EQ(batch.columns[12].long_at(0), 5);
  EXPECT_FALSE(batch.columns[13].is_null(0));
}

TEST(DeadLetters, KeepTheFirst64KiBOfALargeValueAndItsSize) {
  const std::string large(200'000, 'x');
  RawRecord record;
  record.has_value = true;
  record.value = large;
  columnar::Batch batch(dead_letter_schema());
  append_dead_letter(batch, raw_of({record}), {0, "TOO_LARGE", "m", ""}, "p", 0, 0);
  EXPECT_EQ(batch.columns[7].bytes_at(0).size(), 65536U);
  EXPECT_EQ(batch.columns[12].long_at(0), 200'000);
  EXPECT_TRUE(batch.columns[11].is_null(0));
}

TEST(DeadLetters, ReplaceHeaderKeysThatAreNoText) {
  RawRecord record;
  record.headers = {{"\xff\xfe", "v", true}, {"gr\xc3\xbc\xc3\x9f", "v", true}};
  columnar::Batch batch(dead_letter_schema());
  append_dead_letter(batch, raw_of({record}), {0, "X", "m", ""}, "p", 0, 0);
  const auto& keys = batch.columns[8].child(0).child(0);
  EXPECT_EQ(keys.bytes_at(0), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(keys.bytes_at(1), "gr\xc3\xbc\xc3\x9f");
}

}  // namespace
}  // namespace frazil::engine
