#include "io/scheme_file_io.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "tests/conformance/result_matchers.h"
#include "tests/conformance/scratch_folder.h"
#include "tests/conformance/scripted_gcs.h"
#include "tests/conformance/scripted_s3.h"
#include "tests/net/raw_server.h"

namespace frazil::io {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::Fate;
using conformance::is_ok;
using conformance::ScratchFolder;
using conformance::ScriptedS3;

std::string header_of(const net::HttpRequest& request, const std::string& name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return "";
}

// A store that takes any key, and who signed each request, by its line.
struct Bench {
  Bench() {
    store->accepts_any_key = true;
    store->script = [this](const std::string& line, const net::HttpRequest& request, int) {
      authorization[line] = header_of(request, "authorization");
      session[line] = header_of(request, "x-amz-security-token");
      return Fate{};
    };
    config.properties = keys("ours");
    config.properties["s3.endpoint"] = "https://store.example";
    config.options.http = store;
  }
  static StoreProperties keys(const std::string& key) { return {{"s3.access-key-id", key}, {"s3.secret-access-key", "secret"}}; }
  bool was_signed_by(const std::string& line, const std::string& key) {
    return authorization[line].find("Credential=" + key + "/") != std::string::npos;
  }
  std::shared_ptr<ScriptedS3> store = std::make_shared<ScriptedS3>();
  std::map<std::string, std::string> authorization, session;
  SchemeFileIOConfig config;
};

TEST(SchemeFileIO, PicksTheStoreByScheme) {
  Bench bench;
  ScratchFolder folder;
  const auto io = make_scheme_file_io(bench.config);
  EXPECT_TRUE(is_ok(write_file(*io, folder.uri() + "/f", "local")));
  EXPECT_TRUE(is_ok(write_file(*io, "s3a://lake/f", "remote")));
  EXPECT_EQ(*io->read(folder.uri() + "/f"), "local");
  EXPECT_EQ(bench.store->objects().at("lake/f"), "remote");
  EXPECT_EQ(*io->read("s3://lake/f"), "remote");
  const auto unknown = io->read("abfs://lake/f");
  EXPECT_TRUE(fails_with(unknown, Code::kUnsupported));
  EXPECT_NE(unknown.error().message().find("'abfs'"), std::string::npos) << unknown.error().message();
}

TEST(SchemeFileIO, KeepsLocalFilesWithinTheirRoots) {
  Bench bench;
  ScratchFolder inside, outside;
  bench.config.local_is_restricted = true;
  bench.config.allowed_roots = {inside.uri()};
  const auto io = make_scheme_file_io(bench.config);
  EXPECT_TRUE(is_ok(write_file(*io, inside.uri() + "/f", "x")));
  EXPECT_TRUE(fails_with(write_file(*io, outside.uri() + "/f", "x"), Code::kInvalid));
  EXPECT_TRUE(fails_with(io->read("/etc/hostname"), Code::kInvalid));
  bench.config.allowed_roots = {};
  EXPECT_TRUE(fails_with(make_scheme_file_io(bench.config)->read(inside.uri() + "/f"), Code::kInvalid)) << "nowhere at all";
  bench.config.local_is_restricted = false;
  EXPECT_TRUE(is_ok(make_scheme_file_io(bench.config)->read(inside.uri() + "/f")));
}

TEST(SchemeFileIO, SignsWithTheKeysOfTheLongestPrefix) {
  Bench bench;
  const auto io = make_scheme_file_io(bench.config);
  ASSERT_TRUE(is_ok(io->set_prefix("s3://lake/db", Bench::keys("database"), {})));
  ASSERT_TRUE(is_ok(io->set_prefix("s3://lake/db/orders/", Bench::keys("orders"), {})));
  for (const char* name : {"f", "db/f", "db/orders/f", "db/orders2/f", "dbx/f"}) {
    EXPECT_TRUE(is_ok(write_file(*io, "s3://lake/" + std::string(name), "x")));
  }
  EXPECT_TRUE(bench.was_signed_by("PUT /lake/f", "ours"));
  EXPECT_TRUE(bench.was_signed_by("PUT /lake/db/f", "database"));
  EXPECT_TRUE(bench.was_signed_by("PUT /lake/db/orders/f", "orders"));
  EXPECT_TRUE(bench.was_signed_by("PUT /lake/db/orders2/f", "database"));
  EXPECT_TRUE(bench.was_signed_by("PUT /lake/dbx/f", "ours"));
  EXPECT_TRUE(is_ok(io->read("s3a://lake/db/orders/f")));
  EXPECT_TRUE(bench.was_signed_by("GET /lake/db/orders/f", "orders")) << "one store under three schemes";
  EXPECT_TRUE(is_ok(io->remove_all({"s3://lake/f", "s3://lake/db/f", "s3://lake/db/orders/f"})));
  EXPECT_EQ(bench.store->objects().size(), 2u);
}

TEST(SchemeFileIO, TakesNewKeysForAPrefix) {
  Bench bench;
  const auto io = make_scheme_file_io(bench.config);
  ASSERT_TRUE(is_ok(io->set_prefix("s3://lake/t", Bench::keys("first"), {})));
  EXPECT_TRUE(is_ok(write_file(*io, "s3://lake/t/1", "x")));
  const auto growing = *io->create("s3://lake/t/2");
  ASSERT_TRUE(is_ok(io->set_prefix("s3://lake/t", Bench::keys("second"), {})));
  EXPECT_TRUE(is_ok(growing->close()));
  EXPECT_TRUE(is_ok(write_file(*io, "s3://lake/t/3", "x")));
  EXPECT_TRUE(bench.was_signed_by("PUT /lake/t/2", "first")) << "an open file keeps its store";
  EXPECT_TRUE(bench.was_signed_by("PUT /lake/t/3", "second"));
}

TEST(SchemeFileIO, RenewsKeysThatTheStoreRefuses) {
  Bench bench;
  bench.store->accepts_any_key = false;
  bench.store->wanted_key = "renewed";
  const auto io = make_scheme_file_io(bench.config);
  int renewals = 0;
  StoreProperties vended = Bench::keys("vended");
  vended["s3.session-token"] = "token-1";
  ASSERT_TRUE(is_ok(io->set_prefix("s3://lake/t", vended, [&]() -> base::Result<StoreProperties> {
    ++renewals;
    StoreProperties fresh = Bench::keys("renewed");
    fresh["s3.session-token"] = "token-2";
    return fresh;
  })));
  EXPECT_TRUE(is_ok(write_file(*io, "s3://lake/t/f", "x")));
  EXPECT_EQ(renewals, 1);
  EXPECT_EQ(bench.session["PUT /lake/t/f"], "token-2");
}

TEST(SchemeFileIO, NamesThePropertyThatIsWrong) {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"s3.path-style-access", "yes"},
                                                                      {"s3.anonymous", "1"},
                                                                      {"s3.multipart.size", "1048576"},
                                                                      {"s3.upload-threads", "0"},
                                                                      {"s3.retry-total-ms", "-1"},
                                                                      {"s3.request-timeout-ms", "1s"},
                                                                      {"s3.connect-timeout-ms", ""},
                                                                      {"s3.session-token-expires-at-ms", "soon"},
                                                                      {"s3.endpoint", "store.example:9000"}}) {
    Bench bench;
    bench.config.properties[name] = value;
    bench.config.options.http = name == "s3.connect-timeout-ms" ? nullptr : bench.config.options.http;
    const auto read = make_scheme_file_io(bench.config)->read("s3://lake/f");
    EXPECT_TRUE(fails_with(read, Code::kInvalid)) << name;
    EXPECT_NE(read.error().message().find(name), std::string::npos) << read.error().message();
    EXPECT_TRUE(is_store_property(name)) << name;
  }
}

TEST(StoreProperties, TakeTokensOfGooglesMetadataServerOnlyWhenAsked) {
  net::RawServer metadata([](net::RawConnection& connection) {
    while (const auto received = connection.read_request()) {
      EXPECT_NE(received->find("Metadata-Flavor: Google"), std::string::npos) << *received;
      connection.answer(R"({"access_token":"token-1","expires_in":3600})");
    }
  });
  setenv("GCE_METADATA_HOST", ("127.0.0.1:" + std::to_string(metadata.port())).c_str(), 1);
  unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
  StoreOptions options;
  const auto store = std::make_shared<conformance::ScriptedGcs>();
  store->wanted_token = "token-1";
  options.http = store;
  EXPECT_TRUE(fails_with(make_file_io("gs", {}, options), Code::kInvalid));
  EXPECT_EQ(metadata.connections(), 0);
  const auto io = make_file_io("gs", {{"gcs.instance-metadata", "true"}}, options);
  ASSERT_TRUE(is_ok(io));
  EXPECT_TRUE(is_ok(write_file(**io, "gs://lake/f", "x")));
  EXPECT_EQ(metadata.connections(), 1);
  unsetenv("GCE_METADATA_HOST");
}

TEST(StoreProperties, AskForBothKeysOrNone) {
  Bench bench;
  bench.config.properties.erase("s3.secret-access-key");
  EXPECT_TRUE(fails_with(make_scheme_file_io(bench.config)->read("s3://lake/f"), Code::kInvalid));
  bench.config.properties["s3.anonymous"] = "true";
  bench.store->accepts_any_key = true;
  bench.store->put("lake/f", "x");
  EXPECT_TRUE(is_ok(make_scheme_file_io(bench.config)->read("s3://lake/f")));
  EXPECT_EQ(bench.authorization["GET /lake/f"], "") << "anonymous";
}

TEST(StoreProperties, ChooseAddressingAndRegion) {
  const auto url_with = [](StoreProperties more) {
    Bench bench;
    std::string url;
    bench.store->script = [&](const std::string&, const net::HttpRequest& request, int) {
      url = request.url + " " + header_of(request, "authorization").substr(0, 80);
      return Fate{Fate::Kind::kRefused, 403, "AccessDenied"};
    };
    for (auto& [name, value] : more) bench.config.properties[name] = value;
    EXPECT_FALSE(make_scheme_file_io(bench.config)->stat("s3://lake/f").ok());
    return url;
  };
  EXPECT_TRUE(url_with({{"s3.region", "eu-west-9"}}).starts_with("https://store.example/lake/f "));
  EXPECT_NE(url_with({{"s3.region", "eu-west-9"}, {"client.region", "x"}}).find("/eu-west-9/s3/aws4_request"), std::string::npos);
  EXPECT_NE(url_with({{"client.region", "eu-west-8"}}).find("/eu-west-8/s3/aws4_request"), std::string::npos);
  EXPECT_TRUE(url_with({{"s3.path-style-access", "false"}}).starts_with("https://lake.store.example/f "));
  EXPECT_TRUE(url_with({{"s3.force-virtual-addressing", "true"}}).starts_with("https://lake.store.example/f "));
  EXPECT_EQ(url_with({{"s3.force-virtual-addressing", "true"}, {"s3.path-style-access", "true"}}), "") << "they exclude each other";
}

TEST(StoreProperties, KnowWhichAreSecrets) {
  EXPECT_TRUE(is_secret_store_property("s3.secret-access-key"));
  EXPECT_TRUE(is_secret_store_property("s3.session-token"));
  EXPECT_TRUE(is_secret_store_property("gcs.oauth2.token"));
  EXPECT_FALSE(is_secret_store_property("s3.access-key-id"));
  EXPECT_FALSE(is_store_property("s3.acces-key-id"));
}

TEST(StoreProperties, NameWhatIsMissingForGoogle) {
  const auto made = make_file_io("gs", {}, {});
  EXPECT_TRUE(fails_with(made, Code::kInvalid));
  EXPECT_NE(made.error().message().find("gcs.credentials-file"), std::string::npos);
  EXPECT_TRUE(is_ok(make_file_io("gs", {{"gcs.no-auth", "true"}}, {})));
  EXPECT_TRUE(fails_with(make_file_io("gs", {{"gcs.no-auth", "maybe"}}, {}), Code::kInvalid));
}

TEST(SchemeFileIO, PutsNoTableIntoTheMemoryOfTheProcess) {
  const auto io = make_scheme_file_io({});
  EXPECT_EQ(io->create("memory://x/y").error().code(), base::Code::kInvalid);
  EXPECT_EQ(io->set_prefix("memory://q", {}, {}).error().code(), base::Code::kInvalid);
}

}  // namespace
}  // namespace frazil::io
