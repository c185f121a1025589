#include "net/bearer_tokens.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/simulation.h"
#include "net/digest.h"
#include "tests/conformance/result_matchers.h"
#include "tests/conformance/scratch_folder.h"
#include "tests/net/fake_http.h"
#include "tests/net/raw_server.h"

namespace frazil::net {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::is_ok;

constexpr char kSecret[] = "s3cr3t-of-the-client";

ClientCredentials client_of(const std::string& endpoint = "https://login.example.test/oauth/token") {
  ClientCredentials credentials;
  credentials.token_endpoint = endpoint;
  credentials.client_id = "frazil";
  credentials.client_secret = kSecret;
  return credentials;
}

std::shared_ptr<FakeHttp> answering(int status, const std::string& body) {
  return std::make_shared<FakeHttp>([=](const FakeHttp::Seen&) { return http_answer(status, body); });
}

TEST(ClientCredentialsTokens, AskAsIcebergDoes) {
  const auto http = answering(200, R"({"access_token":"t1","token_type":"bearer","expires_in":60})");
  ClientCredentials credentials = client_of();
  credentials.scope = "PRINCIPAL_ROLE:ALL catalog";
  credentials.extra = {{"audience", "lake"}, {"resource", ""}};
  const auto tokens = make_client_credentials(http, credentials);
  EXPECT_EQ(*tokens->token(), "t1");
  ASSERT_EQ(http->requests.size(), 1u);
  const FakeHttp::Seen& seen = http->requests[0];
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.url, "https://login.example.test/oauth/token");
  EXPECT_EQ(seen.header("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(seen.body,
            "grant_type=client_credentials&client_id=frazil&client_secret=s3cr3t-of-the-client&"
            "scope=PRINCIPAL_ROLE%3AALL%20catalog&audience=lake");
}

TEST(ClientCredentialsTokens, SendOnlyTheSecretWhenThereIsNoId) {
  const auto http = answering(200, R"({"access_token":"t1"})");
  ClientCredentials credentials = client_of();
  credentials.client_id.clear();
  EXPECT_TRUE(make_client_credentials(http, credentials)->token().ok());
  EXPECT_EQ(http->requests[0].body.find("client_id"), std::string::npos);
}

TEST(ClientCredentialsTokens, FailAsTheCallerNeedsIt) {
  struct Case {
    int status;
    const char* body;
    Code code;
    const char* words;
  };
  const Case cases[] = {
      {401, R"({"error":"invalid_client","error_description":"who is frazil?"})", Code::kInvalid,
       "invalid_client: who is frazil?"},
      {400, R"({"error":{"message":"Credential s3cr3t-of-the-client is wrong","type":"BadRequest","code":400}})",
       Code::kInvalid, "Credential *** is wrong"},
      {403, "<html>go\naway</html>", Code::kInvalid, "<html>go away</html>"},
      {302, "", Code::kInvalid, "redirect"},
      {404, "", Code::kInvalid, "404"},
      {429, "", Code::kUnavailable, "429"},
      {503, R"({"error":"temporarily_unavailable"})", Code::kUnavailable, "temporarily_unavailable"},
      {200, "", Code::kUnavailable, "access_token"},
      {200, R"({"access_token":17})", Code::kUnavailable, "access_token"},
      {200, R"({"access_token":"a\r\nEvil: 1"})", Code::kUnavailable, "no header"},
      {200, R"([])", Code::kUnavailable, "access_token"},
  };
  for (const Case& one : cases) {
    const auto answer = make_client_credentials(answering(one.status, one.body), client_of())->token();
    EXPECT_TRUE(fails_with(answer, one.code)) << one.body;
    EXPECT_NE(answer.error().message().find(one.words), std::string::npos) << answer.error().message();
    EXPECT_EQ(answer.error().message().find(kSecret), std::string::npos);
  }
}

TEST(ClientCredentialsTokens, MayAskAgainWhenTheOutcomeIsUnknown) {
  const auto http = std::make_shared<FakeHttp>(
      [](const FakeHttp::Seen&) -> base::Result<HttpResponse> { return base::Error(Code::kUnknownOutcome, "cut"); });
  EXPECT_TRUE(fails_with(make_client_credentials(http, client_of())->token(), Code::kUnavailable));
}

TEST(ClientCredentialsTokens, ReadLivesAsTheyAreWritten) {
  for (const auto& [body, life_s] :
       std::vector<std::pair<std::string, int64_t>>{{R"({"access_token":"t","expires_in":60})", 60},
                                                    {R"({"access_token":"t","expires_in":"60"})", 60},
                                                    {R"({"access_token":"t","expires_in":59.9})", 59},
                                                    {R"({"access_token":"t"})", 600},
                                                    {R"({"access_token":"t","expires_in":0})", 600},
                                                    {R"({"access_token":"t","expires_in":-5})", 600},
                                                    {R"({"access_token":"t","expires_in":1e300})", 366 * 86'400}}) {
    base::Simulation simulation(1);
    simulation.run([&, body = body, life_s = life_s] {
      const auto http = answering(200, body);
      ClientCredentials credentials = client_of();
      credentials.default_life_ms = 600'000;
      const auto tokens = make_client_credentials(http, credentials);
      EXPECT_TRUE(tokens->token().ok());
      base::Interrupt never;
      never.wait_until(base::deadline_after(life_s * 1'000'000 * 6 / 10));
      EXPECT_TRUE(tokens->token().ok());
      EXPECT_EQ(http->requests.size(), 1u) << body;
      never.wait_until(base::deadline_after(life_s * 1'000'000 / 10));
      EXPECT_TRUE(tokens->token().ok());
      EXPECT_EQ(http->requests.size(), 2u) << body;
    });
  }
}

// Two days on a catalog that hands out tokens of two minutes, with an endpoint that is away for a minute now and then.
TEST(ClientCredentialsTokens, HoldForTwoDays) {
  for (uint64_t seed = 0; seed < 2; ++seed) {
    base::Simulation simulation(seed);
    simulation.run([&] {
      int made = 0;
      base::MonoMicros valid_until = 0;
      const auto http = std::make_shared<FakeHttp>([&](const FakeHttp::Seen&) -> base::Result<HttpResponse> {
        const base::MonoMicros now = base::mono_micros();
        if (now / 60'000'000 % 10 == 7) return http_answer(503, "");
        valid_until = now + 120'000'000;
        return http_answer(200, R"({"access_token":"t)" + std::to_string(++made) + R"(","expires_in":120})");
      });
      const auto tokens = make_client_credentials(http, client_of());
      base::Interrupt never;
      int used = 0;
      int late = 0;
      const base::MonoMicros end = base::mono_micros() + 2LL * 86'400 * 1'000'000;
      while (base::mono_micros() < end) {
        const auto token = tokens->token();
        if (token.ok()) {
          ++used;
          late += base::mono_micros() > valid_until ? 1 : 0;
        }
        never.wait_until(base::deadline_after(5'000'000));
      }
      EXPECT_EQ(late, 0);
      EXPECT_GT(used, 34'000);
      EXPECT_LT(http->requests.size(), 4'000u);
    });
  }
}

TEST(ClientCredentialsTokens, FetchOnceAfterARefusalByManyLanes) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    base::Simulation simulation(seed);
    simulation.run([&] {
      int made = 0;
      const auto http = std::make_shared<FakeHttp>([&](const FakeHttp::Seen&) {
        return http_answer(200, R"({"access_token":"t)" + std::to_string(++made) + R"(","expires_in":3600})");
      });
      http->delay_micros = 100'000;
      const auto tokens = make_client_credentials(http, client_of());
      ASSERT_EQ(*tokens->token(), "t1");
      std::vector<base::Lane> lanes;
      for (int i = 0; i < 5; ++i) {
        lanes.emplace_back("caller", [&] {
          tokens->refused("t1");
          EXPECT_EQ(*tokens->token(), "t2");
        });
      }
      for (base::Lane& lane : lanes) lane.join();
      EXPECT_EQ(made, 2);
    });
  }
}

TEST(ClientCredentialsTokens, WorkOverARealConnection) {
  RawServer server([](RawConnection& connection) {
    const auto request = connection.read_request();
    const bool is_right = request && request->find("client_secret=s3cr3t-of-the-client") != std::string::npos;
    connection.answer(is_right ? R"({"access_token":"real"})" : "{}");
  });
  HttpClientConfig config;
  config.allowed_hosts = {"127.0.0.1"};
  EXPECT_EQ(*make_client_credentials(*make_http_client(config), client_of(server.url("/token")))->token(), "real");
}

TEST(FixedToken, IsWhatItIs) {
  const auto tokens = make_fixed_token("abc");
  tokens->refused("abc");
  EXPECT_EQ(*tokens->token(), "abc");
}

// --- Google ---

struct RsaKey {
  RsaKey() : key(EVP_RSA_gen(2048)) {}
  ~RsaKey() { EVP_PKEY_free(key); }
  std::string pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long bytes = BIO_get_mem_data(bio, &data);
    std::string text(data, static_cast<size_t>(bytes));
    BIO_free(bio);
    return text;
  }
  EVP_PKEY* key;
};

std::string from_base64_url(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const size_t padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string out(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  out.resize(out.size() - padding);
  return out;
}

class GoogleServiceAccount : public testing::Test {
 protected:
  std::string write(const nlohmann::json& content) {
    const std::string path = folder_.path() + "/key.json";
    std::ofstream(path) << content.dump();
    return path;
  }
  nlohmann::json account() const {
    return {{"type", "service_account"},
            {"client_email", "frazil@project.iam.gserviceaccount.com"},
            {"private_key_id", "k1"},
            {"private_key", key_.pem()},
            {"token_uri", "https://oauth2.example.test/token"}};
  }
  conformance::ScratchFolder folder_;
  RsaKey key_;
};

TEST_F(GoogleServiceAccount, ExchangesASignedAssertion) {
  const auto http = answering(200, R"({"access_token":"ya29","expires_in":3599,"token_type":"Bearer"})");
  auto tokens =
      make_google_service_account(http, write(account()), "https://www.googleapis.com/auth/devstorage.read_write");
  ASSERT_TRUE(is_ok(tokens));
  EXPECT_EQ(*(*tokens)->token(), "ya29");
  ASSERT_EQ(http->requests.size(), 1u);
  EXPECT_EQ(http->requests[0].url, "https://oauth2.example.test/token");
  const std::string prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(http->requests[0].body.starts_with(prefix));
  const std::string jwt = http->requests[0].body.substr(prefix.size());
  const size_t dot = jwt.find('.');
  const size_t last = jwt.rfind('.');
  const auto header = nlohmann::json::parse(from_base64_url(jwt.substr(0, dot)));
  EXPECT_EQ(header, (nlohmann::json{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "k1"}}));
  const auto claims = nlohmann::json::parse(from_base64_url(jwt.substr(dot + 1, last - dot - 1)));
  EXPECT_EQ(claims["iss"], "frazil@project.iam.gserviceaccount.com");
  EXPECT_EQ(claims["scope"], "https://www.googleapis.com/auth/devstorage.read_write");
  EXPECT_EQ(claims["aud"], "https://oauth2.example.test/token");
  EXPECT_EQ(claims["exp"].get<int64_t>() - claims["iat"].get<int64_t>(), 3600);
  EXPECT_LE(std::abs(claims["iat"].get<int64_t>() - base::wall_millis() / 1000), 5);

  const std::string text = jwt.substr(0, last);
  const std::string signature = from_base64_url(jwt.substr(last + 1));
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key_.key);
  EXPECT_EQ(EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                             reinterpret_cast<const unsigned char*>(text.data()), text.size()),
            1);
  EVP_MD_CTX_free(context);
}

TEST_F(GoogleServiceAccount, NeverShowsTheKeyOrTheAssertion) {
  const auto http = std::make_shared<FakeHttp>([](const FakeHttp::Seen& seen) {
    return http_answer(400, R"({"error":"invalid_grant","error_description":"bad: )" +
                                seen.body.substr(seen.body.rfind('=') + 1) + "\"}");
  });
  const auto answer = (*make_google_service_account(http, write(account()), "s"))->token();
  EXPECT_TRUE(fails_with(answer, Code::kInvalid));
  EXPECT_NE(answer.error().message().find("invalid_grant: bad: ***"), std::string::npos) << answer.error().message();
}

TEST_F(GoogleServiceAccount, RefusesFilesThatAreNoKey) {
  const auto http = answering(200, "{}");
  EXPECT_TRUE(fails_with(make_google_service_account(http, "/nowhere.json", "s"), Code::kInvalid));
  nlohmann::json user = account();
  user["type"] = "authorized_user";
  const auto refused = make_google_service_account(http, write(user), "s");
  EXPECT_TRUE(fails_with(refused, Code::kInvalid));
  EXPECT_NE(refused.error().message().find("authorized_user"), std::string::npos);
  nlohmann::json broken = account();
  broken["private_key"] = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
  EXPECT_TRUE(fails_with(make_google_service_account(http, write(broken), "s"), Code::kInvalid));
  broken.erase("private_key");
  EXPECT_TRUE(fails_with(make_google_service_account(http, write(broken), "s"), Code::kInvalid));
}

TEST(GoogleMetadata, AsksWithItsFlavor) {
  const auto http = answering(200, R"({"access_token":"m1","expires_in":300})");
  EXPECT_EQ(*make_google_metadata_tokens(http)->token(), "m1");
  EXPECT_EQ(http->requests[0].url,
            "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token");
  EXPECT_EQ(http->requests[0].header("Metadata-Flavor"), "Google");
}

TEST(ClientCredentialsTokens, ShowTheirSecretInNoEncoding) {
  ClientCredentials credentials = client_of();
  credentials.client_secret = "canary pass/w&rd=";
  for (const char* echo :
       {"canary pass/w&rd=", "canary%20pass%2Fw%26rd%3D", "canary+pass%2fw%26rd%3d", "canary%20pass/w%26rd=",
        R"(canary pass\/w\u0026rd=)", "canary pass/w&amp;rd&#61;", "canary&#x20;pass&#47;w&#38;rd=",
        // The secret alone, after "frazil:", and after "frazil:" as RFC 6749 encodes it.
        "Y2FuYXJ5IHBhc3MvdyZyZD0=", "ZnJhemlsOmNhbmFyeSBwYXNzL3cmcmQ9",
        "ZnJhemlsOmNhbmFyeSUyMHBhc3MlMkZ3JTI2cmQlM0Q="}) {
    for (const std::string& body : {"client_secret=" + std::string(echo) + "&scope=catalog", "<p>" + std::string(echo)}) {
      const auto answer = make_client_credentials(answering(403, body), credentials)->token();
      ASSERT_TRUE(fails_with(answer, Code::kInvalid));
      const std::string& message = answer.error().message();
      EXPECT_NE(message.find("***"), std::string::npos) << message;
      for (const char* trace : {"canary", "pass", "rd", "Y2FuYXJ5", "FuYXJ5", "Bhc3", "cGFz", "cmQ9"})
        EXPECT_EQ(message.find(trace), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace frazil::net
