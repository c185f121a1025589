#include "clients/kafka/connection_rules.h"

#include <gtest/gtest.h>

namespace frazil::clients {

static std::string refusal(const KafkaProperties& properties, bool allow_plaintext = false) {
  const base::Status status = check_kafka_connection(properties, allow_plaintext);
  return status.ok() ? "" : status.error().message();
}

TEST(ConnectionRules, WantBrokers) {
  EXPECT_NE(refusal({}, true), "");
  EXPECT_NE(refusal({{"bootstrap.servers", " , "}}, true), "");
}

TEST(ConnectionRules, AllowPlaintextToLoopbackOnly) {
  EXPECT_EQ(refusal({{"bootstrap.servers", "127.0.0.1:9092,[::1]:9093, localhost:9094"}}), "");
  EXPECT_EQ(refusal({{"bootstrap.servers", "PLAINTEXT://127.0.0.1:9092"}}), "");
  EXPECT_EQ(refusal({{"bootstrap.servers", "localhost"}}), "");
  for (const char* brokers : {"broker:9092", "localhost:9092,broker:9092", "broker:9092,localhost:9092", "127.evil.example:9092",
                              "[2001:db8::1]:9092", "[::1].example:9092", "localhost.example:9092", "[::]:9092"}) {
    EXPECT_NE(refusal({{"bootstrap.servers", brokers}}).find("without TLS"), std::string::npos) << brokers;
    EXPECT_EQ(refusal({{"bootstrap.servers", brokers}}, true), "") << brokers;
    EXPECT_EQ(refusal({{"bootstrap.servers", brokers}, {"security.protocol", "SSL"}}), "") << brokers;
  }
  EXPECT_NE(refusal({{"bootstrap.servers", "broker:9092"}, {"security.protocol", "sasl_plaintext"}}), "");
}

TEST(ConnectionRules, AllowNoTlsThatBelievesAnybody) {
  const KafkaProperties base = {{"bootstrap.servers", "broker:9092"}, {"security.protocol", "ssl"}};
  for (const auto& [name, value] : KafkaProperties{{"enable.ssl.certificate.verification", "False"},
                                                   {"ssl.endpoint.identification.algorithm", "none"}}) {
    KafkaProperties properties = base;
    properties[name] = value;
    EXPECT_NE(refusal(properties).find(name), std::string::npos);
    EXPECT_EQ(refusal(properties, true), "");
    properties["bootstrap.servers"] = "localhost:9092";
    EXPECT_EQ(refusal(properties), "");
  }
}

TEST(ConnectionRules, NameSettingsThatWouldProtectNothing) {
  const KafkaProperties local = {{"bootstrap.servers", "localhost:9092"}};
  const auto with = [&](KafkaProperties more) {
    more.insert(local.begin(), local.end());
    return refusal(more);
  };
  EXPECT_NE(with({{"sasl.mechanism", "PLAIN"}}).find("'sasl.mechanism' has no effect"), std::string::npos);
  EXPECT_NE(with({{"sasl.username", "x"}, {"security.protocol", "ssl"}}).find("sasl_ssl"), std::string::npos);
  EXPECT_NE(with({{"ssl.ca.location", "x"}}).find("set it to ssl"), std::string::npos);
  EXPECT_NE(with({{"ssl.ca.location", "x"}, {"security.protocol", "sasl_plaintext"}}).find("sasl_ssl"), std::string::npos);
  EXPECT_EQ(with({{"ssl.ca.location", "x"}, {"security.protocol", "sasl_ssl"}, {"sasl.username", "x"}}), "");
  EXPECT_EQ(with({{"ssl.ca.location", "x"}, {"sasl.mechanism", "PLAIN"}, {"sasl.username", "x"}, {"sasl.password", "s3cret"}}),
            "Kafka properties 'sasl.mechanism', 'sasl.password', 'sasl.username', 'ssl.ca.location' have no effect while security.protocol is "
            "plaintext: set it to sasl_ssl");
}

TEST(ConnectionRules, WantAnEndpointOverTlsForTokens) {
  KafkaProperties properties = {
      {"bootstrap.servers", "localhost:9092"}, {"security.protocol", "sasl_ssl"}, {"sasl.mechanism", "OAUTHBEARER"}};
  EXPECT_NE(refusal(properties).find("oidc"), std::string::npos);
  properties["sasl.oauthbearer.method"] = "oidc";
  EXPECT_EQ(refusal(properties), "");
  properties["sasl.oauthbearer.token.endpoint.url"] = "http://tokens.example.com/token";
  EXPECT_NE(refusal(properties).find("without TLS"), std::string::npos);
  EXPECT_EQ(refusal(properties, true), "");
  for (const char* good : {"https://tokens.example.com/token", "http://127.0.0.1:8080/token"}) {
    properties["sasl.oauthbearer.token.endpoint.url"] = good;
    EXPECT_EQ(refusal(properties), "") << good;
  }
  properties["sasl.oauthbearer.token.endpoint.url"] = "tokens";
  EXPECT_NE(refusal(properties), "");
}

TEST(ConnectionRules, PlaceRelativeFilesBesideThePipelineFile) {
  KafkaProperties properties = {{"ssl.ca.location", "ca.pem"},
                                {"ssl.key.location", "/etc/key.pem"},
                                {"https.ca.location", "probe"},
                                {"sasl.kerberos.keytab", "keys/frazil.keytab"},
                                {"sasl.username", "name"}};
  place_kafka_files(properties, "/pipelines");
  EXPECT_EQ(properties["ssl.ca.location"], "/pipelines/ca.pem");
  EXPECT_EQ(properties["ssl.key.location"], "/etc/key.pem");
  EXPECT_EQ(properties["https.ca.location"], "probe");
  EXPECT_EQ(properties["sasl.kerberos.keytab"], "/pipelines/keys/frazil.keytab");
  EXPECT_EQ(properties["sasl.username"], "name");
}

TEST(ConnectionRules, KeepTheTwoGroupProtocolsApart) {
  const auto refusal = [](KafkaProperties properties) {
    properties["bootstrap.servers"] = "127.0.0.1:9092";
    const base::Status status = check_kafka_connection(properties, false);
    return status.ok() ? "" : status.error().message();
  };
  EXPECT_EQ(refusal({{"group.protocol", "consumer"}, {"group.remote.assignor", "uniform"}}), "");
  EXPECT_EQ(refusal({{"group.protocol", "classic"}, {"session.timeout.ms", "9000"}}), "");
  EXPECT_NE(refusal({{"group.remote.assignor", "uniform"}}).find("has no effect"), std::string::npos);
  for (const char* name : {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"}) {
    EXPECT_NE(refusal({{"group.protocol", "consumer"}, {name, "1"}}).find("the brokers decide it"), std::string::npos) << name;
  }
}

}  // namespace frazil::clients
