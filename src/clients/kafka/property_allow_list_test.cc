#include "clients/kafka/property_allow_list.h"

#include <gtest/gtest.h>

namespace frazil::clients {

static std::string refusal(const std::string& name, const std::string& value) {
  const base::Status status = check_kafka_property(name, value);
  return status.ok() ? "" : status.error().message();
}

TEST(PropertyAllowList, AcceptsWhatUsersNeedForSecurity) {
  EXPECT_EQ(refusal("security.protocol", "sasl_ssl"), "");
  EXPECT_EQ(refusal("sasl.mechanism", "SCRAM-SHA-512"), "");
  EXPECT_EQ(refusal("sasl.password", "x"), "");
  EXPECT_EQ(refusal("group.instance.id", "worker-1"), "");
}

TEST(PropertyAllowList, RefusesWhatDecidesWhatIsReadWithTheReason) {
  for (const char* name : {"enable.auto.commit", "auto.offset.reset", "isolation.level", "plugin.library.paths",
                           "ssl.engine.location", "sasl.kerberos.kinit.cmd", "enable.partition.eof", "check.crcs"}) {
    EXPECT_NE(refusal(name, "true").find("cannot be set: "), std::string::npos) << name;
  }
}

TEST(PropertyAllowList, NamesTheNearestKnownProperty) {
  EXPECT_NE(refusal("bootstrap.server", "x:1").find("'bootstrap.servers'"), std::string::npos);
  EXPECT_NE(refusal("sasl.passwrod", "x").find("'sasl.password'"), std::string::npos);
  EXPECT_EQ(refusal("zzz", "x").find("did you mean"), std::string::npos);
}

TEST(PropertyAllowList, RefusesAValueThatLibrdkafkaRefuses) {
  EXPECT_NE(refusal("security.protocol", "tls"), "");
  EXPECT_NE(refusal("fetch.wait.max.ms", "soon"), "");
  EXPECT_NE(refusal("receive.message.max.bytes", "1048576"), "");
  EXPECT_EQ(refusal("receive.message.max.bytes", "400000000"), "");
}

TEST(PropertyAllowList, KeepsCredentialsOutOfTheLog) {
  EXPECT_NE(refusal("debug", "broker,security"), "");
  EXPECT_EQ(refusal("debug", "broker,topic"), "");
}

TEST(PropertyAllowList, KnowsEachAllowedNameToLibrdkafka) {
  // An allowed name with a nonsense value is refused for its value or accepted, never as unknown.
  for (const std::string& name : allowed_kafka_properties()) {
    EXPECT_EQ(refusal(name, "\x01").find("not known"), std::string::npos) << name;
  }
  EXPECT_GT(allowed_kafka_properties().size(), 80u);
}

TEST(PropertyAllowList, TellsSecretsFromOthers) {
  EXPECT_TRUE(is_kafka_secret("sasl.password"));
  EXPECT_TRUE(is_kafka_secret("ssl.key.pem"));
  EXPECT_FALSE(is_kafka_secret("sasl.username"));
}

TEST(PropertyAllowList, AllowsPlaintextToLoopbackOnly) {
  EXPECT_TRUE(check_kafka_connection({{"bootstrap.servers", "127.0.0.1:9092,[::1]:9093, localhost:9094"}}, false).ok());
  EXPECT_FALSE(check_kafka_connection({{"bootstrap.servers", "localhost:9092,broker:9092"}}, false).ok());
  EXPECT_FALSE(check_kafka_connection({{"bootstrap.servers", "127.evil.example:9092"}}, false).ok());
  EXPECT_TRUE(check_kafka_connection({{"bootstrap.servers", "broker:9092"}}, true).ok());
  EXPECT_TRUE(
      check_kafka_connection({{"bootstrap.servers", "broker:9092"}, {"security.protocol", "SASL_SSL"}}, false).ok());
  EXPECT_FALSE(
      check_kafka_connection({{"bootstrap.servers", "broker:9092"}, {"security.protocol", "sasl_plaintext"}}, false).ok());
}

TEST(PropertyAllowList, WantsBrokers) {
  EXPECT_FALSE(check_kafka_connection({}, true).ok());
  EXPECT_FALSE(check_kafka_connection({{"bootstrap.servers", " , "}}, true).ok());
}

}  // namespace frazil::clients
