#include "iceberg/catalogs/rest_settings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace frazil::iceberg {
namespace {

using base::Code;
using PropertyMap = std::map<std::string, std::string>;

RestSettings settled(const std::string& json, const PropertyMap& ours = {}) {
  auto settings = settle("https://c.example/api/v1/", ours, json);
  EXPECT_TRUE(settings.ok()) << settings.error().message();
  return settings.ok() ? *settings : RestSettings{};
}

TEST(RestSettings, FindsTheBaseOfEveryWayToWriteAUri) {
  for (const char* uri : {"https://c/api", "https://c/api/", "https://c/api/v1", "https://c/api/v1/", "https://c/api//v1//"})
    EXPECT_EQ(rest_base(uri), "https://c/api") << uri;
  EXPECT_EQ(rest_base("http://127.0.0.1:8181"), "http://127.0.0.1:8181");
}

TEST(RestSettings, LaysDefaultsUnderOursAndOverridesOver) {
  const RestSettings settings = settled(
      R"({"defaults":{"s3.region":"default","prefix":"default","rest-page-size":"5"},"overrides":{"prefix":"forced","s3.endpoint":"https://s3"}})",
      {{"s3.region", "ours"}, {"prefix", "ours"}, {"s3.endpoint", "https://ours"}});
  EXPECT_EQ(settings.store.at("s3.region"), "ours");
  EXPECT_EQ(settings.store.at("s3.endpoint"), "https://ours") << "an endpoint that is named here holds";
  EXPECT_EQ(settings.prefix, "forced");
  EXPECT_EQ(settings.page_size, 5);
}

TEST(RestSettings, FollowsAServerOnlyWithinTheAllowList) {
  const RestSettings settings = settled(R"({"defaults":{"header.X-A":"1","io-impl":"x"},"overrides":{"uri":"https://evil","oauth2-server-uri":"https://evil",
      "header.Authorization":"Bearer x","header.host":"evil","gcs.credentials-file":"/etc/passwd","s3.instance-metadata":"true","token":"x"}})");
  EXPECT_EQ(settings.base, "https://c.example/api");
  EXPECT_EQ(settings.headers, (net::HttpHeaders{{"X-A", "1"}}));
  EXPECT_TRUE(settings.store.empty());
  for (const char* name : {"uri", "oauth2-server-uri", "header.Authorization", "header.host", "gcs.credentials-file", "s3.instance-metadata", "io-impl"})
    EXPECT_NE(std::find(settings.not_followed.begin(), settings.not_followed.end(), name), settings.not_followed.end()) << name;
}

TEST(RestSettings, RefusesWhatMakesNoSense) {
  for (const char* json : {"<html>", "", "[]", R"({"overrides":{"prefix":"../admin"}})", R"({"overrides":{"namespace-separator":"%zz"}})",
                           R"({"overrides":{"namespace-separator":""}})", R"({"overrides":{"rest-page-size":"0"}})",
                           "{\"overrides\":{\"header.X\":\"a\\r\\nb\"}}", R"({"overrides":{"prefix":"a\nb"}})",
                           R"({"overrides":{"prefix":"a%20b?c"}})"})
    EXPECT_EQ(settle("https://c", {}, json).error().code(), Code::kInvalid) << json;
}

TEST(RestSettings, MakesPathsThatMeanWhatWasNamed) {
  const RestSettings plain = settled("{}");
  EXPECT_EQ(plain.namespaces(), "/v1/namespaces");
  EXPECT_EQ(plain.table({{"a", "b c"}, "t/x?"}), "/v1/namespaces/a%1Fb%20c/tables/t%2Fx%3F");
  const RestSettings prefixed = settled(R"({"overrides":{"prefix":"projects/p/catalogs/my c","namespace-separator":"%2E"}})");
  EXPECT_EQ(prefixed.table({{"a", "b"}, "t"}), "/v1/projects/p/catalogs/my%20c/namespaces/a%2Eb/tables/t");
  EXPECT_EQ(prefixed.rename(), "/v1/projects/p/catalogs/my%20c/tables/rename");
  EXPECT_EQ(prefixed.transactions(), "/v1/projects/p/catalogs/my%20c/transactions/commit");
  EXPECT_EQ(settled(R"({"overrides":{"namespace-separator":"."}})").joined({"a", "b"}), "a.b");
  EXPECT_EQ(settled("{\"overrides\":{\"namespace-separator\":\"\\u001f\"}}").joined({"a", "b"}), "a%1Fb");
}

TEST(RestSettings, KnowsWhatTheServerOffers) {
  const RestSettings listed = settled(R"({"endpoints":["GET /v1/{prefix}/namespaces","POST v1/{prefix}/tables/rename"],"idempotency-key-lifetime":"PT30M"})");
  EXPECT_TRUE(listed.require("GET /v1/{prefix}/namespaces").ok());
  EXPECT_TRUE(listed.offers("POST /v1/{prefix}/tables/rename"));
  const base::Status missing = listed.require("POST /v1/{prefix}/transactions/commit");
  EXPECT_EQ(missing.error().code(), Code::kUnsupported);
  EXPECT_NE(missing.error().message().find("transactions/commit"), std::string::npos);
  EXPECT_TRUE(listed.has_idempotency_keys);
  const RestSettings silent = settled("{}");
  EXPECT_TRUE(silent.offers("POST /v1/{prefix}/transactions/commit"));
  EXPECT_FALSE(silent.offers("GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"));
  EXPECT_FALSE(silent.has_idempotency_keys);
}

TEST(RestSettings, TakesOnlyStorePropertiesOfATable) {
  EXPECT_EQ(store_properties_from_server({{"s3.access-key-id", "k"}, {"expiration-time", "1"}, {"s3.sts-endpoint", "http://169.254.169.254"}}),
            (io::StoreProperties{{"s3.access-key-id", "k"}}));
}

TEST(RestSettings, SendsOurCredentialsToNoEndpointThatOnlyTheServerNames) {
  const std::string config = R"({"defaults": {}, "overrides": {"s3.endpoint": "http://127.0.0.1:1", "gcs.service.host": "http://127.0.0.1:2"}})";
  const auto with_keys = settle("https://c", {{"s3.access-key-id", "ours"}, {"gcs.oauth2.token", "ours"}}, config);
  ASSERT_TRUE(with_keys.ok());
  EXPECT_FALSE(with_keys->store.contains("s3.endpoint"));
  EXPECT_FALSE(with_keys->store.contains("gcs.service.host"));
  EXPECT_EQ(with_keys->store.at("gcs.oauth2.token"), "ours");
  const auto pinned = settle("https://c", {{"s3.endpoint", "https://ours"}}, config);
  ASSERT_TRUE(pinned.ok());
  EXPECT_EQ(pinned->store.at("s3.endpoint"), "https://ours");
}

TEST(RestSettings, FollowsAnEndpointThatComesWithItsOwnCredentials) {
  const auto settings = settle("https://c", {{"s3.access-key-id", "ours"}, {"s3.session-token", "ours"}},
                               R"({"overrides": {"s3.endpoint": "https://theirs", "s3.access-key-id": "a", "s3.secret-access-key": "b"}})");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->store.at("s3.endpoint"), "https://theirs");
  EXPECT_EQ(settings->store.at("s3.access-key-id"), "a");
  EXPECT_FALSE(settings->store.contains("s3.session-token"));
}

}  // namespace
}  // namespace frazil::iceberg
