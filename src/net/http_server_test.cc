#include "net/http_server.h"

#include <gtest/gtest.h>
#include <httplib.h>

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
  config.receivers["/say"] = [](const std::string& body) { return HttpReply{200, "text/plain", "you said " + body}; };
  return config;
}

TEST(HttpServer, GivesBodiesToItsReceiversUpToTheLimit) {
  auto server = HttpServer::start(that_repeats({}));
  ASSERT_TRUE(server.ok()) << server.error().message();
  httplib::Client client("127.0.0.1", server.value()->port());
  EXPECT_EQ(client.Post("/say", "hello", "text/plain")->body, "you said hello");
  EXPECT_EQ(client.Post("/say", std::string(101, 'x'), "text/plain")->status, 413);
  EXPECT_EQ(client.Get("/say")->status, 404);
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
