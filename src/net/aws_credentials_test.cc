// The servers here are fakes of ours, written after AWS's documentation of STS and IMDSv2.
#include "net/aws_credentials.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/clock.h"
#include "base/simulation.h"
#include "net/http_client.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/scratch_folder.h"
#include "tests/net/fake_http.h"

namespace frazil::net {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::is_ok;

std::shared_ptr<FakeHttp> nobody() {
  return std::make_shared<FakeHttp>([](const FakeHttp::Seen& seen) -> base::Result<HttpResponse> {
    ADD_FAILURE() << "asked " << seen.url;
    return base::unavailable("nobody");
  });
}

std::string sts_answer(const std::string& id, const std::string& expiration) {
  return R"(<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
    <AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/r/frazil</Arn></AssumedRoleUser>
    <Credentials><AccessKeyId>)" +
         id +
         R"(</AccessKeyId><SecretAccessKey>a&amp;b/c+d=</SecretAccessKey><SessionToken>tok</SessionToken><Expiration>)" +
         expiration +
         R"(</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>)";
}

class AwsChain : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  base::Result<AwsCredentials> get(std::shared_ptr<HttpClient> http = nobody()) {
    return make_aws_chain(config_, std::move(http))->get();
  }
  void use_web_identity() {
    config_.environment = {{"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                           {"AWS_WEB_IDENTITY_TOKEN_FILE", write("token", "web.identity.token\n")}};
  }

  conformance::ScratchFolder folder_;
  AwsChainConfig config_;
};

TEST_F(AwsChain, TakesTheEnvironmentFirst) {
  config_.environment = {
      {"AWS_ACCESS_KEY_ID", "id"},
      {"AWS_SECRET_ACCESS_KEY", "secret"},
      {"AWS_SESSION_TOKEN", "token"},
      {"AWS_SHARED_CREDENTIALS_FILE", write("c", "[default]\naws_access_key_id = no\naws_secret_access_key = no\n")}};
  const auto got = get();
  ASSERT_TRUE(is_ok(got));
  EXPECT_EQ(got->access_key_id, "id");
  EXPECT_EQ(got->secret_access_key, "secret");
  EXPECT_EQ(got->session_token, "token");
}

TEST_F(AwsChain, RefusesHalfAKey) {
  config_.environment = {{"AWS_ACCESS_KEY_ID", "id"}};
  EXPECT_TRUE(fails_with(get(), Code::kInvalid));
  config_.environment = {{"AWS_ROLE_ARN", "arn"}};
  EXPECT_TRUE(fails_with(get(), Code::kInvalid));
}

TEST_F(AwsChain, ReadsProfiles) {
  const std::string file =
      write("credentials",
            "# mine\n[default]\r\naws_access_key_id=d\naws_secret_access_key = a=b/c # d\n\n[ team ]\n; x\n"
            "aws_access_key_id = t\naws_secret_access_key = ts\naws_session_token = tt\ns3 =\n  aws_access_key_id = "
            "nested\n");
  config_.environment = {{"AWS_SHARED_CREDENTIALS_FILE", file}};
  EXPECT_EQ(get()->access_key_id, "d");
  config_.environment["AWS_PROFILE"] = "team";
  EXPECT_EQ(get()->access_key_id, "t");
  EXPECT_EQ(get()->session_token, "tt");
  config_.environment["AWS_PROFILE"] = "other";
  const auto missing = get();
  EXPECT_TRUE(fails_with(missing, Code::kInvalid));
  EXPECT_NE(missing.error().message().find("profile other of " + file), std::string::npos);
}

TEST_F(AwsChain, LooksIntoTheHomeFolder) {
  std::filesystem::create_directories(folder_.path() + "/.aws");
  write(".aws/credentials", "[default]\naws_access_key_id = h\naws_secret_access_key = s\n");
  config_.environment = {{"HOME", folder_.path()}};
  EXPECT_EQ(get()->access_key_id, "h");
}

TEST_F(AwsChain, RunsNoProgramOfAProfile) {
  for (const char* setting : {"credential_process", "role_arn", "sso_session", "source_profile", "sso_start_url"}) {
    const std::string flag = folder_.path() + "/ran";
    config_.environment = {{"AWS_SHARED_CREDENTIALS_FILE",
                            write("c", std::string("[default]\n") + setting + " = touch '" + flag + "'\n")}};
    const auto got = get();
    EXPECT_TRUE(fails_with(got, Code::kInvalid));
    EXPECT_NE(got.error().message().find(setting), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(flag));
  }
}

TEST_F(AwsChain, ReadsTheProfileAgainWhenItsKeyWasRefused) {
  config_.environment = {
      {"AWS_SHARED_CREDENTIALS_FILE", write("c", "[default]\naws_access_key_id = old\naws_secret_access_key = s\n")}};
  const auto chain = make_aws_chain(config_, nobody());
  const AwsCredentials old = *chain->get();
  write("c", "[default]\naws_access_key_id = new\naws_secret_access_key = s\n");
  EXPECT_EQ(chain->get()->access_key_id, "old");
  chain->refused(old);
  EXPECT_EQ(chain->get()->access_key_id, "new");
  chain->refused(old);
  EXPECT_EQ(chain->get()->access_key_id, "new");
}

TEST_F(AwsChain, ExchangesAWebIdentity) {
  use_web_identity();
  config_.region = "eu-central-1";
  const auto http = std::make_shared<FakeHttp>(
      [](const FakeHttp::Seen&) { return http_answer(200, sts_answer("ASIA1", "2099-01-01T00:00:00Z")); });
  const auto got = get(http);
  ASSERT_TRUE(is_ok(got));
  EXPECT_EQ(got->access_key_id, "ASIA1");
  EXPECT_EQ(got->secret_access_key, "a&b/c+d=");
  EXPECT_EQ(got->session_token, "tok");
  EXPECT_EQ(got->expires_at_ms, 4'070'908'800'000);
  ASSERT_EQ(http->requests.size(), 1u);
  EXPECT_EQ(http->requests[0].method, "POST");
  EXPECT_EQ(http->requests[0].url, "https://sts.eu-central-1.amazonaws.com/");
  EXPECT_EQ(http->requests[0].body,
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&"
            "RoleSessionName=frazil&"
            "WebIdentityToken=web.identity.token");
}

TEST_F(AwsChain, AsksWhereItIsTold) {
  use_web_identity();
  const auto http = std::make_shared<FakeHttp>(
      [](const FakeHttp::Seen&) { return http_answer(200, sts_answer("A", "2099-01-01T00:00:00Z")); });
  config_.environment["AWS_REGION"] = "cn-north-1";
  EXPECT_TRUE(get(http).ok());
  config_.sts_endpoint = "https://sts.example.test";
  EXPECT_TRUE(get(http).ok());
  EXPECT_EQ(http->requests[0].url, "https://sts.cn-north-1.amazonaws.com.cn/");
  EXPECT_EQ(http->requests[1].url, "https://sts.example.test/");
}

TEST_F(AwsChain, SaysWhatStsSaidWithoutTheToken) {
  use_web_identity();
  const auto with = [&](int status, const std::string& body) {
    return get(std::make_shared<FakeHttp>([=](const FakeHttp::Seen&) { return http_answer(status, body); }));
  };
  const auto refused = with(
      400,
      "<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>Token web.identity.token expired &lt;now&gt;"
      "</Message></Error></ErrorResponse>");
  EXPECT_TRUE(fails_with(refused, Code::kInvalid));
  EXPECT_NE(refused.error().message().find("ExpiredTokenException Token *** expired <now>"), std::string::npos)
      << refused.error().message();
  EXPECT_TRUE(fails_with(with(503, ""), Code::kUnavailable));
  EXPECT_TRUE(fails_with(with(400, "<Error><Code>Throttling</Code></Error>"), Code::kUnavailable));
  EXPECT_TRUE(fails_with(with(200, "<html/>"), Code::kUnavailable));
  EXPECT_TRUE(fails_with(with(200, sts_answer("A", "soon")), Code::kUnavailable));
}

TEST_F(AwsChain, RenewsAtTwoThirdsOfTheirLife) {
  use_web_identity();
  base::Simulation simulation(1);
  simulation.run([&] {
    int made = 0;
    const auto http = std::make_shared<FakeHttp>([&](const FakeHttp::Seen&) {
      const std::string end = base::format_utc(base::wall_micros() + 3'600'000'000);
      return http_answer(200, sts_answer("ASIA" + std::to_string(++made), end.substr(0, 19) + "Z"));
    });
    const auto chain = make_aws_chain(config_, http);
    base::Interrupt never;
    EXPECT_EQ(chain->get()->access_key_id, "ASIA1");
    never.wait_until(base::deadline_after(2'390'000'000));
    EXPECT_EQ(chain->get()->access_key_id, "ASIA1");
    never.wait_until(base::deadline_after(20'000'000));
    EXPECT_EQ(chain->get()->access_key_id, "ASIA2");
  });
}

base::Result<HttpResponse> metadata(const FakeHttp::Seen& seen) {
  if (seen.method == "PUT" && seen.url == "http://169.254.169.254/latest/api/token" &&
      !seen.header("X-aws-ec2-metadata-token-ttl-seconds").empty()) {
    return http_answer(200, "session");
  }
  if (seen.header("X-aws-ec2-metadata-token") != "session") return http_answer(401, "");
  const std::string roles = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
  if (seen.url == roles) return http_answer(200, "my role\n");
  if (seen.url == roles + "my%20role") {
    return http_answer(
        200,
        R"({"Code":"Success","AccessKeyId":"ASIAM","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"})");
  }
  return http_answer(404, "");
}

TEST_F(AwsChain, AsksTheInstanceOnlyWhenTold) {
  EXPECT_TRUE(fails_with(get(), Code::kNotFound));
  config_.instance_metadata = true;
  const auto got = get(std::make_shared<FakeHttp>(metadata));
  ASSERT_TRUE(is_ok(got));
  EXPECT_EQ(got->access_key_id, "ASIAM");
  EXPECT_EQ(got->session_token, "t");
  const auto without_role = std::make_shared<FakeHttp>([](const FakeHttp::Seen& seen) {
    return seen.method == "PUT" ? http_answer(200, "session") : http_answer(404, "");
  });
  EXPECT_TRUE(fails_with(get(without_role), Code::kNotFound));
  const auto away = std::make_shared<FakeHttp>(
      [](const FakeHttp::Seen&) -> base::Result<HttpResponse> { return base::unavailable("x"); });
  EXPECT_TRUE(fails_with(get(away), Code::kUnavailable));
}

TEST(AwsCredentials, ThatAreFixedStay) {
  AwsCredentials key{"id", "secret", ""};
  const auto fixed = make_fixed_aws_credentials(key);
  fixed->refused(key);
  EXPECT_EQ(fixed->get()->access_key_id, "id");
  EXPECT_TRUE(make_fixed_aws_credentials({})->get()->is_anonymous());
}

// By a clock that is hours ahead every answer is over when it comes.
TEST(AwsCredentials, ThatAreOverAlreadyAreUsedUntilTheyAreRefused) {
  base::Simulation simulation(1);
  simulation.run([] {
    int fetches = 0;
    const auto vended = make_renewed_aws_credentials([&]() -> base::Result<AwsCredentials> {
      ++fetches;
      return AwsCredentials{"id" + std::to_string(fetches), "s", "t", 1000};
    });
    EXPECT_EQ(vended->get()->access_key_id, "id1");
    EXPECT_EQ(vended->get()->access_key_id, "id1");
    vended->refused(*vended->get());
    EXPECT_EQ(vended->get()->access_key_id, "id2");
    base::Interrupt never;
    never.wait_until(base::deadline_after(61'000'000));
    EXPECT_EQ(vended->get()->access_key_id, "id3");
  });
}

}  // namespace
}  // namespace frazil::net
