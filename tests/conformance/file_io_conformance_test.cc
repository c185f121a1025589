// What every FileIO does. A new implementation joins by one entry in the list at the end.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/sync.h"
#include "io/gcs/gcs_file_io.h"
#include "io/local_file_io.h"
#include "io/memory_file_io.h"
#include "io/rooted_file_io.h"
#include "io/s3/s3_file_io.h"
#include "io/store_properties.h"
#include "tests/conformance/faulty_file_io.h"
#include "tests/conformance/gcs_server.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/s3_server.h"
#include "tests/conformance/scratch_folder.h"
#include "tests/conformance/scripted_gcs.h"
#include "tests/conformance/scripted_s3.h"

namespace frazil::conformance {
namespace {

using base::Code;
using io::FileIO;
using io::FileStatus;
using io::OutputFile;

struct Store {
  std::shared_ptr<FileIO> io;
  std::string root;                // without trailing slash
  std::shared_ptr<void> lifetime;  // what goes when the test ends
  int race_rounds = 10;
  bool keeps_backslashes = true;
  int64_t time_step_ms = 50;       // file systems take their time from a clock of the last tick, object stores tell seconds
  bool takes_line_breaks = true;   // in names
};

struct StoreKind {
  std::string name;
  std::function<Store()> make;
};
void PrintTo(const StoreKind& kind, std::ostream* out) {
  *out << kind.name;
}

class FileIoConformance : public testing::TestWithParam<StoreKind> {
 protected:
  FileIoConformance() : store_(GetParam().make()) {}
  std::string at(const std::string& name) const { return store_.root + "/" + name; }
  FileIO& io() { return *store_.io; }

  std::unique_ptr<OutputFile> create(const std::string& name) {
    auto file = io().create(at(name));
    EXPECT_TRUE(is_ok(file)) << name;
    return file.ok() ? std::move(file).value() : nullptr;
  }
  void put(const std::string& name, const std::string& bytes) { ASSERT_TRUE(is_ok(write_file(io(), at(name), bytes))); }
  std::vector<std::string> names_below(const std::string& prefix) {
    const auto files = io().list(prefix);
    EXPECT_TRUE(is_ok(files));
    std::vector<std::string> names;
    if (files.ok()) {
      for (const FileStatus& file : *files) names.push_back(file.location);
    }
    return names;
  }

  Store store_;
};

std::string pattern(size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2654435761u) >> 13);
  return text;
}

TEST_P(FileIoConformance, GivesBackWhatWasWritten) {
  put("a/b/c.bin", "hello");
  EXPECT_EQ(*io().read(at("a/b/c.bin")), "hello");
}

TEST_P(FileIoConformance, KeepsEveryByteOfLargeFiles) {
  const std::string bytes = pattern(3'000'017);
  const auto file = create("large");
  size_t chunk = 1;
  for (size_t at = 0; at < bytes.size(); chunk = chunk * 3 % 200'003 + 1) {
    const std::string_view part = std::string_view(bytes).substr(at, chunk);
    ASSERT_TRUE(is_ok(file->write(part)));
    at += part.size();
    ASSERT_EQ(file->size(), static_cast<int64_t>(at));
  }
  ASSERT_TRUE(is_ok(file->close()));
  EXPECT_EQ(file->size(), static_cast<int64_t>(bytes.size()));
  EXPECT_TRUE(*io().read(at("large")) == bytes);
  EXPECT_EQ(io().stat(at("large"))->bytes, static_cast<int64_t>(bytes.size()));
}

// Stores take files of this size in parts.
TEST_P(FileIoConformance, KeepsEveryByteOfFilesInParts) {
  const std::string bytes = pattern(11'000'017);
  const auto first = create("large");
  const auto second = create("large");
  const auto dropped = create("dropped");
  for (const auto* file : {&first, &second, &dropped}) {
    for (size_t at = 0; at < bytes.size(); at += 1'000'000) ASSERT_TRUE(is_ok((*file)->write(std::string_view(bytes).substr(at, 1'000'000))));
  }
  ASSERT_TRUE(is_ok(second->write("other")));
  first->seal();
  ASSERT_TRUE(is_ok(first->close()));
  EXPECT_TRUE(fails_with(second->close(), Code::kExists));
  dropped->abort();
  EXPECT_EQ(names_below(store_.root + "/"), std::vector{at("large")});
  EXPECT_TRUE(*io().read(at("large")) == bytes);
  EXPECT_TRUE(*io().read_range(at("large"), 5'242'870, 20) == bytes.substr(5'242'870, 20));
}

TEST_P(FileIoConformance, KeepsEmptyFiles) {
  put("empty", "");
  EXPECT_EQ(*io().read(at("empty")), "");
  EXPECT_EQ(*io().read_range(at("empty"), 0, 10), "");
  EXPECT_EQ(io().stat(at("empty"))->bytes, 0);
}

TEST_P(FileIoConformance, HidesAFileUntilItIsClosed) {
  const auto file = create("d/f");
  ASSERT_TRUE(is_ok(file->write(pattern(500'000))));
  EXPECT_TRUE(fails_with(io().read(at("d/f")), Code::kNotFound));
  EXPECT_TRUE(fails_with(io().stat(at("d/f")), Code::kNotFound));
  EXPECT_TRUE(names_below(store_.root + "/").empty());
  ASSERT_TRUE(is_ok(file->close()));
  EXPECT_EQ(names_below(store_.root + "/"), std::vector{at("d/f")});
}

TEST_P(FileIoConformance, LeavesNothingOfAFileThatIsDroppedOrGivenUp) {
  {
    const auto dropped = create("dropped");
    ASSERT_TRUE(is_ok(dropped->write("x")));
    const auto given_up = create("given up");
    ASSERT_TRUE(is_ok(given_up->write("x")));
    given_up->abort();
    EXPECT_FALSE(given_up->write("y").ok());
    EXPECT_FALSE(given_up->close().ok());
  }
  EXPECT_TRUE(fails_with(io().read(at("dropped")), Code::kNotFound));
  EXPECT_TRUE(fails_with(io().read(at("given up")), Code::kNotFound));
  put("dropped", "again");
  EXPECT_EQ(*io().read(at("dropped")), "again");
}

TEST_P(FileIoConformance, ChangesNothingAfterClose) {
  const auto file = create("f");
  ASSERT_TRUE(is_ok(file->write("one")));
  ASSERT_TRUE(is_ok(file->close()));
  EXPECT_TRUE(fails_with(file->write("two"), Code::kInvalid));
  EXPECT_TRUE(fails_with(file->close(), Code::kInvalid));
  file->abort();
  EXPECT_EQ(*io().read(at("f")), "one");
}

TEST_P(FileIoConformance, NeverReplacesAFile) {
  put("f", "first");
  const auto again = io().create(at("f"));
  EXPECT_TRUE(again.ok() ? fails_with((*again)->close(), Code::kExists) : fails_with(again, Code::kExists));
  EXPECT_TRUE(fails_with(write_file(io(), at("f"), "second"), Code::kExists));
  EXPECT_EQ(*io().read(at("f")), "first");
}

TEST_P(FileIoConformance, RefusesTheSecondOfTwoThatGrewTogether) {
  const auto first = create("f");
  const auto second = create("f");
  ASSERT_TRUE(is_ok(first->write("first")));
  ASSERT_TRUE(is_ok(second->write("second")));
  ASSERT_TRUE(is_ok(second->close()));
  EXPECT_TRUE(fails_with(first->close(), Code::kExists));
  EXPECT_EQ(*io().read(at("f")), "second");
  EXPECT_EQ(names_below(store_.root + "/").size(), 1u);
}

TEST_P(FileIoConformance, LetsOneOfTwelveRacersWin) {
  for (int round = 0; round < store_.race_rounds; ++round) {
    const std::string location = at("race/" + std::to_string(round));
    std::atomic<int> won{0}, lost{0}, winner{-1};
    std::vector<base::Lane> racers;
    for (int i = 0; i < 12; ++i) {
      racers.emplace_back("racer", [&, i] {
        const base::Status done = write_file(io(), location, std::to_string(i));
        if (done.ok())
          ++won, winner = i;
        else if (done.error().code() == Code::kExists)
          ++lost;
      });
    }
    for (base::Lane& racer : racers) racer.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(lost, 11);
    EXPECT_EQ(*io().read(location), std::to_string(winner));
  }
}

TEST_P(FileIoConformance, WritesFromManyLanesAtOnce) {
  std::vector<base::Lane> lanes;
  for (int i = 0; i < 8; ++i) {
    lanes.emplace_back("writer", [&, i] {
      for (int j = 0; j < 5; ++j) {
        EXPECT_TRUE(is_ok(write_file(io(), at("p=" + std::to_string(j) + "/" + std::to_string(i)), pattern(1000 + i))));
      }
    });
  }
  for (base::Lane& lane : lanes) lane.join();
  EXPECT_EQ(names_below(store_.root + "/").size(), 40u);
  EXPECT_EQ(*io().read(at("p=3/7")), pattern(1007));
}

TEST_P(FileIoConformance, ReadsRanges) {
  put("f", "0123456789");
  EXPECT_EQ(*io().read_range(at("f"), 0, 3), "012");
  EXPECT_EQ(*io().read_range(at("f"), 7, 3), "789");
  EXPECT_EQ(*io().read_range(at("f"), 7, 100), "789");
  EXPECT_EQ(*io().read_range(at("f"), 4, 0), "");
  EXPECT_EQ(*io().read_range(at("f"), 10, 1), "");
  EXPECT_EQ(*io().read_range(at("f"), INT64_MAX, INT64_MAX), "");
  EXPECT_EQ(*io().read_range(at("f"), 1, INT64_MAX), "123456789");
  EXPECT_TRUE(fails_with(io().read_range(at("f"), -1, 1), Code::kInvalid));
  EXPECT_TRUE(fails_with(io().read_range(at("f"), 1, -1), Code::kInvalid));
}

TEST_P(FileIoConformance, SaysWhatIsAbsentAndNamesIt) {
  put("a/f", "x");
  for (const char* name : {"absent", "a", "a/f/below", "absent/folder/f"}) {
    const auto read = io().read(at(name));
    EXPECT_TRUE(fails_with(read, Code::kNotFound)) << name;
    EXPECT_NE(read.error().message().find(name), std::string::npos) << read.error().message();
    EXPECT_TRUE(fails_with(io().stat(at(name)), Code::kNotFound)) << name;
    EXPECT_TRUE(fails_with(io().read_range(at(name), 0, 1), Code::kNotFound)) << name;
  }
}

TEST_P(FileIoConformance, ListsAllBelowAPrefixInOrder) {
  for (const char* name : {"t/data/b", "t/data/a", "t/data/p=1/z", "t/metadata/m", "t/data.x", "tt/c"}) put(name, name);
  EXPECT_EQ(names_below(at("t/")),
            (std::vector{at("t/data.x"), at("t/data/a"), at("t/data/b"), at("t/data/p=1/z"), at("t/metadata/m")}));
  EXPECT_EQ(names_below(at("t/data/p=1/")), std::vector{at("t/data/p=1/z")});
  EXPECT_EQ(names_below(at("absent/")), std::vector<std::string>());
  EXPECT_TRUE(fails_with(io().list(at("t")), Code::kInvalid));
}

TEST_P(FileIoConformance, ReportsSizeAndTimeOfAFile) {
  const int64_t before = base::wall_millis();
  put("f", "12345");
  const auto status = io().stat(at("f"));
  ASSERT_TRUE(is_ok(status));
  EXPECT_EQ(status->location, at("f"));
  EXPECT_EQ(status->bytes, 5);
  EXPECT_GE(status->modified_millis, before - store_.time_step_ms);
  EXPECT_LE(status->modified_millis, base::wall_millis());
  const auto listed = io().list(store_.root + "/");
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ((*listed)[0].bytes, 5);
  EXPECT_EQ((*listed)[0].modified_millis, status->modified_millis);
}

TEST_P(FileIoConformance, RemovesAndForgets) {
  put("f", "x");
  EXPECT_TRUE(is_ok(io().remove(at("f"))));
  EXPECT_TRUE(fails_with(io().read(at("f")), Code::kNotFound));
  EXPECT_TRUE(is_ok(io().remove(at("f"))));
  EXPECT_TRUE(is_ok(io().remove(at("never/was"))));
  put("f", "again");
  EXPECT_EQ(*io().read(at("f")), "again");
}

TEST_P(FileIoConformance, TakesNamesAsTheyAre) {
  std::vector<std::string> names = {"with space",
                                          "per%20cent",
                                          "per%cent",
                                          "what?",
                                          "x=a#b",
                                          "quote'\"",
                                          "emoji \xF0\x9F\xA7\x8A",
                                          "\xC3\xA4\xC3\xB6",
                                          "a+b&c;d",
                                          "back\\slash",
                                          "new\nline",
                                          std::string(200, 'n'),
                                          "colon:colon",
                                          "-",
                                          "...",
                                          "~",
                                          ".hidden"};
  if (!store_.keeps_backslashes) std::erase(names, "back\\slash");
  if (!store_.takes_line_breaks) std::erase(names, "new\nline");
  for (const std::string& name : names) {
    put("plain/" + name, name);
    put("folder " + name + "/f", name);
  }
  for (const std::string& name : names) {
    EXPECT_EQ(*io().read(at("plain/" + name)), name);
    EXPECT_EQ(*io().read(at("folder " + name + "/f")), name);
    EXPECT_EQ(names_below(at("folder " + name + "/")), std::vector{at("folder " + name + "/f")});
  }
  EXPECT_EQ(names_below(at("plain/")).size(), names.size());
}

TEST_P(FileIoConformance, RemovesManyAtOnce) {
  std::vector<std::string> locations;
  for (const char* name : {"t/a", "t/b c", "t/d&<>\"'", "t/e\n", "t/\xC3\xA4", "t/p=1/x"}) {
    if (!store_.takes_line_breaks && std::string_view(name).ends_with('\n')) continue;
    put(name, "x");
    locations.push_back(at(name));
  }
  put("t/kept", "x");
  locations.push_back(at("t/never"));
  EXPECT_TRUE(is_ok(io().remove_all(locations)));
  EXPECT_EQ(names_below(store_.root + "/"), std::vector{at("t/kept")});
  EXPECT_TRUE(is_ok(io().remove_all({})));
}

TEST_P(FileIoConformance, ClosesWhatWasSealed) {
  std::vector<std::unique_ptr<OutputFile>> files;
  for (int i = 0; i < 20; ++i) {
    files.push_back(create("sealed/" + std::to_string(i)));
    ASSERT_TRUE(is_ok(files.back()->write(pattern(10'000 + i))));
    files.back()->seal();
  }
  files[7]->abort();
  files[8].reset();
  for (auto& file : files) {
    if (file == nullptr || file == files[7]) continue;
    EXPECT_TRUE(is_ok(file->close()));
  }
  EXPECT_EQ(names_below(store_.root + "/").size(), 18u);
  EXPECT_EQ(*io().read(at("sealed/19")), pattern(10'019));
  EXPECT_TRUE(fails_with(io().stat(at("sealed/7")), Code::kNotFound));
}

TEST_P(FileIoConformance, RefusesTheNameOfAFolderAndForeignSchemes) {
  EXPECT_TRUE(fails_with(io().create(at("folder/")), Code::kInvalid));
  EXPECT_FALSE(io().create("foreign://bucket/key").ok());
  EXPECT_FALSE(io().read("foreign://bucket/key").ok());
  EXPECT_FALSE(io().list("foreign://bucket/").ok());
}

Store local_store() {
  auto folder = std::make_shared<ScratchFolder>();
  return {io::make_local_file_io(), folder->uri(), folder};
}
Store memory_store() {
  return {io::make_memory_file_io(), "memory://lake/w", nullptr};
}
Store rooted_local_store() {
  Store store = local_store();
  store.io = io::make_rooted_file_io(store.io, {store.root});
  return store;
}
Store rooted_memory_store() {
  Store store = memory_store();
  store.io = io::make_rooted_file_io(store.io, {store.root});
  return store;
}
Store faultless_store() {
  Store store = memory_store();
  store.io = std::make_shared<FaultyFileIO>(store.io, std::make_shared<FaultPlan>());
  return store;
}

// A store in memory that speaks S3, without a wire.
Store scripted_s3_store() {
  io::S3Config config{.endpoint = "https://store.example", .path_style = true};
  return {*io::make_s3_file_io(config, std::make_shared<ScriptedS3>(), std::make_shared<ScriptedCredentials>()), "s3://lake/w", nullptr, 10, true, 1000};
}
// The same for the JSON API of Google Cloud Storage; files of more than a chunk go in sessions.
Store scripted_gcs_store() {
  io::GcsConfig config;
  config.host = "https://storage.example";
  config.chunk_bytes = 1 << 20;
  return {io::make_gcs_file_io(config, std::make_shared<ScriptedGcs>(), nullptr), "gs://lake/w", nullptr, 10, true, 1000};
}
// The server that the part of the test has started: a prefix of its own for each test. Racers wait there for seconds.
Store served_s3_store() {
  const S3Server server = *S3Server::of_environment();
  const auto made = io::make_file_io("s3", server.properties(), server.options());
  EXPECT_TRUE(is_ok(made));
  return {*made, "s3://" + server.bucket + "/" + base::random_uuid(), nullptr, 2, server.keeps_slashes(), 1000, server.takes_line_breaks()};
}

// The same of an emulator, in the long tests.
Store served_gcs_store() {
  const GcsServer server = *GcsServer::of_environment();
  return {server.open(), "gs://" + server.bucket + "/" + base::random_uuid(), nullptr, 10, true, 1000};
}

std::vector<StoreKind> store_kinds() {
  std::vector<StoreKind> kinds{{"Local", local_store},
                               {"Memory", memory_store},
                               {"RootedLocal", rooted_local_store},
                               {"RootedMemory", rooted_memory_store},
                               {"FaultlessDecorator", faultless_store},
                               {"ScriptedS3", scripted_s3_store},
                               {"ScriptedGcs", scripted_gcs_store}};
  if (S3Server::of_environment()) kinds.push_back({"ServedS3", served_s3_store});
  if (GcsServer::of_environment()) kinds.push_back({"ServedGcs", served_gcs_store});
  return kinds;
}
INSTANTIATE_TEST_SUITE_P(Stores, FileIoConformance, testing::ValuesIn(store_kinds()),
                         [](const auto& info) { return info.param.name; });

// The decorator's own promises, on which failure loops stand.
TEST(FaultyFileIO, FailsTheChosenOperationOnly) {
  const auto plan = std::make_shared<FaultPlan>();
  FaultyFileIO io(io::make_memory_file_io(), plan);
  plan->fail_at(3, FaultMoment::kBefore);  // create, write, close
  EXPECT_TRUE(fails_with(write_file(io, "memory://a", "x"), Code::kUnavailable));
  EXPECT_TRUE(fails_with(io.read("memory://a"), Code::kNotFound));
  plan->fail_at(3, FaultMoment::kAfter);
  EXPECT_TRUE(fails_with(write_file(io, "memory://a", "x"), Code::kUnknownOutcome));
  EXPECT_EQ(*io.read("memory://a"), "x");
}

TEST(FaultyFileIO, LosesWhatWasNotClosedWhenThePowerGoes) {
  const auto plan = std::make_shared<FaultPlan>();
  FaultyFileIO io(io::make_memory_file_io(), plan);
  ASSERT_TRUE(is_ok(write_file(io, "memory://kept", "x")));
  auto growing = io.create("memory://lost");
  ASSERT_TRUE(is_ok((*growing)->write("y")));
  plan->cut_power();
  EXPECT_TRUE(fails_with((*growing)->close(), Code::kUnavailable));
  EXPECT_TRUE(fails_with(io.read("memory://kept"), Code::kUnavailable));
  plan->restore_power();
  EXPECT_EQ(*io.read("memory://kept"), "x");
  EXPECT_TRUE(fails_with(io.read("memory://lost"), Code::kNotFound));
}

}  // namespace
}  // namespace frazil::conformance
