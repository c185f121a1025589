#include "net/http_server.h"

#include <gtest/gtest.h>
#include <httplib.h>

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

}  // namespace
}  // namespace frazil::net
