#include "clients/kafka/connection_troubles.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

namespace frazil::clients {

static bool says(const ConnectionTroubles& troubles, const std::string& part) {
  return troubles.error().message().find(part) != std::string::npos;
}

TEST(ConnectionTroubles, KeepTheErrorThatTellsMoreThanItsEcho) {
  ConnectionTroubles troubles;
  troubles.note(RD_KAFKA_RESP_ERR__TRANSPORT, "b:9092: Connection refused");
  troubles.note(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down");
  EXPECT_TRUE(says(troubles, "Connection refused"));
  EXPECT_TRUE(says(troubles, "bootstrap.servers"));
  EXPECT_EQ(troubles.error().code(), base::Code::kUnavailable);
  EXPECT_FALSE(troubles.is_hopeless());
}

TEST(ConnectionTroubles, KeepAVerdictThoughTheConnectionEndsAfterwards) {
  ConnectionTroubles troubles;
  troubles.note_certificate("b:9093", "its certificate (CN = b) has expired");
  troubles.note(RD_KAFKA_RESP_ERR__SSL, "SSL handshake failed: certificate verify failed");
  EXPECT_TRUE(says(troubles, "broker b:9093: its certificate (CN = b) has expired"));
  EXPECT_TRUE(says(troubles, "ssl.ca.location"));
}

TEST(ConnectionTroubles, SayWhatToLookAt) {
  ConnectionTroubles tls, token, password, alert;
  tls.note(RD_KAFKA_RESP_ERR__TRANSPORT, "SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?");
  EXPECT_TRUE(says(tls, "speaks TLS"));
  token.note(RD_KAFKA_RESP_ERR__AUTHENTICATION, "Failed to acquire SASL OAUTHBEARER token: invalid_client");
  EXPECT_TRUE(says(token, "token.endpoint.url"));
  EXPECT_TRUE(says(token, "invalid_client"));
  password.note(RD_KAFKA_RESP_ERR__AUTHENTICATION, "invalid credentials");
  EXPECT_TRUE(says(password, "refused our authentication"));
  alert.note(RD_KAFKA_RESP_ERR__TRANSPORT, "SSL routines::sslv3 alert bad certificate: SSL alert number 42");
  EXPECT_TRUE(says(alert, "client certificate"));
}

TEST(ConnectionTroubles, HaveNoPatienceWithoutTls) {
  ConnectionTroubles troubles;
  troubles.note_plaintext("kafka:9092", "192.0.2.1");
  EXPECT_TRUE(troubles.is_hopeless());
  EXPECT_EQ(troubles.error().code(), base::Code::kInvalid);
  EXPECT_TRUE(says(troubles, "192.0.2.1"));
  EXPECT_TRUE(says(troubles, "allow_plaintext"));
}

TEST(ConnectionTroubles, AreOverWhenABrokerAnswers) {
  ConnectionTroubles troubles;
  troubles.note(RD_KAFKA_RESP_ERR__AUTHENTICATION, "invalid credentials");
  troubles.clear();
  EXPECT_EQ(troubles.last_error(), "");
  troubles.note(RD_KAFKA_RESP_ERR__TRANSPORT, "Connection refused");
  EXPECT_EQ(troubles.last_error(), "_TRANSPORT: Connection refused");
}

}  // namespace frazil::clients
