#include "net/url.h"

#include <gtest/gtest.h>

namespace frazil::net {
namespace {

TEST(Url, SeesWhereASecretMayStand) {
  for (const char* url : {"https://me:word@host/x", "s3://AKIA:word@bucket", "https://me@host", "https://h/x?access_token=a", "https://h?a=1&API_KEY=b", "https://h/?X-Amz-Signature=c"}) {
    EXPECT_TRUE(may_hold_secret(url)) << url;
  }
  for (const char* url : {"", "word", "me@host", "https://host:1/a@b", "https://host/x?warehouse=lake", "s3://bucket/key", "https://host/token"}) {
    EXPECT_FALSE(may_hold_secret(url)) << url;
  }
}

TEST(Url, ComesApartIntoItsParts) {
  const auto url = parse_url("HTTPS://Lake.Example:8443/a%20b/c?x=1&y=%2F");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "lake.example");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/a%20b/c");
  EXPECT_EQ(url->query, "x=1&y=%2F");
  EXPECT_EQ(url->origin(), "https://lake.example:8443");
}

TEST(Url, FillsInPortAndPath) {
  EXPECT_EQ(parse_url("http://h")->port, 80);
  EXPECT_EQ(parse_url("https://h")->port, 443);
  EXPECT_EQ(parse_url("https://h")->path, "/");
  EXPECT_EQ(parse_url("https://h?q")->path, "/");
  EXPECT_EQ(parse_url("https://h?q")->query, "q");
  EXPECT_EQ(parse_url("https://h:443/x")->origin(), "https://h");
  EXPECT_EQ(parse_url("http://h:443/x")->origin(), "http://h:443");
  EXPECT_EQ(parse_url("http://h:/x")->port, 80);
}

TEST(Url, KeepsThePathAsItIs) {
  EXPECT_EQ(parse_url("http://h/a//b/../c/./%2e%2E/")->path, "/a//b/../c/./%2e%2E/");
}

TEST(Url, TakesIPv6Addresses) {
  const auto url = parse_url("http://[::1]:9000/x");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 9000);
  EXPECT_EQ(url->origin(), "http://[::1]:9000");
}

TEST(Url, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "h",
                           "ftp://h/",
                           "file:///etc/passwd",
                           "http:/h",
                           "http://",
                           "http:///x",
                           "http://u:p@h/",
                           "http://u@h",
                           "http://h:0/",
                           "http://h:65536/",
                           "http://h:x/",
                           "http://h:1:2/",
                           "http://h/a b",
                           "http://h/\n",
                           "http://h/\x7f",
                           "http://h/\xc3\xa4",
                           "http://h/#f",
                           "http://[::1/",
                           "http://[::1]x/",
                           "http://[zz]/",
                           "http://h\\@evil/",
                           "http://h%2f/",
                           "http://*/"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().code(), base::Code::kInvalid) << text;
  }
}

TEST(Url, RefusesPasswordsWithoutRepeatingThem) {
  EXPECT_EQ(parse_url("http://me:s3cr3t@h/").error().message().find("s3cr3t"), std::string::npos);
}

TEST(Url, KnowsLoopback) {
  for (const char* host : {"localhost", "LOCALHOST", "127.0.0.1", "127.255.3.4", "::1"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const char* host : {"128.0.0.1", "localhost.example", "127.0.0.1.example", "::2", "0.0.0.0", "", "10.0.0.1"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(PercentEncoding, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(percent_encode("a b/c%2F+*'()!&=?#\xc3\xa4\n"), "a%20b%2Fc%252F%2B%2A%27%28%29%21%26%3D%3F%23%C3%A4%0A");
  EXPECT_EQ(percent_encode_path("a b//c/../t%20x/"), "a%20b//c/../t%2520x/");
  EXPECT_EQ(percent_encode(std::string("\0", 1)), "%00");
}

}  // namespace
}  // namespace frazil::net
