#include "net/http_client.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/sync.h"
#include "tests/conformance/result_matchers.h"
#include "tests/net/raw_server.h"
#include "tests/net/test_authority.h"

namespace frazil::net {
namespace {

using base::Code;
using conformance::fails_with;
using conformance::is_ok;

HttpClientConfig to_this_machine() {
  HttpClientConfig config;
  config.allowed_hosts = {"127.0.0.1", "localhost"};
  return config;
}

std::shared_ptr<HttpClient> client(HttpClientConfig config = to_this_machine()) {
  auto made = make_http_client(std::move(config));
  EXPECT_TRUE(is_ok(made));
  return made.ok() ? std::move(made).value() : nullptr;
}

HttpRequest request(const std::string& method, const std::string& url, std::string_view body = {}) {
  HttpRequest made;
  made.method = method;
  made.url = url;
  made.body = body;
  return made;
}

// Answers every request with what it received.
void echo(RawConnection& connection) {
  while (const auto received = connection.read_request()) connection.answer(*received);
}

TEST(HttpClient, SendsWhatItIsGivenAndNothingElse) {
  RawServer server(echo);
  HttpRequest put = request("PUT", server.url("/a%20b//../c?x=%2F&y"), "body");
  put.headers = {{"X-One", "1"}, {"x-empty", ""}, {"content-type", "text/plain"}};
  const auto answer = client()->send(put);
  ASSERT_TRUE(is_ok(answer));
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body,
            "PUT /a%20b//../c?x=%2F&y HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                "\r\nUser-Agent: frazil\r\nAccept: */*\r\nX-One: 1\r\nx-empty:\r\ncontent-type: text/plain\r\n"
                "Content-Length: 4\r\n\r\nbody");
}

TEST(HttpClient, KnowsTheMethods) {
  RawServer server([](RawConnection& connection) {
    while (const auto received = connection.read_request())
      connection.answer(received->starts_with("HEAD") ? "" : *received);
  });
  const auto http = client();
  for (const char* method : {"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "GET"}) {
    const auto answer = http->send(request(method, server.url("/x")));
    ASSERT_TRUE(is_ok(answer)) << method;
    const std::string expected = std::string(method) == "HEAD" ? "" : std::string(method) + " /x ";
    EXPECT_TRUE(answer->body.starts_with(expected)) << answer->body;
  }
  EXPECT_TRUE(http->send(request("DELETE", server.url("/x"), "{}"))->body.ends_with("\r\n\r\n{}"));
  EXPECT_NE(http->send(request("POST", server.url("/x")))->body.find("Content-Length: 0\r\n"), std::string::npos);
  EXPECT_EQ(http->send(request("GET", server.url("/x")))->body.find("Content-"), std::string::npos);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, GivesStatusAndHeadersAsTheyCame) {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send(
        "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 503 Slow Down\r\nETag: \"a\"\r\nX-Two: 1\r\nx-two:  2 \r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Trailer: t\r\n\r\n");
    connection.wait_for_end();
  });
  const auto answer = client()->send(request("GET", server.url("/")));
  ASSERT_TRUE(is_ok(answer));
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body, "abc");
  EXPECT_EQ(*answer->header("etag"), "\"a\"");
  EXPECT_EQ(*answer->header("x-two"), "1");
  EXPECT_EQ(answer->header("x-early"), nullptr);
  EXPECT_EQ(answer->header("x-trailer"), nullptr);
  EXPECT_EQ(answer->headers.size(), 4u);
}

TEST(HttpClient, KeepsConnections) {
  RawServer server(echo);
  const auto http = client();
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(is_ok(http->send(request(i % 2 == 0 ? "GET" : "POST", server.url("/"), i % 2 == 0 ? "" : "x"))));
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.requests(), 20);
}

TEST(HttpClient, SendsFromManyLanesAtOnce) {
  RawServer server(echo);
  const auto http = client();
  std::vector<base::Lane> lanes;
  for (int i = 0; i < 8; ++i) {
    lanes.emplace_back("sender", [&, i] {
      for (int j = 0; j < 20; ++j) {
        const std::string body(static_cast<size_t>(1000 * i + j), 'x');
        const auto answer = http->send(request("POST", server.url("/"), body));
        ASSERT_TRUE(is_ok(answer));
        EXPECT_TRUE(answer->body.ends_with("\r\n\r\n" + body));
      }
    });
  }
  for (base::Lane& lane : lanes) lane.join();
  EXPECT_EQ(server.requests(), 160);
  EXPECT_LE(server.connections(), 8);
}

// Reads a second request on a kept connection, then ends without a word: what makes libcurl alone send again.
class DeadKeptConnection : public testing::TestWithParam<const char*> {};

void answer_once_then_vanish(RawConnection& connection) {
  connection.read_request();
  connection.answer("first");
  connection.read_request();
}

TEST_P(DeadKeptConnection, IsNoReasonToSendAgain) {
  TestAuthority authority("Test CA");
  const CertificateFiles files = authority.issue({});
  HttpClientConfig config = to_this_machine();
  config.tls.ca_file = authority.ca_file();
  for (const CertificateFiles* tls : {static_cast<const CertificateFiles*>(nullptr), &files}) {
    for (const size_t body_bytes : {0, 10, 50'000, 200'000}) {
      RawServer server(answer_once_then_vanish, tls);
      const auto http = client(config);
      const std::string body(body_bytes, 'b');
      ASSERT_TRUE(is_ok(http->send(request(GetParam(), server.url("/1")))));
      EXPECT_TRUE(fails_with(http->send(request(GetParam(), server.url("/2"), body)), Code::kUnknownOutcome));
      EXPECT_EQ(server.requests(), 2);
      EXPECT_EQ(server.connections(), 1);
      // The next one is sent, once, on a connection of its own.
      ASSERT_TRUE(is_ok(http->send(request(GetParam(), server.url("/3")))));
      EXPECT_EQ(server.requests(), 3);
      EXPECT_EQ(server.connections(), 2);
    }
  }
}

TEST_P(DeadKeptConnection, IsNotUsedWhenItsEndIsKnown) {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.answer("only");
  });
  const auto http = client();
  int answered = 0;
  for (int i = 0; i < 50; ++i) {
    const auto answer = http->send(request(GetParam(), server.url("/"), ""));
    if (answer.ok()) ++answered;
    // The end may still be on its way when the next request leaves; then its outcome is unknown, and it is not sent
    // again.
    EXPECT_TRUE(answer.ok() || answer.error().code() == Code::kUnknownOutcome);
  }
  EXPECT_LE(server.requests(), 50);
  EXPECT_GE(server.requests(), answered);
  EXPECT_GT(answered, 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, DeadKeptConnection, testing::Values("GET", "POST", "PUT", "DELETE"),
                         [](const auto& info) { return std::string(info.param); });

TEST(HttpClient, SaysThatNothingWasSentWhenNobodyListens) {
  std::string url;
  {
    RawServer gone(echo);
    url = gone.url("/secret?token=s3cr3t");
  }
  const auto answer = client()->send(request("POST", url, "s3cr3t"));
  EXPECT_TRUE(fails_with(answer, Code::kUnavailable));
  EXPECT_EQ(answer.error().message().find("s3cr3t"), std::string::npos) << answer.error().message();
  EXPECT_NE(answer.error().message().find("http://127.0.0.1:"), std::string::npos) << answer.error().message();
}

TEST(HttpClient, SaysThatNothingWasSentWhenTheNameIsUnknown) {
  HttpClientConfig config = to_this_machine();
  config.connect_timeout_ms = 2000;
  EXPECT_TRUE(fails_with(client(config)->send(request("POST", "https://nobody.invalid/")), Code::kUnavailable));
}

// What a server may do to a request that it has read.
struct Mishap {
  const char* name;
  RawServer::Script script;
};
void PrintTo(const Mishap& mishap, std::ostream* out) {
  *out << mishap.name;
}
class AfterReading : public testing::TestWithParam<Mishap> {};

TEST_P(AfterReading, TheOutcomeIsUnknownAndNothingIsSentAgain) {
  TestAuthority authority("Test CA");
  const CertificateFiles files = authority.issue({});
  HttpClientConfig config = to_this_machine();
  config.tls.ca_file = authority.ca_file();
  for (const CertificateFiles* tls : {static_cast<const CertificateFiles*>(nullptr), &files}) {
    for (const char* method : {"GET", "POST"}) {
      RawServer server(GetParam().script, tls);
      EXPECT_TRUE(fails_with(client(config)->send(request(method, server.url("/"), method[0] == 'P' ? "x" : "")),
                             Code::kUnknownOutcome));
      EXPECT_EQ(server.requests(), 1);
      EXPECT_EQ(server.connections(), 1);
    }
  }
}

RawServer::Script saying(const std::string& bytes) {
  return [bytes](RawConnection& connection) {
    connection.read_request();
    connection.send(bytes);
    connection.cut();
  };
}
const Mishap kMishaps[] = {
    {"Closes", saying("")},
    {"Resets",
     [](RawConnection& connection) {
       connection.read_request();
       connection.reset();
     }},
    {"CutsTheStatusLine", saying("HTTP/1.1 20")},
    {"CutsTheHeaders", saying("HTTP/1.1 200 OK\r\nContent-Len")},
    {"CutsAfterTheHeaderLines", saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")},
    {"CutsTheBody", saying("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")},
    {"CutsBeforeTheBody", saying("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")},
    {"CutsAChunk", saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123")},
    {"CutsBetweenChunks", saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n")},
    {"OnlyPromises", saying("HTTP/1.1 100 Continue\r\n\r\n")},
    {"SpeaksNoHttp", saying("SSH-2.0-OpenSSH_9.2\r\n")},
};
INSTANTIATE_TEST_SUITE_P(Mishaps, AfterReading, testing::ValuesIn(kMishaps),
                         [](const auto& info) { return info.param.name; });

TEST(HttpClient, DoesNotKnowTheOutcomeWhenTheTimeIsUp) {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.wait_for_end();
  });
  HttpRequest post = request("POST", server.url("/"), "x");
  post.timeout_ms = 300;
  EXPECT_TRUE(fails_with(client()->send(post), Code::kUnknownOutcome));
  EXPECT_EQ(server.requests(), 1);
}

TEST(HttpClient, GivesUpOnServersThatTrickle) {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    base::Interrupt never;
    while (connection.send("x")) never.wait_until(base::deadline_after(20'000));
  });
  HttpClientConfig config = to_this_machine();
  config.low_speed_ms = 500;
  HttpRequest get = request("GET", server.url("/"));
  get.timeout_ms = 0;
  const auto answer = client(config)->send(get);
  EXPECT_TRUE(fails_with(answer, Code::kUnknownOutcome));
  EXPECT_NE(answer.error().message().find("bytes a second"), std::string::npos);
}

TEST(HttpClient, WhatWasInterruptedOnItsWayHasAnUnknownOutcome) {
  base::Interrupt interrupt;
  RawServer server([&](RawConnection& connection) {
    connection.read_request();
    interrupt.raise();
    connection.wait_for_end();
  });
  HttpRequest post = request("POST", server.url("/"), "x");
  post.interrupt = &interrupt;
  const base::MonoMicros start = base::mono_micros();
  EXPECT_TRUE(fails_with(client()->send(post), Code::kUnknownOutcome));
  EXPECT_LT(base::mono_micros() - start, 5'000'000);
  EXPECT_TRUE(fails_with(client()->send(post), Code::kCancelled));
  EXPECT_EQ(server.connections(), 1) << "the second was not to be sent";
}

TEST(HttpClient, OnceGivenUpEndsAllThatWaitsAndBeginsNothing) {
  HttpClientConfig config = to_this_machine();
  config.given_up = std::make_shared<base::Interrupt>();
  RawServer server([&](RawConnection& connection) {
    connection.read_request();
    config.given_up->raise();
    connection.wait_for_end();
  });
  const auto http = client(config);
  const base::MonoMicros start = base::mono_micros();
  EXPECT_TRUE(fails_with(http->send(request("POST", server.url("/"), "x")), Code::kUnknownOutcome));
  EXPECT_TRUE(fails_with(http->send(request("POST", server.url("/"), "x")), Code::kCancelled));
  EXPECT_LT(base::mono_micros() - start, 5'000'000);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, OnceGivenUpCleansUpForAWhile) {
  HttpClientConfig config = to_this_machine();
  config.given_up = std::make_shared<base::Interrupt>();
  config.given_up->raise();
  config.clean_up_ms = 2'000;
  RawServer server([&](RawConnection& connection) {
    while (const auto received = connection.read_request()) {
      if (!received->starts_with("DELETE /done")) return connection.wait_for_end();
      connection.answer("");
    }
  });
  const auto http = client(config);
  HttpRequest clean_up = request("DELETE", server.url("/done"));
  clean_up.is_clean_up = true;
  EXPECT_TRUE(is_ok(http->send(clean_up)));
  clean_up.url = server.url("/hangs");
  const base::MonoMicros start = base::mono_micros();
  EXPECT_TRUE(fails_with(http->send(clean_up), Code::kUnknownOutcome));
  EXPECT_TRUE(fails_with(http->send(clean_up), Code::kCancelled));
  EXPECT_LT(base::mono_micros() - start, 5'000'000);
}

TEST(HttpClient, BoundsTheAnswer) {
  const std::string body(100'000, 'x');
  for (const bool is_chunked : {false, true}) {
    RawServer server([&](RawConnection& connection) {
      while (connection.read_request()) {
        if (!is_chunked) connection.answer(body);
        if (is_chunked)
          connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n" + body + "\r\n0\r\n\r\n");
      }
    });
    const auto http = client();
    HttpRequest get = request("GET", server.url("/"));
    get.max_response_bytes = 99'999;
    EXPECT_TRUE(fails_with(http->send(get), Code::kExhausted));
    get.max_response_bytes = 100'000;
    const auto answer = http->send(get);
    ASSERT_TRUE(is_ok(answer));
    EXPECT_TRUE(answer->body == body);
  }
}

TEST(HttpClient, BoundsTheHead) {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\n");
    while (connection.send("X-Fill: " + std::string(1000, 'x') + "\r\n")) continue;
  });
  EXPECT_TRUE(fails_with(client()->send(request("GET", server.url("/"))), Code::kExhausted));
}

TEST(HttpClient, CarriesLargeBodiesBothWays) {
  std::string body(5'000'000, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761u >> 13);
  TestAuthority authority("Test CA");
  const CertificateFiles files = authority.issue({});
  HttpClientConfig config = to_this_machine();
  config.tls.ca_file = authority.ca_file();
  for (const CertificateFiles* tls : {static_cast<const CertificateFiles*>(nullptr), &files}) {
    RawServer server(echo, tls);
    const auto answer = client(config)->send(request("PUT", server.url("/"), body));
    ASSERT_TRUE(is_ok(answer));
    EXPECT_TRUE(std::string_view(answer->body).ends_with(body));
  }
}

TEST(HttpClient, TakesAnAnswerThatCameBeforeTheBodyHadLeft) {
  RawServer server([](RawConnection& connection) {
    connection.read_head();
    connection.answer("slow down", "503 Slow Down");
    connection.wait_for_end();
  });
  const std::string body(50'000'000, 'x');
  const auto answer = client()->send(request("PUT", server.url("/"), body));
  ASSERT_TRUE(is_ok(answer));
  EXPECT_EQ(answer->status, 503);
}

TEST(HttpClient, FollowsNoRedirectAndKeepsNoCookie) {
  std::string last;
  RawServer server([&](RawConnection& connection) {
    while (const auto received = connection.read_request()) {
      last = *received;
      connection.send("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const auto http = client();
  for (int i = 0; i < 2; ++i) {
    const auto answer = http->send(request("GET", server.url("/")));
    ASSERT_TRUE(is_ok(answer));
    EXPECT_EQ(answer->status, 302);
    EXPECT_EQ(last.find("Cookie"), std::string::npos);
  }
  EXPECT_EQ(server.requests(), 2);
}

TEST(HttpClient, TakesNoProxyFromTheEnvironment) {
  RawServer proxy(echo);
  RawServer server(echo);
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}) {
    setenv(name, proxy.url("").c_str(), 1);
  }
  unsetenv("no_proxy");
  const auto answer = client()->send(request("GET", server.url("/")));
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"})
    unsetenv(name);
  ASSERT_TRUE(is_ok(answer));
  EXPECT_EQ(proxy.connections(), 0);
}

TEST(HttpClient, RefusesWhatIsNoRequest) {
  RawServer server(echo);
  const auto http = client();
  for (const char* url :
       {"", "ftp://127.0.0.1/", "file:///etc/passwd", "http://user:password@127.0.0.1/", "http://127.0.0.1/a b"}) {
    EXPECT_TRUE(fails_with(http->send(request("GET", url)), Code::kInvalid)) << url;
  }
  HttpRequest bad = request("GET", server.url("/"));
  bad.headers = {{"X", "a\r\nEvil: 1"}};
  EXPECT_TRUE(fails_with(http->send(bad), Code::kInvalid));
  bad.headers = {{"X\r\nEvil", "a"}};
  EXPECT_TRUE(fails_with(http->send(bad), Code::kInvalid));
  EXPECT_TRUE(fails_with(http->send(request("GET / HTTP/1.1\r\nEvil: 1\r\n\r\nGET", server.url("/"))), Code::kInvalid));
  EXPECT_EQ(server.requests(), 0);
}

TEST(HttpClient, SpeaksPlainlyToThisMachineOnly) {
  EXPECT_TRUE(fails_with(client()->send(request("GET", "http://lake.example.test/")), Code::kInvalid));
  HttpClientConfig config = to_this_machine();
  config.allow_plaintext = true;
  config.connect_timeout_ms = 2000;
  EXPECT_TRUE(fails_with(client(config)->send(request("GET", "http://nobody.invalid/")), Code::kUnavailable));
}

TEST(HttpClient, DoesNotReachThisMachineUnderNamesThatAreNotListed) {
  RawServer server(echo);
  for (const std::vector<std::string>& allowed :
       {std::vector<std::string>{}, {"catalog.example.test"}, {"localhost:" + std::to_string(server.port() + 1)}}) {
    HttpClientConfig config;
    config.allowed_hosts = allowed;
    for (const char* host :
         {"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"}) {
      HttpClientConfig open = config;
      open.allow_plaintext = true;
      EXPECT_TRUE(fails_with(client(open)->send(request("GET", server.url("/", host))), Code::kInvalid)) << host;
    }
  }
  HttpClientConfig config;
  config.allow_plaintext = true;
  config.connect_timeout_ms = 500;
  EXPECT_TRUE(
      fails_with(client(config)->send(request("GET", "http://169.254.169.254/latest/meta-data")), Code::kInvalid));
  EXPECT_EQ(server.connections(), 0);
  config.allowed_hosts = {"LOCALHOST:" + std::to_string(server.port())};
  EXPECT_TRUE(is_ok(client(config)->send(request("GET", server.url("/", "localhost")))));
}

// --- TLS ---

class HttpClientTls : public testing::Test {
 protected:
  base::Result<HttpResponse> get(const RawServer& server, const std::string& host = "127.0.0.1") {
    return client(config_)->send(request("GET", server.url("/", host)));
  }
  std::string refusal(const RawServer& server, const std::string& host = "127.0.0.1") {
    const auto answer = get(server, host);
    EXPECT_TRUE(fails_with(answer, Code::kUnavailable));
    EXPECT_EQ(server.requests(), 0);
    return answer.ok() ? "" : answer.error().message();
  }

  TestAuthority authority_{"Right CA"};
  HttpClientConfig config_ = [this] {
    HttpClientConfig config = to_this_machine();
    config.tls.ca_file = authority_.ca_file();
    return config;
  }();
};

TEST_F(HttpClientTls, AcceptsTheRightCertificate) {
  const CertificateFiles files = authority_.issue({});
  RawServer server(echo, &files);
  EXPECT_TRUE(is_ok(get(server)));
  EXPECT_TRUE(is_ok(get(server, "localhost")));
}

TEST_F(HttpClientTls, AcceptsAnyAuthorityOfABundle) {
  TestAuthority other("Other CA");
  config_.tls.ca_file = authority_.bundle_with(other);
  const CertificateFiles first = authority_.issue({});
  const CertificateFiles second = other.issue({});
  RawServer one(echo, &first);
  RawServer two(echo, &second);
  EXPECT_TRUE(is_ok(get(one)));
  EXPECT_TRUE(is_ok(get(two)));
}

TEST_F(HttpClientTls, RefusesAnotherAuthority) {
  TestAuthority other("Wrong CA");
  const CertificateFiles files = other.issue({});
  RawServer server(echo, &files);
  EXPECT_NE(refusal(server).find("Wrong CA"), std::string::npos);
  config_.tls.ca_file.clear();  // nor does the system know it
  EXPECT_NE(refusal(server).find("Wrong CA"), std::string::npos);
}

TEST_F(HttpClientTls, RefusesACertificateOfAnotherHost) {
  const CertificateFiles files = authority_.issue({"kafka.example.test", "DNS:kafka.example.test"});
  RawServer server(echo, &files);
  refusal(server);
  EXPECT_NE(refusal(server, "localhost").find("localhost"), std::string::npos);
}

TEST_F(HttpClientTls, RefusesAnExpiredCertificateAndSaysWhenItEnded) {
  CertificateWishes wishes;
  wishes.has_expired = true;
  const CertificateFiles files = authority_.issue(wishes);
  RawServer server(echo, &files);
  const std::string message = refusal(server);
  EXPECT_NE(message.find("expired"), std::string::npos) << message;
  EXPECT_NE(message.find("CN = localhost"), std::string::npos) << message;
  EXPECT_NE(message.find("valid until"), std::string::npos) << message;
}

TEST_F(HttpClientTls, RefusesOldVersionsOfTheProtocol) {
  const CertificateFiles files = authority_.issue({});
  RawServer server(echo, &files, "", TLS1_1_VERSION);
  refusal(server);
}

TEST_F(HttpClientTls, RefusesAServerWithoutTls) {
  RawServer server([](RawConnection& connection) { connection.answer("plain"); });
  const auto answer = client(config_)->send(request("GET", "https://127.0.0.1:" + std::to_string(server.port()) + "/"));
  EXPECT_TRUE(fails_with(answer, Code::kUnavailable));
}

TEST_F(HttpClientTls, ShowsItsOwnCertificateWhenAsked) {
  TestAuthority clients("Client CA");
  const CertificateFiles files = authority_.issue({});
  const CertificateFiles mine = clients.issue({"frazil", ""});
  const CertificateFiles foreign = authority_.issue({"frazil", ""});
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    RawServer server(echo, &files, clients.ca_file(), version);
    config_.tls.certificate_file.clear();
    config_.tls.key_file.clear();
    EXPECT_NE(refusal(server).find("certificate_file"), std::string::npos);
    config_.tls.certificate_file = foreign.certificate;
    config_.tls.key_file = foreign.key;
    refusal(server);
    config_.tls.certificate_file = mine.certificate;
    config_.tls.key_file = mine.key;
    EXPECT_TRUE(is_ok(get(server)));
  }
}

TEST_F(HttpClientTls, TakesRenewedFilesWithoutARestart) {
  TestAuthority next("Next CA");
  conformance::ScratchFolder folder;
  config_.tls.ca_file = folder.path() + "/ca.pem";
  std::ofstream(config_.tls.ca_file) << TestAuthority::text_of(authority_.ca_file());
  const auto http = client(config_);
  const CertificateFiles old_files = authority_.issue({});
  const CertificateFiles new_files = next.issue({});
  RawServer old_server(echo, &old_files);
  RawServer new_server(echo, &new_files);
  EXPECT_TRUE(is_ok(http->send(request("GET", old_server.url("/")))));
  EXPECT_TRUE(fails_with(http->send(request("GET", new_server.url("/"))), Code::kUnavailable));
  std::ofstream(config_.tls.ca_file) << TestAuthority::text_of(next.ca_file());
  EXPECT_TRUE(is_ok(http->send(request("GET", new_server.url("/")))));
}

TEST_F(HttpClientTls, RefusesFilesThatAreNotThere) {
  config_.tls.ca_file = "/nowhere/ca.pem";
  const auto made = make_http_client(config_);
  EXPECT_TRUE(fails_with(made, Code::kInvalid));
  EXPECT_NE(made.error().message().find("/nowhere/ca.pem"), std::string::npos);
  HttpClientConfig key_only = to_this_machine();
  key_only.tls.key_file = authority_.issue({}).key;
  EXPECT_TRUE(fails_with(make_http_client(key_only), Code::kInvalid));
}

}  // namespace
}  // namespace frazil::net
