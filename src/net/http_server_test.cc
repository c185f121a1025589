#include "net/http_server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "net/http_client.h"
#include "tests/net/test_authority.h"

namespace frazil::net {
namespace {

HttpServerConfig with_hello(int port) {
  HttpServerConfig config;
  config.port = port;
  config.routes["/hello.txt"] = [] { return HttpReply{200, "text/plain", "hi"}; };
  config.routes["/broken"] = [] { return HttpReply{503, "text/plain", "no"}; };
  return config;
}

TEST(HttpServer, AnswersItsRoutesAndNothingElse) {
  auto server = HttpServer::start(with_hello(0));
  ASSERT_TRUE(server.ok()) << server.error().message();
  httplib::Client client("127.0.0.1", server.value()->port());
  const auto hello = client.Get("/hello.txt");
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->status, 200);
  EXPECT_EQ(hello->body, "hi");
  EXPECT_EQ(client.Get("/broken")->status, 503);
  EXPECT_EQ(client.Get("/helloXtxt")->status, 404);
  EXPECT_EQ(client.Post("/hello.txt", "", "text/plain")->status, 404);
}

TEST(HttpServer, RefusesABusyPortThatWasSet) {
  auto first = HttpServer::start(with_hello(0));
  ASSERT_TRUE(first.ok());
  const auto second = HttpServer::start(with_hello(first.value()->port()));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), base::Code::kUnavailable);
  EXPECT_NE(second.error().message().find(std::to_string(first.value()->port())), std::string::npos);
}

TEST(HttpServer, MovesFromABusyDefaultPortToAFreeOne) {
  auto first = HttpServer::start(with_hello(0));
  ASSERT_TRUE(first.ok());
  HttpServerConfig config = with_hello(first.value()->port());
  config.moves_if_busy = true;
  auto second = HttpServer::start(config);
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_TRUE(second.value()->has_moved());
  EXPECT_NE(second.value()->port(), first.value()->port());
  httplib::Client client("127.0.0.1", second.value()->port());
  EXPECT_EQ(client.Get("/hello.txt")->body, "hi");
}

TEST(HttpServer, StopsTwiceWithoutHarm) {
  auto server = HttpServer::start(with_hello(0));
  ASSERT_TRUE(server.ok());
  const int port = server.value()->port();
  server.value()->stop();
  server.value()->stop();
  httplib::Client client("127.0.0.1", port);
  EXPECT_FALSE(client.Get("/hello.txt"));
}

HttpServerConfig that_repeats(std::optional<ServerTls> tls) {
  HttpServerConfig config;
  config.tls = std::move(tls);
  config.max_body_bytes = 100;
  config.receivers["/say"] = [](const HttpPost& post) {
    return HttpReply{200, "text/plain", "you said " + post.body, {{"Seen", post.authorization}}};
  };
  return config;
}

TEST(HttpServer, GivesBodiesToItsReceiversUpToTheLimit) {
  auto server = HttpServer::start(that_repeats({}));
  ASSERT_TRUE(server.ok()) << server.error().message();
  httplib::Client client("127.0.0.1", server.value()->port());
  const auto answer = client.Post("/say", httplib::Headers{{"Authorization", "Test 1"}}, "hello", "text/plain");
  EXPECT_EQ(answer->body, "you said hello");
  EXPECT_EQ(answer->get_header_value("Seen"), "Test 1");
  EXPECT_EQ(client.Post("/say", std::string(101, 'x'), "text/plain")->status, 413);
  EXPECT_EQ(client.Get("/say")->status, 404);
}

// Connections that say a little and no more.
class Crowd {
 public:
  Crowd(int port, int size, const std::string& words) {
    for (int i = 0; i < size; ++i) {
      const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<uint16_t>(port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      EXPECT_EQ(connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      EXPECT_EQ(send(one, words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
      sockets_.push_back(one);
    }
  }
  ~Crowd() {
    for (const int one : sockets_) close(one);
  }
  // Those that have not been ended take one byte more.
  size_t say_more() const {
    size_t left = 0;
    for (const int one : sockets_) left += send(one, "a", 1, MSG_NOSIGNAL) == 1;
    return left;
  }

 private:
  std::vector<int> sockets_;
};

double seconds_of(const std::function<void()>& act) {
  const base::MonoMicros begin = base::mono_micros();
  act();
  return static_cast<double>(base::mono_micros() - begin) / 1e6;
}

TEST(HttpServer, AnswersWhileCrowdsOfSlowClientsHoldItsConnections) {
  for (const std::string words : {"", "GET /hello.txt HTTP/1.1\r\nX-A: ", "POST /hello.txt HTTP/1.1\r\nContent-Length: 60\r\n\r\na"}) {
    auto server = HttpServer::start(with_hello(0));
    ASSERT_TRUE(server.ok()) << server.error().message();
    const Crowd crowd(server.value()->port(), 200, words);
    crowd.say_more();
    const double seconds = seconds_of([&] {
      httplib::Client client("127.0.0.1", server.value()->port());
      const auto hello = client.Get("/hello.txt");
      ASSERT_TRUE(hello) << words;
      EXPECT_EQ(hello->body, "hi");
    });
    EXPECT_LT(seconds, 3) << words;
    EXPECT_LT(seconds_of([&] { server.value()->stop(); }), 3) << words;
  }
}

TEST(HttpServer, AnswersWhileNobodyTakesEarlierAnswers) {
  HttpServerConfig config = with_hello(0);
  config.routes["/long"] = [] { return HttpReply{200, "text/plain", std::string(20 << 20, 'x')}; };
  auto server = HttpServer::start(std::move(config));
  ASSERT_TRUE(server.ok()) << server.error().message();
  const Crowd crowd(server.value()->port(), 40, "GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
  httplib::Client client("127.0.0.1", server.value()->port());
  const double seconds = seconds_of([&] { EXPECT_TRUE(client.Get("/hello.txt")); });
  EXPECT_LT(seconds, 4);
  EXPECT_LT(seconds_of([&] { server.value()->stop(); }), 3);
}

TEST(HttpServer, EndsARequestThatTricklesForSeconds) {
  auto server = HttpServer::start(with_hello(0));
  ASSERT_TRUE(server.ok()) << server.error().message();
  const Crowd crowd(server.value()->port(), 1, "GET /hello.txt HTTP/1.1\r\nX-A: ");
  base::Interrupt never;
  const double seconds = seconds_of([&] {
    while (crowd.say_more() > 0) never.wait_until(base::deadline_after(200'000));
  });
  EXPECT_GT(seconds, 3);
  EXPECT_LT(seconds, 12);
}

TEST(HttpServer, OverTlsAnswersOnlyWhoShowsACertificateOfItsAuthority) {
  TestAuthority authority("ours"), stranger("not ours");
  const CertificateFiles files = authority.issue({}), foreign = stranger.issue({});
  auto server = HttpServer::start(that_repeats(ServerTls{files.certificate, files.key, authority.ca_file()}));
  ASSERT_TRUE(server.ok()) << server.error().message();
  const std::string url = "https://127.0.0.1:" + std::to_string(server.value()->port()) + "/say";
  const auto send = [&](TlsOptions tls) {
    HttpClientConfig config;
    config.tls = std::move(tls);
    config.allowed_hosts = {"127.0.0.1"};
    auto client = make_http_client(std::move(config));
    EXPECT_TRUE(client.ok());
    HttpRequest request;
    request.method = "POST";
    request.url = url;
    request.body = "hello";
    return (*client)->send(request);
  };
  const auto answer = send({authority.ca_file(), files.certificate, files.key});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(answer->body, "you said hello");
  EXPECT_FALSE(send({authority.ca_file(), "", ""}).ok());
  EXPECT_FALSE(send({authority.ca_file(), foreign.certificate, foreign.key}).ok());
}

TEST(HttpServer, RefusesToStartWithFilesThatAreNoCertificate) {
  const auto server = HttpServer::start(that_repeats(ServerTls{"/nowhere/c.pem", "/nowhere/k.pem", "/nowhere/ca.pem"}));
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().code(), base::Code::kInvalid);
  EXPECT_NE(server.error().message().find("/nowhere/c.pem"), std::string::npos);
}

}  // namespace
}  // namespace frazil::net
