#include "io/s3/s3_xml.h"

#include <gtest/gtest.h>

#include "tests/conformance/result_matchers.h"

namespace frazil::io {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::is_ok;

TEST(S3Xml, ReadsErrorsOfAnyBody) {
  const S3Error error = read_s3_error(
      "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>no\nway</Message><Region>eu-west-1</Region><StringToSign>secret</StringToSign></Error>");
  EXPECT_EQ(error.code, "AccessDenied");
  EXPECT_EQ(error.message, "no way");
  EXPECT_EQ(error.region, "eu-west-1");
  for (const char* body : {"", "<html><body>502</body></html>", "<Error", "{\"Code\": \"x\"}", "\xFF\xFE"}) {
    EXPECT_EQ(read_s3_error(body).code, "") << body;
  }
  EXPECT_LE(read_s3_error("<Error><Code>c</Code><Message>" + std::string(5000, 'm') + "</Message></Error>").message.size(), 300u);
}

TEST(S3Xml, LeavesSecretsOutOfErrors) {
  const auto message = [](const std::string& words) {
    return read_s3_error("<Error><Code>c</Code><Message>" + words + "</Message></Error>", {"secret/key", "canary&token=="}).message;
  };
  EXPECT_EQ(message("x-amz-security-token: other Authorization: AWS4-HMAC-SHA256 Credential=k, Signature=ab"),
            "x-amz-security-token: *** Authorization: AWS4-HMAC-SHA256 Credential=k, Signature=***");
  EXPECT_EQ(message("got canary&amp;token== or canary%26token%3d%3D or secret/key"), "got *** or *** or ***");
  for (size_t before = 280; before < 300; ++before) {
    EXPECT_EQ(message(std::string(before, 'm') + "canary&amp;token==").find("can"), std::string::npos) << "not even its half at the cut";
  }
}

TEST(S3Xml, ReadsListsWithKeysAsTheStoreWroteThem) {
  const auto page = read_s3_list(
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<Contents><Key>a+b%2Bc%25</Key><LastModified>2026-01-31T12:34:56.789Z</LastModified><Size>7</Size></Contents>"
      "<NextContinuationToken>t+/=</NextContinuationToken></ListBucketResult>");
  ASSERT_TRUE(is_ok(page));
  ASSERT_EQ(page->files.size(), 1u);
  EXPECT_EQ(page->files[0].key, "a b+c%");
  EXPECT_EQ(page->files[0].bytes, 7);
  EXPECT_EQ(page->files[0].modified_millis, 1'769'862'896'000);
  EXPECT_EQ(page->next, "t+/=");
  const auto plain = read_s3_list("<ListBucketResult><Contents><Key> a+b%2B&amp; </Key><Size>0</Size></Contents></ListBucketResult>");
  ASSERT_TRUE(is_ok(plain));
  EXPECT_EQ(plain->files[0].key, " a+b%2B& ");
  EXPECT_EQ(plain->next, "");
}

TEST(S3Xml, RefusesListsThatAreNone) {
  for (const char* body : {"", "<html/>", "<ListBucketResult><Contents><Key>a</Key><Size>x</Size></Contents></ListBucketResult>",
                           "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
                           "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%2</Key><Size>1</Size></Contents></ListBucketResult>",
                           "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"}) {
    EXPECT_TRUE(fails_with(read_s3_list(body), Code::kCorrupt)) << body;
  }
}

TEST(S3Xml, WritesWhatXmlWouldMisread) {
  EXPECT_EQ(write_s3_delete({"a<b>&\"\r\n"}),
            "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet><Object><Key>a&lt;b&gt;&amp;&quot;&#13;&#10;</Key></Object></Delete>");
  EXPECT_TRUE(fits_into_xml("\t\r\n <ä>"));
  EXPECT_FALSE(fits_into_xml("\x01"));
  EXPECT_FALSE(fits_into_xml("\x1F"));
  EXPECT_FALSE(fits_into_xml("\xEF\xBF\xBF"));
}

TEST(S3Xml, NumbersPartsFromOne) {
  EXPECT_EQ(write_s3_parts({{"\"e\"", 0, 1}}),
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Part><PartNumber>1</PartNumber><ETag>&quot;e&quot;</ETag>"
            "<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C></Part></CompleteMultipartUpload>");
}

TEST(S3Xml, ReadsTimes) {
  EXPECT_EQ(parse_s3_time("1970-01-01T00:00:00.999Z"), 0);
  EXPECT_EQ(parse_s3_time("2024-02-29T23:59:59Z"), 1'709'251'199'000);
  EXPECT_EQ(parse_http_time("Sat, 31 Jan 2026 12:34:56 GMT"), 1'769'862'896'000);
  EXPECT_EQ(parse_http_time("Sun, 06 Nov 1994 08:49:37 GMT"), 784'111'777'000);
  for (const char* text : {"", "2026", "2026-13-01T00:00:00Z", "2026-01-31 12:34:56", "xxxx-xx-xxTxx:xx:xxZ"}) {
    EXPECT_EQ(parse_s3_time(text), std::nullopt) << text;
  }
  for (const char* text : {"", "Sat, 31 Foo 2026 12:34:56 GMT", "Sat, 31 Jan 2026 12:34:56 CET"}) {
    EXPECT_EQ(parse_http_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace frazil::io
