#include "app/convert/kafka_names.h"

#include <algorithm>
#include <cctype>

#include "app/config/nearest_name.h"
#include "app/convert/jaas.h"
#include "clients/kafka/property_allow_list.h"

namespace frazil::app {
namespace {

using C = Conversion;
using G = Given;

constexpr char kProperties[] = "source.kafka.properties";

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Sets a librdkafka property under its own name; its secret stays outside.
void put(C& c, const G& given, const std::string& name) {
  const std::string text = given.text();
  if (clients::is_kafka_secret(name)) {
    c.draft.set_property(kProperties, name, c.secret(given, text, "KAFKA_" + variable_name(name)));
    return;
  }
  if (!has_reference(text)) {
    if (const auto status = clients::check_kafka_property(name, text); !status.ok()) {
      c.refused(given, status.error().message());
      return;
    }
  }
  c.draft.set_property(kProperties, name, keep_references(text));
}

ForeignName renamed(const std::string& java, const std::string& ours) {
  return {.name = java, .doc = "`" + ours + "`", .translate = [ours](C& c, const G& given) { put(c, given, ours); }};
}

ForeignName not_needed(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kNotNeeded, .doc = why};
}

ForeignName refused(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kRefused, .doc = why};
}

// Refused unless it has the value that Frazil always has.
ForeignName fixed(const std::string& name, const std::string& value, const std::string& why) {
  return {.name = name, .fate = Fate::kNotNeeded, .doc = why, .translate = [value, why](C& c, const G& given) {
            if (upper(given.text()) != upper(value)) c.refused(given, why + "; leave it out");
          }};
}

void translate_group(C& c, const G& given) { c.draft.set("source.kafka.group", keep_references(given.text())); }

void translate_offset_reset(C& c, const G& given) {
  const std::string word = given.text();
  if (word == "earliest" || word == "latest") {
    c.draft.set("source.kafka.start", word);
    c.changed(given, "`source.kafka.start: " + word + "`, which counts only while the table holds no positions; an offset that "
                     "is gone later is a halt for the operator");
  } else {
    c.refused(given, "there are earliest and latest; set `source.kafka.start` yourself");
  }
}

void translate_deserializer(C& c, const G& given) {
  const std::string name = given.text();
  for (const char* plain : {"ByteArrayDeserializer", "ByteBufferDeserializer", "BytesDeserializer", "StringDeserializer"}) {
    if (name.ends_with(plain)) return;
  }
  c.refused(given, "values are read as JSON in this version; other encodings are unsupported");
}

// Java's key stores: librdkafka reads PEM files, and PKCS#12 for its own key.
void translate_truststore(C& c, const G& given) {
  const std::string path = given.text();
  if (path.ends_with(".pem") || path.ends_with(".crt") || path.ends_with(".cer")) return put(c, given, "ssl.ca.location");
  c.refused(given, "Java's trust stores are not read: write the authority as PEM (keytool -exportcert -rfc) and set ssl.ca.location");
}

void translate_keystore(C& c, const G& given) {
  const std::string path = given.text();
  if (path.ends_with(".p12") || path.ends_with(".pfx")) return put(c, given, "ssl.keystore.location");
  c.refused(given, "Java's JKS stores are not read: write the key as PKCS#12 (a name with .p12), or as PEM and set "
                   "ssl.certificate.location and ssl.key.location");
}

void translate_endpoint_check(C& c, const G& given) {
  c.draft.set_property(kProperties, "ssl.endpoint.identification.algorithm", given.text().empty() ? "none" : given.text());
}

void translate_callback(C& c, const G& given) {
  if (given.text().find("OAuthBearerLoginCallbackHandler") != std::string::npos) {
    c.draft.set_property(kProperties, "sasl.oauthbearer.method", "oidc");
    c.changed(given, "`sasl.oauthbearer.method: oidc`");
  } else {
    c.refused(given, "classes of Java are not loaded: use a token endpoint (sasl.oauthbearer.method: oidc), PLAIN, SCRAM or Kerberos. "
                     "Google's managed Kafka takes PLAIN with a service account's key, Amazon's takes SCRAM");
  }
}

std::vector<ForeignName> position_names() {
  constexpr char kPositions[] = "the table holds the positions; group offsets are written after each commit";
  return {
      {.name = "group.id", .doc = "`source.kafka.group`", .translate = translate_group},
      {.name = "auto.offset.reset",
       .fate = Fate::kChanged,
       .doc = "`source.kafka.start`; an offset that is gone later is a halt, never a silent jump",
       .translate = translate_offset_reset},
      not_needed("enable.auto.commit", kPositions),
      not_needed("auto.commit.interval.ms", kPositions),
      fixed("isolation.level", "read_committed", "Frazil always reads with read_committed"),
      fixed("check.crcs", "true", "Frazil always checks them"),
      fixed("allow.auto.create.topics", "false", "Frazil creates no topics"),
      renamed("group.protocol", "group.protocol"),
      renamed("group.remote.assignor", "group.remote.assignor"),
      not_needed("partition.assignment.strategy", "partitions are shared by cooperative-sticky; Java's names of strategies are others"),
      {.name = "key.deserializer", .fate = Fate::kNotNeeded, .doc = "keys are not decoded; `table.columns.kafka_metadata` keeps their bytes"},
      {.name = "value.deserializer",
       .fate = Fate::kNotNeeded,
       .doc = "values are read as JSON; deserializers of other encodings are refused",
       .translate = translate_deserializer},
  };
}

std::vector<ForeignName> transport_names() {
  return {
      renamed("fetch.max.wait.ms", "fetch.wait.max.ms"),
      renamed("receive.buffer.bytes", "socket.receive.buffer.bytes"),
      renamed("send.buffer.bytes", "socket.send.buffer.bytes"),
      renamed("request.timeout.ms", "socket.timeout.ms"),
      renamed("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.ms"),
      not_needed("socket.connection.setup.timeout.max.ms", "librdkafka tries again with reconnect.backoff.max.ms"),
      not_needed("default.api.timeout.ms", "`connect_timeout` bounds the start"),
      not_needed("max.poll.records", "batches are bounded by `memory`"),
      not_needed("exclude.internal.topics", "only topics that are named, or match the pattern, are read"),
      not_needed("metric.reporters", "see /metrics"),
      not_needed("metrics.num.samples", "see /metrics"),
      not_needed("metrics.sample.window.ms", "see /metrics"),
      not_needed("metrics.recording.level", "see /metrics"),
      not_needed("auto.include.jmx.reporter", "see /metrics"),
      refused("interceptor.classes", "classes of Java are not loaded"),
      refused("security.providers", "classes of Java are not loaded"),
  };
}

std::vector<ForeignName> tls_names() {
  return {
      {.name = "ssl.truststore.location",
       .doc = "`ssl.ca.location` with a PEM file; Java's stores are not read: write the authority as PEM (keytool -exportcert -rfc)",
       .translate = translate_truststore},
      {.name = "ssl.truststore.type", .fate = Fate::kNotNeeded, .doc = "follows from the file's name"},
      {.name = "ssl.truststore.password", .fate = Fate::kNotNeeded, .doc = "a PEM file of authorities needs none"},
      renamed("ssl.truststore.certificates", "ssl.ca.pem"),
      {.name = "ssl.keystore.location",
       .doc = "the same when it is PKCS#12 (.p12, .pfx); JKS is refused",
       .translate = translate_keystore},
      {.name = "ssl.keystore.type", .fate = Fate::kNotNeeded, .doc = "follows from the file's name"},
      renamed("ssl.keystore.certificate.chain", "ssl.certificate.pem"),
      renamed("ssl.keystore.key", "ssl.key.pem"),
      {.name = "ssl.endpoint.identification.algorithm",
       .doc = "the same; empty becomes `none`",
       .translate = translate_endpoint_check},
      not_needed("ssl.protocol", "OpenSSL takes the newest version that both sides know"),
      not_needed("ssl.enabled.protocols", "OpenSSL takes the newest version that both sides know"),
      not_needed("ssl.provider", "TLS is OpenSSL's"),
      not_needed("ssl.keymanager.algorithm", "TLS is OpenSSL's"),
      not_needed("ssl.trustmanager.algorithm", "TLS is OpenSSL's"),
      not_needed("ssl.secure.random.implementation", "TLS is OpenSSL's"),
      refused("ssl.engine.factory.class", "classes of Java are not loaded"),
  };
}

std::vector<ForeignName> sasl_names() {
  constexpr char kTicket[] = "librdkafka renews tickets by sasl.kerberos.min.time.before.relogin";
  return {
      {.name = "sasl.jaas.config",
       .fate = Fate::kChanged,
       .doc = "`sasl.username` and `sasl.password`, `sasl.kerberos.principal` and `.keytab`, or `sasl.oauthbearer.client.id`, "
              "`.client.secret` and `.scope`, by its login module",
       .translate = translate_jaas},
      {.name = "sasl.login.callback.handler.class",
       .fate = Fate::kChanged,
       .doc = "`sasl.oauthbearer.method: oidc` for Kafka's own OAuth handler; others are refused",
       .translate = translate_callback},
      refused("sasl.client.callback.handler.class", "classes of Java are not loaded"),
      refused("sasl.login.class", "classes of Java are not loaded"),
      not_needed("sasl.kerberos.kinit.cmd", "the program that renews tickets is not chosen by a file"),
      not_needed("sasl.kerberos.ticket.renew.window.factor", kTicket),
      not_needed("sasl.kerberos.ticket.renew.jitter", kTicket),
      not_needed("sasl.login.refresh.window.factor", "tokens are renewed at 80 % of their life"),
      not_needed("sasl.login.refresh.window.jitter", "tokens are renewed at 80 % of their life"),
      not_needed("sasl.login.refresh.min.period.seconds", "tokens are renewed at 80 % of their life"),
      not_needed("sasl.login.refresh.buffer.seconds", "tokens are renewed at 80 % of their life"),
      {.name = "sasl.oauthbearer.token.endpoint.url",
       .doc = "the same, with `sasl.oauthbearer.method: oidc`",
       .translate =
           [](C& c, const G& given) {
             put(c, given, "sasl.oauthbearer.token.endpoint.url");
             c.draft.set_property(kProperties, "sasl.oauthbearer.method", "oidc");
           }},
  };
}

}  // namespace

const std::vector<ForeignName>& kafka_names() {
  static const std::vector<ForeignName> names = [] {
    std::vector<ForeignName> all;
    for (const auto& part : {position_names(), transport_names(), tls_names(), sasl_names()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return names;
}

void translate_kafka_property(Conversion& conversion, const Given& given) {
  if (given.value.kind != Node::Kind::kScalar) return conversion.refused(given, "must be a text");
  if (find_foreign_name(kafka_names(), given.key) != nullptr) return translate_name(conversion, kafka_names(), given);
  const std::vector<std::string> allowed = clients::allowed_kafka_properties();
  if (std::find(allowed.begin(), allowed.end(), given.key) != allowed.end()) {
    const size_t before = conversion.findings().size();
    put(conversion, given, given.key);
    if (conversion.findings().size() == before) conversion.honoured(given, "`" + given.key + "`");
    return;
  }
  // Refused ones come with their reason, others with the nearest name.
  const auto status = clients::check_kafka_property(given.key, given.text());
  conversion.refused(given, status.ok() ? "unknown name" : status.error().message());
}

void translate_kafka_properties(Conversion& conversion, const std::string& prefix, const Node& map) {
  for (const Entry& entry : map.entries) {
    translate_kafka_property(conversion, {prefix + entry.key, entry.key, entry.mark, entry.value});
  }
}

void complete_kafka(Conversion& conversion) {
  const auto properties = conversion.draft.properties_of(kProperties);
  if (!properties.contains("bootstrap.servers")) return;
  if (clients::check_kafka_connection(properties, false).ok() || !clients::check_kafka_connection(properties, true).ok()) return;
  conversion.draft.set("source.kafka.allow_plaintext", "true");
  conversion.draft.comment("source.kafka.allow_plaintext", "The brokers are reached without TLS, as before.");
  conversion.add({{}, "bootstrap servers", Fate::kChanged,
                  "they are reached without TLS, which Frazil allows only with `source.kafka.allow_plaintext: true`"});
}

}  // namespace frazil::app
