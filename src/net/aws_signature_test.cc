// The requests and signatures are those of AWS's documentation ("Signature Calculations for the Authorization Header:
// Transferring Payload in a Single Chunk", Amazon S3 API Reference). What they do not cover was calculated with a few
// lines of Python's hmac.
#include "net/aws_signature.h"

#include <gtest/gtest.h>

#include "net/digest.h"

namespace frazil::net {
namespace {

constexpr int64_t kDay = 1'369'353'600'000;  // 2013-05-24T00:00:00Z

AwsCredentials example_key() {
  AwsCredentials key;
  key.access_key_id = "AKIAIOSFODNN7EXAMPLE";
  key.secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  return key;
}

HttpRequest to(const std::string& method, const std::string& target, HttpHeaders headers = {}) {
  HttpRequest request;
  request.method = method;
  request.url = "https://examplebucket.s3.amazonaws.com" + target;
  request.headers = std::move(headers);
  return request;
}

std::string header(const HttpRequest& request, const std::string& name) {
  std::string found;
  for (const auto& [key, value] : request.headers) {
    if (key == name) found += found.empty() ? value : "|" + value;
  }
  return found;
}

std::string signature(HttpRequest request, const std::string& payload_hash) {
  sign(request, example_key(), {"us-east-1", "s3", false}, payload_hash, kDay);
  const std::string authorization = header(request, "authorization");
  return authorization.substr(authorization.rfind('=') + 1);
}

TEST(AwsSignature, IsThatOfThePublishedExamples) {
  EXPECT_EQ(signature(to("GET", "/test.txt", {{"Range", "bytes=0-9"}}), sha256_hex("")),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(signature(to("PUT", "/test%24file.text",
                         {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}),
                      sha256_hex("Welcome to Amazon S3.")),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  EXPECT_EQ(signature(to("GET", "/?lifecycle"), sha256_hex("")),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(signature(to("GET", "/?max-keys=2&prefix=J"), sha256_hex("")),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(AwsSignature, NamesKeyScopeAndHeaders) {
  HttpRequest request = to("GET", "/test.txt", {{"Range", "bytes=0-9"}});
  sign(request, example_key(), {"us-east-1", "s3", false}, sha256_hex(""), kDay);
  EXPECT_EQ(header(request, "authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(header(request, "host"), "examplebucket.s3.amazonaws.com");
  EXPECT_EQ(header(request, "x-amz-date"), "20130524T000000Z");
  EXPECT_EQ(header(request, "x-amz-security-token"), "");
}

TEST(AwsSignature, SortsTheQueryAndJoinsWhatIsRepeated) {
  EXPECT_EQ(signature(to("GET", "/?prefix=J&max-keys=2"), sha256_hex("")),
            signature(to("GET", "/?max-keys=2&prefix=J"), sha256_hex("")));
  EXPECT_EQ(signature(to("GET", "/?lifecycle="), sha256_hex("")), signature(to("GET", "/?lifecycle"), sha256_hex("")));
  EXPECT_EQ(signature(to("GET", "/", {{"A", "1"}, {"a", " 2   3 "}}), sha256_hex("")),
            signature(to("GET", "/", {{"a", "1,2 3"}}), sha256_hex("")));
}

TEST(AwsSignature, SignsTheSessionTokenAndThePort) {
  AwsCredentials key = example_key();
  key.session_token = "token/+=";
  HttpRequest request;
  request.url = "http://127.0.0.1:8333/bucket/a%20b%2Fc?list-type=2";
  sign(request, key, {"eu-west-1", "s3", false}, kUnsignedPayload, kDay);
  EXPECT_EQ(header(request, "host"), "127.0.0.1:8333");
  EXPECT_EQ(header(request, "x-amz-security-token"), "token/+=");
  const std::string authorization = header(request, "authorization");
  EXPECT_NE(authorization.find("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"),
            std::string::npos);
  EXPECT_EQ(authorization.substr(authorization.rfind('=') + 1),
            "280269cc799733e3cd56355ab417529247a36f34fbeb2801049e329393970f4c");
}

TEST(AwsSignature, EncodesPathsOfOtherServicesTwice) {
  HttpRequest request;
  request.method = "POST";
  request.url = "https://glue.us-east-1.amazonaws.com/iceberg/./v1//namespaces/a%1Fb/x/../tables";
  sign(request, example_key(), {"us-east-1", "glue", true}, sha256_hex("{}"), kDay);
  const std::string authorization = header(request, "authorization");
  EXPECT_EQ(authorization.substr(authorization.rfind('=') + 1),
            "8384b38bfea95c7e6f626ebe3b69b0a27b1ddc790035fa6b387124b11003abb2");
}

TEST(AwsSignature, ReplacesTheOneOfAnEarlierTry) {
  HttpRequest request = to("GET", "/test.txt", {{"Range", "bytes=0-9"}});
  AwsCredentials old_key = example_key();
  old_key.session_token = "old";
  sign(request, old_key, {"us-east-1", "s3", false}, kUnsignedPayload, kDay - 1000);
  sign(request, example_key(), {"us-east-1", "s3", false}, sha256_hex(""), kDay);
  EXPECT_EQ(request.headers.size(), 5u);
  EXPECT_NE(header(request, "authorization").find("f0e8bdb87c964420"), std::string::npos);
}

TEST(AwsSignature, LeavesAnonymousRequestsAlone) {
  HttpRequest request = to("GET", "/test.txt");
  sign(request, AwsCredentials(), {"us-east-1", "s3", false}, sha256_hex(""), kDay);
  EXPECT_TRUE(request.headers.empty());
}

TEST(Digest, IsThatOfThePublishedExamples) {
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2.
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  // RFC 4648 section 10, in the URL alphabet.
  EXPECT_EQ(base64_url(""), "");
  EXPECT_EQ(base64_url("f"), "Zg");
  EXPECT_EQ(base64_url("fo"), "Zm8");
  EXPECT_EQ(base64_url("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_url("\xfb\xff\xfe"), "-__-");
}

}  // namespace
}  // namespace frazil::net
