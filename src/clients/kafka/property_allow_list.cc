#include "clients/kafka/property_allow_list.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <memory>
#include <set>

namespace frazil::clients {

namespace {

const std::set<std::string, std::less<>>& allowed() {
  static const std::set<std::string, std::less<>> names = {
      "bootstrap.servers", "metadata.broker.list", "broker.address.family", "broker.address.ttl", "broker.version.fallback",
      "api.version.request.timeout.ms", "client.id", "client.rack", "client.dns.lookup", "connections.max.idle.ms",
      "debug", "enable.metrics.push", "log_level", "log.connection.close", "metadata.max.age.ms",
      "metadata.recovery.strategy", "metadata.recovery.rebootstrap.trigger.ms", "reconnect.backoff.ms",
      "reconnect.backoff.max.ms", "retry.backoff.ms", "retry.backoff.max.ms",
      // sockets
      "socket.timeout.ms", "socket.connection.setup.timeout.ms", "socket.keepalive.enable", "socket.nagle.disable",
      "socket.max.fails", "socket.receive.buffer.bytes", "socket.send.buffer.bytes",
      // reading
      "fetch.wait.max.ms", "fetch.min.bytes", "fetch.max.bytes", "fetch.message.max.bytes", "max.partition.fetch.bytes",
      "fetch.error.backoff.ms", "fetch.queue.backoff.ms", "queued.min.messages", "queued.max.messages.kbytes",
      "receive.message.max.bytes", "message.max.bytes", "message.copy.max.bytes", "max.in.flight",
      "max.in.flight.requests.per.connection", "topic.metadata.refresh.interval.ms",
      "topic.metadata.refresh.fast.interval.ms", "topic.metadata.refresh.sparse", "topic.metadata.propagation.max.ms",
      // groups
      "group.instance.id", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms",
      "coordinator.query.interval.ms",
      // writing (generator)
      "acks", "request.required.acks", "request.timeout.ms", "delivery.timeout.ms", "message.timeout.ms", "linger.ms",
      "queue.buffering.max.ms", "queue.buffering.max.messages", "queue.buffering.max.kbytes", "batch.size",
      "batch.num.messages", "compression.level",
      // TLS
      "security.protocol", "ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.certificate.pem",
      "ssl.key.location", "ssl.key.pem", "ssl.key.password", "ssl.keystore.location", "ssl.keystore.password",
      "ssl.crl.location", "ssl.cipher.suites", "ssl.curves.list", "ssl.sigalgs.list", "ssl.providers",
      "ssl.endpoint.identification.algorithm", "enable.ssl.certificate.verification", "https.ca.location", "https.ca.pem",
      // SASL
      "sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password", "sasl.kerberos.service.name",
      "sasl.kerberos.principal", "sasl.kerberos.keytab", "sasl.kerberos.min.time.before.relogin",
      "sasl.oauthbearer.method", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret",
      "sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.credentials.client.secret",
      "sasl.oauthbearer.scope", "sasl.oauthbearer.extensions", "sasl.oauthbearer.token.endpoint.url",
      "sasl.oauthbearer.grant.type", "sasl.oauthbearer.sub.claim.name", "sasl.oauthbearer.config",
      "enable.sasl.oauthbearer.unsecure.jwt", "sasl.oauthbearer.metadata.authentication.type",
      "sasl.oauthbearer.assertion.algorithm", "sasl.oauthbearer.assertion.private.key.file",
      "sasl.oauthbearer.assertion.private.key.passphrase", "sasl.oauthbearer.assertion.private.key.pem",
      "sasl.oauthbearer.assertion.file", "sasl.oauthbearer.assertion.jwt.template.file",
      "sasl.oauthbearer.assertion.claim.aud", "sasl.oauthbearer.assertion.claim.exp.seconds",
      "sasl.oauthbearer.assertion.claim.iss", "sasl.oauthbearer.assertion.claim.jti.include",
      "sasl.oauthbearer.assertion.claim.nbf.seconds", "sasl.oauthbearer.assertion.claim.sub"};
  return names;
}

// Names that users try and that we refuse, with the reason.
const std::map<std::string, std::string, std::less<>>& refused() {
  static constexpr char kPositions[] = "the table holds the positions, Frazil never commits or resets offsets by itself";
  static constexpr char kCommitted[] = "Frazil reads committed records with checked CRCs, always";
  static constexpr char kCode[] = "it would load code or run a program named in a configuration file";
  static const std::map<std::string, std::string, std::less<>> reasons = {
      {"enable.auto.commit", kPositions},
      {"auto.commit.enable", kPositions},
      {"auto.commit.interval.ms", kPositions},
      {"enable.auto.offset.store", kPositions},
      {"offset.store.method", kPositions},
      {"offset.store.path", kPositions},
      {"offset.store.sync.interval.ms", kPositions},
      {"auto.offset.reset", "an offset that is gone is a halt for the operator; where reading begins is `start`"},
      {"isolation.level", kCommitted},
      {"check.crcs", kCommitted},
      {"enable.partition.eof", "Frazil needs the end-of-partition events"},
      {"group.id", "set `group` of the source"},
      {"group.protocol", "Frazil uses the classic group protocol with eager assignments"},
      {"group.protocol.type", "Frazil uses the classic group protocol with eager assignments"},
      {"group.remote.assignor", "Frazil uses the classic group protocol with eager assignments"},
      {"partition.assignment.strategy", "Frazil needs eager assignments (range, roundrobin)"},
      {"allow.auto.create.topics", "a misspelt topic must not come into being"},
      {"topic.blacklist", "name the topics, or a pattern, in the source"},
      {"plugin.library.paths", kCode},
      {"interceptors", kCode},
      {"ssl.engine.location", kCode},
      {"ssl.engine.id", kCode},
      {"sasl.kerberos.kinit.cmd", kCode},
      {"transactional.id", "the load generator writes without transactions"},
      {"transaction.timeout.ms", "the load generator writes without transactions"},
      {"enable.idempotence", "the load generator is always idempotent"},
      {"enable.gapless.guarantee", "the load generator is always idempotent"},
      {"compression.codec", "use --codec"},
      {"compression.type", "use --codec"},
      {"statistics.interval.ms", "Frazil has its own metrics"},
      {"log.queue", "Frazil takes the log of librdkafka by itself"},
      {"internal.termination.signal", "signals belong to the program"},
  };
  return reasons;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest_allowed(std::string_view name) {
  std::string best;
  size_t best_distance = name.size() / 3 + 1;
  for (const std::string& candidate : allowed()) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

// Below this librdkafka could not receive, or not unpack, batches of 100 MB that brokers accept and send in spite of smaller
// fetch limits.
constexpr int64_t kSmallestReceiveBytes = 300000000;

base::Status check_value(const std::string& name, const std::string& value) {
  if (name == "debug") {
    for (const char* word : {"all", "security", "conf"}) {
      if (value.find(word) != std::string::npos) {
        return base::invalid("Kafka property 'debug': '" + std::string(word) + "' would print credentials");
      }
    }
  }
  std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> scratch(rd_kafka_conf_new(), &rd_kafka_conf_destroy);
  char text[512];
  const auto code = rd_kafka_conf_set(scratch.get(), name.c_str(), value.c_str(), text, sizeof text);
  if (code == RD_KAFKA_CONF_UNKNOWN) return base::invalid("Kafka property '" + name + "': not known to this librdkafka");
  if (code != RD_KAFKA_CONF_OK) {
    return base::invalid("Kafka property '" + name + "': " + (is_kafka_secret(name) ? "its value is not accepted" : text));
  }
  if (name == "receive.message.max.bytes" && std::stoll(value) < kSmallestReceiveBytes) {
    return base::invalid("Kafka property 'receive.message.max.bytes': below 300000000 a large batch could never be read");
  }
  return {};
}

std::vector<std::string> split_brokers(const std::string& list) {
  std::vector<std::string> brokers;
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(',', begin), list.size());
    std::string broker = list.substr(begin, end - begin);
    broker.erase(std::remove(broker.begin(), broker.end(), ' '), broker.end());
    if (!broker.empty()) brokers.push_back(std::move(broker));
    begin = end + 1;
  }
  return brokers;
}

// "PLAINTEXT://127.0.0.1:9092" → "127.0.0.1"; "[::1]:9092" → "::1".
std::string host_of(std::string broker) {
  if (const size_t scheme = broker.find("://"); scheme != std::string::npos) broker.erase(0, scheme + 3);
  if (!broker.empty() && broker[0] == '[') return broker.substr(1, broker.find(']') - 1);
  return broker.substr(0, broker.rfind(':'));
}

bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "::1") return true;
  if (host.rfind("127.", 0) != 0) return false;
  return host.find_first_not_of("0123456789.") == std::string::npos;
}

const std::string* find(const std::map<std::string, std::string>& properties, const std::string& name) {
  const auto found = properties.find(name);
  return found == properties.end() ? nullptr : &found->second;
}

}  // namespace

base::Status check_kafka_property(const std::string& name, const std::string& value) {
  if (const auto reason = refused().find(name); reason != refused().end()) {
    return base::invalid("Kafka property '" + name + "' cannot be set: " + reason->second);
  }
  if (!allowed().contains(name)) {
    const std::string nearest = nearest_allowed(name);
    return base::invalid("Kafka property '" + name + "' is not known" +
                         (nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?"));
  }
  return check_value(name, value);
}

base::Status check_kafka_connection(const std::map<std::string, std::string>& properties, bool allow_plaintext) {
  const std::string* servers = find(properties, "bootstrap.servers");
  if (servers == nullptr) servers = find(properties, "metadata.broker.list");
  const std::vector<std::string> brokers = servers != nullptr ? split_brokers(*servers) : std::vector<std::string>();
  if (brokers.empty()) return base::invalid("Kafka property 'bootstrap.servers' is missing: host:port, host:port, …");
  std::string protocol = "plaintext";
  if (const std::string* set = find(properties, "security.protocol")) {
    protocol = *set;
    for (char& c : protocol) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  }
  if (allow_plaintext || (protocol != "plaintext" && protocol != "sasl_plaintext")) return {};
  for (const std::string& broker : brokers) {
    if (is_loopback(host_of(broker))) continue;
    return base::invalid("broker " + broker + " would be reached without TLS (security.protocol is " + protocol +
                         "): set security.protocol to ssl or sasl_ssl, or allow_plaintext: true on this source");
  }
  return {};
}

bool is_kafka_secret(std::string_view name) {
  static const std::set<std::string, std::less<>> secrets = {
      "sasl.password",
      "sasl.oauthbearer.client.secret",
      "sasl.oauthbearer.client.credentials.client.secret",
      "sasl.oauthbearer.config",
      "sasl.oauthbearer.assertion.private.key.passphrase",
      "sasl.oauthbearer.assertion.private.key.pem",
      "ssl.key.password",
      "ssl.key.pem",
      "ssl.keystore.password",
  };
  return secrets.contains(name);
}

std::vector<std::string> allowed_kafka_properties() { return {allowed().begin(), allowed().end()}; }

}  // namespace frazil::clients
