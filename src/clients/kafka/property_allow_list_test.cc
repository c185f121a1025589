#include "clients/kafka/property_allow_list.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

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

TEST(PropertyAllowList, KnowsTheMechanismsOfSasl) {
  for (const char* mechanism : {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER"}) {
    EXPECT_EQ(refusal("sasl.mechanism", mechanism), "") << mechanism;
    EXPECT_EQ(refusal("sasl.mechanisms", mechanism), "") << mechanism;
  }
  EXPECT_NE(refusal("sasl.mechanism", "SCRAM-SHA-521").find("nearest is SCRAM-SHA-512"), std::string::npos);
  EXPECT_NE(refusal("sasl.mechanisms", "scram_sha_256").find("nearest is SCRAM-SHA-256"), std::string::npos);
  EXPECT_NE(refusal("sasl.mechanism", "Plain").find("nearest is PLAIN"), std::string::npos);
}

TEST(PropertyAllowList, KnowsTheStrategiesOfGroups) {
  for (const char* strategy : {"cooperative-sticky", "range", "roundrobin", "range,roundrobin"}) {
    EXPECT_EQ(refusal("partition.assignment.strategy", strategy), "") << strategy;
  }
  EXPECT_NE(refusal("partition.assignment.strategy", "org.apache.kafka.clients.consumer.RangeAssignor").find("there are cooperative-sticky"),
            std::string::npos);
  EXPECT_NE(refusal("partition.assignment.strategy", "cooperative-sticky,range").find("stands alone"), std::string::npos);
  EXPECT_EQ(refusal("group.protocol", "consumer"), "");
  EXPECT_NE(refusal("group.protocol", "raft"), "");
}

TEST(PropertyAllowList, KeepsCredentialsOutOfTheLog) {
  EXPECT_NE(refusal("debug", "broker,security"), "");
  EXPECT_NE(refusal("debug", "broker, ALL"), "");
  EXPECT_NE(refusal("debug", "Conf"), "");
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

TEST(PropertyAllowList, HasAnAnswerForEachPropertyOfLibrdkafka) {
  size_t count = 0, in_all = 0;
  rd_kafka_conf_t* global = rd_kafka_conf_new();
  rd_kafka_topic_conf_t* topic = rd_kafka_topic_conf_new();
  const auto look = [&](const char** names, size_t entries) {
    for (size_t i = 0; i + 1 < entries; i += 2) {
      EXPECT_EQ(refusal(names[i], names[i + 1]).find("is not known"), std::string::npos) << names[i];
      ++in_all;
    }
    rd_kafka_conf_dump_free(names, entries);
  };
  const char** names = rd_kafka_conf_dump(global, &count);
  look(names, count);
  names = rd_kafka_topic_conf_dump(topic, &count);
  look(names, count);
  EXPECT_GT(in_all, 80u);
  rd_kafka_conf_destroy(global);
  rd_kafka_topic_conf_destroy(topic);
}

TEST(PropertyAllowList, RefusesWhatAShellWouldRun) {
  EXPECT_NE(refusal("sasl.kerberos.principal", "frazil; touch /tmp/x"), "");
  EXPECT_NE(refusal("sasl.kerberos.principal", "$(id)"), "");
  EXPECT_NE(refusal("sasl.kerberos.principal", "-c"), "");
  EXPECT_NE(refusal("sasl.kerberos.keytab", "/etc/a\"b"), "");
  EXPECT_NE(refusal("sasl.kerberos.keytab", "/etc/a`b`"), "");
  EXPECT_NE(refusal("sasl.kerberos.service.name", "kafka\nid"), "");
  EXPECT_EQ(refusal("sasl.kerberos.principal", "frazil/host.example.com@EXAMPLE.COM"), "");
  EXPECT_EQ(refusal("sasl.kerberos.keytab", "/etc/frazil/frazil.keytab"), "");
}

TEST(PropertyAllowList, LoadsOnlyOpenSslsOwnProviders) {
  EXPECT_EQ(refusal("ssl.providers", "default,legacy"), "");
  EXPECT_NE(refusal("ssl.providers", "default,../../tmp/evil"), "");
  EXPECT_NE(refusal("ssl.providers", "default,"), "");
}

}  // namespace frazil::clients
