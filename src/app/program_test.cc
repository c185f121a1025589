#include "app/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace frazil::app {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

Outcome frazil(std::vector<std::string> arguments) {
  std::vector<const char*> argv{"frazil"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code = run_program(static_cast<int>(argv.size()), argv.data());
  return {exit_code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

class Program : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / (std::string("frazil_program_") + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A pipeline that needs no Kafka.
  std::string pipeline(const std::string& more = "") {
    return write("p.yaml", R"yaml(name: made_up
source: {generator: {records: 500, splits: 2}}
table:
  name: shop.orders
  catalog: {type: sqlite, uri: catalog.db, warehouse: warehouse}
  create: {partition_by: ["bucket(4, id)"]}
http: {listen: off}
log: {level: error}
lanes: 1
)yaml" + more);
  }

  std::filesystem::path folder_;
};

TEST_F(Program, EndsWithTwoOnWrongUsage) {
  EXPECT_EQ(frazil({}).exit_code, 2);
  EXPECT_EQ(frazil({"fly"}).exit_code, 2);
  EXPECT_EQ(frazil({"run"}).exit_code, 2);
  EXPECT_EQ(frazil({"options", "--format", "html"}).exit_code, 2);
  EXPECT_EQ(frazil({"run", pipeline(), "--duration", "soon"}).exit_code, 2);
  EXPECT_EQ(frazil({"run", pipeline(), "--accept", "SOURCE_GAP"}).exit_code, 2);
}

TEST_F(Program, HelpsOnStdout) {
  const Outcome help = frazil({"run", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--until-caught-up"));
  EXPECT_EQ(help.err, "");
  EXPECT_THAT(frazil({"completion", "bash"}).out, HasSubstr("complete -F _frazil frazil"));
  EXPECT_TRUE(nlohmann::json::accept(frazil({"version", "--json"}).out));
}

TEST_F(Program, NamesTheNearestCommandAndItsVersion) {
  const Outcome wrong = frazil({"validat", "p.yaml"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown command \"validat\", nearest is \"validate\""));
  const Outcome version = frazil({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out, frazil({"version"}).out);
}

TEST_F(Program, WorksOnACatalogByHand) {
  const std::string catalog = write("catalog.yaml", "{type: sqlite, uri: catalog.db, warehouse: warehouse}\n");
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "catalog");
    words.insert(words.end(), {"--catalog", catalog});
    return frazil(words);
  };
  EXPECT_EQ(run({"create-namespace", "shop"}).out, "created namespace shop\n");
  EXPECT_EQ(run({"create-namespace", "shop"}).exit_code, 1);
  EXPECT_EQ(run({"create-table", "shop.a", "--schema", "[{name: id, type: lnog}]"}).exit_code, 2);
  const Outcome created = run({"create-table", "shop.a", "--schema", "[{name: id, type: long}]", "--property", "x=y"});
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_EQ(run({"tables", "--json"}).out, "[\n  \"shop.a\"\n]\n");
  EXPECT_EQ(run({"properties", "shop.a", "--set", "z=1", "--remove", "x"}).out, "z=1\n");
  EXPECT_THAT(run({"show", "shop.a"}).out, HasSubstr("partitioned no"));
  ASSERT_NE(std::freopen("/dev/null", "r", stdin), nullptr);  // nobody can be asked
  const Outcome asked = run({"drop", "shop.a"});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_THAT(asked.err, HasSubstr("--yes"));
  EXPECT_EQ(run({"tables"}).out, "shop.a\n");
  EXPECT_EQ(run({"drop", "shop.a", "--yes"}).exit_code, 0);
  EXPECT_EQ(run({"tables"}).out, "");
}

TEST_F(Program, TakesThePipelineFileForItsCatalog) {
  const std::string path = pipeline();
  EXPECT_EQ(frazil({"run", path, "--until-caught-up"}).exit_code, 0);
  EXPECT_EQ(frazil({"catalog", "tables", "--catalog", path}).out, "shop.orders\n");
  EXPECT_EQ(frazil({"catalog", "tables", "--catalog", path, "--pipeline", "other"}).exit_code, 2);
  EXPECT_EQ(frazil({"catalog", "tables", "--file", path}).out, "shop.orders\n");
  for (const char* flag : {"--file", "--catalog"}) {
    EXPECT_THAT(frazil({"inspect", "shop.orders", flag, path}).out, HasSubstr("500 rows"));
    EXPECT_THAT(frazil({"rewind", "shop.orders", flag, path, "--to", "snapshot:1"}).err, HasSubstr("has no snapshot 1"));
  }
}

TEST_F(Program, ReadsTheFileOfACatalogOnce) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& text : {std::string("{type: sqlite, uri: catalog.db, warehouse: warehouse}\n"), read(pipeline())}) {
    if (fork() == 0) {
      std::ofstream(pipe) << text;
      _exit(0);
    }
    const Outcome tables = frazil({"catalog", "tables", "--file", pipe});
    EXPECT_EQ(tables.exit_code, 0) << tables.err;
    wait(nullptr);
  }
}

TEST_F(Program, RefusesToSpoilRecordsOfAForeignSchema) {
  const std::string schema = write("s.avsc", R"({"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"}]})");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--bad", "1"}, {"--shuffle-keys"}}) {
    std::vector<std::string> words{"generate", "--bootstrap-servers", "127.0.0.1:1", "--topic", "t", "--schema", schema};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome refused = frazil(words);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(more[0]));
  }
}

TEST_F(Program, ValidatesWithPlacesOnStderr) {
  EXPECT_EQ(frazil({"validate", pipeline()}).exit_code, 0);
  const std::string path = pipeline("lanez: 2\n");
  const Outcome wrong = frazil({"validate", path});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(wrong.err, path + ":10:1: unknown key \"lanez\", nearest known key \"lanes\"\n");
  const auto json = nlohmann::json::parse(frazil({"validate", path, "--json"}).out);
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["problems"][0]["line"], 10);
}

TEST_F(Program, EndsWithOneWhenItsOutputIsLost) {
  // A child: what was lost is remembered for the rest of the process, and stdout is gone for good.
  const auto into_full_disk = [this] {
    if (std::freopen("/dev/full", "w", stdout) == nullptr) _exit(99);
    const std::string path = pipeline();
    const char* argv[] = {"frazil", "validate", path.c_str()};
    _exit(run_program(3, argv));
  };
  EXPECT_EXIT(into_full_disk(), testing::ExitedWithCode(1), "cannot write to stdout: No space left on device");
}

TEST_F(Program, RunsAPipelineOnceAndInspectsItsTable) {
  const std::string path = pipeline();
  const Outcome first = frazil({"run", path, "--until-caught-up", "--json"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  int64_t rows = 0;
  std::istringstream lines(first.out);
  nlohmann::json event;
  for (std::string line; std::getline(lines, line);) {
    event = nlohmann::json::parse(line);
    if (event["event"] == "commit") rows += event["rows"].get<int64_t>();
  }
  EXPECT_EQ(event["event"], "summary");
  EXPECT_EQ(event["state"], "ended");
  EXPECT_EQ(rows, 500);

  const Outcome second = frazil({"run", path, "--until-caught-up"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("0 rows in 0 commits"));

  const auto report = nlohmann::json::parse(frazil({"inspect", path, "--json"}).out);
  int64_t rows_in_files = 0;
  for (const auto& file : report["files"]) rows_in_files += file["rows"].get<int64_t>();
  EXPECT_EQ(rows_in_files, 500);
  EXPECT_EQ(report["partition_spec"][0], "bucket(4, id)");
  EXPECT_EQ(report["pipelines"][0]["name"], "made_up");
  EXPECT_EQ(report["pipelines"][0]["holds"], true);

  const std::string catalog = write("catalog.yaml", "{type: sqlite, uri: catalog.db, warehouse: warehouse}\n");
  EXPECT_THAT(frazil({"inspect", "shop.orders", "--catalog", catalog}).out, HasSubstr("500 rows"));
  EXPECT_THAT(frazil({"inspect", report["metadata_location"].get<std::string>()}).out, HasSubstr("500 rows"));
  EXPECT_EQ(frazil({"inspect", "shop.nothing", "--catalog", catalog}).exit_code, 1);
}

TEST_F(Program, FailsWhenTheTableIsMissingAndMayNotBeCreated) {
  const std::string path = write("p.yaml", R"(name: made_up
source: {generator: {records: 5}}
table: {name: shop.orders, catalog: {type: sqlite, uri: c.db, warehouse: w}}
http: {listen: off}
log: {level: error}
connect_timeout: 1s
)");
  const Outcome run = frazil({"run", path, "--until-caught-up", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("shop.orders"));
  EXPECT_THAT(run.out, HasSubstr("\"state\":\"failed\""));
}

TEST_F(Program, SaysAtOnceAndOnceThatTheCatalogIsNotReached) {
  const std::string path = write("p.yaml", R"(name: made_up
source: {generator: {records: 5}}
table: {name: shop.orders, catalog: {type: rest, uri: "http://127.0.0.1:1", warehouse: w}}
http: {listen: off}
connect_timeout: 1s
)");
  const Outcome run = frazil({"run", path});
  EXPECT_EQ(run.exit_code, 1);
  const size_t at = run.err.find("start_again");
  ASSERT_NE(at, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("start_again", at + 1), std::string::npos) << run.err;
  EXPECT_THAT(run.err, HasSubstr("http://127.0.0.1:1: "));
  EXPECT_THAT(run.err, testing::Not(HasSubstr("http://127.0.0.1:1: http://127.0.0.1:1")));
}

TEST_F(Program, EndsWhenTheDurationIsOver) {
  const std::string path = pipeline();
  const Outcome run = frazil({"run", path, "--duration", "1s", "--set", "source.generator.records=0", "--set",
                              "source.generator.rate=100", "--set", "commit.interval=100ms"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("pipeline made_up ended"));
}

}  // namespace
}  // namespace frazil::app
