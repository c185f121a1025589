// On a fake of ours (tests/conformance/scripted_gcs.h), in virtual time. What an emulator agrees with is tested in
// tests/nightly.
#include "io/gcs/gcs_file_io.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/simulation.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/scripted_gcs.h"

namespace frazil::io {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::Fate;
using conformance::is_ok;
using conformance::ScriptedGcs;
using conformance::ScriptedTokens;
using Kind = Fate::Kind;

constexpr int64_t kChunk = 512 << 10;

std::string pattern(size_t bytes, uint32_t salt = 0) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2654435761u + salt) >> 13);
  return text;
}

struct Bench {
  std::shared_ptr<ScriptedGcs> store = std::make_shared<ScriptedGcs>();
  std::shared_ptr<ScriptedTokens> tokens = std::make_shared<ScriptedTokens>();
  GcsConfig config = [] {
    GcsConfig made;
    made.host = "https://storage.example/";
    made.chunk_bytes = kChunk;
    return made;
  }();
  std::shared_ptr<FileIO> io;

  FileIO& open() {
    io = make_gcs_file_io(config, store, tokens);
    return *io;
  }
  // The n-th request of the test (from 0) has this fate.
  void fail(int n, Fate fate) {
    store->script = [n, fate](const std::string&, const net::HttpRequest&, int number) {
      return number == n ? fate : Fate{};
    };
  }
};

void in_virtual_time(const std::function<void(Bench&)>& body, uint64_t seed = 1) {
  base::Simulation simulation(seed);
  simulation.run([&] {
    Bench bench;
    body(bench);
  });
}

base::Status write_pieces(FileIO& io, const std::string& location, const std::string& bytes) {
  TRY_ASSIGN(const auto file, io.create(location));
  for (size_t at = 0; at < bytes.size(); at += 100'003) TRY(file->write(std::string_view(bytes).substr(at, 100'003)));
  return file->close();
}

TEST(GcsFileIO, PutsASmallFileInOneConditionalRequest) {
  in_virtual_time([](Bench& bench) {
    std::string authorization;
    bench.store->script = [&](const std::string&, const net::HttpRequest& request, int) {
      for (const auto& [name, value] : request.headers) authorization = name == "authorization" ? value : authorization;
      return Fate{};
    };
    bench.config.user_project = "my project";
    EXPECT_TRUE(is_ok(write_file(bench.open(), "gs://lake/a b/c%2F", "hello")));
    EXPECT_EQ(bench.store->lines(),
              (std::vector<std::string>{"POST /upload/storage/v1/b/lake/o?uploadType=media&name=a%20b%2Fc%252F&"
                                        "ifGenerationMatch=0&userProject=my%20project"}));
    EXPECT_EQ(bench.store->objects().at("lake/a b/c%2F"), "hello");
    EXPECT_EQ(authorization, "Bearer token-1");
  });
}

TEST(GcsFileIO, SendsChunksWhileAFileGrows) {
  in_virtual_time([](Bench& bench) {
    const std::string bytes = pattern(5 * kChunk + 77);
    std::vector<std::string> ranges;
    bench.store->script = [&](const std::string& line, const net::HttpRequest& request, int) {
      for (const auto& [name, value] : request.headers) {
        if (name == "content-range") ranges.push_back(value);
        EXPECT_FALSE(line.starts_with("PUT") && name == "authorization") << "the session's URL is the permission";
      }
      return Fate{};
    };
    auto file = bench.open().create("gs://lake/big");
    ASSERT_TRUE(is_ok(file));
    ASSERT_TRUE(is_ok((*file)->write(bytes)));
    EXPECT_LE((*file)->buffered_bytes(), 4 * kChunk);
    EXPECT_TRUE(is_ok((*file)->close()));
    EXPECT_EQ((*file)->buffered_bytes(), 0);
    EXPECT_TRUE(bench.store->objects().at("lake/big") == bytes);
    EXPECT_EQ(ranges, (std::vector<std::string>{"bytes 0-524287/*", "bytes 524288-1048575/*", "bytes 1048576-1572863/*",
                                                "bytes 1572864-2097151/*", "bytes 2097152-2621439/*",
                                                "bytes 2621440-2621516/2621517"}));
  });
}

TEST(GcsFileIO, PutsAFileOfExactlyOneChunkWhole) {
  in_virtual_time([](Bench& bench) {
    EXPECT_TRUE(is_ok(write_file(bench.open(), "gs://lake/one", pattern(kChunk))));
    EXPECT_EQ(bench.store->lines().size(), 1u);
    EXPECT_TRUE(is_ok(write_file(bench.open(), "gs://lake/two", pattern(2 * kChunk))));
    EXPECT_EQ(bench.store->count("PUT"), 2);
  });
}

TEST(GcsFileIO, RoundsChunksUpToWhatTheStoreTakes) {
  in_virtual_time([](Bench& bench) {
    bench.config.chunk_bytes = 300'000;
    EXPECT_TRUE(is_ok(write_file(bench.open(), "gs://lake/f", pattern(600'000))));
    EXPECT_EQ(bench.store->count("PUT"), 2);
  });
}

// Every request of every operation fails once, in every way.
struct Operation {
  std::string name;
  std::function<void(Bench&, FileIO&)> run;
};
void PrintTo(const Operation& operation, std::ostream* out) {
  *out << operation.name;
}

class GcsFaults : public testing::TestWithParam<Operation> {};

TEST_P(GcsFaults, AreSurvivedWhereverTheyStrike) {
  const std::vector<std::pair<std::string, Fate>> fates{
      {"never sent", {Kind::kNeverSent}},
      {"cut", {Kind::kCut}},
      {"answer lost", {Kind::kAnswerLost}},
      {"unavailable", {Kind::kRefused, 503, "backendError"}},
      {"too many", {Kind::kRefused, 429, "rateLimitExceeded"}},
      {"too many, in old words", {Kind::kRefused, 403, "rateLimitExceeded"}},
      {"failed", {Kind::kRefused, 500, "internalError"}},
      {"timed out", {Kind::kRefused, 408, "timeout"}},
      {"gateway after the act", {Kind::kActedRefused, 502, "badGateway"}},
      {"gateway after its time", {Kind::kActedRefused, 504, "timeout"}},
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
              EXPECT_LE(bench.store->open_sessions(), 1u) << "only a session whose beginning was lost can stay";
            },
            static_cast<uint64_t>(n) + 1);
      }
    }
  }
}

void put_whole(Bench& bench, FileIO& io) {
  EXPECT_TRUE(is_ok(write_file(io, "gs://lake/f", "hello")));
  EXPECT_EQ(bench.store->objects().at("lake/f"), "hello");
}
void put_in_chunks(Bench& bench, FileIO& io) {
  const std::string bytes = pattern(2 * kChunk + 5);
  EXPECT_TRUE(is_ok(write_pieces(io, "gs://lake/f", bytes)));
  EXPECT_TRUE(bench.store->objects()["lake/f"] == bytes);
}
void put_where_little_is_taken(Bench& bench, FileIO& io) {
  bench.store->persists_at_most = ScriptedGcs::kUnit;
  put_in_chunks(bench, io);
}
void put_where_another_was(Bench& bench, FileIO& io) {
  bench.store->put("lake/f", "other");
  EXPECT_TRUE(fails_with(write_file(io, "gs://lake/f", "mine!"), Code::kExists));
  EXPECT_TRUE(fails_with(write_pieces(io, "gs://lake/f", pattern(2 * kChunk)), Code::kExists));
  EXPECT_EQ(bench.store->objects().at("lake/f"), "other");
}
void read_and_look(Bench& bench, FileIO& io) {
  bench.store->put("lake/f", "0123456789");
  EXPECT_EQ(*io.read("gs://lake/f"), "0123456789");
  EXPECT_EQ(*io.read_range("gs://lake/f", 3, 4), "3456");
  EXPECT_EQ(io.stat("gs://lake/f")->bytes, 10);
  EXPECT_TRUE(fails_with(io.read("gs://lake/absent"), Code::kNotFound));
}
void list_and_remove(Bench& bench, FileIO& io) {
  bench.store->page_objects = 2;
  for (const char* name : {"lake/a/1", "lake/a/2", "lake/a/3", "lake/a/folder/", "lake/b"}) bench.store->put(name, "x");
  EXPECT_EQ(io.list("gs://lake/a/")->size(), 3u);
  EXPECT_TRUE(is_ok(io.remove("gs://lake/a/1")));
  EXPECT_TRUE(is_ok(io.remove_all({"gs://lake/a/2", "gs://lake/a/3", "gs://lake/absent"})));
  EXPECT_EQ(bench.store->objects().size(), 2u);
}
INSTANTIATE_TEST_SUITE_P(Operations, GcsFaults,
                         testing::Values(Operation{"PutWhole", put_whole}, Operation{"PutInChunks", put_in_chunks},
                                         Operation{"PutWhereLittleIsTaken", put_where_little_is_taken},
                                         Operation{"PutWhereAnotherWas", put_where_another_was},
                                         Operation{"ReadAndLook", read_and_look},
                                         Operation{"ListAndRemove", list_and_remove}),
                         [](const auto& info) { return info.param.name; });

TEST(GcsFileIO, TakesItsOwnObjectForSuccessAndAnothersForTaken) {
  for (const bool reports_checksums : {true, false}) {
    for (const size_t bytes : {size_t{5}, size_t{kChunk} + 5}) {
      in_virtual_time([&](Bench& bench) {
        bench.store->reports_checksums = reports_checksums;
        FileIO& io = bench.open();
        ASSERT_TRUE(is_ok(write_pieces(io, "gs://lake/f", pattern(bytes, 1))));
        EXPECT_TRUE(fails_with(write_pieces(io, "gs://lake/f", pattern(bytes, 2 << 13)), Code::kExists))
            << "same size, other bytes";
        EXPECT_TRUE(fails_with(write_pieces(io, "gs://lake/f", pattern(bytes - 1, 1)), Code::kExists));
        EXPECT_TRUE(bench.store->objects().at("lake/f") == pattern(bytes, 1));
      });
    }
  }
}

TEST(GcsFileIO, LosesTheRaceToAFileThatWasFinishedWhileItGrew) {
  in_virtual_time([](Bench& bench) {
    auto file = bench.open().create("gs://lake/f");
    ASSERT_TRUE(is_ok((*file)->write(pattern(3 * kChunk))));
    bench.store->put("lake/f", "other");
    EXPECT_TRUE(fails_with((*file)->close(), Code::kExists));
    EXPECT_EQ(bench.store->objects().at("lake/f"), "other");
  });
}

TEST(GcsFileIO, RefusesAnObjectOfOtherBytesThanWereSent) {
  for (const size_t bytes : {size_t{5}, size_t{kChunk} + 5}) {
    in_virtual_time([&](Bench& bench) {
      bench.store->stores_one_byte_less = true;
      EXPECT_TRUE(fails_with(write_pieces(bench.open(), "gs://lake/f", pattern(bytes)), Code::kCorrupt));
    });
  }
}

TEST(GcsFileIO, GivesUpAFileWhoseSessionIsGone) {
  in_virtual_time([](Bench& bench) {
    auto file = bench.open().create("gs://lake/f");
    ASSERT_TRUE(is_ok((*file)->write(pattern(3 * kChunk))));
    while (bench.store->open_sessions() == 0) base::Interrupt().wait_until(base::deadline_after(1'000));
    bench.store->end_sessions();
    EXPECT_TRUE(fails_with((*file)->close(), Code::kUnavailable));
    EXPECT_TRUE(bench.store->objects().empty());
  });
}

TEST(GcsFileIO, TakesBackWhatIsGivenUp) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    in_virtual_time(
        [&](Bench& bench) {
          auto file = bench.open().create("gs://lake/f");
          const bool is_long = seed % 2 == 0;
          ASSERT_TRUE(is_ok((*file)->write(pattern(is_long ? 2 * kChunk + 7 : 100))));
          if (seed % 4 < 2) (*file)->seal();
          if (seed % 3 == 0) base::Interrupt().wait_until(base::deadline_after(1'000'000));
          (*file)->abort();
          EXPECT_TRUE(bench.store->objects().empty());
          EXPECT_EQ(bench.store->open_sessions(), 0u);
          EXPECT_FALSE((*file)->close().ok());
        },
        seed);
  }
}

TEST(GcsFileIO, SealsManyFilesInTheTimeOfOne) {
  in_virtual_time([](Bench& bench) {
    FileIO& io = bench.open();
    std::vector<std::unique_ptr<OutputFile>> files;
    for (int i = 0; i < 30; ++i) {
      files.push_back(*io.create("gs://lake/" + std::to_string(i)));
      ASSERT_TRUE(is_ok(files.back()->write(pattern(static_cast<size_t>(i) * 50'000, static_cast<uint32_t>(i)))));
    }
    for (auto& file : files) file->seal();
    for (auto& file : files) EXPECT_TRUE(is_ok(file->close()));
    for (int i = 0; i < 30; ++i) {
      EXPECT_TRUE(bench.store->objects()["lake/" + std::to_string(i)] ==
                  pattern(static_cast<size_t>(i) * 50'000, static_cast<uint32_t>(i)));
    }
  });
}

TEST(GcsFileIO, AsksForTheRestOfShortAnswersOfOneGeneration) {
  in_virtual_time([](Bench& bench) {
    bench.store->put("lake/f", pattern(10'000));
    bench.store->short_read_bytes = 1'700;
    EXPECT_TRUE(*bench.open().read("gs://lake/f") == pattern(10'000));
    EXPECT_TRUE(*bench.io->read_range("gs://lake/f", 100, 5'000) == pattern(10'000).substr(100, 5'000));
    const size_t before = bench.store->lines().size();
    bench.store->script = [&](const std::string&, const net::HttpRequest& request, int number) {
      if (number == static_cast<int>(before)) return Fate{};
      EXPECT_NE(request.url.find("generation="), std::string::npos);
      return Fate{Kind::kRefused, 404, "notFound"};
    };
    EXPECT_TRUE(fails_with(bench.io->read("gs://lake/f"), Code::kCorrupt));
  });
}

TEST(GcsFileIO, GivesUpInTime) {
  for (const auto& [fate, code] :
       std::vector<std::pair<Fate, Code>>{{{Kind::kRefused, 429, "rateLimitExceeded"}, Code::kUnavailable},
                                          {{Kind::kNeverSent}, Code::kUnavailable},
                                          {{Kind::kCut}, Code::kUnknownOutcome},
                                          {{Kind::kRefused, 503, "backendError"}, Code::kUnknownOutcome}}) {
    for (const size_t bytes : {size_t{5}, size_t{kChunk} + 5}) {
      in_virtual_time([&, fate = fate, code = code](Bench& bench) {
        // The beginning of a session changes nothing; the last chunk does.
        bench.store->script = [fate](const std::string& line, const net::HttpRequest& request, int) {
          const bool is_last = std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
            return header.first == "content-range" && !header.second.ends_with("*");
          });
          return line.find("media") != line.npos || is_last || line.starts_with("GET") ? fate : Fate{};
        };
        const base::MonoMicros begin = base::mono_micros();
        EXPECT_TRUE(fails_with(write_pieces(bench.open(), "gs://lake/f", pattern(bytes)), code));
        EXPECT_LE(base::mono_micros() - begin, 2 * (bench.config.retry_total_ms + 5'000) * 1'000);
        EXPECT_GE(bench.store->lines().size(), 10u);
        EXPECT_LE(bench.store->lines().size(), 300u);
      });
    }
  }
}

TEST(GcsFileIO, TakesANewTokenWhenOneIsRefused) {
  in_virtual_time([](Bench& bench) {
    bench.store->wanted_token = "token-2";
    put_whole(bench, bench.open());
    EXPECT_EQ(bench.tokens->number, 2);
    bench.store->wanted_token = "another";
    const auto refused = bench.io->stat("gs://lake/f");
    EXPECT_TRUE(fails_with(refused, Code::kInvalid));
    EXPECT_NE(refused.error().message().find("gs://lake/f"), std::string::npos);
    EXPECT_EQ(refused.error().message().find("token-"), std::string::npos);
  });
}

TEST(GcsFileIO, WaitsForTokensThatCannotBeFetchedNow) {
  class Flaky : public net::BearerTokens {
   public:
    base::Result<std::string> token() override {
      if (++asked < 4) return base::unavailable("away");
      return std::string("t");
    }
    void refused(const std::string&) override {}
    int asked = 0;
  };
  in_virtual_time([](Bench& bench) {
    const auto io = make_gcs_file_io(bench.config, bench.store, std::make_shared<Flaky>());
    EXPECT_TRUE(is_ok(write_file(*io, "gs://lake/f", "x")));
  });
}

TEST(GcsFileIO, SaysWhatTheStoreSaid) {
  in_virtual_time([](Bench& bench) {
    bench.open();
    bench.store->script = [](const std::string&, const net::HttpRequest&, int) {
      return Fate{Kind::kRefused, 403, "forbidden"};
    };
    const auto refused = bench.io->read("gs://lake/f");
    EXPECT_TRUE(fails_with(refused, Code::kInvalid));
    EXPECT_NE(refused.error().message().find("as scripted: forbidden"), std::string::npos);
    bench.store->script = [](const std::string&, const net::HttpRequest&, int) {
      return Fate{Kind::kRefused, 404, "The specified bucket does not exist."};
    };
    EXPECT_TRUE(fails_with(bench.io->read("gs://lake/f"), Code::kInvalid)) << "an absent bucket is no absent file";
  });
}

TEST(GcsFileIO, WorksWithoutTokens) {
  in_virtual_time([](Bench& bench) {
    bench.tokens = nullptr;
    put_whole(bench, bench.open());
  });
}

TEST(GcsFileIO, RefusesWhatIsNoLocation) {
  in_virtual_time([](Bench& bench) {
    FileIO& io = bench.open();
    for (const char* location :
         {"gs://", "gs:///f", "gs://UPPER/f", "gs://b", "gs://b/", "gs://b/folder/", "gs:/b/f", "gs://../f"}) {
      EXPECT_TRUE(fails_with(io.create(location), Code::kInvalid)) << location;
    }
    EXPECT_TRUE(fails_with(io.read("s3://b/f"), Code::kUnsupported));
    EXPECT_TRUE(fails_with(io.read("gs://b/" + std::string(1025, 'x')), Code::kInvalid));
    EXPECT_TRUE(fails_with(io.read("gs://b/\xff"), Code::kInvalid));
    EXPECT_TRUE(bench.store->lines().empty());
  });
}

}  // namespace
}  // namespace frazil::io
