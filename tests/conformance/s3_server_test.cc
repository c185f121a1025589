// What only a real S3 server can tell: that our signatures are right, and wrong ones are refused. SeaweedFS checks them; moto does not.
#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "net/url.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/s3_server.h"

namespace frazil::conformance {
namespace {

using base::Code;

class ServedS3 : public testing::TestWithParam<S3Server> {
 protected:
  std::string location(const std::string& name) const { return "s3://" + GetParam().bucket + "/" + root_ + "/" + name; }
  static base::Result<std::string> put_and_read(const io::StoreProperties& properties, const io::StoreOptions& options,
                                                const std::string& location) {
    TRY_ASSIGN(const auto io, io::make_file_io("s3", properties, options));
    TRY(write_file(*io, location, "bytes"));
    return io->read(location);
  }
  const std::string root_ = base::random_uuid();
};

TEST_P(ServedS3, FindsBucketsByHost) {
  io::StoreProperties properties = GetParam().properties();
  const net::Url url = *net::parse_url(GetParam().endpoint);
  properties["s3.endpoint"] = "http://s3.localhost:" + std::to_string(url.port);
  properties["s3.path-style-access"] = "false";
  io::StoreOptions options;
  options.allow_plaintext = true;
  options.allowed_hosts = {GetParam().bucket + ".s3.localhost"};
  EXPECT_EQ(*put_and_read(properties, options, location("by host/a b+c")), "bytes");
  // The other way finds the same object.
  EXPECT_EQ(*(*io::make_file_io("s3", GetParam().properties(), GetParam().options()))->read(location("by host/a b+c")), "bytes");
}

TEST_P(ServedS3, RefusesWrongKeysAndNoKeys) {
  const auto attempt = [&](const std::string& name, const std::string& value) {
    io::StoreProperties properties = GetParam().properties();
    properties[name] = value;
    return put_and_read(properties, GetParam().options(), location("refused"));
  };
  const auto wrong_secret = attempt("s3.secret-access-key", "wrong");
  EXPECT_TRUE(fails_with(wrong_secret, Code::kInvalid));
  EXPECT_NE(wrong_secret.error().message().find("SignatureDoesNotMatch"), std::string::npos) << wrong_secret.error().message();
  EXPECT_EQ(wrong_secret.error().message().find("wrong"), std::string::npos) << "no secret in a message";
  EXPECT_TRUE(fails_with(attempt("s3.access-key-id", "nobody"), Code::kInvalid));
  EXPECT_TRUE(fails_with(attempt("s3.anonymous", "true"), Code::kInvalid));
  EXPECT_TRUE(fails_with(attempt("s3.session-token", "of somebody else"), Code::kInvalid));
}

TEST_P(ServedS3, SaysThatABucketIsMissing) {
  const auto made = put_and_read(GetParam().properties(), GetParam().options(), "s3://no-such-bucket/f");
  EXPECT_TRUE(fails_with(made, Code::kInvalid));
  EXPECT_NE(made.error().message().find("NoSuchBucket"), std::string::npos) << made.error().message();
}

std::vector<S3Server> servers() {
  const auto server = S3Server::of_environment();
  return server && server->checks_signatures() ? std::vector{*server} : std::vector<S3Server>();
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ServedS3);
INSTANTIATE_TEST_SUITE_P(Signatures, ServedS3, testing::ValuesIn(servers()), [](const auto&) { return "SeaweedFS"; });

}  // namespace
}  // namespace frazil::conformance
