#include "io/s3/s3_location.h"

#include <gtest/gtest.h>

#include "tests/conformance/result_matchers.h"

namespace frazil::io {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::is_ok;

TEST(S3Location, TakesKeysByteForByte) {
  const auto location = parse_s3_location("s3://lake/a//b%2F c/../é/");
  ASSERT_TRUE(is_ok(location));
  EXPECT_EQ(location->bucket, "lake");
  EXPECT_EQ(location->key, "a//b%2F c/../é/");
  EXPECT_EQ(parse_s3_location("S3A://lake//k")->key, "/k");
  EXPECT_EQ(parse_s3_location("s3n://lake")->key, "");
  EXPECT_EQ(parse_s3_location("s3://lake/")->key, "");
}

TEST(S3Location, RefusesWhatNoStoreCanHold) {
  EXPECT_TRUE(fails_with(parse_s3_location("file:///a"), Code::kUnsupported));
  EXPECT_TRUE(fails_with(parse_s3_location("/a"), Code::kUnsupported));
  EXPECT_TRUE(fails_with(parse_s3_location("s3:/lake/a"), Code::kInvalid));
  EXPECT_TRUE(fails_with(parse_s3_location("s3:///a"), Code::kInvalid));
  EXPECT_TRUE(fails_with(parse_s3_location("s3://user@lake/a"), Code::kInvalid));
  EXPECT_TRUE(fails_with(parse_s3_location("s3://../a"), Code::kInvalid));
  EXPECT_TRUE(fails_with(parse_s3_location("s3://lake/" + std::string(1025, 'k')), Code::kInvalid));
  EXPECT_TRUE(is_ok(parse_s3_location("s3://lake/" + std::string(1024, 'k'))));
  EXPECT_TRUE(fails_with(parse_s3_location(std::string("s3://lake/a\0b", 13)), Code::kInvalid));
  EXPECT_TRUE(fails_with(parse_s3_location("s3://lake/\xFF"), Code::kInvalid));
}

std::string url_of(const std::string& endpoint, bool path_style, const std::string& bucket, const std::string& key, const std::string& query = "") {
  const auto made = S3Endpoint::make(endpoint, "eu-west-1", path_style);
  EXPECT_TRUE(is_ok(made));
  return made.ok() ? made->url(bucket, key, query) : "";
}

TEST(S3Endpoint, AddressesBucketsByHostOrPath) {
  EXPECT_EQ(url_of("", false, "lake", "a b"), "https://lake.s3.eu-west-1.amazonaws.com/a%20b");
  EXPECT_EQ(url_of("", true, "lake", "a"), "https://s3.eu-west-1.amazonaws.com/lake/a");
  EXPECT_EQ(url_of("https://store.example:9000", false, "lake", "", "list-type=2"), "https://lake.store.example:9000/?list-type=2");
  EXPECT_EQ(url_of("https://store.example:9000/", true, "lake", "", "list-type=2"), "https://store.example:9000/lake?list-type=2");
}

TEST(S3Endpoint, AddressesByPathWhatCannotBePartOfAHostName) {
  EXPECT_EQ(url_of("", false, "my.lake", "a"), "https://s3.eu-west-1.amazonaws.com/my.lake/a") << "no certificate covers two labels";
  EXPECT_EQ(url_of("", false, "Lake_1", "a"), "https://s3.eu-west-1.amazonaws.com/Lake_1/a");
  EXPECT_EQ(url_of("http://127.0.0.1:9000", false, "lake", "a"), "http://127.0.0.1:9000/lake/a");
  EXPECT_EQ(url_of("http://[::1]:9000", false, "lake", "a"), "http://[::1]:9000/lake/a");
}

TEST(S3Endpoint, KnowsWhoseDomainARegionIs) {
  EXPECT_EQ(S3Endpoint::make("", "cn-north-1", false)->url("lake", "a"), "https://lake.s3.cn-north-1.amazonaws.com.cn/a");
}

TEST(S3Endpoint, KnowsWhereNothingGuardsAPayload) {
  EXPECT_TRUE(S3Endpoint::make("https://store.example", "r", true)->is_private());
  EXPECT_TRUE(S3Endpoint::make("http://127.0.0.1:9000", "r", true)->is_private());
  EXPECT_FALSE(S3Endpoint::make("http://store.example", "r", true)->is_private());
}

TEST(S3Endpoint, RefusesWhatIsNoOrigin) {
  for (const char* text : {"store.example:9000", "ftp://store.example", "https://store.example/s3", "https://store.example?x=1", "https://"}) {
    EXPECT_TRUE(fails_with(S3Endpoint::make(text, "r", true), Code::kInvalid)) << text;
  }
}

}  // namespace
}  // namespace frazil::io
