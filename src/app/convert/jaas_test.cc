#include "app/convert/jaas.h"

#include <gtest/gtest.h>

namespace frazil::app {
namespace {

constexpr char kPlain[] = "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"alice\" password=\"s3 cr\\\"et\";";

Conversion translated(const std::string& text) {
  Conversion conversion("");
  Node value;
  value.scalar = text;
  translate_jaas(conversion, {"sasl.jaas.config", "sasl.jaas.config", {}, value});
  return conversion;
}

std::optional<std::string> property(const Conversion& conversion, const std::string& name) {
  return conversion.draft.property_of("source.kafka.properties", name);
}

TEST(Jaas, ReadsModuleAndOptions) {
  const auto login = parse_jaas(kPlain);
  ASSERT_TRUE(login.has_value());
  EXPECT_EQ(login->module, "org.apache.kafka.common.security.plain.PlainLoginModule");
  EXPECT_EQ(login->options, (std::map<std::string, std::string>{{"username", "alice"}, {"password", "s3 cr\"et"}}));
}

TEST(Jaas, RefusesOtherForms) {
  for (const char* text : {"", "Module", "Module username=\"a\";", "Module required username;", "${env:JAAS}"}) {
    EXPECT_FALSE(parse_jaas(text).has_value()) << text;
  }
}

TEST(Jaas, TakesNameAndPasswordApart) {
  const Conversion conversion = translated(kPlain);
  EXPECT_EQ(property(conversion, "sasl.username"), "alice");
  EXPECT_EQ(property(conversion, "sasl.password"), "${env:KAFKA_SASL_PASSWORD}");
  EXPECT_FALSE(conversion.has_refusals());
  for (const Finding& finding : conversion.findings()) EXPECT_EQ(finding.text.find("s3 cr"), std::string::npos);
}

TEST(Jaas, TakesKerberos) {
  const Conversion conversion = translated(
      "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab=\"/etc/f.keytab\" principal=\"f@EXAMPLE.ORG\";");
  EXPECT_EQ(property(conversion, "sasl.kerberos.keytab"), "/etc/f.keytab");
  EXPECT_EQ(property(conversion, "sasl.kerberos.principal"), "f@EXAMPLE.ORG");
  EXPECT_FALSE(conversion.has_refusals());
}

TEST(Jaas, TakesOAuthClients) {
  const Conversion conversion = translated(
      "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId='f' clientSecret='hush' scope='kafka';");
  EXPECT_EQ(property(conversion, "sasl.oauthbearer.client.id"), "f");
  EXPECT_EQ(property(conversion, "sasl.oauthbearer.client.secret"), "${env:KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET}");
  EXPECT_EQ(property(conversion, "sasl.oauthbearer.scope"), "kafka");
}

TEST(Jaas, RefusesOtherModulesAndOptions) {
  EXPECT_TRUE(translated("com.example.OwnLoginModule required a=b;").has_refusals());
  EXPECT_TRUE(translated("org.apache.kafka.common.security.scram.ScramLoginModule required tokenauth=true;").has_refusals());
}

}  // namespace
}  // namespace frazil::app
