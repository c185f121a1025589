#include "clients/kafka/property_allow_list.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

namespace frazil::clients {

namespace {

const std::set<std::string, std::less<>>& allowed() {
  static const std::set<std::string, std::less<>> names = {
      "bootstrap.servers", "broker.address.family", "broker.address.ttl",
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
      "group.instance.id", "group.protocol", "group.remote.assignor", "partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms",
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
  static constexpr char kGenerator[] = "the load generator decides by itself how it writes";
  static constexpr char kDetail[] = "it is a detail of the client library that Frazil decides by itself";
  static constexpr char kOld[] = "brokers that need it are older than those that Frazil reads from";
  static constexpr char kProgram[] = "only a program can set it, not a file";
  static constexpr char kUnused[] = "Frazil does not read in this way";
  static const std::map<std::string, std::string, std::less<>> reasons = {
      {"metadata.broker.list", "write bootstrap.servers; two lists of brokers would contradict each other"},
      {"api.version.request", kOld},
      {"api.version.fallback.ms", kOld},
      {"broker.version.fallback", kOld},
      {"builtin.features", kDetail},
      {"client.software.name", kDetail},
      {"client.software.version", kDetail},
      {"enable.random.seed", kDetail},
      {"enable.sparse.connections", kDetail},
      {"enabled_events", kDetail},
      {"enable_sasl_queue", kDetail},
      {"log.thread.name", kDetail},
      {"metadata.request.timeout.ms", kDetail},
      {"queuing.strategy", kDetail},
      {"reconnect.backoff.jitter.ms", "it has no effect any more; reconnect.backoff.ms has jitter of its own"},
      {"socket.blocking.max.ms", "it has no effect any more"},
      {"topic.metadata.refresh.fast.cnt", "it has no effect any more"},
      {"ssl.ca.certificate.stores", "it is for Windows; use ssl.ca.location"},
      {"test.mock.num.brokers", "a test broker has no place in a pipeline; `frazil demo` brings its own"},
      {"test.mock.broker.rtt", "a test broker has no place in a pipeline; `frazil demo` brings its own"},
      {"consume.callback.max.messages", kUnused},
      {"max.poll.records", kUnused},
      {"share.acknowledgement.mode", kUnused},
      {"message.send.max.retries", kGenerator},
      {"retries", kGenerator},
      {"partitioner", kGenerator},
      {"sticky.partitioning.linger.ms", kGenerator},
      {"delivery.report.only.error", kGenerator},
      {"produce.offset.report", kGenerator},
      {"queue.buffering.backpressure.threshold", kGenerator},
      {"msg_order_cmp", kProgram},
      {"default_topic_conf", kProgram},
      {"opaque", kProgram},
      {"ssl_ca", kProgram},
      {"ssl_certificate", kProgram},
      {"ssl_key", kProgram},
      {"ssl.certificate.verify_cb", kProgram},
      {"ssl_engine_callback_data", kProgram},
      {"background_event_cb", kProgram},
      {"closesocket_cb", kProgram},
      {"connect_cb", kProgram},
      {"consume_cb", kProgram},
      {"dr_cb", kProgram},
      {"dr_msg_cb", kProgram},
      {"error_cb", kProgram},
      {"log_cb", kProgram},
      {"oauthbearer_token_refresh_cb", kProgram},
      {"offset_commit_cb", kProgram},
      {"open_cb", kProgram},
      {"partitioner_cb", kProgram},
      {"rebalance_cb", kProgram},
      {"resolve_cb", kProgram},
      {"socket_cb", kProgram},
      {"stats_cb", kProgram},
      {"throttle_cb", kProgram},
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
      {"group.protocol.type", "every consumer group has the same"},
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

// They stand in the command line of kinit, which a shell reads.
base::Status check_kinit_word(const std::string& name, const std::string& value) {
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("._-/@:+").find(c) != std::string_view::npos;
  });
  if (is_plain && !value.starts_with('-')) return {};
  return base::invalid("Kafka property '" + name + "': only letters, digits and . _ - / @ : + may stand in it, and no - in front");
}

// Providers are libraries that OpenSSL loads: only its own.
base::Status check_providers(const std::string& value) {
  static const std::set<std::string, std::less<>> known = {"base", "default", "fips", "legacy"};
  size_t begin = 0;
  while (begin <= value.size()) {
    const size_t end = std::min(value.find(',', begin), value.size());
    if (!known.contains(value.substr(begin, end - begin))) {
      return base::invalid("Kafka property 'ssl.providers': base, default, fips and legacy may stand in it, others would load code");
    }
    begin = end + 1;
  }
  return {};
}

// librdkafka finds out only when it connects.
base::Status check_mechanism(const std::string& name, const std::string& value) {
  std::string raised = value;
  for (char& c : raised) c = c == '_' ? '-' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string_view nearest;
  for (const std::string_view known : {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER"}) {
    if (value == known) return {};
    if (nearest.empty() || edit_distance(raised, known) < edit_distance(raised, nearest)) nearest = known;
  }
  return base::invalid("Kafka property '" + name + "': there are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, GSSAPI and OAUTHBEARER, in capitals; nearest is " +
                       std::string(nearest));
}

// librdkafka finds out only when it connects. Eager and cooperative members cannot be in one group.
base::Status check_strategy(const std::string& value) {
  bool is_eager = false, is_cooperative = false;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view word = std::string_view(value).substr(begin, end - begin);
    const bool cooperates = word == "cooperative-sticky";
    if (!cooperates && word != "range" && word != "roundrobin") {
      return base::invalid("Kafka property 'partition.assignment.strategy': there are cooperative-sticky (the default), range and roundrobin");
    }
    (cooperates ? is_cooperative : is_eager) = true;
    begin = end + 1;
  }
  if (!is_eager || !is_cooperative) return {};
  return base::invalid("Kafka property 'partition.assignment.strategy': cooperative-sticky stands alone, a group is either cooperative or eager");
}

base::Status check_value(const std::string& name, const std::string& value) {
  if (name == "debug") {
    std::string lower = value;  // librdkafka takes the words in any case
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const char* word : {"all", "security", "conf"}) {
      if (lower.find(word) != std::string::npos) {
        return base::invalid("Kafka property 'debug': '" + std::string(word) + "' would print credentials");
      }
    }
  }
  if (name.starts_with("sasl.kerberos.")) TRY(check_kinit_word(name, value));
  if (name == "sasl.mechanism" || name == "sasl.mechanisms") TRY(check_mechanism(name, value));
  if (name == "ssl.providers") TRY(check_providers(value));
  if (name == "partition.assignment.strategy") TRY(check_strategy(value));
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

bool has_kafka_answer(std::string_view name) { return allowed().contains(name) || refused().contains(name); }

std::vector<std::string> allowed_kafka_properties() { return {allowed().begin(), allowed().end()}; }

}  // namespace frazil::clients
