#include "net/line_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/random.h"
#include "net/local_socket.h"

namespace frazil::net {
namespace {

constexpr int64_t kAskMs = 20'000;

class LineServerTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  LineServerConfig echo() const {
    LineServerConfig config;
    config.path = path_;
    config.answer = [](std::string_view line, uint32_t user) { return std::to_string(user) + " said " + std::string(line); };
    return config;
  }
  Descriptor connected() const {
    const auto address = local_address(path_);
    auto socket = local_socket();
    EXPECT_EQ(connect(socket->number(), reinterpret_cast<const sockaddr*>(&address.value()), sizeof(sockaddr_un)), 0);
    return std::move(socket).value();
  }
  // Whether the server ends the connection, without a byte, before the deadline.
  static bool is_sent_away(const Descriptor& socket) {
    char byte = 0;
    return wait_for_events(socket.number(), POLLIN, base::deadline_after(kAskMs * 1000)) && read(socket.number(), &byte, 1) <= 0;
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("line_server_" + base::random_uuid());
  const std::string path_ = folder_ / "a.sock";
};

TEST_F(LineServerTest, AnswersALineAndTellsWhoAsked) {
  const auto server = LineServer::start(echo());
  ASSERT_TRUE(server.ok()) << server.error().message();
  for (int turn = 0; turn < 3; ++turn) {
    const auto answer = ask_line(path_, "hello " + std::to_string(turn), kAskMs);
    ASSERT_TRUE(answer.ok()) << answer.error().message();
    EXPECT_EQ(*answer, std::to_string(geteuid()) + " said hello " + std::to_string(turn));
  }
}

TEST_F(LineServerTest, IsForItsOwnUserAlone) {
  const auto server = LineServer::start(echo());
  struct stat found {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(LineServerTest, ServesOthersWhileSlowClientsSayNothing) {
  const auto server = LineServer::start(echo());
  const Descriptor silent = connected();
  const Descriptor half = connected();
  ASSERT_EQ(send(half.number(), "no end", 6, MSG_NOSIGNAL), 6);
  EXPECT_TRUE(ask_line(path_, "hello", kAskMs).ok());
}

TEST_F(LineServerTest, SendsSlowClientsAwaySoThatOthersGetTheirTurn) {
  LineServerConfig config = echo();
  config.client_ms_at_most = 50;
  config.clients_at_most = 1;
  const auto server = LineServer::start(std::move(config));
  const Descriptor silent = connected();
  EXPECT_TRUE(ask_line(path_, "hello", kAskMs).ok());
  EXPECT_TRUE(is_sent_away(silent));
}

TEST_F(LineServerTest, AnswersWhileACrowdSaysNothing) {
  const auto server = LineServer::start(echo());
  std::vector<Descriptor> crowd;
  for (int i = 0; i < 60; ++i) crowd.push_back(connected());
  const base::MonoMicros begin = base::mono_micros();
  EXPECT_TRUE(ask_line(path_, "hello", kAskMs).ok());
  EXPECT_LT(base::mono_micros() - begin, 1'500'000);
  EXPECT_TRUE(is_sent_away(crowd.front()));
}

TEST_F(LineServerTest, SendsAwayWhoeverAsksTooMuch) {
  LineServerConfig config = echo();
  config.request_bytes_at_most = 100;
  const auto server = LineServer::start(std::move(config));
  const Descriptor greedy = connected();
  const std::string much(1000, 'x');
  ASSERT_EQ(send(greedy.number(), much.data(), much.size(), MSG_NOSIGNAL), 1000);
  EXPECT_TRUE(is_sent_away(greedy));
  EXPECT_TRUE(ask_line(path_, "hello", kAskMs).ok());
}

TEST_F(LineServerTest, OutlivesClientsThatLeaveBeforeTheAnswer) {
  const auto server = LineServer::start(echo());
  for (int turn = 0; turn < 5; ++turn) {
    const Descriptor leaver = connected();
    ASSERT_EQ(send(leaver.number(), "bye\n", 4, MSG_NOSIGNAL), 4);
  }
  EXPECT_TRUE(ask_line(path_, "hello", kAskMs).ok());
}

TEST_F(LineServerTest, TakesThePlaceOfAProcessThatDiedAndOfNoneThatLives) {
  {
    const auto address = local_address(path_);
    const auto left = local_socket();
    ASSERT_EQ(bind(left->number(), reinterpret_cast<const sockaddr*>(&address.value()), sizeof(sockaddr_un)), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path_));  // bound, and nobody behind it
  const auto server = LineServer::start(echo());
  ASSERT_TRUE(server.ok()) << server.error().message();
  const auto second = LineServer::start(echo());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), base::Code::kExists);
  EXPECT_TRUE(ask_line(path_, "hello", kAskMs).ok());
}

TEST_F(LineServerTest, NeverRemovesAFileThatIsNoSocket) {
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(LineServer::start(echo()).ok());
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(LineServerTest, RemovesItsFileAtTheEnd) {
  { const auto server = LineServer::start(echo()); }
  EXPECT_FALSE(std::filesystem::exists(path_));
  const auto answer = ask_line(path_, "hello", kAskMs);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), base::Code::kNotFound);
}

TEST_F(LineServerTest, RefusesPathsThatNoSocketCanHave) {
  LineServerConfig config = echo();
  config.path = "/tmp/" + std::string(200, 'x');
  const auto server = LineServer::start(std::move(config));
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().code(), base::Code::kInvalid);
}

}  // namespace
}  // namespace frazil::net
