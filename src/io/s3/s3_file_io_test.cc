#include "io/s3/s3_file_io.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/simulation.h"
#include "net/aws_signature.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/scripted_s3.h"

namespace frazil::io {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::Fate;
using conformance::is_ok;
using conformance::ScriptedCredentials;
using conformance::ScriptedS3;
using Kind = Fate::Kind;

constexpr int64_t kPart = 100'000;

std::string pattern(size_t bytes, uint32_t salt = 0) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2654435761u + salt) >> 13);
  return text;
}

struct Bench {
  std::shared_ptr<ScriptedS3> store = std::make_shared<ScriptedS3>();
  std::shared_ptr<ScriptedCredentials> credentials = std::make_shared<ScriptedCredentials>();
  S3Config config{.endpoint = "https://store.example", .path_style = true, .part_bytes = kPart};
  std::shared_ptr<FileIO> io;

  Bench() { store->least_part_bytes = kPart; }
  FileIO& open() {
    auto made = make_s3_file_io(config, store, credentials);
    EXPECT_TRUE(is_ok(made));
    io = *made;
    return *io;
  }
  // The n-th request of the test (from 0) has this fate.
  void fail(int n, Fate fate) {
    store->script = [n, fate](const std::string&, const net::HttpRequest&, int number) { return number == n ? fate : Fate{}; };
  }
  // Requests that begin so have this fate, `times` times.
  void fail(const std::string& beginning, Fate fate, int times = 1) {
    store->script = [beginning, fate, left = std::make_shared<int>(times)](const std::string& line, const net::HttpRequest&, int) {
      return line.starts_with(beginning) && (*left)-- > 0 ? fate : Fate{};
    };
  }
};

// Waits cost nothing, and every lane's interleaving comes from the seed.
void in_virtual_time(const std::function<void(Bench&)>& body, uint64_t seed = 1) {
  base::Simulation simulation(seed);
  simulation.run([&] {
    Bench bench;
    body(bench);
  });
}

base::Status write_parts(FileIO& io, const std::string& location, const std::string& bytes) {
  TRY_ASSIGN(const auto file, io.create(location));
  for (size_t at = 0; at < bytes.size(); at += 30'011) TRY(file->write(std::string_view(bytes).substr(at, 30'011)));
  return file->close();
}

TEST(S3FileIO, PutsASmallFileInOneConditionalRequestAndLooksAtItsSize) {
  in_virtual_time([](Bench& bench) {
    bench.store->script = [](const std::string& line, const net::HttpRequest& request, int) {
      if (line.starts_with("PUT")) {
        std::set<std::string> headers;
        for (const auto& [name, value] : request.headers) headers.insert(name + ": " + value);
        EXPECT_TRUE(headers.contains("if-none-match: *"));
        EXPECT_TRUE(headers.contains("x-amz-checksum-crc32c: mnG7TA=="));
        EXPECT_TRUE(headers.contains("x-amz-content-sha256: UNSIGNED-PAYLOAD")) << "TLS guards it";
      }
      return Fate{};
    };
    EXPECT_TRUE(is_ok(write_file(bench.open(), "s3://lake/a/b", "hello")));
    EXPECT_EQ(bench.store->lines(), (std::vector<std::string>{"PUT /lake/a/b", "HEAD /lake/a/b"}));
    EXPECT_EQ(bench.store->objects().at("lake/a/b"), "hello");
  });
}

TEST(S3FileIO, SignsThePayloadWhereNothingElseGuardsIt) {
  in_virtual_time([](Bench& bench) {
    bench.config.endpoint = "http://store.example:9000";
    bool is_signed = false;
    bench.store->script = [&](const std::string&, const net::HttpRequest& request, int) {
      for (const auto& header : request.headers) is_signed |= header == std::pair<std::string, std::string>{"x-amz-content-sha256", net::sha256_hex("hello")};
      return Fate{};
    };
    EXPECT_TRUE(is_ok(write_file(bench.open(), "s3://lake/a", "hello")));
    EXPECT_TRUE(is_signed);
  });
}

TEST(S3FileIO, SendsPartsWhileAFileGrows) {
  in_virtual_time([](Bench& bench) {
    const std::string bytes = pattern(2 * kPart + 77);
    auto file = bench.open().create("s3://lake/big");
    ASSERT_TRUE(is_ok(file));
    ASSERT_TRUE(is_ok((*file)->write(bytes)));
    EXPECT_LT((*file)->buffered_bytes(), 4 * kPart);
    EXPECT_TRUE(is_ok((*file)->close()));
    EXPECT_EQ((*file)->buffered_bytes(), 0);
    EXPECT_TRUE(bench.store->objects().at("lake/big") == bytes);
    EXPECT_EQ(bench.store->count("POST /lake/big?uploads="), 1);
    EXPECT_EQ(bench.store->count("PUT /lake/big?partNumber="), 3);
    EXPECT_EQ(bench.store->open_uploads(), 0u);
  });
}

TEST(S3FileIO, CompletesAFileWhoseFirstPartsAreLongDone) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    in_virtual_time(
        [](Bench& bench) {
          const std::string bytes = pattern(3 * kPart);
          auto file = *bench.open().create("s3://lake/big");
          ASSERT_TRUE(is_ok(file->write(bytes)));
          for (int i = 0; bench.store->count("PUT /lake/big?partNumber=") < 2 || i < 10; ++i) {  // time passes
            ASSERT_TRUE(is_ok(write_file(*bench.io, "s3://lake/" + std::to_string(i), "x")));
          }
          file->seal();
          EXPECT_TRUE(is_ok(file->close()));
          EXPECT_TRUE(bench.store->objects().at("lake/big") == bytes);
        },
        seed);
  }
}

TEST(S3FileIO, PutsAFileOfExactlyOnePartWhole) {
  in_virtual_time([](Bench& bench) {
    EXPECT_TRUE(is_ok(write_file(bench.open(), "s3://lake/one", pattern(kPart))));
    EXPECT_EQ(bench.store->lines(), (std::vector<std::string>{"PUT /lake/one", "HEAD /lake/one"}));
  });
}

// Every request of every operation fails once, in every way.
struct Operation {
  std::string name;
  std::function<void(Bench&, FileIO&)> run;
};
void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

class S3Faults : public testing::TestWithParam<Operation> {};

TEST_P(S3Faults, AreSurvivedWhereverTheyStrike) {
  const std::vector<std::pair<std::string, Fate>> fates{
      {"never sent", {Kind::kNeverSent}},
      {"cut", {Kind::kCut}},
      {"answer lost", {Kind::kAnswerLost}},
      {"throttled", {Kind::kRefused, 503, "SlowDown"}},
      {"too many", {Kind::kRefused, 429, "TooManyRequests"}},
      {"failed", {Kind::kRefused, 500, "InternalError"}},
      {"conflict", {Kind::kRefused, 409, "ConditionalRequestConflict"}},
      {"damaged", {Kind::kRefused, 400, "BadDigest"}},
      {"gateway after the act", {Kind::kActedRefused, 502, "BadGateway"}},
      {"gateway after its time", {Kind::kActedRefused, 504, "GatewayTimeout"}},
      {"doubled", {Kind::kDoubled}},
  };
  for (const bool reports_checksums : {true, false}) {
    for (const auto& [what, fate] : fates) {
      int requests = 1;
      for (int n = 0; n < requests; ++n) {
        SCOPED_TRACE(what + ", request " + std::to_string(n));
        in_virtual_time(
            [&, fate = fate](Bench& bench) {
              bench.store->reports_checksums = reports_checksums;
              bench.fail(n, fate);
              GetParam().run(bench, bench.open());
              requests = static_cast<int>(bench.store->lines().size());
              EXPECT_LE(bench.store->open_uploads(), 1u) << "only an upload whose beginning was lost can stay";
            },
            static_cast<uint64_t>(n) + 1);
      }
    }
  }
}

void put_whole(Bench& bench, FileIO& io) {
  EXPECT_TRUE(is_ok(write_file(io, "s3://lake/f", "hello")));
  EXPECT_EQ(bench.store->objects().at("lake/f"), "hello");
}
void put_in_parts(Bench& bench, FileIO& io) {
  const std::string bytes = pattern(kPart + 5);
  EXPECT_TRUE(is_ok(write_parts(io, "s3://lake/f", bytes)));
  EXPECT_TRUE(bench.store->objects()["lake/f"] == bytes);
}
void put_where_another_was(Bench& bench, FileIO& io) {
  bench.store->put("lake/f", "other");
  EXPECT_TRUE(fails_with(write_file(io, "s3://lake/f", "mine!"), Code::kExists));
  EXPECT_EQ(bench.store->objects().at("lake/f"), "other");
}
void read_and_look(Bench& bench, FileIO& io) {
  bench.store->put("lake/f", "0123456789");
  EXPECT_EQ(*io.read("s3://lake/f"), "0123456789");
  EXPECT_EQ(*io.read_range("s3://lake/f", 3, 4), "3456");
  EXPECT_EQ(io.stat("s3://lake/f")->bytes, 10);
  EXPECT_TRUE(fails_with(io.read("s3://lake/absent"), Code::kNotFound));
}
void list_and_remove(Bench& bench, FileIO& io) {
  bench.store->page_keys = 2;
  for (const char* name : {"lake/a/1", "lake/a/2", "lake/a/3", "lake/b"}) bench.store->put(name, "x");
  EXPECT_EQ(io.list("s3://lake/a/")->size(), 3u);
  EXPECT_TRUE(is_ok(io.remove("s3://lake/a/1")));
  EXPECT_TRUE(is_ok(io.remove_all({"s3://lake/a/2", "s3://lake/a/3", "s3://lake/absent"})));
  EXPECT_EQ(bench.store->objects().size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(Operations, S3Faults,
                         testing::Values(Operation{"PutWhole", put_whole}, Operation{"PutInParts", put_in_parts},
                                         Operation{"PutWhereAnotherWas", put_where_another_was},
                                         Operation{"ReadAndLook", read_and_look}, Operation{"ListAndRemove", list_and_remove}),
                         [](const auto& info) { return info.param.name; });

TEST(S3FileIO, TakesItsOwnObjectForSuccessAndAnothersForTaken) {
  for (const bool reports_checksums : {true, false}) {
    for (const size_t bytes : {size_t{5}, size_t{kPart} + 5}) {
      for (const int status : {412, 304}) {
        in_virtual_time([&](Bench& bench) {
          bench.store->reports_checksums = reports_checksums;
          bench.store->taken_status = status;
          FileIO& io = bench.open();
          ASSERT_TRUE(is_ok(write_parts(io, "s3://lake/f", pattern(bytes, 1))));
          EXPECT_TRUE(fails_with(write_parts(io, "s3://lake/f", pattern(bytes, 2 << 13)), Code::kExists)) << "same size, other bytes";
          EXPECT_TRUE(fails_with(write_parts(io, "s3://lake/f", pattern(bytes - 1, 1)), Code::kExists));
          EXPECT_TRUE(bench.store->objects().at("lake/f") == pattern(bytes, 1));
          EXPECT_EQ(bench.store->open_uploads(), 0u);
        });
      }
    }
  }
}

TEST(S3FileIO, TriesAgainWhenTheStoreFailsAfterItSaidOk) {
  in_virtual_time([](Bench& bench) {
    bench.store->fails_late_once = true;
    put_in_parts(bench, bench.open());
    EXPECT_EQ(bench.store->count("POST /lake/f?uploadId="), 2);
  });
}

TEST(S3FileIO, WaitsForTheNameOfAnObjectItWrote) {
  in_virtual_time([](Bench& bench) {
    bench.store->reads_until_known = 5;
    put_whole(bench, bench.open());
    EXPECT_EQ(*bench.io->read("s3://lake/f"), "hello");
    const size_t before = bench.store->lines().size();
    EXPECT_TRUE(fails_with(bench.io->read("s3://lake/never"), Code::kNotFound));
    EXPECT_EQ(bench.store->lines().size(), before + 1) << "a name of others is asked for once";
  });
}

TEST(S3FileIO, SaysUnknownWhenTheStoreNeverKnowsWhatItTook) {
  in_virtual_time([](Bench& bench) {
    bench.store->reads_until_known = 1'000'000;
    EXPECT_TRUE(fails_with(write_file(bench.open(), "s3://lake/f", "hello"), Code::kUnknownOutcome));
  });
}

TEST(S3FileIO, RefusesAnObjectOfAnotherSizeThanWasSent) {
  in_virtual_time([](Bench& bench) {
    bench.store->stores_one_byte_less = true;
    EXPECT_TRUE(fails_with(write_file(bench.open(), "s3://lake/f", "hello"), Code::kCorrupt));
  });
}

TEST(S3FileIO, AsksForTheRestOfShortAnswers) {
  in_virtual_time([](Bench& bench) {
    bench.store->put("lake/f", pattern(10'000));
    bench.store->short_read_bytes = 1'700;
    EXPECT_TRUE(*bench.open().read("s3://lake/f") == pattern(10'000));
    EXPECT_TRUE(*bench.io->read_range("s3://lake/f", 100, 5'000) == pattern(10'000).substr(100, 5'000));
  });
}

TEST(S3FileIO, ReadsOneVersionOfAnObject) {
  in_virtual_time([](Bench& bench) {
    bench.store->put("lake/f", pattern(10'000));
    bench.store->short_read_bytes = 6'000;
    bench.store->script = [&](const std::string&, const net::HttpRequest&, int number) {
      return number == 1 ? Fate{Kind::kRefused, 412, "PreconditionFailed"} : Fate{};
    };
    EXPECT_TRUE(fails_with(bench.open().read("s3://lake/f"), Code::kCorrupt));
  });
}

TEST(S3FileIO, GivesUpInTime) {
  for (const auto& [fate, code] : std::vector<std::pair<Fate, Code>>{{{Kind::kRefused, 429, "SlowDown"}, Code::kUnavailable},
                                                                     {{Kind::kNeverSent}, Code::kUnavailable},
                                                                     {{Kind::kCut}, Code::kUnknownOutcome},
                                                                     {{Kind::kRefused, 503, "SlowDown"}, Code::kUnknownOutcome}}) {
    in_virtual_time([&, fate = fate, code = code](Bench& bench) {
      bench.store->script = [fate](const std::string&, const net::HttpRequest&, int) { return fate; };
      const base::MonoMicros begin = base::mono_micros();
      EXPECT_TRUE(fails_with(write_file(bench.open(), "s3://lake/f", "hello"), code));
      // Two operations at most: the put, and the look after it.
      EXPECT_LE(base::mono_micros() - begin, 2 * (bench.config.retry_total_ms + 5'000) * 1'000);
      EXPECT_GE(bench.store->lines().size(), 10u);
      EXPECT_LE(bench.store->lines().size(), 300u);
    });
  }
}

TEST(S3FileIO, SaysOnceAndAtOnceThatTheStoreWasNeverReached) {
  Bench bench;
  bench.config.retry_total_ms = 1;
  bench.store->script = [](const std::string&, const net::HttpRequest&, int) { return Fate{Kind::kNeverSent}; };
  FileIO& io = bench.open();
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(fails_with(io.read("s3://lake/f"), Code::kUnavailable));
  EXPECT_TRUE(fails_with(io.read("s3://lake/f"), Code::kUnavailable));
  const std::string log = ::testing::internal::GetCapturedStderr();
  const size_t first = log.find("s3_not_reached endpoint=https://store.example");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("s3_not_reached", first + 1), std::string::npos) << log;
}

TEST(S3FileIO, WaitsAsLongAsTheStoreAsks) {
  in_virtual_time([](Bench& bench) {
    bench.fail(0, {Kind::kRefused, 503, "SlowDown", {{"retry-after", "17"}}});
    const base::MonoMicros begin = base::mono_micros();
    put_whole(bench, bench.open());
    EXPECT_GE(base::mono_micros() - begin, 17'000'000);
  });
}

TEST(S3FileIO, KeepsRetriesOfAllOperationsBelowOneBudget) {
  in_virtual_time([](Bench& bench) {
    bench.config.retry_total_ms = 20'000;
    FileIO& io = bench.open();
    bench.store->script = [](const std::string&, const net::HttpRequest&, int) { return Fate{Kind::kRefused, 429, "SlowDown"}; };
    std::vector<base::Lane> lanes;
    for (int i = 0; i < 60; ++i) {
      lanes.emplace_back("reader", [&io] { EXPECT_TRUE(fails_with(io.read("s3://lake/f"), Code::kUnavailable)); });
    }
    for (base::Lane& lane : lanes) lane.join();
    // 60 first tries, a burst of 100, ten a second for 25 s.
    EXPECT_LE(bench.store->lines().size(), 60u + 100u + 260u);
  });
}

TEST(S3FileIO, TakesTheStoresClockOnce) {
  in_virtual_time([](Bench& bench) {
    bench.store->clock_ahead_ms = 3 * 3'600'000;
    put_whole(bench, bench.open());
    EXPECT_EQ(bench.store->count("PUT"), 2);
    ASSERT_TRUE(is_ok(bench.io->remove("s3://lake/f")));
    put_in_parts(bench, *bench.io);
    EXPECT_EQ(bench.store->count("POST /lake/f?uploads="), 1) << "remembered";
  });
}

TEST(S3FileIO, AsksForNewCredentialsOnce) {
  in_virtual_time([](Bench& bench) {
    bench.store->wanted_key = "new";
    bench.credentials->next_key = "new";
    put_whole(bench, bench.open());
    EXPECT_EQ(bench.credentials->refusals, 1);
    bench.store->wanted_key = "newer";
    const auto read = bench.io->read("s3://lake/f");
    EXPECT_TRUE(fails_with(read, Code::kInvalid));
    EXPECT_NE(read.error().message().find("ExpiredToken"), std::string::npos);
    EXPECT_EQ(bench.credentials->refusals, 2);
  });
}

TEST(S3FileIO, WaitsForWhoHandsOutCredentials) {
  in_virtual_time([](Bench& bench) {
    bench.credentials->failures = 3;
    put_whole(bench, bench.open());
    bench.credentials->failures = 1;
    bench.credentials->failure = base::Code::kInvalid;
    EXPECT_TRUE(fails_with(bench.io->read("s3://lake/f"), Code::kInvalid)) << "what is wrong stays wrong";
  });
}

TEST(S3FileIO, SaysWhatTheStoreSaid) {
  in_virtual_time([](Bench& bench) {
    const auto message = [&](Fate fate) {
      bench.store->script = [fate](const std::string&, const net::HttpRequest&, int) { return fate; };
      const auto read = bench.open().read("s3://lake/f");
      EXPECT_TRUE(fails_with(read, Code::kInvalid));
      return read.ok() ? "" : read.error().message();
    };
    EXPECT_EQ(message({Kind::kRefused, 403, "AccessDenied"}),
              "GET s3://lake/f: the store answered 403 AccessDenied: as scripted; check the credentials and what they may do to this bucket "
              "(listing too, or absent files look forbidden)");
    EXPECT_EQ(message({Kind::kRefused, 404, "NoSuchBucket"}), "GET s3://lake/f: the store answered 404 NoSuchBucket: as scripted");
    EXPECT_NE(message({Kind::kRefused, 301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-9"}}}).find("set s3.region"),
              std::string::npos);
  });
}

TEST(S3FileIO, LeavesNothingOfAFileThatIsGivenUp) {
  for (const size_t bytes : {size_t{100}, size_t{3 * kPart}}) {
    for (const bool seals : {false, true}) {
      for (uint64_t seed = 1; seed <= 15; ++seed) {
        in_virtual_time(
            [&](Bench& bench) {
              bench.store->latency_micros = 10'000;
              {
                auto file = *bench.open().create("s3://lake/f");
                ASSERT_TRUE(is_ok(file->write(pattern(bytes))));
                if (seals) file->seal();
                if (seals && seed % 3 == 0) {  // time passes
                  EXPECT_TRUE(is_ok(write_file(*bench.io, "s3://lake/g", "g")));
                }
                if (seed % 2 == 0) file->abort();
              }
              bench.io.reset();  // the lanes are done
              EXPECT_EQ(bench.store->open_uploads(), 0u);
              EXPECT_FALSE(bench.store->objects().contains("lake/f"));
            },
            seed);
      }
    }
  }
}

TEST(S3FileIO, NeverTakesBackAnothersObject) {
  in_virtual_time([](Bench& bench) {
    bench.store->put("lake/f", "other");
    auto file = *bench.open().create("s3://lake/f");
    ASSERT_TRUE(is_ok(file->write("mine!")));
    file->seal();
    ASSERT_TRUE(is_ok(write_file(*bench.io, "s3://lake/g", "time passes")));
    file->abort();
    EXPECT_EQ(bench.store->objects().at("lake/f"), "other");
  });
}

TEST(S3FileIO, ClosesSealedFilesInTheTimeOfOne) {
  in_virtual_time([](Bench& bench) {
    FileIO& io = bench.open();
    bench.store->latency_micros = 1'000'000;
    std::vector<std::unique_ptr<OutputFile>> files;
    for (int i = 0; i < 8; ++i) {
      files.push_back(*io.create("s3://lake/" + std::to_string(i)));
      ASSERT_TRUE(is_ok(files.back()->write("bytes of " + std::to_string(i))));
    }
    const base::MonoMicros begin = base::mono_micros();
    for (auto& file : files) file->seal();
    EXPECT_LT(base::mono_micros() - begin, 100'000);
    for (auto& file : files) EXPECT_TRUE(is_ok(file->close()));
    EXPECT_LT(base::mono_micros() - begin, 2'500'000) << "a put and a look each, on eight lanes";
    EXPECT_EQ(bench.store->objects().size(), 8u);
  });
}

TEST(S3FileIO, HoldsNoMoreThanItsLanesCarry) {
  in_virtual_time([](Bench& bench) {
    bench.config.upload_lanes = 2;
    FileIO& io = bench.open();
    bench.store->latency_micros = 1'000'000;
    auto file = *io.create("s3://lake/big");
    const std::string bytes = pattern(kPart / 5);
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(is_ok(file->write(bytes)));
      // Two parts under way, one waits to be let in, and one grows in memory that doubled.
      ASSERT_LE(file->buffered_bytes(), 5 * kPart);
    }
    EXPECT_TRUE(is_ok(file->close()));
    EXPECT_EQ(bench.store->objects().at("lake/big").size(), 12u * kPart);
  });
}

TEST(S3FileIO, ListsAllPagesWithKeysAsTheyAre) {
  for (const bool is_encoded : {true, false}) {
    in_virtual_time([&](Bench& bench) {
      bench.store->page_keys = 3;
      bench.store->lists_encoded = is_encoded;
      const std::vector<std::string> names{"a b", "a+b", "a%20b", "plain", "ünï", "x=1/y", "//", "tab"};
      for (const std::string& name : names) bench.store->put("lake/t/" + name + "/f", "12345");
      bench.store->put("lake/t/folder/", "");
      bench.store->put("lake/tt", "x");
      const auto listed = bench.open().list("s3a://lake/t/");
      ASSERT_TRUE(is_ok(listed));
      std::set<std::string> found;
      for (const FileStatus& file : *listed) {
        found.insert(file.location);
        EXPECT_EQ(file.bytes, 5);
        EXPECT_EQ(file.modified_millis, base::wall_millis() / 1000 * 1000);
      }
      std::set<std::string> expected;
      for (const std::string& name : names) expected.insert("s3a://lake/t/" + name + "/f");
      EXPECT_EQ(found, expected);
    });
  }
}

TEST(S3FileIO, RemovesManyInFewRequests) {
  in_virtual_time([](Bench& bench) {
    std::vector<std::string> locations;
    for (int i = 0; i < 2'500; ++i) {
      locations.push_back("s3://lake/" + std::to_string(i));
      bench.store->put("lake/" + std::to_string(i), "x");
    }
    for (const std::string name : {"stubborn", "bell\x07"}) {
      locations.push_back("s3://lake/" + name);
      bench.store->put("lake/" + name, "x");
    }
    EXPECT_TRUE(is_ok(bench.open().remove_all(locations)));
    EXPECT_TRUE(bench.store->objects().empty());
    EXPECT_EQ(bench.store->count("POST /lake?delete="), 3);
    EXPECT_EQ(bench.store->count("DELETE /lake/"), 2) << "the one that failed, and the one that XML cannot carry";
  });
}

TEST(S3FileIO, PutsKeysIntoUrlsByOneEncoding) {
  const std::vector<std::pair<std::string, std::string>> keys{
      {"a//b", "/lake/a//b"},
      {"/a", "/lake//a"},
      {"a b", "/lake/a%20b"},
      {"a%2Fb", "/lake/a%252Fb"},
      {"a+b", "/lake/a%2Bb"},
      {"p=1/x.", "/lake/p%3D1/x."},
      {"\xC3\xA4", "/lake/%C3%A4"},
      {"?#&", "/lake/%3F%23%26"},
  };
  in_virtual_time([&](Bench& bench) {
    FileIO& io = bench.open();
    for (const auto& [key, path] : keys) {
      EXPECT_TRUE(is_ok(write_file(io, "s3://lake/" + key, key)));
      EXPECT_EQ(bench.store->count("PUT " + path), 1) << key;
      EXPECT_EQ(bench.store->objects().at("lake/" + key), key);
      EXPECT_EQ(*io.read("s3://lake/" + key), key);
    }
  });
}

}  // namespace
}  // namespace frazil::io
