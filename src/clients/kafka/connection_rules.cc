#include "clients/kafka/connection_rules.h"

#include <algorithm>
#include <vector>

#include "net/url.h"

namespace frazil::clients {

namespace {

constexpr char kBrokers[] = "bootstrap.servers";
constexpr char kProtocol[] = "security.protocol";
constexpr char kTokenEndpoint[] = "sasl.oauthbearer.token.endpoint.url";

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return text;
}

// Empty when it is not set.
std::string value_of(const KafkaProperties& properties, const std::string& name) {
  const auto found = properties.find(name);
  return found == properties.end() ? "" : found->second;
}

std::string protocol_of(const KafkaProperties& properties) {
  const std::string set = lower(value_of(properties, kProtocol));
  return set.empty() ? "plaintext" : set;
}

// librdkafka knows two names for it, and a default.
std::string mechanism_of(const KafkaProperties& properties) {
  for (const char* name : {"sasl.mechanisms", "sasl.mechanism"}) {
    if (const std::string set = value_of(properties, name); !set.empty()) return set;
  }
  return "GSSAPI";
}

std::vector<std::string> brokers_of(const KafkaProperties& properties) {
  const std::string list = value_of(properties, kBrokers);
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
  if (!broker.empty() && broker[0] == '[') {
    const size_t end = broker.find(']');
    const bool is_address = end != std::string::npos && (end + 1 == broker.size() || broker[end + 1] == ':');
    return is_address ? broker.substr(1, end - 1) : broker;
  }
  return broker.substr(0, broker.rfind(':'));
}

bool is_local(const std::string& broker) { return net::is_loopback_host(host_of(broker)); }

bool has_any(const KafkaProperties& properties, const std::string& prefix) {
  const auto found = properties.lower_bound(prefix);
  return found != properties.end() && found->first.starts_with(prefix);
}

// Settings without effect are a mistake: somebody believes that they protect.
base::Status check_effect(const KafkaProperties& properties) {
  const std::string protocol = protocol_of(properties);
  std::string names;
  int count = 0;
  for (const auto& [name, value] : properties) {
    const bool is_idle = (name.starts_with("sasl.") && !protocol.starts_with("sasl_")) || (name.starts_with("ssl.") && is_plaintext(properties));
    if (!is_idle) continue;
    names += (count++ == 0 ? "'" : ", '") + name + "'";
  }
  if (count == 0) return {};
  const std::string wanted = has_any(properties, "sasl.") || protocol.starts_with("sasl_") ? "sasl_ssl" : "ssl";
  return base::invalid((count == 1 ? "Kafka property " + names + " has" : "Kafka properties " + names + " have") + " no effect while " +
                       std::string(kProtocol) + " is " + protocol + ": set it to " + wanted);
}

base::Status check_tokens(const KafkaProperties& properties, bool allow_plaintext) {
  if (!protocol_of(properties).starts_with("sasl_") || mechanism_of(properties) != "OAUTHBEARER") return {};
  const bool is_unsecured = lower(value_of(properties, "enable.sasl.oauthbearer.unsecure.jwt")) == "true";
  if (lower(value_of(properties, "sasl.oauthbearer.method")) != "oidc" && !is_unsecured) {
    return base::invalid("Kafka property 'sasl.oauthbearer.method' must be oidc: OAUTHBEARER needs a token endpoint");
  }
  const std::string endpoint = value_of(properties, kTokenEndpoint);
  if (endpoint.empty()) return {};  // librdkafka names what is missing
  const auto url = net::parse_url(endpoint);
  if (!url.ok()) return url.error().in("Kafka property '" + std::string(kTokenEndpoint) + "'");
  if (allow_plaintext || url->scheme == "https" || net::is_loopback_host(url->host)) return {};
  return base::invalid("Kafka property '" + std::string(kTokenEndpoint) + "': the client's secret would travel without TLS to " +
                       url->host + ": use https, or allow_plaintext: true on this source");
}

// The property that turns verification off, with its value; empty when everything is verified.
std::string unverified_by(const KafkaProperties& properties) {
  const std::string verification = lower(value_of(properties, "enable.ssl.certificate.verification"));
  if (verification == "false" || verification == "f" || verification == "0") return "enable.ssl.certificate.verification is false";
  const std::string host_check = lower(value_of(properties, "ssl.endpoint.identification.algorithm"));
  return host_check == "none" ? "ssl.endpoint.identification.algorithm is none" : "";
}

base::Status check_broker(const KafkaProperties& properties, const std::string& broker) {
  if (is_plaintext(properties)) {
    return base::invalid("broker " + broker + " would be reached without TLS (security.protocol is " + protocol_of(properties) +
                         "): set security.protocol to ssl or sasl_ssl, or allow_plaintext: true on this source");
  }
  const std::string reason = unverified_by(properties);
  if (reason.empty()) return {};
  return base::invalid("whoever answers as broker " + broker + " would be believed (" + reason +
                       "): take it out and set ssl.ca.location to the authority that signed the broker's certificate, or "
                       "allow_plaintext: true on this source");
}

// With the new protocol the brokers decide what members of classic groups decide for themselves.
base::Status check_group_protocol(const KafkaProperties& properties) {
  const bool is_new = lower(value_of(properties, "group.protocol")) == "consumer";
  if (!is_new && properties.contains("group.remote.assignor")) {
    return base::invalid("Kafka property 'group.remote.assignor' has no effect without group.protocol: consumer");
  }
  for (const char* name : {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"}) {
    if (!is_new || !properties.contains(name)) continue;
    return base::invalid(std::string("Kafka property '") + name + "': with group.protocol: consumer the brokers decide it; leave it out");
  }
  return {};
}

}  // namespace

base::Status check_kafka_connection(const KafkaProperties& properties, bool allow_plaintext) {
  const std::vector<std::string> brokers = brokers_of(properties);
  if (brokers.empty()) return base::invalid("Kafka property 'bootstrap.servers' is missing: host:port, host:port, …");
  TRY(check_effect(properties));
  TRY(check_tokens(properties, allow_plaintext));
  TRY(check_group_protocol(properties));
  if (allow_plaintext) return {};
  for (const std::string& broker : brokers) {
    if (!is_local(broker)) TRY(check_broker(properties, broker));
  }
  return {};
}

bool is_plaintext(const KafkaProperties& properties) {
  const std::string protocol = protocol_of(properties);
  return protocol == "plaintext" || protocol == "sasl_plaintext";
}

bool has_loopback_brokers_only(const KafkaProperties& properties) {
  const std::vector<std::string> brokers = brokers_of(properties);
  return std::all_of(brokers.begin(), brokers.end(), is_local);
}

const std::vector<std::string>& kafka_file_properties() {
  static const std::vector<std::string> names = {"ssl.ca.location",
                                                 "ssl.certificate.location",
                                                 "ssl.key.location",
                                                 "ssl.keystore.location",
                                                 "ssl.crl.location",
                                                 "https.ca.location",
                                                 "sasl.kerberos.keytab",
                                                 "sasl.oauthbearer.assertion.file",
                                                 "sasl.oauthbearer.assertion.private.key.file",
                                                 "sasl.oauthbearer.assertion.jwt.template.file"};
  return names;
}

void place_kafka_files(KafkaProperties& properties, const std::string& folder) {
  for (const std::string& name : kafka_file_properties()) {
    const auto found = properties.find(name);
    if (found == properties.end()) continue;
    std::string& path = found->second;
    if (!path.empty() && path[0] != '/' && path != "probe") path = folder + "/" + path;
  }
}

}  // namespace frazil::clients
